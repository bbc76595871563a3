"""Resuming: a run killed anywhere ends with the programs and the report of one that was never killed."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from surefoot.evaluation.learning import new_manifest
from surefoot.memory.journal import Journal
from surefoot.search.folder import RunFolder
from surefoot.search.settings import Settings


class Killed(BaseException):
    """Stands for SIGKILL: nothing in the run may catch it and go on."""


def effects(run: Path) -> list[tuple[int, str]]:
    """Positions and kinds of a journal's effects."""
    with contextlib.closing(sqlite3.connect(run / "run.sqlite")) as rows:
        return rows.execute("SELECT position, kind FROM effects ORDER BY position").fetchall()


@pytest.fixture
def killed_at(monkeypatch: pytest.MonkeyPatch):
    """Arrange for a kill at one moment of one write."""

    def arrange(position: int, moment: str) -> None:
        def at_write(journal: Journal, at: int, when: str) -> None:
            if (at, when) == (position, moment):
                raise Killed

        monkeypatch.setattr(Journal, "at_write", at_write)

    return arrange


def test_a_run_killed_before_and_after_every_single_write_ends_as_if_it_never_was(
    finished, learn, timeless, killed_at, tmp_path
):
    run = tmp_path / "run"
    writes = [position for position, _ in effects(finished)]
    assert len(writes) > 30
    for position in writes:
        for moment in ("before", "after"):
            killed_at(position, moment)
            with pytest.raises(Killed):
                learn(run)
            assert len(effects(run)) == position + (moment == "after")
    killed_at(-1, "never")
    learn(run)
    assert timeless(run) == timeless(finished)
    assert effects(run) == effects(finished)


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("kind", ["execute", "annotate", "plan", "revise", "replay", "evaluate"])
def test_a_run_killed_once_at_a_late_write_of_any_kind_ends_as_if_it_never_was(
    kind, moment, finished, learn, timeless, killed_at, tmp_path
):
    position = max(position for position, found in effects(finished) if found == kind)
    killed_at(position, moment)
    with pytest.raises(Killed):
        learn(tmp_path / "run")
    killed_at(-1, "never")
    learn(tmp_path / "run")
    assert timeless(tmp_path / "run") == timeless(finished)


def test_a_finished_run_resumed_executes_nothing_and_reports_the_same(finished, learn, timeless, monkeypatch):
    before = timeless(finished)
    monkeypatch.setattr("surefoot.environments.host.TaskHost.execute", None)
    learn(finished)
    assert timeless(finished) == before


def test_a_run_killed_by_the_system_goes_on_in_another_process(desk, finished, timeless, tmp_path):
    script = (
        "import os, signal, sys\n"
        "from surefoot.memory.journal import Journal\n"
        "def at_write(journal, position, moment):\n"
        "    if (position, moment) == (int(sys.argv[3]), 'before'):\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "Journal.at_write = at_write\n"
        "from pathlib import Path\n"
        "from surefoot.evaluation.learning import run_learning\n"
        "from surefoot.search.folder import RunFolder\n"
        "with RunFolder.open(Path(sys.argv[1])) as folder:\n"
        "    run_learning(folder, int(sys.argv[2]), lambda line: None, lambda *progress: None)\n"
    )
    last = {kind: position for position, kind in effects(finished)}
    first_evaluation = min(position for position, kind in effects(finished) if kind == "evaluate")
    run = tmp_path / "run"
    manifest = new_manifest(desk, "skills", (101, 102, 103), (3, 15), 0, Settings(demonstration_tries=3))
    with RunFolder.create(run, manifest):
        pass
    for position, workers in ((last["execute"], "1"), (first_evaluation + 1, "2")):
        done = subprocess.run(
            [sys.executable, "-c", script, str(run), workers, str(position)],
            check=False,
            capture_output=True,
            cwd=os.curdir,
        )
        assert done.returncode == -signal.SIGKILL, done.stderr
    subprocess.run([sys.executable, "-c", script, str(run), "2", "-1"], check=True)
    assert timeless(run) == timeless(finished)
