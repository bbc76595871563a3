"""A run's tape store: one file per execution, nothing lost, nothing overwritten."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from surefoot.errors import RunError, TapeError
from surefoot.memory.tapes import TapeStore
from surefoot.tape.file import load_tape


@pytest.fixture
def store(tmp_path: Path) -> TapeStore:
    return TapeStore(tmp_path / "tapes")


def test_a_finished_tape_is_named_by_its_id_and_read_back(store, desk_tape):
    recorded = store.unfinished_path()
    shutil.copy(desk_tape, recorded)
    tape = load_tape(recorded)
    assert store.keep(recorded, tape) == tape.id
    assert store.load(tape.id).events == tape.events
    assert [path.name for path in store.folder.iterdir()] == [f"{tape.id}.mcap"]


def test_an_equal_execution_leaves_the_first_file_and_no_second(store, desk_tape):
    for _ in range(2):
        shutil.copy(desk_tape, store.unfinished_path())
        identity = store.keep(store.unfinished_path(), load_tape(desk_tape))
    assert [path.name for path in store.folder.iterdir()] == [f"{identity}.mcap"]


def test_what_a_killed_run_left_is_set_aside_and_never_replaced(store):
    for content in ("one", "two", "three"):
        store.unfinished_path().write_text(content)
        store = TapeStore(store.folder)
        if content == "two":
            (store.folder / "unfinished" / "0000.mcap").unlink()
    kept = sorted(path.read_text() for path in (store.folder / "unfinished").iterdir())
    assert kept == ["three", "two"]
    assert not store.unfinished_path().exists()


def test_a_tape_that_is_gone_is_an_error_with_its_path(store):
    with pytest.raises(TapeError, match="abc"):
        store.load("abc")


def test_a_place_that_can_not_be_a_folder_is_said(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="The run's tapes can't be kept at"):
        TapeStore(tmp_path / "file" / "tapes")


def test_a_recording_of_another_process_that_runs_is_left_alone(tmp_path):
    running, gone, odd = (tmp_path / f".recording-{name}.mcap" for name in (os.getppid(), 2**22 + 1, "old"))
    for path in (running, gone, odd):
        path.write_bytes(b"begun")
    TapeStore(tmp_path)
    assert running.exists()
    assert not gone.exists()
    assert not odd.exists()
    assert len(list((tmp_path / "unfinished").iterdir())) == 2
