"""The environment's contract, on the real simulator."""

import importlib.util
import json
import subprocess
import sys

import msgspec
import numpy as np
import pytest

from surefoot.boundary.environment import StepLimitReachedError
from surefoot.environments.robosuite.setups import CUBE_LIFT
from surefoot.environments.robosuite.tasks import TASKS, start
from surefoot.errors import UsageError

INSTALLED = importlib.util.find_spec("robosuite") is not None  # importing it here would choose a renderer
pytestmark = [pytest.mark.sim, pytest.mark.skipif(not INSTALLED, reason="needs the extra robosuite")]

DOWN = (0, 0, 1, 0)


@pytest.fixture(scope="module")
def environment():
    environment = TASKS["robosuite/cube-stack"].make()
    yield environment
    environment.close()


def act(api):
    """A short episode that touches the cubes."""
    position, quaternion = api.sample_grasp_pose("cubeA")
    api.goto_pose(position, quaternion, z_approach=0.1)
    api.close_gripper()
    api.goto_pose(position + np.array([0, 0, 0.05]), quaternion)
    api.home_pose()


def read_everything(environment):
    """Every query, the telemetry and the verdict."""
    environment.api.get_object_pose("cubeA", return_bbox_extent=True)
    environment.api.sample_grasp_pose("cubeB")
    environment.api.get_observation()
    environment.telemetry()
    environment.succeeded()


def test_a_reset_depends_on_the_seed_alone_in_any_order_and_process(environment):
    here = []
    for seed in (102, 101, 103, 102):
        scene = environment.reset(seed)
        act(environment.api)
        here.append((scene.digest, environment.state_digest()))
    assert here[0] == here[3]
    assert len({digest for digest, _ in here}) == 3
    code = (
        "import runpy, sys; own = runpy.run_path(sys.argv[1], run_name='own'); "
        "environment = own['TASKS']['robosuite/cube-stack'].make(); scene = environment.reset(102); "
        "own['act'](environment.api); print(scene.digest, environment.state_digest())"
    )
    command = [sys.executable, "-W", "ignore", "-c", code, __file__]
    elsewhere = subprocess.run(command, capture_output=True, text=True, check=True)
    assert tuple(elsewhere.stdout.split()) == here[0]
    assert elsewhere.stderr == ""


def short(environment):
    """Digests of a scene, of its start and of a short episode, which calls every effect that its task has."""
    scene = environment.reset(207)
    digests = [scene.digest, environment.state_digest()]
    for name in dir(environment.api):
        if name.startswith(("open", "close")):
            getattr(environment.api, name)()
        elif name == "goto_pose_both":
            environment.api.goto_pose_both((0.45, 0.0, 0.2), DOWN, (0.8, 0.0, 0.2), (0, 1, 0, 0))
        elif name.startswith("goto_pose"):
            getattr(environment.api, name)((0.6, 0.1, 0.15), DOWN)
    return [*digests, environment.state_digest()]


def test_every_task_s_short_episode_is_the_same_after_other_scenes_and_in_a_fresh_process(environment_of):
    here = {}
    for name in reversed(TASKS):
        environment = environment_of(name)
        environment.reset(208)
        environment.sleep(0.3)
        here[name] = short(environment)
    assert len({digest for digests in here.values() for digest in digests}) == 3 * len(TASKS)
    code = (
        "import json, runpy, sys; own = runpy.run_path(sys.argv[1], run_name='own'); "
        "print(json.dumps({name: own['short'](own['TASKS'][name].make()) for name in own['TASKS']}))"
    )
    command = [sys.executable, "-W", "ignore", "-c", code, __file__]
    elsewhere = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(elsewhere.stdout) == here


def test_reading_leaves_the_state_and_the_rest_of_the_episode_bit_equal(environment):
    environment.reset(104)
    position, quaternion = environment.api.sample_grasp_pose("cubeA")
    environment.api.goto_pose(position, quaternion, z_approach=0.1)
    environment.api.close_gripper()
    unread = environment.state_digest()
    environment.sleep(0.5)
    rest = environment.state_digest()

    environment.reset(104)
    read_everything(environment)
    environment.api.goto_pose(position, quaternion, z_approach=0.1)
    read_everything(environment)
    environment.api.close_gripper()
    read_everything(environment)
    assert environment.state_digest() == unread
    for _ in range(10):
        environment.sleep(0.05)
        read_everything(environment)
    assert environment.state_digest() == rest


