"""The certified evaluator on the desk, and GEPA with and without it."""

from __future__ import annotations

import runpy
from pathlib import Path

import msgspec
import pytest

from surefoot.environments.registry import find_task
from surefoot.errors import UsageError
from surefoot.program.source import Program
from surefoot.scripts.evaluator import CertifiedEvaluator, Counts
from surefoot.tape.certificate import Certified
from surefoot.tape.file import load_tape
from surefoot.tape.replay import certify

SEEDS = (101, 102, 103, 104)
EXAMPLE = Path(__file__).parents[3] / "examples" / "optimise_desk.py"


@pytest.fixture
def evaluator(desk, tmp_path):
    """On four configurations of desk/place; the naive program solves all but the third."""
    with CertifiedEvaluator(desk, SEEDS, tmp_path / "tapes") as made:
        yield made


def guarded(source):
    """Edited where the third configuration's item, a brick, is gripped."""
    return source.replace(
        "    target = locate(item)\n",
        "    if about['shape'] == 'brick':\n        force = 40.0\n    target = locate(item)\n",
        1,
    )


def ways(results):
    return [(result.how, result.score) for result in results]


def test_what_an_earlier_success_certifies_is_not_run(evaluator, naive):
    first = evaluator.evaluate(naive.source)
    assert {result.how for result in first} == {"executed"}
    good = [result.seed for result in first if result.score]
    second = evaluator.evaluate(guarded(naive.source))
    assert [result.seed for result in second if result.how == "certified"] == good
    assert evaluator.counts == Counts(certified=len(good), executed=2 * len(SEEDS) - len(good))


def test_scores_are_those_of_running_everything(evaluator, desk, naive, tmp_path):
    programs = [naive.source, guarded(naive.source), naive.source.replace("vary(10.0", "vary(40.0")]
    cached = [result.score for program in programs for result in evaluator.evaluate(program)]
    with CertifiedEvaluator(desk, SEEDS, tmp_path / "plain", certificates=False) as plain:
        assert [result.score for program in programs for result in plain.evaluate(program)] == cached
        assert (plain.counts.certified, plain.counts.executed) == (0, 12)
    assert evaluator.counts.certified > 0


def test_an_equal_text_is_not_run_again_whatever_its_outcome(evaluator, naive):
    first = evaluator.evaluate(naive.source)
    again = evaluator.evaluate(naive.source)
    assert [(result.how, result.outcome) for result in again] == [("repeated", result.outcome) for result in first]


def test_a_certified_result_names_the_tape_that_certifies_it(evaluator, naive, zygote):
    evaluator.evaluate(naive.source)
    edited = naive.source.replace("target", "where")
    result = next(item for item in evaluator.evaluate(edited) if item.how == "certified")
    assert isinstance(certify(Program(edited), load_tape(result.tape.path), zygote), Certified)


def test_a_later_evaluator_goes_on_with_the_tapes_of_an_earlier_one(evaluator, desk, naive, tmp_path):
    first = evaluator.evaluate(naive.source)
    with CertifiedEvaluator(desk, SEEDS, tmp_path / "tapes") as later:
        again = later.evaluate(naive.source)
        assert [(result.how, result.score) for result in again] == [("repeated", result.score) for result in first]
        assert later.evaluate(naive.source.replace("target", "where"), (101,))[0].how == "certified"


def test_tapes_of_other_numerics_are_not_gone_by(evaluator, desk, naive, tmp_path, monkeypatch):
    evaluator.evaluate(naive.source)
    monkeypatch.setattr("surefoot.scripts.evaluator.numeric_platform", lambda: {"blas": "another kernel"})
    with CertifiedEvaluator(desk, SEEDS, tmp_path / "tapes") as elsewhere:
        assert {result.how for result in elsewhere.evaluate(naive.source)} == {"executed"}


def test_a_program_that_cannot_be_run_scores_nothing(evaluator):
    results = evaluator.evaluate("import threading", (101,))
    assert ways(results) == [("refused", 0.0)]
    assert results[0].outcome.text.startswith("invalid program: program, line 1: it imports threading")


@pytest.mark.parametrize(
    "edit", [lambda text: text.replace("target", "where"), lambda text: text.replace("vary(10.0", "vary(9.0")]
)
def test_a_task_whose_resets_differ_is_refused_before_a_certificate_counts(naive, tmp_path, edit):
    with CertifiedEvaluator(find_task("desk/place-unsteady"), (101,), tmp_path / "tapes") as evaluator:
        assert ways(evaluator.evaluate(naive.source)) == [("executed", 1.0)]
        with pytest.raises(UsageError) as error:
            evaluator.evaluate(edit(naive.source))
    assert str(error.value) == (
        "Configuration 101 of desk/place-unsteady is not the same scene each time, so a recorded success says nothing "
        "about the next run. Use a task whose reset repeats, or certificates=False."
    )


def test_gepa_goes_the_same_way_with_certificates_and_runs_fewer_episodes():
    pytest.importorskip("gepa", reason="GEPA is not installed; pip install '.[gepa]'")
    optimise = runpy.run_path(str(EXAMPLE))["optimise"]
    plain, cached = (optimise(certificates, configurations=8, metric_calls=120) for certificates in (False, True))
    assert (plain.program, plain.scores) == (cached.program, cached.scores)
    assert max(plain.scores) > plain.scores[0]
    assert cached.counts.executed + cached.counts.certified == plain.counts.executed
    assert cached.counts.certified > 0


def test_what_gepa_s_reflection_reads_does_not_depend_on_whether_a_program_was_run(desk, naive, tmp_path):
    pytest.importorskip("gepa", reason="GEPA is not installed; pip install '.[gepa]'")
    from surefoot.scripts.gepa_adapter import GepaAdapter

    candidate, seen = {"program": guarded(naive.source)}, []
    for certificates in (True, False):
        with CertifiedEvaluator(desk, SEEDS, tmp_path / str(certificates), certificates=certificates) as evaluator:
            adapter = GepaAdapter(desk, evaluator)
            evaluator.evaluate(naive.source)
            batch = adapter.evaluate(list(SEEDS), candidate, capture_traces=True)
            seen.append(adapter.make_reflective_dataset(candidate, batch, ["program"]))
    assert seen[0] == seen[1]
    assert msgspec.json.encode(seen[0])
    record = seen[0]["program"][0]
    assert record["Inputs"] == {"configuration": "101"}
    assert record["Feedback"] == "success"
    assert record["Generated Outputs"]["calls"][:2] == ["describe(name='item')", "locate(name='item')"]
