import math

import numpy as np
import pytest

from surefoot.boundary.surface import Surface
from surefoot.environments.robosuite.api import ArmApi, GripperApi, HammerApi, PotApi, TwoArmApi
from surefoot.environments.robosuite.errors import BadFlagError, BadPoseError, UnknownObjectError
from surefoot.environments.robosuite.poses import DOWN, Pose, matrix_of, product, turn, yaw_of_hand
from surefoot.environments.robosuite.setups import CUBE_STACK, NUT_ASSEMBLY, TWO_ARM_HANDOVER, TWO_ARM_LIFT

DOWN_QUATERNION = np.array([0.0, 0.0, 1.0, 0.0])


class Recorder:
    """A robot that stands still and notes what it is told; each object lies 10 cm further along x."""

    def __init__(self, setup=CUBE_STACK, object_yaw=0.0, hand_yaw=0.0):
        self.object_names = tuple(spec.name for spec in setup.objects)
        self.turned = turn(object_yaw)
        self.hand = Pose(np.array([0.46, 0.0, 0.1]), product(turn(hand_yaw), DOWN))
        self.moves, self.told = [], []
        self.arrives = True

    def object_pose(self, name):
        return Pose(np.array([0.5 + 0.1 * self.object_names.index(name), 0.1, -0.09]), self.turned)

    def object_size(self, name):
        return np.full(3, 0.04)

    def hand_pose(self, arm=0):
        return Pose(self.hand.position + np.array([arm, 0.0, 0.0]), self.hand.rotation)

    def opening(self, arm=0):
        return 0.08

    def joints(self, arm=0):
        return np.arange(7.0)

    def move(self, hands, position_tolerance):
        self.moves.append((dict(hands), position_tolerance))
        return self.arrives

    def home(self, arm=0):
        self.told.append(("home", arm))
        return self.arrives

    def set_fingers(self, closing, arm=0):
        self.told.append(("close" if closing else "open", arm))


def api_of(robot, kind=GripperApi, setup=CUBE_STACK):
    return kind(robot, setup.objects)


def two_arms(kind=PotApi, setup=TWO_ARM_LIFT):
    robot = Recorder(setup)
    return robot, kind(robot, setup.objects)


@pytest.mark.parametrize("object_yaw", [-3.0, -1.2, 0.0, 0.7, 2.5])
@pytest.mark.parametrize("hand_yaw", [-1.0, 0.0, 1.4])
def test_a_sampled_grasp_points_down_across_two_faces_as_near_to_the_hand_as_can_be(object_yaw, hand_yaw):
    robot = Recorder(object_yaw=object_yaw, hand_yaw=hand_yaw)
    position, quaternion = api_of(robot).sample_grasp_pose("cubeA")
    rotation = matrix_of(quaternion)
    np.testing.assert_array_equal(position, robot.object_pose("cubeA").position)
    np.testing.assert_allclose(rotation[:, 2], [0, 0, -1], atol=1e-12)
    assert math.remainder(yaw_of_hand(rotation) - object_yaw, math.pi / 2) == pytest.approx(0, abs=1e-9)
    assert abs(math.remainder(yaw_of_hand(rotation) - hand_yaw, 2 * math.pi)) <= math.pi / 4 + 1e-9


def test_an_approach_comes_along_the_hands_own_axis():
    robot = Recorder()
    assert api_of(robot).goto_pose([0.5, 0, 0], 2 * DOWN_QUATERNION, z_approach=0.1) is True
    (before, passed), (target, arrived) = robot.moves
    assert list(before) == list(target) == [0]
    np.testing.assert_allclose(before[0].position, [0.5, 0, 0.1])
    np.testing.assert_array_equal(target[0].position, [0.5, 0, 0])
    assert passed > arrived


def test_a_negative_approach_comes_from_beyond_the_target():
    robot = Recorder()
    api_of(robot).goto_pose([0.5, 0, 0], DOWN_QUATERNION, z_approach=-0.1)
    np.testing.assert_allclose(robot.moves[0][0][0].position, [0.5, 0, -0.1])


def test_without_an_approach_there_is_one_motion_and_its_answer_is_the_robots():
    robot = Recorder()
    robot.arrives = False
    api = api_of(robot)
    assert api.goto_pose([0.5, 0, 0], DOWN_QUATERNION) is False
    assert api.home_pose() is False
    assert (len(robot.moves), robot.told) == (1, [("home", 0)])


