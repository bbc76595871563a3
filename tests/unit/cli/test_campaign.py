"""A campaign on desk/place: one table whatever the workers, the engine, and what was killed on the way."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from surefoot.evaluation.campaign_folder import CampaignFolder

pytestmark = pytest.mark.contract

SMALL = ["campaign", "desk", "--tasks", "place", "--runs", "2", "--dev", "101-103", "--held-out", "1-10"]
TABLES = ["table.md", "programs/desk-place-0.py", "programs/desk-place-1.py"]


def contents(folder: Path) -> list[bytes]:
    """What equal campaigns have in common to the byte."""
    return [(folder / name).read_bytes() for name in TABLES]


def rows(database: Path) -> int:
    """How many effects a journal holds."""
    if not database.exists():
        return 0
    with contextlib.closing(sqlite3.connect(database, timeout=10)) as found, contextlib.suppress(sqlite3.Error):
        return found.execute("SELECT COUNT(*) FROM effects").fetchone()[0]
    return 0


def learned(folder: Path) -> int:
    return sum(rows(path) for path in folder.glob("runs/*/run.sqlite"))


def evaluated(folder: Path) -> int:
    return rows(folder / "campaign.sqlite")


def listed(*columns: str) -> list[list[str]]:
    """Running processes: these columns of each, its arguments last."""
    lines = subprocess.run(["ps", "-ewwo", ",".join([*columns, "args"])], check=True, capture_output=True, text=True)
    return [line.split(maxsplit=len(columns)) for line in lines.stdout.splitlines()[1:]]


def workers(process: subprocess.Popen) -> list[int]:
    """Process ids of a command's local workers."""
    return [
        int(pid) for pid, parent, text in listed("pid", "ppid") if parent == str(process.pid) and "spawn_main" in text
    ]


def actors() -> list[int]:
    """Process ids of Ray's workers that are at work."""
    return [int(pid) for pid, text in listed("pid") if "ray::_Actor.attempt" in text]


def alive(group: int) -> list[str]:
    """Command lines of the processes of a group that have not ended."""
    return [text for found, state, text in listed("pgid", "stat") if found == str(group) and not state.startswith("Z")]


@pytest.fixture(scope="module")
def begun(command) -> Callable:
    """A command in a process group of its own, within a context."""

    @contextlib.contextmanager
    def begin(*arguments: object, **environment: str) -> Iterator[subprocess.Popen]:
        with subprocess.Popen(
            [*command, *map(str, arguments)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, **environment},
        ) as process:
            try:
                yield process
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # one that hangs must not hang the tests

    return begin


def until(process: subprocess.Popen, reached: Callable[[], bool]) -> None:
    """Wait for a moment of a command that must not end before it."""
    deadline = time.monotonic() + 60
    while not reached():
        with contextlib.suppress(subprocess.TimeoutExpired):
            raise AssertionError(f"ended with {process.wait(0.01)}: {process.stderr.read()}")
        assert time.monotonic() < deadline


def finished(process: subprocess.Popen) -> None:
    _, errors = process.communicate(timeout=100)
    assert process.returncode == 0, errors


@pytest.fixture(scope="module")
def single(begun, tmp_path_factory) -> Path:
    """The campaign of one worker that nothing happened to; not to be changed."""
    folder = tmp_path_factory.mktemp("campaign") / "single"
    with begun(*SMALL, "--workers", 1, "--out", folder) as process:
        finished(process)
    return folder


def test_the_tables_say_what_was_learned(single):
    text = (single / "table.md").read_text()
    assert "| desk/place | state | own | " in text
    assert "2 learning runs per task (run seed 0,1)" in text
    assert "program seed 0" in text
    assert "| mean over tasks |" in text
    assert "seconds" not in text
    costs = (single / "costs.md").read_text()
    assert "| task | learning s | freeze s |" in costs
    assert "| desk/place | " in costs


def test_the_report_has_the_promised_keys(single):
    report = json.loads((single / "report.json").read_text())
    assert {"suite", "proposer", "run_seeds", "program_seed", "infrastructure_failures", "tables"} <= report.keys()
    (task,) = report["tables"][0]["tasks"]
    assert {"first", "final", "best", "best_demonstration", "missed", "checks", "roles", "costs"} <= task.keys()
    assert [score["episodes"] for score in task["final"]["scores"]] == [10, 10]
    assert report["infrastructure_failures"] == 0


def test_each_learning_run_is_an_ordinary_run(single, surefoot):
    said = surefoot("show", single / "runs" / "desk-place-refresh-1", "--json")
    assert (said.code, said.json["run_seed"], said.json["program_seed"]) == (0, 1, 0)
    assert (single / "programs" / "desk-place-1.py").read_bytes() == (
        single / "runs" / "desk-place-refresh-1" / "final.py"
    ).read_bytes()


def test_a_campaign_is_shown(single, surefoot):
    said = surefoot("show", single)
    assert said.code == 0
    assert said.out.splitlines()[1] == "Held-out success, witnesses: refresh"
    assert said.out.splitlines()[2].split("  ")[0] == "task"
    assert [line.split()[0] for line in said.out.splitlines()[3:]] == ["desk/place", "mean"]
    assert str(single / "table.md") in said.err


