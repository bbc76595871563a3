"""`surefoot run --video`."""

from __future__ import annotations

import sys

import pytest

from surefoot.report.video import VideoFile
from surefoot.tape.file import load_tape

av = pytest.importorskip("av", reason="needs the extra video")


def run(surefoot, program, video, *more):
    return surefoot("run", "desk/place", program, "--seed", 101, "--video", video, *more)


def test_a_run_is_filmed(surefoot, naive, written, tmp_path):
    video = tmp_path / "run.mp4"
    said = run(surefoot, written(naive.source), video)
    assert said.code == 0
    assert "116 steps" in said.out
    assert said.err.splitlines()[-1] == f"Video: {video}"
    with av.open(str(video)) as container:
        stream = container.streams.video[0]
        assert (stream.width, stream.height, stream.average_rate) == (480, 360, 20)
        assert sum(1 for _ in container.decode(stream)) == 47  # 116 steps are 2.32 s


def test_a_filmed_run_has_the_tape_of_one_that_is_not(surefoot, naive, written, tmp_path):
    program, tapes = written(naive.source), [tmp_path / "filmed.mcap", tmp_path / "plain.mcap"]
    run(surefoot, program, tmp_path / "run.mp4", "--tape", tapes[0])
    surefoot("run", "desk/place", program, "--seed", 101, "--tape", tapes[1])
    filmed, plain = (load_tape(tape) for tape in tapes)
    assert filmed.id == plain.id


REFUSED = [
    ("{folder}/run.avi", "surefoot: A video's name ends in .mp4; 'run.avi' does not. Name another.\n"),
    ("{folder}/no/run.mp4", "surefoot: No video can be written at {folder}/no/run.mp4: No such file or directory.\n"),
    ("{folder}/old.mp4", "surefoot: There is already a file at {folder}/old.mp4. Videos are never overwritten; "
                         "name another.\n"),
]  # fmt: skip


@pytest.mark.parametrize(("video", "text"), REFUSED)
def test_a_video_that_cannot_be_is_refused_before_the_program_runs(surefoot, written, tmp_path, video, text):
    (tmp_path / "old.mp4").write_bytes(b"old")
    said = run(surefoot, written("print('ran')\n"), video.replace("{folder}", str(tmp_path)))
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(text.replace("{folder}", str(tmp_path)))
    assert (tmp_path / "old.mp4").read_bytes() == b"old"


def test_without_the_encoder_nothing_runs(surefoot, written, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    said = run(surefoot, written("print('ran')\n"), tmp_path / "run.mp4")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("surefoot: Videos are encoded by the Python package av (PyAV), which is not installed")


def test_a_video_that_breaks_off_does_not_hide_how_the_run_ended(surefoot, naive, written, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(VideoFile, "add", full)
    said = run(surefoot, written(naive.source), tmp_path / "run.mp4")
    assert said.code == 2
    assert "success  (seed 101" in said.out
    assert "is not whole; filming stopped with OSError" in said.err


def test_a_run_that_never_began_says_nothing_of_a_video(surefoot, written, tmp_path, monkeypatch):
    def broken(*_):
        raise RuntimeError("no scene")

    monkeypatch.setattr("surefoot.environments.desk.environment.DeskEnvironment.reset", broken)
    said = run(surefoot, written("x = 1\n"), tmp_path / "run.mp4")
    assert said.code == 4
    assert "Video" not in said.err
    assert not (tmp_path / "run.mp4").exists()
