"""The tape file: whole, cut, damaged, foreign, newer, in the way, and on a full disk."""

from __future__ import annotations

import itertools
import math
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from surefoot.boundary.environment import Scene
from surefoot.boundary.outcome import Success
from surefoot.boundary.surface import Surface
from surefoot.boundary.wire import Limits
from surefoot.errors import TapeError
from surefoot.tape import file
from surefoot.tape.file import Tape, TapeWriter, load_tape
from surefoot.tape.records import End, Event, Header, Telemetry

SOURCE = "grow([1], item=2.5)\nbump('a')\n"


@pytest.fixture(scope="module")
def whole(tape_of, tmp_path_factory) -> Path:
    """A small tape of three events."""
    path = tmp_path_factory.mktemp("tapes") / "whole.mcap"
    tape_of(SOURCE, path=path)
    return path


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    """A tape of three events that is small enough to be damaged at every bit."""
    path = tmp_path_factory.mktemp("tapes") / "small.mcap"
    write(path, header())
    return path


def header(**changes: Any) -> Header:
    """The header of a recording that never was."""
    scene = Scene(7, "s", {"a": (0.5,)})
    given = Header(
        1, (), "toy", "state", "p", scene, "go()\n", "p.py", 3, Surface(()), "r", {"blas": "b"}, "3.11", "process",
        Limits(), b"opening", 0.5,
    )  # fmt: skip
    return msgspec.structs.replace(given, **changes)


def write(path: Path, header: Header, events: int = 3) -> str:
    """Write a tape with snapshots and telemetry; returns its id."""
    writer = TapeWriter(path, header)
    writer.observation(Telemetry(-1, {"x": 0.0}, b"before"), 0.5)
    for number in range(events):
        kind = "effect" if number else "query"
        event = Event(number, "go", kind, b"request", b"answer" * number, number == 1, number + 1.0, number, "s")
        writer.event(event, Telemetry(number, {"x": -0.0, "y": [1.0, math.inf], "on": True}, b"after" * number))
    return writer.end(End(Success(), events, 4, "out", "", 0), 3.0, 0.25)


@pytest.fixture
def changed(tmp_path):
    """Writes bytes as a tape; returns its path."""

    def written(data: bytes) -> Path:
        path = tmp_path / "changed.mcap"
        path.write_bytes(data)
        return path

    return written


def loaded(path: Path) -> Tape | None:
    """The tape, or None where it is refused as a tape that can't be read as a whole."""
    try:
        return load_tape(path)
    except TapeError as error:
        assert str(path) in str(error)
        return None


def test_a_loaded_tape_equals_the_execution_s(tape_of, tmp_path):
    path = tmp_path / "t.mcap"
    tape = tape_of(SOURCE, path=path)
    assert load_tape(path) == tape
    assert not tape.truncated


def test_equal_executions_have_equal_ids_and_others_do_not(tape_of, tmp_path):
    tapes = [tape_of(source, path=tmp_path / f"{i}.mcap") for i, source in enumerate([SOURCE, SOURCE, SOURCE + " \n"])]
    assert tapes[0].id == tapes[1].id != tapes[2].id


def test_snapshots_and_observations_come_back_as_they_were(small):
    tape = load_tape(small)
    assert [item.snapshot for item in tape.telemetry] == [b"before", b"", b"after", b"afterafter"]
    assert [item.number for item in tape.telemetry] == [-1, 0, 1, 2]
    assert repr(tape.telemetry[1].values) == "{'x': -0.0, 'y': [1.0, inf], 'on': True}"
    assert tape.events[2] == Event(2, "go", "effect", b"request", b"answeranswer", False, 3.0, 2, "s")
    assert (tape.end.steps, tape.seconds) == (4, 0.25)


def test_the_id_names_everything_but_the_wall_clock_seconds(tmp_path):
    names = [write(tmp_path / f"{number}.mcap", header()) for number in range(2)]
    assert names[0] == names[1] == load_tape(tmp_path / "0.mcap").id
    assert write(tmp_path / "seed.mcap", header(run_seed=4)) != names[0]
    assert write(tmp_path / "less.mcap", header(), events=2) != names[0]
    writer = TapeWriter(tmp_path / "slow.mcap", header())
    other = TapeWriter(tmp_path / "fast.mcap", header())
    end = End(Success(), 0, 0, "", "", 0)
    assert writer.end(end, 1.0, 2.5) == other.end(end, 1.0, 0.001)
    assert load_tape(tmp_path / "slow.mcap").seconds == 2.5


