"""Two arms that face each other: one frame for both, motions of one or both, snapshots."""

import importlib.util

import numpy as np
import pytest

from surefoot.environments.robosuite.errors import BadPoseError, UnknownObjectError

INSTALLED = importlib.util.find_spec("robosuite") is not None  # importing it here would choose a renderer
pytestmark = [pytest.mark.sim, pytest.mark.skipif(not INSTALLED, reason="needs the extra robosuite")]

DOWN0, DOWN1 = np.array([0.0, 0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0, 0.0])
"""Straight down, each as its own arm sees it at yaw 0: arm 1 stands opposite, turned by half a circle."""


@pytest.fixture(scope="module")
def environment(environment_of):
    return environment_of("robosuite/two-arm-lift")


@pytest.fixture
def api(environment):
    environment.reset(205)
    return environment.api


def same_turn(one, other):
    return abs(float(one @ other))


def test_both_hands_are_told_in_arm_0_s_frame_and_face_each_other(api):
    (first, turned0), (second, turned1) = api.get_arm0_gripper_pose(), api.get_arm1_gripper_pose()
    assert 0.3 < first[0] < 0.6 < second[0] < 0.9  # arm 1's hand is farther from arm 0's base
    assert abs(first[1]) < 0.1
    assert abs(second[1]) < 0.1
    assert same_turn(turned0, DOWN0) > 0.98
    assert same_turn(turned1, DOWN1) > 0.98


def test_a_hand_of_either_arm_arrives_where_it_was_sent_in_arm_0_s_frame(environment, api):
    still, _ = api.get_arm0_gripper_pose()
    target = np.array([0.72, 0.2, 0.25])
    assert api.goto_pose_arm1(target, DOWN1) is True
    position, turned = api.get_arm1_gripper_pose()
    np.testing.assert_allclose(position, target, atol=0.003)
    assert same_turn(turned, DOWN1) > 0.999
    assert np.linalg.norm(api.get_arm0_gripper_pose()[0] - still) < 0.03  # it only settles
    kept, _ = api.get_arm0_gripper_pose()
    assert api.goto_pose_arm0([0.5, -0.2, 0.25], DOWN0) is True
    np.testing.assert_allclose(api.get_arm0_gripper_pose()[0], [0.5, -0.2, 0.25], atol=0.003)
    np.testing.assert_allclose(api.get_arm1_gripper_pose()[0], target, atol=0.005)
    assert np.linalg.norm(kept - [0.5, -0.2, 0.25]) > 0.1
    np.testing.assert_allclose(environment.telemetry()["arm1.position"], api.get_arm1_gripper_pose()[0])


def test_both_hands_arrive_at_once_and_take_no_longer_than_the_slower_of_them(environment, api):
    near, far = np.array([0.46, 0.1, 0.2]), np.array([0.7, -0.25, 0.35])
    begin = environment.steps
    assert api.goto_pose_both(near, DOWN0, far, DOWN1) is True
    together = environment.steps - begin
    np.testing.assert_allclose(api.get_arm0_gripper_pose()[0], near, atol=0.005)
    np.testing.assert_allclose(api.get_arm1_gripper_pose()[0], far, atol=0.005)
    environment.reset(205)
    begin = environment.steps
    environment.api.goto_pose_arm0(near, DOWN0)
    environment.api.goto_pose_arm1(far, DOWN1)
    assert together < environment.steps - begin


def test_one_hand_out_of_reach_makes_both_false_and_raises_nothing(api):
    assert api.goto_pose_both([0.45, 0.0, 0.2], DOWN0, [0.2, 0.9, 0.9], DOWN1) is False
    np.testing.assert_allclose(api.get_arm0_gripper_pose()[0], [0.45, 0.0, 0.2], atol=0.01)
    assert api.home_pose_arm1() is True


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("goto_pose_arm0", ([0.5, 0.0], DOWN0)),
        ("goto_pose_arm1", ([0.5, 0.0, np.inf], DOWN1)),
        ("goto_pose_both", ([0.5, 0.0, 0.2], DOWN0, [0.7, 0.0, 0.2], [0, 0, 0, 0])),
        ("goto_pose_both", ([0.5, 0.0, 0.2], DOWN0, [0.7, 0.0, 0.2], DOWN1, "near")),
    ],
)
def test_a_bad_pose_of_either_arm_moves_neither(environment, api, call, arguments):
    before = environment.state_digest()
    with pytest.raises(BadPoseError, match=rf"^{call}'s "):
        getattr(api, call)(*arguments)
    assert environment.state_digest() == before


def test_an_unknown_name_is_answered_with_the_nearest_and_all_that_exist(api):
    with pytest.raises(UnknownObjectError) as error:
        api.get_object_pose("handle2")
    assert str(error.value) == "There is no object 'handle2'. Did you mean 'handle1'? Available: pot, handle0, handle1."


def test_handles_are_on_their_arms_sides_along_the_pot_s_y_axis(api):
    pot, (w, x, y, z) = api.get_pot_pose()
    handle0, handle1 = api.get_handle0_pos(), api.get_handle1_pos()
    np.testing.assert_allclose((handle0 + handle1)[:2] / 2, pot[:2], atol=1e-3)
    axis = np.array([2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)])
    way = handle1 - handle0
    assert abs(way @ axis) == pytest.approx(np.linalg.norm(way), abs=1e-3)
    assert handle0[0] < handle1[0]


@pytest.mark.parametrize("task", ["robosuite/two-arm-lift", "robosuite/two-arm-handover"])
def test_what_follows_a_restored_snapshot_of_two_arms_is_bit_equal(environment_of, task):
    environment = environment_of(task)
    environment.reset(206)

    def rest():
        environment.api.open_gripper_arm1()
        environment.api.goto_pose_both([0.45, 0.1, 0.2], DOWN0, [0.75, -0.1, 0.2], DOWN1)
        environment.api.home_pose_arm0()
        return environment.telemetry(), environment.state_digest(), environment.steps

    environment.api.goto_pose_both([0.45, -0.1, 0.25], DOWN0, [0.75, 0.1, 0.25], DOWN1)
    environment.api.close_gripper_arm1()
    snapshot, before = environment.snapshot(), environment.state_digest()
    after = rest()
    environment.restore(snapshot)
    assert environment.state_digest() == before != after[1]
    assert rest() == after
