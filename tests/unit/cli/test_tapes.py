"""What the commands say of tapes that are cut, damaged, foreign, newer, in the way, or on a full disk."""

from __future__ import annotations

import errno
import os
import shutil

import msgspec
import pytest
from mcap.writer import Writer

from surefoot.tape import file
from surefoot.tape.file import TapeWriter, load_tape


def newer(data: bytes, path) -> None:
    header = msgspec.structs.replace(load_tape(path).header, format=2)
    path.unlink()
    TapeWriter(path, header).close()


def later(data: bytes, path) -> None:
    header = msgspec.structs.replace(load_tape(path).header, features=("zstd",))
    path.unlink()
    TapeWriter(path, header).close()


def foreign(data: bytes, path) -> None:
    writer = Writer(str(path))
    writer.start(profile="ros2")
    channel = writer.register_channel(topic="/camera", message_encoding="json", schema_id=0)
    writer.add_message(channel, 0, b"{}", 0)
    writer.finish()


def damaged(data: bytes, path) -> None:
    path.write_bytes(data[:-500] + bytes([data[-500] ^ 1]) + data[-499:])


def emptied(data: bytes, path) -> None:
    path.write_bytes(b"")


SAID = {
    newer: "The tape {path} has format 2; this surefoot reads up to 1. Upgrade surefoot.",
    later: "The tape {path} uses what this surefoot does not know: zstd. Upgrade surefoot.",
    foreign: "{path} is not a surefoot tape. Tapes are made by 'surefoot record' and 'surefoot run --tape'.",
    damaged: "The tape {path} was changed or damaged after it was recorded, in the record at byte ",
    emptied: "The tape {path} is empty: its recording never began, or its content was lost.",
}


@pytest.mark.parametrize("harm", SAID, ids=lambda harm: harm.__name__)
def test_a_tape_that_can_t_be_read_is_refused_by_every_command(surefoot, naive, written, bank, tmp_path, harm):
    folder = tmp_path / "bank"
    shutil.copytree(bank, folder)
    path = min(folder.glob("*.mcap"))
    harm(path.read_bytes(), path)
    before, sentence = path.read_bytes(), SAID[harm].format(path=path)
    for command in (("show", path), ("replay", path), ("export", path, tmp_path / "out.mcap")):
        said = surefoot(*command)
        assert (said.code, said.out) == (3, "")
        assert said.err.startswith(f"surefoot: {sentence}")
    said = surefoot("certify", written(naive.source), "--bank", folder, "--json")
    assert said.code == 3
    verdicts = {row["scene"]: (row["verdict"], row["text"]) for row in said.json["scenes"]}
    assert verdicts[path.stem][0] == "unavailable"
    assert verdicts[path.stem][1].startswith(f"unavailable (unreadable): {sentence}")
    assert sum(verdict == "certified" for verdict, _ in verdicts.values()) == len(verdicts) - 1
    assert path.read_bytes() == before


def test_a_cut_tape_is_shown_as_truncated_and_certifies_nothing(surefoot, bank, tmp_path):
    path = tmp_path / "cut.mcap"
    path.write_bytes(min(bank.glob("*.mcap")).read_bytes()[:-400])
    said = surefoot("show", path)
    assert said.code == 0
    assert "truncated: the recording was cut before its end" in said.out
    said = surefoot("replay", path)
    assert said.code == 3
    assert said.out.startswith("unavailable (truncated): the recording was cut after ")


def test_a_full_disk_ends_the_run_and_what_was_recorded_can_be_shown(surefoot, naive, written, tmp_path, monkeypatch):
    path, left = tmp_path / "t.mcap", [4]
    write = os.writev

    def writev(descriptor, parts):
        left[0] -= 1
        if left[0] < 0:  # half a message finds room, then nothing
            if left[0] == -1:
                return os.write(descriptor, b"".join(parts)[:50])
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, parts)

    monkeypatch.setattr(file.os, "writev", writev)
    said = surefoot("run", "desk/place", written(naive.source), "--seed", 101, "--tape", path)
    assert said.code == 3
    assert said.err.endswith(
        f"surefoot: The tape {path} can't be written further (No space left on device); "
        "what was recorded until then is kept.\n"
    )
    monkeypatch.undo()
    tape = load_tape(path)
    assert tape.truncated
    assert len(tape.events) == 1


def test_a_second_recording_to_the_same_path_is_refused_and_the_first_goes_on(surefoot, naive, written, bank, tmp_path):
    path = tmp_path / "t.mcap"
    with TapeWriter(path, load_tape(min(bank.glob("*.mcap"))).header):
        begun = path.read_bytes()
        said = surefoot("run", "desk/place", written(naive.source), "--seed", 101, "--tape", path)
        assert said.code == 3
        assert said.err.startswith(
            f"surefoot: There is already a file at {path}. Tapes are never overwritten; name another."
        )
        assert path.read_bytes() == begun