def test_what_follows_a_restored_snapshot_is_bit_equal(environment):
    environment.reset(105)
    position, quaternion = environment.api.sample_grasp_pose("cubeA")
    environment.api.goto_pose(position, quaternion)
    environment.api.close_gripper()
    snapshot, before = environment.snapshot(), environment.state_digest()
    environment.api.goto_pose(position + np.array([0, 0.1, 0.1]), quaternion)
    telemetry, after, steps = environment.telemetry(), environment.state_digest(), environment.steps
    environment.restore(snapshot)
    assert environment.state_digest() == before != after
    environment.api.goto_pose(position + np.array([0, 0.1, 0.1]), quaternion)
    assert (environment.telemetry(), environment.state_digest(), environment.steps) == (telemetry, after, steps)


def test_time_is_counted_in_control_steps(environment):
    environment.reset(101)
    assert (environment.steps, environment.clock) == (0, 0.0)
    for seconds, steps in ((0.05, 1), (0.15, 3), (0.16, 4), (0.0, 0)):
        before = environment.steps
        environment.sleep(seconds)
        assert environment.steps - before == steps, seconds
    assert environment.clock == pytest.approx(environment.steps * 0.05)


def test_objects_rest_and_the_hand_is_open_when_the_program_starts(environment):
    environment.reset(106)
    start_of_program = environment.telemetry()
    assert start_of_program["hand.opening"] > 0.07
    environment.sleep(1)
    for name in ("cubeA", "cubeB"):
        assert environment.telemetry()[f"displacement.{name}"] < 1e-3


def test_poses_are_of_the_fingertips_in_the_robot_base_frame(environment):
    environment.reset(107)
    api = environment.api
    assert api.goto_pose((0.5, 0.1, 0.05), DOWN) is True
    seen = api.get_observation()
    np.testing.assert_allclose(seen["hand_position"], (0.5, 0.1, 0.05), atol=0.003)
    np.testing.assert_allclose(seen["hand_quaternion_wxyz"], DOWN, atol=0.02)
    _, _, size = api.get_object_pose("cubeB", return_bbox_extent=True)
    np.testing.assert_allclose(size, 0.05, atol=1e-6)
    position, _ = api.get_object_pose("cubeB")
    assert position[2] == pytest.approx(0.8 + 0.025 - 0.912, abs=0.002)  # on the table, seen from the base


def test_a_pose_out_of_reach_returns_false_and_home_frees_the_arm(environment):
    environment.reset(108)
    assert environment.api.goto_pose((0.8, 0, 0.6), DOWN) is False
    assert environment.api.home_pose() is True
    assert environment.api.goto_pose((0.46, 0, 0.1), DOWN) is True


def test_the_step_limit_ends_a_call_and_every_later_one():
    environment = start(msgspec.structs.replace(CUBE_LIFT, step_limit=20), "robosuite/cube-lift")
    environment.reset(101)
    for call in (lambda: environment.api.goto_pose((0.5, 0.3, 0.3), DOWN), environment.api.open_gripper):
        with pytest.raises(StepLimitReachedError, match=r"^The episode's 20 control steps are used up\.$"):
            call()
        assert environment.steps == 20
    with pytest.raises(StepLimitReachedError):
        environment.sleep(1e9)
    environment.close()


def test_asking_before_the_first_reset_names_the_remedy():
    environment = start(CUBE_LIFT, "robosuite/cube-lift")
    with pytest.raises(UsageError, match=r"^The environment has no episode yet; call reset\(seed\) first\.$"):
        environment.telemetry()
    environment.close()


def test_the_simulator_starts_without_opencv_and_prints_nothing():
    code = (
        "import sys; sys.modules['cv2'] = None; "
        "from surefoot.environments.robosuite.tasks import TASKS; "
        "TASKS['robosuite/cube-lift'].make().reset(101); "
        "assert sys.modules['cv2'] is None"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_the_simulator_starts_without_the_gl_library_that_the_user_chose_and_leaves_the_choice(monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "osmesa")
    code = (
        "import os, sys; "
        "from surefoot.environments.robosuite.tasks import TASKS; "
        "TASKS['robosuite/cube-lift'].make().reset(101); "
        "assert not any(name.startswith('OpenGL') for name in sys.modules); print(os.environ['MUJOCO_GL'])"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("osmesa\n", "")
