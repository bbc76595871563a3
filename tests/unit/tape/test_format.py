"""The format: a tape of it that must load for good, and what docs/tape.md says of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from surefoot.errors import TapeError
from surefoot.program.source import Program
from surefoot.tape.file import load_tape
from surefoot.tape.replay import certify

FIRST = Path(__file__).parent / "data" / "format-1.mcap"
PAGE = Path(__file__).parents[3] / "docs" / "tape.md"


def snippets() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_a_tape_of_the_first_format_loads_for_good():
    tape = load_tape(FIRST)
    assert tape.id == "ab9d270df3aca997a082fad14cd36532"
    assert (tape.header.task, tape.header.scene.seed, tape.header.program_name) == ("desk/place", 101, "three.py")
    assert [(event.function, event.kind) for event in tape.events] == [
        ("list_objects", "query"),
        ("release", "effect"),
        ("describe", "query"),
    ]
    assert [bool(item.snapshot) for item in tape.telemetry] == [True, False, True, False]
    assert tape.telemetry[3].values["hand.open"] is True
    assert tape.end.outcome.text == "failure: the program ended, but the evaluator does not accept the state"
    assert tape.end.output.startswith("{'")


def test_the_page_s_reader_reads_a_tape_with_the_public_reader_alone(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tape.mcap").write_bytes(FIRST.read_bytes())
    exec(snippets()[0], {})
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1:3] for line in lines] == [["0", "list_objects"], ["1", "release"], ["2", "describe"]]
    assert "['t', 'item']" in lines[2]
    assert "'hand.open': True" in lines[2]


def test_the_page_s_verification_accepts_a_tape_and_no_damaged_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = FIRST.read_bytes()
    (tmp_path / "tape.mcap").write_bytes(data)
    exec(snippets()[1], {})
    for place in range(2_000, len(data) - 200, 1_000):
        (tmp_path / "tape.mcap").write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
        with pytest.raises((AssertionError, IndexError)):
            exec(snippets()[1], {})
        with pytest.raises(TapeError):
            load_tape(tmp_path / "tape.mcap")


def test_the_page_names_every_field_of_a_tape():
    text = PAGE.read_text(encoding="utf-8")
    tape = load_tape(FIRST)
    fields = [field for part in (tape.header, tape.events[0], tape.end) for field in part.__struct_fields__]
    assert [field for field in fields if f"`{field}`" not in text] == []


def test_a_tape_of_the_first_format_can_be_replayed_as_far_as_its_platform_is_this_one(zygote):
    tape = load_tape(FIRST)
    found = certify(Program(tape.header.program), tape, zygote)
    assert found.text.startswith(("unavailable (not a success): all 3 events match", "unavailable (numeric platform)"))
