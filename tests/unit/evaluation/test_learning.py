"""A learning run on desk/place from demonstrations to report."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys

import msgspec
import pytest

from surefoot.boundary.outcome import Infrastructure, Success
from surefoot.errors import RunError, UsageError
from surefoot.evaluation import learning
from surefoot.evaluation.learning import Report
from surefoot.evaluation.pool import Episode
from surefoot.program.source import Program
from surefoot.program.stages import staged
from surefoot.proposer.skills.library import SkillLibrary

KEYS = {
    "": {"run", "task", "tier", "first", "final", "best", "repairs", "certification", "diagnostics"},
    "first": {"successes", "episodes"},
    "repairs": {"local", "stage", "strategy"},
    "certification": {"checks", "certified", "diverged", "unavailable", "replay_seconds", "execution_seconds"},
    "diagnostics": {"run", "failed"},
}


@pytest.fixture
def report(finished) -> Report:
    return msgspec.json.decode((finished / "report.json").read_bytes(), type=Report)


def test_a_run_repairs_what_the_first_program_fails_and_keeps_what_it_solved(report):
    assert report.programs["first"] != report.programs["final"]
    assert report.bank == {"witnesses": 3, "final_holds": 3, "best_holds": 3}
    assert report.repairs == {"local": 0, "stage": 1, "strategy": 0}
    assert (report.certification.checks, report.certification.certified) == (2, 2)
    assert report.certification.edited_line_ran == 2
    assert report.episodes == {"demonstrations": 9, "search": 4, "freeze": 0, "evaluation": 4}


def test_the_report_has_the_promised_keys(finished):
    data = msgspec.json.decode((finished / "report.json").read_bytes())
    for name, keys in KEYS.items():
        assert keys <= (data[name] if name else data).keys()


def test_every_program_of_a_run_is_valid_staged_and_closed(finished, desk):
    names = [function.name for function in desk.surface.functions] + [item.name for item in desk.surface.types]
    programs = sorted((finished / "programs").glob("*.py"))
    assert len(programs) == 2
    for path in (*programs, finished / "final.py"):
        program = Program.read(path)
        parts = staged(program)
        assert parts is not None
        assert all(stage.is_closed(names) for stage in parts.stages)
        assert path.stem in ("final", program.digest)


def test_the_repair_leaves_every_line_of_the_first_program(finished):
    first, final = ((finished / f"{name}.py").read_text().splitlines() for name in ("first", "final"))
    remaining = iter(final)
    assert all(line in remaining for line in first)


def test_one_run_seed_gives_one_result_whatever_the_hash_seed(finished, timeless, tmp_path):
    results = []
    for hash_seed in ("1", "2"):
        path = tmp_path / f"run{hash_seed}"
        command = [
            sys.executable, "-c", "from surefoot.cli.main import main; main()", "learn", "desk/place", "--dev", "101-103",
            "--held-out", "3,15", "--out", str(path), "--workers", "1",
        ]  # fmt: skip
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": hash_seed}
        )
        assert done.returncode in (0, 1), done.stderr
        results.append(timeless(path))
    assert results[0] == results[1] == timeless(finished)


def test_an_environment_that_changed_since_is_refused(finished, learn, desk, monkeypatch):
    changed = dataclasses.replace(desk, revision=lambda: "another")
    monkeypatch.setattr(learning, "find_task", lambda name: changed)
    with pytest.raises(RunError, match="The environment of desk/place has changed since the run began"):
        learn(finished)


def test_held_out_scenes_that_were_developed_on_end_the_run_without_a_report(learn, tmp_path, monkeypatch):
    monkeypatch.setattr(learning, "overlap", lambda development, held_out: learning.Overlap((held_out[0].seed,), 0.0))
    with pytest.raises(UsageError, match="The held-out configurations 3 give scenes that were used in development"):
        learn(tmp_path / "run")
    assert not (tmp_path / "run" / "report.json").exists()


def test_a_held_out_scene_that_the_environment_lost_counts_for_neither_program(finished, learn, monkeypatch):
    def lossy(folder, searched, workers, advance):
        fine = [Episode(seed, Success(), None, 0, 0.0) for seed in (3, 15)]
        lost = [Episode(3, Infrastructure("the worker process died"), None, 0, 0.0), fine[1]]
        return {searched.programs["first"]: fine, searched.programs["final"]: lost}

    monkeypatch.setattr(learning, "_evaluate", lossy)
    monkeypatch.setattr(learning.RunFolder, "save", lambda *_: None)
    report = learn(finished)
    assert (report.final_against_first.only_first, report.final_against_first.only_second) == (0, 0)
    assert (report.final.successes, report.final.episodes, report.final.infrastructure_failures) == (1, 1, 1)


def test_a_run_is_in_the_library_once_however_often_it_is_resumed(learn, tmp_path):
    library = tmp_path / "skills.json"
    for name in ("one", "one", "two", "two"):
        learn(tmp_path / name, library=library, development=(101, 102, 103, 104, 105))
    known = msgspec.json.decode(library.read_bytes(), type=SkillLibrary)
    assert len(known.runs) == 2
    (pick,) = [item for item in known.skills if item.fragment.stage.name == "pick" and not item.failures]
    assert (pick.successes, len(pick.confirmed)) == (3 + 5, 5)  # repaired on the third scene, then from the first on


def test_a_later_run_starts_from_the_skills_of_the_library(learn, tmp_path):
    library = tmp_path / "skills.json"
    runs = [learn(tmp_path / name, library=library, development=(101, 102, 103, 104, 105)) for name in ("one", "two")]
    assert [sum(run.repairs.values()) for run in runs] == [1, 0]
    assert runs[1].programs["first"] == runs[0].programs["final"]


def test_a_skill_that_failed_is_not_promoted_in_later_runs(learn, tmp_path):
    library = tmp_path / "skills.json"
    learn(tmp_path / "one", library=library)
    known = msgspec.json.decode(library.read_bytes(), type=SkillLibrary)
    naive = next(item for item in known.skills if item.fragment.stage.name == "pick" and len(item.confirmed) == 2)
    assert (naive.successes, naive.failures) == (2, 1)
