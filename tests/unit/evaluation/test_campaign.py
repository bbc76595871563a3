"""A campaign's course with workers in this process: what is shared, what goes on after a fault, what is refused."""

from __future__ import annotations

import contextlib
import dataclasses
import sqlite3
from concurrent.futures import Future
from pathlib import Path

import pytest

from surefoot.boundary.outcome import Infrastructure
from surefoot.environments.registry import find_task
from surefoot.errors import EnvironmentFaultError, RunError, UsageError
from surefoot.evaluation import campaign
from surefoot.evaluation.campaign import CampaignReport, Learning, run_campaign
from surefoot.evaluation.campaign_folder import CampaignFolder, new_campaign
from surefoot.evaluation.crew import Crew, attempt


class Inline:
    """A worker that is this process."""

    died = ()

    def submit(self, work):
        future = Future()
        future.set_result(attempt(work))
        return future

    def close(self, now: bool) -> None:
        pass


def pursued(path: Path, lines: list[str] | None = None) -> CampaignReport:
    """Begin a campaign of two runs on desk/place, or go on with the one that is there."""
    if CampaignFolder.is_at(path):
        folder = CampaignFolder.open(path)
    else:
        ways = ("refresh", "paper")
        manifest = new_campaign("desk", [find_task("desk/place")], "skills", 4, 1, ways, (101, 102, 103), (3, 15))
        folder = CampaignFolder.create(path, manifest)
    with folder, Crew(Inline, 1) as crew:
        return run_campaign(folder, crew, (lines if lines is not None else []).append, lambda *progress: None)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> tuple[Path, CampaignReport]:
    """A finished campaign; not to be changed."""
    path = tmp_path_factory.mktemp("campaign") / "whole"
    return path, pursued(path)


def evaluated(path: Path) -> int:
    with contextlib.closing(sqlite3.connect(path / "campaign.sqlite")) as rows:
        return rows.execute("SELECT COUNT(*) FROM effects").fetchone()[0]


def test_everything_is_learned_both_ways_and_reported_apart(whole):
    path, report = whole
    assert [table.witnesses for table in report.tables] == ["refresh", "paper"]
    assert report.run_seeds == (4,)
    names = ["desk-place-4-paper.py", "desk-place-4-refresh.py"]
    assert sorted(item.name for item in (path / "programs").iterdir()) == names
    for table in report.tables:
        (task,) = table.tasks
        assert (task.demonstrations, task.roles["repair"], task.final.scores[0].episodes) == (("desk/place",), 1, 2)


def test_programs_of_equal_bytes_are_evaluated_once(whole):
    path, report = whole
    demonstrations = len(find_task("desk/place").demonstrations) * 3
    assert (path / "programs/desk-place-4-paper.py").read_bytes() == (
        path / "programs/desk-place-4-refresh.py"
    ).read_bytes()
    programs = 3  # the best demonstration, the first program, and the final one, which is the best one, too
    assert report.evaluation_episodes == programs * 2
    assert evaluated(path) == demonstrations + programs * 2


def test_the_best_demonstration_is_chosen_on_development_scenes_and_tested_on_the_others(whole):
    (task,) = whole[1].tables[0].tasks
    shown = task.best_demonstration
    assert (shown.name, shown.task) == ("place_naive", "desk/place")
    assert (shown.development.successes, shown.development.episodes, shown.held_out.episodes) == (2, 3, 2)


def test_a_learning_run_whose_environment_fails_is_left_and_gone_on_with_later(whole, tmp_path, monkeypatch):
    search, searched = campaign.search, []

    def failing(folder, narrate):
        searched.append(folder.path.name)
        if folder.manifest.settings.witnesses == "refresh" and len(searched) == 1:
            raise EnvironmentFaultError("The simulator is gone.")
        return search(folder, narrate)

    monkeypatch.setattr(campaign, "search", failing)
    path, lines = tmp_path / "campaign", []
    with pytest.raises(EnvironmentFaultError) as fault:
        pursued(path, lines)
    assert str(fault.value) == (
        "1 of 2 learning runs could not be finished, the first being desk/place, run seed 4, witnesses refresh: The "
        f"simulator is gone. Then go on with 'surefoot resume {path}'; what is finished is kept."
    )
    assert lines[0] == "not learned: desk/place, run seed 4, witnesses refresh: The simulator is gone."
    assert lines[1].startswith("[1/2] learned desk/place, run seed 4, witnesses paper: 4 search episodes, ")
    assert pursued(path).tables[0].tasks[0].final == whole[1].tables[0].tasks[0].final
    assert searched == ["desk-place-refresh-4", "desk-place-paper-4", "desk-place-refresh-4"]


def test_an_environment_that_changed_since_is_refused(whole, monkeypatch):
    changed = dataclasses.replace(find_task("desk/place"), revision=lambda: "another")
    monkeypatch.setattr(campaign, "find_task", lambda name: changed)
    with pytest.raises(RunError, match="The environment of desk/place has changed since the campaign began"):
        pursued(whole[0])


def test_a_run_that_can_not_be_opened_is_a_fault_of_that_run(tmp_path):
    (tmp_path / "manifest.json").write_text("{")
    failed = Learning(str(tmp_path), None).perform()  # type: ignore[arg-type]
    assert "can't be read" in failed.text
    assert not failed.environment


def test_a_run_at_which_workers_die_for_good_is_the_environment_s_fault(tmp_path):
    failed = Learning(str(tmp_path), None).given_up()  # type: ignore[arg-type]
    assert (failed.text, failed.environment) == ("20 worker processes died at it.", True)


def test_what_the_environment_lost_is_counted_apart(whole, tmp_path, monkeypatch):
    perform = campaign.Evaluation.perform

    def losing(self):
        episode = perform(self)
        if self.job.seed == 15:
            return type(episode)(15, Infrastructure("gone"), None, 0, 0.0)
        return episode

    monkeypatch.setattr(campaign.Evaluation, "perform", losing)
    report = pursued(tmp_path / "campaign")
    (task,) = report.tables[0].tasks
    assert report.infrastructure_failures == 3
    assert (task.final.scores[0].episodes, task.final.scores[0].infrastructure_failures) == (1, 1)
    assert [(miss.seed, miss.infrastructure) for miss in task.missed if miss.infrastructure] == [(15, True)]


def test_what_the_environment_lost_while_the_best_demonstration_was_chosen_is_counted_too(tmp_path, monkeypatch):
    perform = campaign.Evaluation.perform

    def losing(self):
        return self.given_up() if self.job.seed == 102 else perform(self)

    monkeypatch.setattr(campaign.Evaluation, "perform", losing)
    report = pursued(tmp_path / "campaign")
    (task,) = report.tables[0].tasks
    assert task.best_demonstration.development.infrastructure_failures == 1
    assert report.infrastructure_failures == len(find_task("desk/place").demonstrations)


def test_a_configuration_that_is_both_is_refused():
    with pytest.raises(UsageError, match="Configurations 3 are both development and held-out"):
        new_campaign("desk", [find_task("desk/place")], "skills", 0, 1, ("refresh",), (1, 2, 3), (3, 4))
