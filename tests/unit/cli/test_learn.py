"""`learn`, `resume`, `evaluate` and the run part of `show`: what they print, and how they end."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import msgspec
import pytest

from surefoot.search.folder import Manifest
from surefoot.search.settings import Settings

SMALL = ("--dev", "101-103", "--held-out", "3,15", "--workers", "1")


@pytest.fixture(scope="session")
def finished(
    command: list[str], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A finished run with `--json`, and what it printed; not to be changed."""
    run = tmp_path_factory.mktemp("learn") / "run"
    done = subprocess.run(
        [*command, "learn", "desk/place", *SMALL, "--out", str(run), "--json"],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    return run, done


@pytest.fixture
def run(finished, tmp_path) -> Path:
    """A copy of the finished run."""
    return Path(shutil.copytree(finished[0], tmp_path / "run"))


def test_learn_prints_one_object_with_the_promised_keys(finished):
    run, done = finished
    report = msgspec.json.decode(done.stdout)
    assert {"run", "task", "tier", "first", "final", "best", "repairs", "certification", "diagnostics"} <= report.keys()
    assert (report["run"], report["task"], report["tier"]) == (str(run), "desk/place", "state")
    for name in ("first", "final", "best"):
        assert {"successes", "episodes"} <= report[name].keys()
    assert report["repairs"].keys() == {"local", "stage", "strategy"}
    assert {"checks", "certified", "diverged", "unavailable", "replay_seconds", "execution_seconds"} <= report[
        "certification"
    ].keys()
    assert report["diagnostics"].keys() == {"run", "failed"}
    better = report["final"]["successes"] > report["first"]["successes"]
    assert done.returncode == (0 if better or report["first"]["successes"] == 2 else 1)


def test_show_and_resume_of_a_finished_run_say_the_same(run, finished, surefoot):
    shown, resumed = surefoot("show", run, "--json"), surefoot("resume", run, "--json")
    expected = msgspec.json.decode(finished[1].stdout)
    assert (shown.code, shown.json) == (0, expected)
    resumed_report = {**resumed.json, "run": expected["run"]}
    assert (resumed.code, resumed_report) == (finished[1].returncode, expected)
    text = surefoot("show", run).out
    assert "holds on bank" in text
    assert "+++ final" in text


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff"])
def test_a_broken_report_is_said_with_the_way_to_write_it_again(run, surefoot, data):
    (run / "report.json").write_bytes(data)
    said = surefoot("show", run)
    assert said.code == 2
    assert f"Write it again with 'surefoot resume {run}'" in said.err
    assert surefoot("resume", run).code in (0, 1)
    assert surefoot("show", run).code == 0


def test_an_unfinished_run_is_said_with_the_way_on(run, surefoot):
    (run / "report.json").unlink()
    said = surefoot("show", run)
    assert (said.code, said.out) == (2, "")
    assert f"is not finished. Go on with 'surefoot resume {run}'" in said.err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("desk/plaice",), "Did you mean 'desk/place'?"),
        (("desk/place", "--proposer", "skils"), "Did you mean 'skills'?"),
        (("desk/place", "--dev", ""), "names no configurations"),
        (("desk/place", "--held-out", ""), "names no configurations"),
        (("desk/place", "--dev", "1-5", "--held-out", "5"), "Configurations 5 are both development and held-out"),
        (("desk/place", "--witnesses", "fresh"), "neither 'refresh' nor 'paper'"),
        (("desk/place", "--regressions", "allow"), "neither 'refuse' nor 'paper'"),
        (("desk/place", "--checking", "all"), "none of certify, rerun-all, minibatch, none"),
        (("desk/place", "--episodes", "0"), "--episodes"),
        (("desk/place", "--library", "."), "can't be read: Is a directory"),
    ],
)
def test_what_can_not_be_learned_is_said_before_there_is_a_run(surefoot, tmp_path, arguments, text):
    said = surefoot("learn", *arguments, "--out", tmp_path / "run", "--json")
    assert (said.code, said.out) == (2, "")
    assert text in said.err
    assert not (tmp_path / "run").exists()


def test_a_run_within_a_budget_says_so_and_tells_when_nothing_was_won(surefoot, tmp_path):
    said = surefoot("learn", "desk/place", *SMALL, "--episodes", 1, "--out", tmp_path / "run")
    assert said.code == 1
    assert "up to 1 search episode, diagnostics included, then up to 6 held-out ones" in said.err
    assert said.err.endswith("The final program does no better than the first on the held-out configurations.\n")


def test_what_can_not_be_resumed_is_said(surefoot, tmp_path):
    said = surefoot("resume", tmp_path)
    assert said.code == 2
    assert said.err.startswith(f"surefoot: There is no run or campaign at {tmp_path}.")


def test_without_options_a_run_has_the_settings_that_are_the_default(finished):
    run, _ = finished
    manifest = msgspec.json.decode((run / "manifest.json").read_bytes(), type=Manifest)
    assert manifest.settings == Settings()


def test_a_broken_library_is_said_before_there_is_a_run(surefoot, tmp_path):
    (tmp_path / "skills.json").write_text("{")
    said = surefoot("learn", "desk/place", "--library", tmp_path / "skills.json", "--out", tmp_path / "run")
    assert said.code == 2
    assert "The skill library can't be read" in said.err
    assert not (tmp_path / "run").exists()


def test_evaluate_prints_one_object_with_the_promised_keys(surefoot, written, naive):
    said = surefoot("evaluate", "desk/place", written(naive.source), "--seeds", "101-103", "--json")
    assert said.code == 0
    assert {
        "task", "tier", "protocol", "successes", "episodes", "interval", "infrastructure_failures",
    } <= said.json.keys()  # fmt: skip
    assert (said.json["successes"], said.json["episodes"], said.json["infrastructure_failures"]) == (2, 3, 0)
    assert "3 of these are development configurations" in said.err


def test_evaluate_of_no_configurations_is_refused(surefoot, written, naive):
    assert surefoot("evaluate", "desk/place", written(naive.source), "--seeds", "").code == 2


def test_an_interrupted_run_ends_with_130_leaves_no_process_and_keeps_its_journal(tmp_path, command):
    run = tmp_path / "run"
    arguments = [
        "learn",
        "desk/place",
        "--dev",
        "101-103",
        "--held-out",
        "201-600",
        "--out",
        str(run),
        "--workers",
        "2",
    ]
    with subprocess.Popen(
        [*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 60
        while not evaluated(run) and time.monotonic() < deadline:
            assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()  # one that hangs must not hang the tests
    assert process.returncode == 130
    assert errors.rstrip().endswith("Interrupted. What was recorded until now is kept.")
    assert alive(process.pid) == []
    assert 0 < evaluated(run) < 400


def alive(group: int) -> list[str]:
    """Command lines of the processes of a group that have not ended."""
    lines = subprocess.run(["ps", "-eo", "pgid,stat,args"], check=True, capture_output=True, text=True).stdout
    found = [line.split(maxsplit=2) for line in lines.splitlines()[1:]]
    return [item[2] for item in found if item[0] == str(group) and not item[1].startswith("Z")]


def evaluated(run: Path) -> int:
    """How many held-out episodes a run's journal holds."""
    if not (run / "run.sqlite").exists():
        return 0
    with (
        contextlib.closing(sqlite3.connect(run / "run.sqlite", timeout=10)) as rows,
        contextlib.suppress(sqlite3.OperationalError),
    ):
        return rows.execute("SELECT COUNT(*) FROM effects WHERE kind = 'evaluate'").fetchone()[0]
    return 0
