"""What the skills proposer owes to its parts, at equal executions on desk/place (short forms of the benchmarks)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from surefoot.environments.base import Task
from surefoot.evaluation import learning
from surefoot.evaluation.learning import Report, new_manifest, run_learning
from surefoot.search.folder import RunFolder
from surefoot.search.settings import Settings

pytestmark = pytest.mark.paper
RUN_SEEDS = (0, 1)
DEVELOPMENT = tuple(range(101, 113))
HELD_OUT = tuple(range(1, 17))


@pytest.fixture(scope="session")
def learned(desk: Task, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Report]:
    """A learning run's report: `learned(proposer, run_seed, executions)`; equal runs are made once."""
    known: dict[tuple, Report] = {}
    folder = tmp_path_factory.mktemp("paper")

    def run(proposer: str, run_seed: int, executions: int | None = None, task: Task = desk) -> Report:
        key = (proposer, run_seed, executions, *(item.name for item in task.demonstrations))
        if key not in known:
            settings = Settings(executions=executions)
            manifest = new_manifest(task, proposer, DEVELOPMENT, HELD_OUT, run_seed, settings)
            with RunFolder.create(folder / "-".join(map(str, key)), manifest) as made:
                known[key] = run_learning(made, 1, lambda line: None, lambda label, done, total: None)
        return known[key]

    return run


@pytest.mark.parametrize("control", ["random", "skills-no-frontier"])
def test_skills_solve_more_held_out_scenes_than_a_control_with_as_many_executions(learned, control):
    pairs = []
    for run_seed in RUN_SEEDS:
        skills = learned("skills", run_seed)
        other = learned(control, run_seed, skills.episodes["search"])
        assert other.episodes["search"] <= skills.episodes["search"]
        pairs.append((skills.final.successes, other.final.successes))
    assert all(skills >= other for skills, other in pairs), pairs
    assert sum(skills - other for skills, other in pairs) >= 0.1 * len(HELD_OUT) * len(RUN_SEEDS), pairs


def test_skills_solve_more_held_out_scenes_than_their_first_program(learned):
    for run_seed in RUN_SEEDS:
        report = learned("skills", run_seed)
        assert report.final_against_first.only_second > report.final_against_first.only_first + 2


@pytest.mark.parametrize("missing", ["place_mug", "place_brick", "place_high"])
def test_skills_still_learn_with_one_demonstration_removed(learned, desk, monkeypatch, missing):
    fewer = dataclasses.replace(
        desk, demonstrations=tuple(item for item in desk.demonstrations if item.name != missing)
    )
    monkeypatch.setattr(learning, "find_task", lambda name: fewer)
    report = learned("skills", 0, None, fewer)
    assert report.final_against_first.only_second > report.final_against_first.only_first


def test_reports_are_of_the_programs_they_name(learned):
    report = learned("skills", 0)
    path = Path(report.run)
    names = {name: (path / f"{name}.py").read_bytes() for name in ("first", "final", "best")}
    assert all(
        (path / "programs" / f"{digest}.py").read_bytes() == names[name] for name, digest in report.programs.items()
    )
    assert msgspec.json.decode((path / "report.json").read_bytes(), type=Report) == report