@pytest.mark.parametrize("make", ["NonSeekingReader", "SeekingReader", "make_reader"])
def test_a_tape_is_readable_by_the_stock_reader(whole, make):
    from mcap import reader

    with whole.open("rb") as stream:
        opened = getattr(reader, make)(stream, validate_crcs=True)
        topics = [channel.topic for _, channel, _ in opened.iter_messages()]
    assert topics == ["surefoot/header", "surefoot/observation", *["surefoot/event"] * 3, "surefoot/end"]


def test_a_tape_cut_anywhere_is_truncated_or_refused_and_keeps_every_finished_event(small, changed):
    data = small.read_bytes()
    complete = load_tape(small)
    events = 0
    for size in range(len(data)):
        tape = loaded(changed(data[:size]))
        if tape is None:
            assert events == 0
            continue
        assert tape.truncated
        assert tape.id == ""
        assert len(tape.events) >= events
        events = len(tape.events)
        assert tape.events == complete.events[:events]
        assert tape.telemetry == complete.telemetry[: len(tape.telemetry)]
        assert len(tape.telemetry) in (events, events + 1)
    assert events == 3


def test_a_flipped_bit_is_refused_or_leaves_what_was_recorded_before_it(small, changed):
    data = small.read_bytes()
    complete = load_tape(small)
    for bit in range(len(data) * 8):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        tape = loaded(changed(bytes(flipped)))
        if tape is not None:
            assert tape.truncated, bit
            assert tape.header == complete.header
            assert tape.events == complete.events[: len(tape.events)]
            assert tape.telemetry == complete.telemetry[: len(tape.telemetry)]


def test_bytes_inserted_dropped_or_appended_give_no_whole_tape(small, changed):
    data = small.read_bytes()
    for place in range(len(data)):
        for made in (data[:place] + b"\0" + data[place:], data[:place] + data[place + 1 :]):
            tape = loaded(changed(made))
            assert tape is None or tape.truncated
    assert loaded(changed(data + b"\0")) is None


def test_messages_that_changed_places_or_were_left_out_are_noticed(small, changed):
    data = small.read_bytes()
    records = list(_messages(data))
    assert len(records) == 6
    for first, second in itertools.pairwise(records):
        (a, b), (c, d) = first, second
        assert loaded(changed(data[:a] + data[c:d] + data[a:b] + data[d:])) is None
        assert loaded(changed(data[:a] + data[b:])) is None


def test_a_changed_tape_is_refused_with_its_place(small, changed):
    data = bytearray(small.read_bytes())
    start, end = list(_messages(bytes(data)))[3]
    data[end - 30] ^= 1
    path = changed(bytes(data))
    with pytest.raises(TapeError) as error:
        load_tape(path)
    assert str(error.value) == (
        f"The tape {path} was changed or damaged after it was recorded, in the record at byte {start}. "
        "Restore it from a copy or record it anew."
    )


def _messages(data: bytes) -> Iterator[tuple[int, int]]:
    """Bounds of the message records."""
    start = 8
    while start < len(data) - 8:
        opcode, length = data[start], int.from_bytes(data[start + 1 : start + 9], "little")
        if opcode == 5:
            yield start, start + 9 + length
        start += 9 + length


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "The tape {path} is empty: its recording never began, or its content was lost."),
        (
            b"hello",
            "{path} is not a surefoot tape. Tapes are made by 'surefoot record' and 'surefoot run --tape'.",
        ),
        (b"\x89MCAP0\r\n", "The tape {path} was cut before its header was whole; nothing can be read from it."),
        (b"\x89MC", "The tape {path} was cut before its header was whole; nothing can be read from it."),
    ],
)
def test_a_file_that_is_no_tape_is_refused_with_the_reason(changed, data, text):
    path = changed(data)
    with pytest.raises(TapeError) as error:
        load_tape(path)
    assert str(error.value) == text.format(path=path)
    assert error.value.exit_code == 3