def test_a_nut_is_grasped_across_its_handle_whose_turn_repeats_after_half_a_circle():
    robot = Recorder(NUT_ASSEMBLY, object_yaw=1.0)
    api = api_of(robot, setup=NUT_ASSEMBLY)
    for name in ("square_nut", "square nut", "nut", "square_nut_handle", "nut handle"):
        position, quaternion = api.sample_grasp_pose(name)
        np.testing.assert_array_equal(position, robot.object_pose("square_nut_handle").position)
        assert yaw_of_hand(matrix_of(quaternion)) == pytest.approx(1.0)


def test_an_observation_names_the_hand_the_joints_and_every_object():
    robot = Recorder()
    seen = api_of(robot).get_observation()
    assert set(seen) == {"hand_position", "hand_quaternion_wxyz", "gripper_opening", "joint_positions",
                         "object_positions", "object_quaternions_wxyz"}  # fmt: skip
    assert set(seen["object_positions"]) == set(seen["object_quaternions_wxyz"]) == {"cubeA", "cubeB"}
    np.testing.assert_array_equal(seen["hand_quaternion_wxyz"], DOWN_QUATERNION)


def test_objects_answer_to_their_ids_and_to_the_words_of_public_programs():
    api = api_of(Recorder())
    for name in ("cubeA", "red cube", "red_cube", "Red Cube"):
        assert len(api.get_object_pose(name)) == 2
    assert len(api.get_object_pose("cubeB", return_bbox_extent=True)) == 3


def test_an_unknown_object_is_answered_with_the_nearest_and_all_that_exist():
    with pytest.raises(UnknownObjectError) as error:
        api_of(Recorder()).sample_grasp_pose("cube_A")
    assert str(error.value) == "There is no object 'cube_A'. Did you mean 'cubeA'? Available: cubeA, cubeB."


@pytest.mark.parametrize("flag", [np.array([1, 2]), None, "yes", 2, [10**5000]])
def test_a_flag_that_is_none_is_the_programs_error(flag):
    with pytest.raises(BadFlagError, match=r"return_bbox_extent must be True or False, not ") as error:
        api_of(Recorder()).get_object_pose("cubeB", flag)
    assert len(str(error.value)) < 150


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (([0, 0], DOWN_QUATERNION), "goto_pose's position must be 3 numbers, not [0, 0]."),
        (("near", DOWN_QUATERNION), "goto_pose's position must be 3 numbers, not 'near'."),
        (([[0], [0, 1]], DOWN_QUATERNION), "goto_pose's position must be 3 numbers, not [[0], [0, 1]]."),
        (([0, 0, math.nan], DOWN_QUATERNION), "goto_pose's position must be finite, not [0, 0, nan]."),
        (([0, 0, 0], None), "goto_pose's quaternion_wxyz must be 4 numbers, not None."),
        (([0, 0, 0], [0] * 4), "goto_pose's quaternion_wxyz must not be zero; straight down is (0, 0, 1, 0)."),
        (([0, 0, 0], [0, 0, math.inf, 0]), "goto_pose's quaternion_wxyz must be finite, not [0, 0, inf, 0]."),
        (([0, 0, 0], DOWN_QUATERNION, "high"), "goto_pose's z_approach must be a finite number of metres, not 'high'."),
        (([0, 0, 0], DOWN_QUATERNION, True), "goto_pose's z_approach must be a finite number of metres, not True."),
        (
            ([0, 0, 0], DOWN_QUATERNION, 10**400),
            f"goto_pose's z_approach must be a finite number of metres, not 1{'0' * 56}....",
        ),
        (
            ([0, 0, 0], DOWN_QUATERNION, 10**5000),
            "goto_pose's z_approach must be a finite number of metres, not a value of type int.",
        ),
        (([10**5000, 0, 0], DOWN_QUATERNION), "goto_pose's position must be 3 numbers, not a value of type list."),
        (
            ([0, 0, 0], DOWN_QUATERNION, -math.inf),
            "goto_pose's z_approach must be a finite number of metres, not -inf.",
        ),
    ],
)
def test_a_bad_target_is_the_programs_error_and_moves_nothing(arguments, complaint):
    robot = Recorder()
    with pytest.raises(BadPoseError) as error:
        api_of(robot).goto_pose(*arguments)
    assert str(error.value) == complaint
    assert robot.moves == []


def test_numbers_of_any_size_stay_finite_on_their_way_to_the_robot():
    robot = Recorder()
    api_of(robot).goto_pose([1.7e308, -1.7e308, 0], [0, 1e-5, 1.7e308, 0], z_approach=1.7e308)
    assert len(robot.moves) == 2
    for hands, _ in robot.moves:
        hand = hands[0]
        assert np.isfinite(hand.position).all()
        np.testing.assert_allclose(hand.rotation, DOWN, atol=1e-12)


