"""The success bank: one witness a configuration, nothing ever lost."""

from __future__ import annotations

import os
import subprocess
import sys

import msgspec
import pytest

from surefoot.boundary.outcome import Failure
from surefoot.errors import UsageError
from surefoot.memory.bank import Bank
from surefoot.tape.file import load_tape


@pytest.fixture
def bank(tmp_path):
    made = Bank(tmp_path / "bank")
    made.create()
    return made


@pytest.fixture
def recorded(tape_of, perform, bank):
    """Records a tape where the bank wants it: `recorded(seed, source)`; of a failure without `source`."""

    def made(seed: int = 1, source: str | None = "echo(1)\n"):
        path = bank.unfinished_path(seed)
        tape = tape_of(source, seed=seed, path=path) if source else perform("1 / 0", seed=seed, path=path).tape
        return path, tape

    return made


def names(bank):
    return sorted(path.relative_to(bank.folder).as_posix() for path in bank.folder.rglob("*.mcap"))


def test_a_success_becomes_its_configuration_s_witness(bank, recorded):
    path, tape = recorded(3)
    assert bank.keep(path, tape) == bank.folder / "toy.seed-3.mcap"
    (witness,) = bank.witnesses()
    assert (witness.tape, witness.problem) == (msgspec.structs.replace(tape, path=witness.path), "")


def test_a_newer_success_replaces_the_witness_and_the_older_is_kept_beside_it(bank, recorded):
    tapes = []
    for number in range(3):
        path, tape = recorded(1, f"echo({min(number, 1)})\n")
        tapes.append(tape)
        bank.keep(path, tape)
    replaced = sorted(f"replaced/toy.seed-1.{tape.id[:12]}.mcap" for tape in tapes[:2])
    assert names(bank) == [*replaced, "toy.seed-1.mcap"]
    path, tape = recorded(1, "echo(1)\n")
    bank.keep(path, tape)
    assert f"replaced/toy.seed-1.{tapes[1].id[:12]}-2.mcap" in names(bank)


def test_a_failure_is_kept_and_is_no_witness(bank, recorded):
    path, tape = recorded(1, None)
    bank.keep(path, tape)
    assert names(bank) == [f"failures/toy.seed-1.{tape.id[:12]}.mcap"]
    with pytest.raises(UsageError) as error:
        bank.witnesses()
    assert str(error.value) == (
        f"The bank {bank.folder} holds no tapes. Fill it with 'surefoot record … --bank {bank.folder}'."
    )


def test_a_witness_that_cannot_be_read_is_listed_with_its_problem_and_kept_when_replaced(bank, recorded):
    broken = bank.folder / "toy.seed-1.mcap"
    broken.write_bytes(b"junk")
    (witness,) = bank.witnesses()
    assert witness.tape is None
    assert witness.problem.startswith(f"{broken} is not a surefoot tape.")
    bank.keep(*recorded(1))
    assert (bank.folder / "replaced" / "toy.seed-1.unreadable.mcap").read_bytes() == b"junk"


def test_a_recording_left_by_a_killed_process_of_the_same_id_is_not_in_the_way(bank, recorded):
    left = bank.unfinished_path(1)
    left.write_bytes(b"cut")
    path, tape = recorded(1)
    assert path != left
    bank.keep(path, tape)
    assert bank.unfinished() == [left]
    assert [witness.path.name for witness in bank.witnesses()] == ["toy.seed-1.mcap"]


def test_witnesses_come_in_order_of_their_configurations(bank, recorded):
    for seed in (10, 9, 100):
        bank.keep(*recorded(seed))
    assert [witness.tape.header.scene.seed for witness in bank.witnesses()] == [9, 10, 100]


def test_processes_that_keep_tapes_of_one_configuration_at_once_lose_none(bank, recorded):
    path, tape = recorded(1)
    script = """
import shutil, sys
from pathlib import Path
from surefoot.memory.bank import Bank
from surefoot.tape.file import load_tape
bank, source = Bank(Path(sys.argv[1])), Path(sys.argv[2])
tape = load_tape(source)
for _ in range(40):
    path = bank.unfinished_path(1)
    shutil.copy(source, path)
    bank.keep(path, tape)
"""
    bank.keep(path, tape)
    source = bank.folder / "replaced.bin"
    source.write_bytes((bank.folder / "toy.seed-1.mcap").read_bytes())
    command = [sys.executable, "-c", script, str(bank.folder), str(source)]
    assert [process.wait() for process in [subprocess.Popen(command) for _ in range(2)]] == [0, 0]
    assert len(names(bank)) == 81
    assert [witness.path.name for witness in bank.witnesses()] == ["toy.seed-1.mcap"]
    assert all(load_tape(bank.folder / name).id == tape.id for name in names(bank))


def test_a_disk_that_refuses_a_rename_leaves_the_recording_and_says_where(bank, recorded, monkeypatch):
    path, tape = recorded(1)

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(UsageError) as error:
        bank.keep(path, tape)
    assert str(error.value) == (
        f"The tape {path} can't be given its place in {bank.folder}: No space left on device. It stays there."
    )
    assert load_tape(path).id == tape.id


def test_a_folder_that_is_a_file_or_missing_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError) as error:
        Bank(tmp_path / "file").create()
    assert str(error.value) == f"{tmp_path / 'file'} is not a folder. Name a folder for the bank."
    with pytest.raises(UsageError) as error:
        Bank(tmp_path / "no").witnesses()
    assert str(error.value) == (
        f"There is no bank at {tmp_path / 'no'}. Make one with 'surefoot record … --bank {tmp_path / 'no'}'."
    )


def test_a_truncated_tape_is_kept_with_the_failures(bank, recorded):
    path, tape = recorded(1)
    kept = bank.keep(path, msgspec.structs.replace(tape, end=None, id=""))
    assert kept.parent.name == "failures"
    assert not isinstance(tape.end.outcome, Failure)