def test_a_foreign_mcap_file_is_no_tape(changed, tmp_path):
    from mcap.writer import Writer

    path = tmp_path / "foreign.mcap"
    writer = Writer(str(path))
    writer.start()
    channel = writer.register_channel(topic="/camera", message_encoding="json", schema_id=0)
    writer.add_message(channel, 0, b"{}", 0)
    writer.finish()
    with pytest.raises(TapeError) as error:
        load_tape(path)
    assert str(error.value) == (
        f"{path} is not a surefoot tape. Tapes are made by 'surefoot record' and 'surefoot run --tape'."
    )


def test_a_missing_tape_and_a_folder_are_sentences(tmp_path):
    for path, text in (
        (tmp_path / "no.mcap", f"There is no tape at {tmp_path / 'no.mcap'}. Check the path."),
        (tmp_path, f"{tmp_path} is a folder, not a tape."),
    ):
        with pytest.raises(TapeError) as error:
            load_tape(path)
        assert str(error.value) == text


def test_a_newer_format_is_refused_with_the_remedy(whole, tmp_path):
    path = tmp_path / "newer.mcap"
    header = msgspec.structs.replace(load_tape(whole).header, format=2)
    TapeWriter(path, header).close()
    with pytest.raises(TapeError) as error:
        load_tape(path)
    assert str(error.value) == f"The tape {path} has format 2; this surefoot reads up to 1. Upgrade surefoot."


def test_a_tape_with_features_of_a_later_version_is_refused_by_their_names(tmp_path):
    path = tmp_path / "later.mcap"
    write(path, header(features=("zstd", "callbacks")))
    with pytest.raises(TapeError) as error:
        load_tape(path)
    assert str(error.value) == (
        f"The tape {path} uses what this surefoot does not know: callbacks, zstd. Upgrade surefoot."
    )


def test_a_tape_is_never_written_over_a_file(whole):
    before = whole.read_bytes()
    with pytest.raises(TapeError) as error:
        TapeWriter(whole, load_tape(whole).header)
    assert str(error.value) == f"There is already a file at {whole}. Tapes are never overwritten; name another."
    assert whole.read_bytes() == before


def test_a_folder_that_does_not_exist_is_a_sentence(whole, tmp_path):
    path = tmp_path / "no" / "t.mcap"
    with pytest.raises(TapeError) as error:
        TapeWriter(path, load_tape(whole).header)
    assert str(error.value) == f"No tape can be written at {path}: No such file or directory."


@pytest.mark.parametrize("room", [100, 12_000, 20_000])
def test_a_full_disk_ends_the_recording_and_keeps_what_was_recorded(perform, tmp_path, room, descriptors):
    path = tmp_path / "t.mcap"
    before_it = descriptors()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        with pytest.raises(TapeError) as error:
            perform("while True: echo()", path=path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert str(error.value) == (
        f"The tape {path} can't be written further (File too large); what was recorded until then is kept."
    )
    assert path.stat().st_size <= room
    tape = loaded(path)
    assert tape is None if room == 100 else tape.truncated
    assert descriptors() == before_it


def test_a_killed_recording_is_truncated_and_readable_to_its_last_finished_event(tmp_path):
    path = tmp_path / "t.mcap"
    script = f"""
import os, signal
from pathlib import Path
from surefoot.environments.host import TaskHost
from surefoot.environments.registry import find_task
from surefoot.program.source import Program

def stop(event):
    if event.number == 4:
        os.kill(os.getpid(), signal.SIGKILL)

with TaskHost(find_task("desk/place")) as host:
    host.execute(Program("for i in range(9): list_objects()"), 101, path=Path({str(path)!r}), on_event=stop)
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -signal.SIGKILL
    tape = load_tape(path)
    assert tape.truncated
    assert [event.number for event in tape.events] == [0, 1, 2, 3, 4]
    assert len(tape.telemetry) == 6


def test_a_writer_that_cannot_write_its_header_closes_its_file(whole, tmp_path, monkeypatch, descriptors):
    before = descriptors()
    monkeypatch.setattr(file.os, "writev", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(TapeError, match=r"can't be written further \(No space left on device\)"):
        TapeWriter(tmp_path / "t.mcap", load_tape(whole).header)
    assert descriptors() == before
