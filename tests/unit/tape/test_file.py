"""The tape file: whole, cut, damaged, foreign, newer, in the way, and on a full disk."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from surefoot.errors import TapeError
from surefoot.tape import file
from surefoot.tape.file import Tape, TapeWriter, load_tape

SOURCE = "grow([1], item=2.5)\nbump('a')\n"


@pytest.fixture(scope="module")
def whole(tape_of, tmp_path_factory) -> Path:
    """A small tape of three events."""
    path = tmp_path_factory.mktemp("tapes") / "whole.mcap"
    tape_of(SOURCE, path=path)
    return path


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


def test_a_tape_is_readable_by_the_stock_reader(whole):
    from mcap.reader import NonSeekingReader

    with whole.open("rb") as stream:
        topics = [channel.topic for _, channel, _ in NonSeekingReader(stream).iter_messages()]
    assert topics.count("surefoot/event") == 3
    assert (topics[0], topics[-1]) == ("surefoot/header", "surefoot/end")


def test_a_tape_cut_anywhere_is_truncated_or_refused_and_keeps_every_finished_event(whole, changed):
    data = whole.read_bytes()
    complete = load_tape(whole)
    events = 0
    for size in [*range(0, len(data) - 300, 11), *range(len(data) - 300, len(data))]:
        tape = loaded(changed(data[:size]))
        if tape is None:
            assert events == 0
            continue
        assert tape.truncated
        assert tape.id == ""
        assert len(tape.events) >= events
        events = len(tape.events)
        assert tape.events == complete.events[:events]
    assert events == 3


def test_no_flipped_bit_gives_a_whole_tape(whole, changed):
    data = whole.read_bytes()
    for bit in range(0, len(data) * 8, 13):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        tape = loaded(changed(bytes(flipped)))
        assert tape is None or tape.truncated, bit


def test_bytes_inserted_dropped_or_appended_give_no_whole_tape(whole, changed):
    data = whole.read_bytes()
    for place in range(0, len(data), 97):
        for made in (data[:place] + b"\0" + data[place:], data[:place] + data[place + 1 :]):
            tape = loaded(changed(made))
            assert tape is None or tape.truncated
    assert loaded(changed(data + b"\0")) is None


def test_a_changed_tape_is_refused_with_its_place(whole, changed):
    data = bytearray(whole.read_bytes())
    place = data.index(b"grow([1]")
    data[place] ^= 1
    path = changed(bytes(data))
    with pytest.raises(TapeError) as error:
        load_tape(path)
    assert str(error.value) == (
        f"The tape {path} was changed or damaged after it was recorded, at or before byte {_end_of_header(bytes(data))}. "
        "Restore it from a copy or record it anew."
    )


def _end_of_header(data: bytes) -> int:
    """Where the first message ends."""
    start = 8
    while True:
        opcode, length = data[start], int.from_bytes(data[start + 1 : start + 9], "little")
        start += 9 + length
        if opcode == 5:
            return start


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
    with pytest.raises(TapeError, match=r"cut before its header|is not a surefoot tape"):
        load_tape(path)


def test_a_missing_tape_and_a_folder_are_sentences(tmp_path):
    for path, text in (
        (tmp_path / "no.mcap", f"There is no tape at {tmp_path / 'no.mcap'}. Check the path."),
        (tmp_path, f"The tape {tmp_path} can't be read: Is a directory."),
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
    monkeypatch.setattr(file.os, "write", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(TapeError, match=r"can't be written further \(No space left on device\)"):
        TapeWriter(tmp_path / "t.mcap", load_tape(whole).header)
    assert descriptors() == before