def test_each_arm_has_its_own_functions_and_the_other_holds_still():
    robot, api = two_arms()
    assert api.goto_pose_arm0([0.5, 0, 0], DOWN_QUATERNION, z_approach=0.1) is True
    assert api.goto_pose_arm1([0.6, 0, 0], DOWN_QUATERNION) is True
    assert [list(hands) for hands, _ in robot.moves] == [[0], [0], [1]]
    np.testing.assert_array_equal(robot.moves[-1][0][1].position, [0.6, 0, 0])
    for call in ("open_gripper", "close_gripper", "home_pose"):
        for arm in ("arm0", "arm1"):
            getattr(api, f"{call}_{arm}")()
    assert robot.told == [(what, arm) for what in ("open", "close", "home") for arm in (0, 1)]


def test_both_hands_pass_their_points_of_approach_together():
    robot, api = two_arms()
    api.goto_pose_both([0.3, 0, 0], DOWN_QUATERNION, [0.6, 0, 0.1], DOWN_QUATERNION, z_approach=0.2)
    places = [{arm: hand.position.tolist() for arm, hand in hands.items()} for hands, _ in robot.moves]
    assert places == [{0: [0.3, 0, 0.2], 1: [0.6, 0, pytest.approx(0.3)]}, {0: [0.3, 0, 0], 1: [0.6, 0, 0.1]}]


@pytest.mark.parametrize(
    ("call", "arguments", "complaint"),
    [
        ("goto_pose_arm0", ([0, 0], DOWN_QUATERNION), "goto_pose_arm0's position must be 3 numbers, not [0, 0]."),
        (
            "goto_pose_arm1", ([0, 0, 0], [0] * 4),
            "goto_pose_arm1's quaternion_wxyz must not be zero; straight down is (0, 0, 1, 0).",
        ),
        (
            "goto_pose_arm1", ([0, 0, 0], DOWN_QUATERNION, None),
            "goto_pose_arm1's z_approach must be a finite number of metres, not None.",
        ),
        (
            "goto_pose_both", ([0, 0, 0], DOWN_QUATERNION, [0, 0, math.nan], DOWN_QUATERNION),
            "goto_pose_both's position must be finite, not [0, 0, nan].",
        ),
        (
            "goto_pose_both", ([0, 0, 0], DOWN_QUATERNION, [0, 0, 0], "down"),
            "goto_pose_both's quaternion_wxyz must be 4 numbers, not 'down'.",
        ),
    ],
)  # fmt: skip
def test_a_bad_target_of_either_arm_moves_none(call, arguments, complaint):
    robot, api = two_arms()
    with pytest.raises(BadPoseError) as error:
        getattr(api, call)(*arguments)
    assert str(error.value) == complaint
    assert robot.moves == []


def test_the_pots_handles_and_both_hands_are_told_apart():
    robot, api = two_arms()
    np.testing.assert_array_equal(api.get_pot_pose()[0], robot.object_pose("pot").position)
    np.testing.assert_array_equal(api.get_handle0_pos(), robot.object_pose("handle0").position)
    np.testing.assert_array_equal(api.get_handle1_pos(), robot.object_pose("handle1").position)
    np.testing.assert_array_equal(api.get_object_pose("blue handle")[0], api.get_handle1_pos())
    np.testing.assert_array_equal(api.get_arm1_gripper_pose()[0] - api.get_arm0_gripper_pose()[0], [1, 0, 0])


def test_a_hammers_pose_is_that_of_its_handle():
    robot, api = two_arms(HammerApi, TWO_ARM_HANDOVER)
    np.testing.assert_array_equal(api.get_hammer_pose()[0], robot.object_pose("handle").position)
    with pytest.raises(UnknownObjectError) as error:
        api.get_object_pose("hamer")
    assert str(error.value) == "There is no object 'hamer'. Did you mean 'hammer'? Available: hammer, handle."


def test_a_tool_without_fingers_has_no_grippers_functions_and_two_arms_no_single_arms():
    names = {
        kind: {function.name for function in Surface.of(kind).functions} for kind in (ArmApi, GripperApi, TwoArmApi)
    }
    assert names[GripperApi] - names[ArmApi] == {"sample_grasp_pose", "open_gripper", "close_gripper"}
    assert names[ArmApi] & names[TwoArmApi] == {"get_object_pose"}
