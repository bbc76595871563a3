"""The journal: finished effects are not repeated, foreign and broken ones are refused with their place."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from surefoot.errors import RunError
from surefoot.memory.journal import Journal


def never() -> str:
    raise AssertionError("this effect is in the journal")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal of two effects."""
    journal = Journal(tmp_path / "run.sqlite", "v1")
    journal.step("plan", {"b": 1, "a": 2}, str, lambda: "first")
    journal.step("revise", 7, list[int], lambda: [1, 2])
    journal.close()
    return tmp_path / "run.sqlite"


def test_finished_effects_come_from_the_journal_and_the_rest_is_computed(path):
    journal = Journal(path, "v1")
    assert journal.replaying
    assert journal.step("plan", {"a": 2, "b": 1}, str, never) == "first"
    assert journal.step("revise", 7, list[int], never) == [1, 2]
    assert not journal.replaying
    assert journal.step("plan", 0, str, lambda: "new") == "new"
    assert (journal.length, journal.kinds()) == (3, {"plan": 2, "revise": 1})


def test_what_an_effect_took_is_kept_from_when_it_was_computed(tmp_path, monkeypatch):
    ticks = iter([10.0, 12.5, 20.0, 21.0])
    monkeypatch.setattr("surefoot.memory.journal.time.perf_counter", lambda: next(ticks))
    for compute in (lambda: "x", never):
        journal = Journal(tmp_path / "run.sqlite", "v1")
        for number in range(2):
            journal.step("plan", number, str, compute)
        assert journal.seconds() == {"plan": 3.5}
        journal.close()


def test_an_effect_that_is_falsy_is_not_repeated_either(tmp_path):
    for compute in (lambda: "", never):
        journal = Journal(tmp_path / "run.sqlite", "v1")
        assert journal.step("plan", 1, str, compute) == ""
        journal.close()


def test_an_effect_that_raises_is_not_written(path):
    journal = Journal(path, "v1")
    journal.step("plan", {"a": 2, "b": 1}, str, never)
    journal.step("revise", 7, list[int], never)
    with pytest.raises(ZeroDivisionError):
        journal.step("plan", 0, int, lambda: 1 // 0)
    assert journal.length == 2


def test_another_kind_at_a_position_is_refused_with_the_code_version(path):
    journal = Journal(path, "v2")
    with pytest.raises(RunError) as error:
        journal.step("execute", 1, str, never)
    assert str(error.value) == (
        f"The journal {path} has 'plan' at position 0 where this code (v2) does 'execute': "
        "it was written by other code, or is broken. Resume with that code, or start a new run."
    )


def test_another_input_at_a_position_is_refused(path):
    with pytest.raises(RunError, match="has 'plan' at position 0, but not of what this code"):
        Journal(path, "v2").step("plan", {"a": 3}, str, never)


@pytest.mark.parametrize("output", [b"", b"\xc1", b"\x07"])
def test_a_result_that_can_not_be_read_is_refused(path, output):
    with sqlite3.connect(path) as rows:
        rows.execute("UPDATE effects SET output = ? WHERE position = 0", (output,))
    rows.close()
    with pytest.raises(RunError, match="has a result of 'plan' at position 0 that can't be read"):
        Journal(path, "v1").step("plan", {"a": 2, "b": 1}, str, never)


def test_a_file_that_is_no_journal_is_refused(tmp_path):
    (tmp_path / "run.sqlite").write_bytes(b"not a database, but long enough to be looked at" * 100)
    with pytest.raises(RunError, match=re.escape("run.sqlite is not a journal of a run")):
        Journal(tmp_path / "run.sqlite", "v1")


def test_a_disk_that_refuses_a_write_is_said_and_the_effect_is_repeated_on_resume(path):
    journal = Journal(path, "v1")
    journal.step("plan", {"a": 2, "b": 1}, str, never)
    journal.step("revise", 7, list[int], never)
    pages = journal._execute("PRAGMA page_count")[0][0]
    journal._execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(RunError, match=r"can't be read or written \(database or disk is full\)"):
        journal.step("plan", 0, str, lambda: "x" * 100_000)
    journal.close()
    assert Journal(path, "v1").length == 2


def test_a_batch_computes_only_what_is_missing_whatever_order_it_comes_in(tmp_path):
    asked: list[list[int]] = []

    def compute(missing: list[int]) -> Iterator[tuple[int, str]]:
        asked.append(missing)
        for count, index in enumerate(reversed(missing)):
            if len(asked) == 1 and count == 2:
                raise KeyboardInterrupt
            yield index, f"result {index}"

    journal = Journal(tmp_path / "run.sqlite", "v1")
    with pytest.raises(KeyboardInterrupt):
        journal.batch("evaluate", "abcd", str, compute)
    journal.close()
    journal = Journal(tmp_path / "run.sqlite", "v1")
    assert journal.batch("evaluate", "abcd", str, compute) == [f"result {index}" for index in range(4)]
    assert asked == [[0, 1, 2, 3], [0, 1]]
    assert journal.step("plan", 0, str, lambda: "after") == "after"
