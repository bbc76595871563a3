"""Careful programs solve their tasks through the API alone."""

import importlib.util

import numpy as np
import pytest

from surefoot.environments.robosuite.tasks import TASKS

INSTALLED = importlib.util.find_spec("robosuite") is not None  # importing it here would choose a renderer
pytestmark = [pytest.mark.sim, pytest.mark.skipif(not INSTALLED, reason="needs the extra robosuite")]

UP = np.array([0.0, 0.0, 1.0])
QUARTER_TURN = np.array([np.cos(np.pi / 4), 0.0, 0.0, np.sin(np.pi / 4)])


def lift(api):
    """Grasp the cube across its faces and raise it."""
    position, quaternion = api.sample_grasp_pose("cube")
    api.open_gripper()
    api.goto_pose(position, quaternion, z_approach=0.1)
    api.close_gripper()
    api.goto_pose(position + 0.15 * UP, quaternion)


def stack(api):
    """Grasp the red cube across the neighbour, set it down on the green one, let go, back off."""
    position, quaternion = api.sample_grasp_pose("red cube")
    neighbour, _ = api.get_object_pose("green cube")
    quaternion = beside(quaternion, neighbour - position)
    api.open_gripper()
    api.goto_pose(position, quaternion, z_approach=0.1)
    api.close_gripper()
    api.goto_pose(position + 0.15 * UP, quaternion)
    base, _ = api.get_object_pose("cubeB")
    held, _ = api.get_object_pose("cubeA")
    offset = api.get_observation()["hand_position"] - held
    api.goto_pose(base + 0.047 * UP + offset, quaternion, z_approach=0.08)
    api.open_gripper()
    api.goto_pose(base + 0.2 * UP, quaternion)


def beside(quaternion, direction):
    """Of a downward grasp and the one a quarter turn further, that whose fingers pass beside a near neighbour."""
    if np.hypot(direction[0], direction[1]) > 0.13:
        return quaternion
    candidates = (quaternion, multiply(QUARTER_TURN, quaternion))
    return min(candidates, key=lambda candidate: abs(finger_axis(candidate) @ direction))


def finger_axis(quaternion):
    """The hand's y axis in the base frame."""
    w, x, y, z = quaternion
    return np.array([2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)])


def multiply(a, b):
    """Hamilton product, wxyz."""
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


@pytest.mark.parametrize(("name", "program"), [("robosuite/cube-lift", lift), ("robosuite/cube-stack", stack)])
def test_a_careful_program_succeeds_on_every_scene_and_the_goal_checks_agree(name, program):
    task = TASKS[name]
    environment = task.make()
    for seed in (*range(4), *range(101, 107)):
        environment.reset(seed)
        assert not environment.succeeded()
        assert not any(task.graph[goal].holds(environment.telemetry(), task.roles) for goal in task.goal)
        program(environment.api)
        assert environment.succeeded(), seed
        assert all(task.graph[goal].holds(environment.telemetry(), task.roles) for goal in task.goal)
    environment.close()
