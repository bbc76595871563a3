"""What the telemetry of each task holds."""

import importlib.util

import numpy as np
import pytest

from surefoot.environments.registry import find_task
from surefoot.environments.robosuite.suites import SUITES

INSTALLED = importlib.util.find_spec("robosuite") is not None  # importing it here would choose a renderer
pytestmark = [pytest.mark.sim, pytest.mark.skipif(not INSTALLED, reason="needs the extra robosuite")]

ARM = ("position", "quaternion", "opening", "joints")
THING = ("position", "quaternion", "grasp_point", "height", "lifted", "top", "displacement")


def keys(arms, things, dirt=(), contacts=(), seats=()):
    """Telemetry keys of arms by their prefix, things that can be grasped, dirt, pairs that touch, and seats."""
    hands = ["arm0"] if arms == ["hand"] else arms
    return {
        *(f"{arm}.{what}" for arm in arms for what in ARM),
        *(f"{what}.{thing}" for thing in (*things, *dirt) for what in THING),
        *(f"grasped.{thing}" for thing in things),
        *(f"{what}.{thing}.{hand}" for what in ("grasped", "skew") for thing in things for hand in hands),
        *(f"contact.{pair}" for pair in contacts),
        *(f"seated.{pair}" for pair in seats),
        *(["wiped"] if dirt else []),
    }


CUBES = keys(["hand"], ["cubeA", "cubeB"], contacts=["cubeA.cubeB"], seats=["cubeA.cubeB", "cubeB.cubeA"])
BOTH = ["arm0", "arm1"]
NUT = ["square_nut", "square_nut_handle", "square_peg"]
KEYS = {
    "robosuite/cube-lift": keys(["hand"], ["cube"]),
    "robosuite/cube-stack": CUBES,
    "robosuite/cube-restack": CUBES,
    "robosuite/spill-wipe": keys(["hand"], [], dirt=["spill"]),
    "robosuite/two-arm-handover": keys(BOTH, ["hammer", "handle"], contacts=["hammer.handle"]),
    "robosuite/two-arm-lift": keys(
        BOTH, ["pot", "handle0", "handle1"], contacts=["handle0.pot", "handle1.pot", "handle0.handle1"]
    ),
    "robosuite/nut-assembly": keys(
        ["hand"],
        NUT,
        contacts=["square_nut.square_nut_handle", "square_nut.square_peg", "square_nut_handle.square_peg"],
        seats=["square_nut.square_peg", "square_nut_handle.square_peg"],
    ),
}


@pytest.mark.parametrize("name", SUITES["robosuite"])
def test_the_telemetry_of_a_task_has_these_keys_and_decides_all_its_checks(environment_of, name):
    environment, task = environment_of(name), find_task(name)
    environment.reset(201)
    seen = environment.telemetry()
    assert set(seen) == KEYS[name]
    supported = {check.name for check in task.graph if check.holds(seen, task.roles)}
    assert supported <= {"still"}


@pytest.mark.parametrize("name", SUITES["robosuite"])
def test_what_programs_and_the_telemetry_are_told_is_the_same(environment_of, name):
    environment = environment_of(name)
    scene = environment.reset(202)
    seen = environment.telemetry()
    for thing in scene.layout:
        position, quaternion = environment.api.get_object_pose(thing)
        assert (position.tolist(), quaternion.tolist()) == (seen[f"position.{thing}"], seen[f"quaternion.{thing}"])
        assert seen[f"displacement.{thing}"] == 0.0
        assert np.isfinite(position).all()


def test_each_hand_s_opening_and_joints_are_its_own(environment_of):
    environment = environment_of("robosuite/two-arm-lift")
    environment.reset(201)
    environment.api.close_gripper_arm1()
    after = environment.telemetry()
    assert after["arm0.opening"] > 0.07
    assert after["arm1.opening"] < 0.01
    assert after["arm0.joints"] != after["arm1.joints"]


def test_a_tool_without_fingers_has_no_opening(environment_of):
    environment = environment_of("robosuite/spill-wipe")
    environment.reset(201)
    assert environment.telemetry()["hand.opening"] == 0.0


@pytest.mark.parametrize("turn", [0.0, 0.2, 0.5, np.pi])
def test_the_skew_is_how_far_fingers_are_from_closing_straight_across_a_long_thing(environment_of, turn):
    environment = environment_of("robosuite/nut-assembly")
    environment.reset(203)
    position, (_, x, y, _) = environment.api.sample_grasp_pose("square nut handle")
    yaw = 2 * np.arctan2(-x, y)
    yaw += turn if yaw < 0.5 else -turn  # the arm does not reach every yaw
    environment.api.goto_pose(position + np.array([0, 0, 0.1]), [0.0, -np.sin(yaw / 2), np.cos(yaw / 2), 0.0])
    seen = environment.telemetry()
    assert seen["skew.square_nut_handle.arm0"] == pytest.approx(min(turn, np.pi - turn), abs=0.05)
    assert seen["skew.square_nut.arm0"] == 0.0
