"""Episodes as video files."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from surefoot.errors import UsageError
from surefoot.report.film import FRAMES_PER_SECOND, Film
from surefoot.report.video import VideoFile

av = pytest.importorskip("av", reason="needs the extra video")


def pictures(path):
    """All pictures of a video file, and its rate."""
    with av.open(str(path)) as container:
        rate = float(container.streams.video[0].average_rate)
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)], rate


def near(first, second):
    """Whether two pictures differ by no more than compression makes: hardly any pixel by much."""
    return (np.abs(first.astype(int) - second.astype(int)).max(axis=2) > 80).mean() < 0.001


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.mp4"


@pytest.fixture
def environment(desk):
    started = desk.make()
    started.reset(101)
    return started


def test_there_is_a_picture_for_each_twentieth_of_a_second_and_one_for_the_start(path, environment):
    with Film(path).shoot(environment):
        environment.api.move_to((0.0, 0.0), 0.3)
        environment.sleep(0.5)
    filmed, rate = pictures(path)
    assert rate == FRAMES_PER_SECOND
    assert environment.clock > 1.0
    assert len(filmed) == int(environment.clock * FRAMES_PER_SECOND + 1e-6) + 1
    assert {picture.shape for picture in filmed} == {environment.frame().shape}


def test_the_video_goes_from_the_start_through_what_happens_to_the_last_state(path, environment):
    start = environment.frame()
    with Film(path).shoot(environment):
        environment.api.move_to((0.3, -0.25), 0.3)
        halfway = environment.frame()
        environment.api.move_to((-0.3, 0.25), 0.3)
        environment.api.grip()  # closes at the end of its last step, after which no step follows
    filmed, _ = pictures(path)
    end = environment.frame()
    assert near(filmed[0], start)
    assert near(filmed[-1], end)
    assert not near(start, halfway)
    assert any(near(picture, halfway) for picture in filmed)


def test_a_run_without_steps_is_a_video_of_one_picture(path, environment):
    with Film(path).shoot(environment):
        pass
    assert len(pictures(path)[0]) == 1


def test_an_interrupted_run_leaves_what_was_filmed(path, environment):
    with pytest.raises(KeyboardInterrupt), Film(path).shoot(environment):
        environment.sleep(1.0)
        raise KeyboardInterrupt
    assert len(pictures(path)[0]) == 21


def test_what_fails_while_filming_leaves_the_run_alone_and_is_told_afterwards(path, environment, monkeypatch):
    film = Film(path)

    def full(*_):
        raise OSError(28, "No space left on device")

    with film.shoot(environment):
        monkeypatch.setattr(VideoFile, "add", full)
        environment.sleep(0.5)
    assert environment.steps == 25
    with pytest.raises(UsageError) as error:
        film.check()
    assert str(error.value) == (
        f"The video {path} is not whole; filming stopped with OSError: [Errno 28] No space left on device."
    )


def test_pictures_of_odd_size_lose_a_row_and_a_column(path):
    video = VideoFile(path, FRAMES_PER_SECOND)
    video.begin(241, 321)
    video.add(np.zeros((241, 321, 3), np.uint8))
    video.close()
    assert [picture.shape for picture in pictures(path)[0]] == [(240, 320, 3)]


def test_an_environment_without_pictures_is_refused_before_anything_is_created(path, toy):
    environment = toy.environment()
    environment.reset(1)
    film = Film(path)
    with pytest.raises(UsageError) as error, film.shoot(environment):
        pytest.fail("the program would run")
    assert str(error.value) == "This task's environment has no pictures. Run it without --video."
    assert not film.begun
    assert not path.exists()


def test_a_missing_encoder_is_answered_with_the_command_that_installs_it(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(UsageError) as error:
        Film(path)
    assert str(error.value) == (
        "Videos are encoded by the Python package av (PyAV), which is not installed or has no H.264 encoder. "
        'Install it with: pip install ".[video]" in the checkout of surefoot'
    )
