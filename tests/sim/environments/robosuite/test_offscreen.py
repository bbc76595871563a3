"""Pictures of robosuite's tasks, where this machine can draw."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from surefoot.environments.host import TaskHost
from surefoot.environments.registry import find_task
from surefoot.environments.robosuite.tasks import TASKS
from surefoot.errors import UsageError
from surefoot.program.source import Program
from surefoot.report.film import Film

pytestmark = [
    pytest.mark.sim,
    pytest.mark.skipif(importlib.util.find_spec("robosuite") is None, reason="needs the extra robosuite"),
]

MOVES = """
position, quaternion = sample_grasp_pose("cube")
goto_pose(position, quaternion, z_approach=0.1)
close_gripper()
"""


@pytest.fixture
def host():
    """Cube lift, about to run."""
    with TaskHost(find_task("robosuite/cube-lift")) as started:
        yield started


def drawn(environment):
    """A picture; without a renderer the test is skipped."""
    try:
        return environment.frame()
    except UsageError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", sorted(TASKS))
def test_every_task_is_drawn_and_stays_as_it_was(name):
    environment = find_task(name).make()
    environment.reset(201)
    before = environment.state_digest()
    model = environment._episode.plant.model
    colours = model.geom_rgba.copy()
    frame = drawn(environment)
    assert (frame.shape, frame.dtype) == ((480, 640, 3), np.uint8)
    assert frame.std() > 20.0  # not a blank wall
    assert environment.state_digest() == before
    assert np.array_equal(model.geom_rgba, colours)
    again = environment.frame()
    assert np.array_equal(frame, again)
    environment._episode.plant.data.qpos[:7] += 0.3
    assert not np.array_equal(environment.frame(), frame)
    assert np.array_equal(frame, again)  # earlier pictures are not drawn over
    environment.close()


def test_a_filmed_run_has_the_tape_of_one_that_is_not_and_a_picture_for_each_control_step(host, tmp_path):
    av = pytest.importorskip("av", reason="needs the extra video")
    tapes = [tmp_path / "plain.mcap", tmp_path / "filmed.mcap"]
    plain = host.execute(Program(MOVES), 201, path=tapes[0])
    drawn(host._environment)
    video = tmp_path / "run.mp4"
    film = Film(video)
    filmed = host.execute(Program(MOVES), 201, path=tapes[1], around=film.shoot)
    film.check()
    assert filmed.tape.id == plain.tape.id
    assert plain.steps > 20
    with av.open(str(video)) as container:
        stream = container.streams.video[0]
        assert (stream.width, stream.height, stream.average_rate) == (640, 480, 20)
        assert sum(1 for _ in container.decode(stream)) == plain.steps + 1


def test_without_a_renderer_the_sentence_names_what_to_install_and_nothing_runs(host, tmp_path, monkeypatch):
    pytest.importorskip("av", reason="needs the extra video")
    monkeypatch.setenv("MUJOCO_GL", "")
    monkeypatch.setattr("sys.platform", "linux")
    host.execute(Program("pass\n"), 201)  # offscreen can be imported after robosuite only
    from surefoot.environments import offscreen

    monkeypatch.setattr(offscreen, "works", lambda name: False)
    film = Film(tmp_path / "run.mp4")
    with pytest.raises(UsageError) as error:
        host.execute(Program("print('ran')\n"), 201, path=tmp_path / "run.mcap", around=film.shoot)
    assert str(error.value) == (
        "No renderer works on this machine (tried egl and osmesa): install a GL library, such as Debian's libosmesa6 "
        "(MUJOCO_GL=osmesa), or libegl1 with libgl1-mesa-dri or the graphics card's driver (MUJOCO_GL=egl)."
    )
    assert error.value.exit_code == 2
    assert list(Path(tmp_path).iterdir()) == []


def test_the_renderer_that_the_user_chose_is_the_only_one_tried(host, monkeypatch):
    host.execute(Program("pass\n"), 201)
    from surefoot.environments import offscreen

    tried = []
    monkeypatch.setattr(offscreen, "works", tried.append)
    for choice, names in (("OSMesa", ["osmesa"]), ("disabled", ["egl", "osmesa"])):
        monkeypatch.setenv("MUJOCO_GL", choice)
        monkeypatch.setattr("sys.platform", "linux")
        with pytest.raises(UsageError, match="No renderer works"):
            offscreen.renderer()
        assert tried == names
        tried.clear()


def test_a_renderer_that_does_not_exist_does_not_work(host):
    host.execute(Program("pass\n"), 201)
    from surefoot.environments import offscreen

    assert not offscreen.works("no such renderer")