def test_a_finished_campaign_resumed_runs_nothing_and_keeps_its_table(single, surefoot):
    before, count = contents(single), evaluated(single)
    said = surefoot("resume", single, "--json")
    assert (said.code, said.json["suite"]) == (0, "desk")
    assert (contents(single), evaluated(single)) == (before, count)


def test_killed_workers_cost_no_episode_and_no_entry_in_the_table(single, begun, tmp_path):
    folder = tmp_path / "two"
    with begun(*SMALL, "--workers", 2, "--out", folder) as process:
        until(process, lambda: learned(folder) > 10)
        first, second = workers(process)
        os.kill(first, signal.SIGKILL)
        until(process, lambda: evaluated(folder) > 0)
        os.kill(second, signal.SIGKILL)
        finished(process)
    assert contents(folder) == contents(single)
    assert "2 worker processes died in the last attempt" in (folder / "costs.md").read_text()


def test_a_campaign_killed_three_times_ends_as_if_it_never_was(single, begun, tmp_path):
    folder = tmp_path / "killed"
    moments = (lambda: learned(folder) > 5, lambda: learned(folder) > 60, lambda: evaluated(folder) > 14)
    command = [*SMALL, "--out", folder]
    for reached in moments:
        with begun(*command) as process:
            until(process, reached)
        command = ["resume", folder]
    with begun(*command) as process:
        finished(process)
    assert contents(folder) == contents(single)


def test_a_campaign_on_ray_has_the_same_table_though_a_worker_was_killed(single, begun, tmp_path):
    pytest.importorskip("ray")
    folder = tmp_path / "ray"
    with begun(*SMALL, "--engine", "ray", "--out", folder) as process:
        until(process, lambda: learned(folder) > 10 and actors())
        os.kill(actors()[0], signal.SIGKILL)
        finished(process)
    assert contents(folder) == contents(single)


def test_an_interrupted_campaign_ends_with_130_says_how_to_go_on_and_leaves_no_process(begun, tmp_path):
    folder = tmp_path / "interrupted"
    with begun(*SMALL, "--out", folder) as process:
        until(process, lambda: learned(folder) > 5)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130
        assert f"Go on with 'surefoot resume {folder}'." in errors
        assert errors.rstrip().endswith("Interrupted. What was recorded until now is kept.")
        deadline = time.monotonic() + 20
        while alive(process.pid):  # program processes end as soon as they notice
            assert time.monotonic() < deadline


def test_a_campaign_has_one_writer(single, surefoot):
    with CampaignFolder.open(single):
        said = surefoot("resume", single)
    assert said.code == 2
    assert f"Another process works on the campaign {single}" in said.err


def test_a_campaign_of_other_code_is_refused(tmp_path, single, surefoot):
    manifest = json.loads((single / "campaign.json").read_text()) | {"code": "0.0.1+abc"}
    (tmp_path / "campaign.json").write_text(json.dumps(manifest))
    said = surefoot("resume", tmp_path)
    assert said.code == 2
    assert "was made by surefoot code 0.0.1+abc" in said.err


def test_where_a_campaign_is_a_second_one_is_refused_with_the_way_on(single, surefoot):
    said = surefoot(*SMALL, "--out", single)
    assert said.code == 2
    assert f"holds a campaign already. Continue it with 'surefoot resume {single}'" in said.err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("deskk",), "There is no suite 'deskk'. Did you mean 'desk'? Available: desk, robosuite."),
        (("desk", "--tasks", "plaice"), "There is no 'desk' task 'plaice'. Did you mean 'desk/place'?"),
        (("desk", "--runs", "0"), "--runs"),
        (("desk", "--witnesses", "fresh"), "'fresh' is none of refresh, paper, both."),
        (("desk", "--proposer", "skils"), "Did you mean 'skills'?"),
        (("desk", "--engine", "rai"), "There is no engine 'rai'. Did you mean 'ray'?"),
        (("desk", "--dev", "1-5", "--held-out", "5"), "Configurations 5 are both development and held-out"),
    ],
)
def test_what_can_not_be_a_campaign_is_said_before_there_is_one(arguments, text, tmp_path, surefoot):
    said = surefoot("campaign", *arguments, "--out", tmp_path / "campaign")
    assert said.code == 2
    assert text in said.err
    assert not (tmp_path / "campaign").exists()


def test_a_place_that_can_not_be_a_folder_is_said(tmp_path, surefoot):
    (tmp_path / "file").touch()
    said = surefoot(*SMALL, "--out", tmp_path / "file" / "campaign")
    assert said.code == 2
    assert "No campaign can be made at" in said.err


def test_ray_that_is_not_installed_is_named_with_the_command(tmp_path, surefoot, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    said = surefoot(*SMALL, "--engine", "ray", "--out", tmp_path / "campaign")
    assert said.code == 2
    assert 'pip install ".[ray]"' in said.err
    assert not (tmp_path / "campaign").exists()


def test_a_ray_that_does_not_answer_is_said(tmp_path, surefoot, monkeypatch):
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    said = surefoot(*SMALL, "--engine", "ray", "--out", tmp_path / "campaign")
    assert said.code == 4
    assert "Ray can't be reached at 127.0.0.1:1: ConnectionRefusedError" in said.err
