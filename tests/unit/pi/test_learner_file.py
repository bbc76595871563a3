"""What a learner knows, in a file: found again as it was, and refused where it is not what was written."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from surefoot.errors import UsageError
from surefoot.pi.learner import Learner
from surefoot.pi.pipeline import Pipeline, Stage


def contract(before, after, goal):
    return after == [row + goal[0] for row in before] if isinstance(goal, tuple) else after == before


def pipeline_of(names=("m0", "m1", "m2"), stage="add"):
    actions = {name: (lambda rows, plus=plus: [row + plus for row in rows]) for plus, name in enumerate(names)}
    return Pipeline([Stage(stage, actions=actions, contract=contract)], audit=lambda task, output: True)


def task_of(pipeline, name, goal=(2, ("x", None))):
    return pipeline.task(name, "v\udcff1", [goal], [1, 2], micro=lambda rows: rows[:1])


@pytest.fixture
def pipeline():
    return pipeline_of()


@pytest.fixture
def saved(pipeline, tmp_path):
    learner = Learner(pipeline)
    for name in ("t1", "t\udce42"):
        learner.solve(task_of(pipeline, name))
    learner.solve(task_of(pipeline, "t3", True))
    learner.save(tmp_path / "evidence.json")
    return learner, tmp_path / "evidence.json"


def refused(path, text, pipeline, **named):
    with pytest.raises(UsageError, match=f"^{re.escape(text)}$"):
        Learner.load(pipeline, path, **named)


def test_evidence_outlives_the_process(saved, pipeline):
    learner, path = saved
    again = Learner.load(pipeline, str(path))
    assert again.digest() == learner.digest()
    assert again.known() == learner.known()
    assert again.solve(task_of(pipeline, "t4")).first_accepted


def test_complete_programs_are_kept_too(pipeline, tmp_path):
    shown = [pipeline.demonstrate(task_of(pipeline, "d"), ["m2"])]
    learner = Learner(pipeline, "trajectory", shown)
    assert learner.solve(task_of(pipeline, "t1")).accepted
    learner.save(tmp_path / "programs.json")
    again = Learner.load(pipeline, tmp_path / "programs.json", composition="trajectory")
    assert again.digest() == learner.digest()
    assert again.solve(task_of(pipeline, "t2")).first_accepted


def test_actions_may_be_added_and_reordered(saved):
    """Evidence is kept by names, so that the order in which a later version of the code lists them does not matter."""
    _, path = saved
    later = pipeline_of(("m0", "m1", "m2", "m3"))
    assert Learner.load(later, path).solve(task_of(later, "t4")).program == {"add": "m2"}
    actions = {name: later.stages[0].actions[name] for name in ("m3", "m2", "m0", "m1")}
    turned = Pipeline([Stage("add", actions=actions, contract=contract)], audit=lambda task, output: True)
    outcome = Learner.load(turned, path).solve(task_of(turned, "t4"))
    assert (outcome.first_accepted, outcome.program) == (True, {"add": "m2"})


def test_a_file_of_another_pipeline_is_refused(saved):
    _, path = saved
    rest = "Load it with the pipeline that it was learned on, or start with a new Learner and another file."
    refused(path, f"{path} is of another pipeline: this one has no action 'm2' at stage 'add'. {rest}", pipeline_of(("m0", "m1")))  # fmt: skip
    refused(path, f"{path} is of another pipeline: this one has no stage 'add'. {rest}", pipeline_of(stage="sum"))


def test_a_file_of_another_composition_is_refused(saved, pipeline):
    _, path = saved
    refused(path, f"{path} was learned by the composition 'pi', not 'self_trial'. Load it with composition=\"pi\".",
            pipeline, composition="self_trial")  # fmt: skip


def test_a_newer_a_foreign_and_a_missing_file_are_refused(saved, pipeline, tmp_path):
    _, path = saved
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "format": 2}))
    refused(
        path,
        f"{path} is of format 2, and this surefoot reads format 1. Use the newer surefoot that wrote it.",
        pipeline,
    )
    path.write_text("[1]")
    refused(
        path, f"{path} holds something else than evidence of a pipeline. Name the file of an earlier save.", pipeline
    )
    refused(tmp_path / "none.json", f"The evidence can't be read from {tmp_path}/none.json: No such file or directory. "
            "Name the file of an earlier save, or start with a new Learner.", pipeline)  # fmt: skip


def test_every_cut_and_every_changed_character_is_noticed(saved, pipeline):
    learner, path = saved
    text = path.read_bytes()
    found = set()
    for place in range(0, len(text) - 1, 7):
        for damaged in (text[:place], text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :]):
            path.write_bytes(damaged)
            try:
                known = Learner.load(pipeline, path)
            except UsageError as error:
                found.add(str(error).split(" (")[0].split(", ")[0])
            else:
                assert known.digest() == learner.digest()  # a flip in white space
    assert f"{path} is damaged" in found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"successes": 4', '"successes": -4'),
        ('"successes": 4', '"successes": "4"'),
        ('"incentive": 1.0', '"incentive": NaN'),
        ('"action": "m2"', '"action": "m1"'),
    ],
)
def test_senseless_values_are_refused_even_with_a_fitting_digest(saved, pipeline, old, new):
    from surefoot.pi.evidence_file import _digest

    _, path = saved
    text = path.read_text()
    assert old in text
    content = json.loads(text.replace(old, new))
    path.write_text(json.dumps({**content, "digest": _digest(content["known"])}))
    with pytest.raises(UsageError, match="is damaged"):
        Learner.load(pipeline, path)


def test_a_save_that_fails_leaves_the_file_as_it_was(saved, pipeline, monkeypatch, tmp_path):
    learner, path = saved
    before = path.read_bytes()
    learner.solve(task_of(pipeline, "t5"))

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UsageError, match=r"can't be written to .*: No space left on device. Name another file"):
        learner.save(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["evidence.json"]


def test_a_link_to_the_file_stays_a_link(saved, tmp_path):
    learner, path = saved
    link = tmp_path / "link.json"
    link.symlink_to(path)
    learner.save(link)
    assert link.is_symlink()
