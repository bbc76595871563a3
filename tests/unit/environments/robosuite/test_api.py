import math

import numpy as np
import pytest

from surefoot.environments.robosuite.api import RobosuiteApi
from surefoot.environments.robosuite.errors import BadPoseError, UnknownObjectError
from surefoot.environments.robosuite.poses import DOWN, Pose, matrix_of, product, turn, yaw_of_hand
from surefoot.environments.robosuite.setups import CUBE_STACK

DOWN_QUATERNION = np.array([0.0, 0.0, 1.0, 0.0])


class Recorder:
    """A robot that stands still and notes what it is told."""

    object_names = ("cubeA", "cubeB")

    def __init__(self, object_yaw=0.0, hand_yaw=0.0):
        self.object = Pose(np.array([0.5, 0.1, -0.09]), turn(object_yaw))
        self.hand = Pose(np.array([0.46, 0.0, 0.1]), product(turn(hand_yaw), DOWN))
        self.moves = []

    def object_pose(self, name):
        return self.object

    def object_size(self, name):
        return np.full(3, 0.04)

    def hand_pose(self):
        return self.hand

    def move(self, hand, position_tolerance):
        self.moves.append((hand, position_tolerance))
        return True


def api_of(robot):
    return RobosuiteApi(robot, CUBE_STACK.objects)


@pytest.mark.parametrize("object_yaw", [-3.0, -1.2, 0.0, 0.7, 2.5])
@pytest.mark.parametrize("hand_yaw", [-1.0, 0.0, 1.4])
def test_a_sampled_grasp_points_down_across_two_faces_as_near_to_the_hand_as_can_be(object_yaw, hand_yaw):
    robot = Recorder(object_yaw, hand_yaw)
    position, quaternion = api_of(robot).sample_grasp_pose("cubeA")
    rotation = matrix_of(quaternion)
    np.testing.assert_array_equal(position, robot.object.position)
    np.testing.assert_allclose(rotation[:, 2], [0, 0, -1], atol=1e-12)
    assert math.remainder(yaw_of_hand(rotation) - object_yaw, math.pi / 2) == pytest.approx(0, abs=1e-9)
    assert abs(math.remainder(yaw_of_hand(rotation) - hand_yaw, 2 * math.pi)) <= math.pi / 4 + 1e-9


def test_an_approach_comes_along_the_hands_own_axis():
    robot = Recorder()
    assert api_of(robot).goto_pose([0.5, 0, 0], 2 * DOWN_QUATERNION, z_approach=0.1) is True
    (before, passed), (target, arrived) = robot.moves
    np.testing.assert_allclose(before.position, [0.5, 0, 0.1])
    np.testing.assert_array_equal(target.position, [0.5, 0, 0])
    assert passed > arrived


def test_objects_answer_to_their_ids_and_to_the_words_of_public_programs():
    api = api_of(Recorder())
    for name in ("cubeA", "red cube", "red_cube", "Red Cube"):
        assert len(api.get_object_pose(name)) == 2
    assert len(api.get_object_pose("cubeB", return_bbox_extent=True)) == 3


def test_an_unknown_object_is_answered_with_the_nearest_and_all_that_exist():
    with pytest.raises(UnknownObjectError) as error:
        api_of(Recorder()).sample_grasp_pose("cube_A")
    assert str(error.value) == "There is no object 'cube_A'. Did you mean 'cubeA'? Available: cubeA, cubeB."


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
        (
            ([0, 0, 0], DOWN_QUATERNION, -0.1),
            "goto_pose's z_approach must be a finite number of metres, 0 or more, not -0.1.",
        ),
        (
            ([0, 0, 0], DOWN_QUATERNION, "high"),
            "goto_pose's z_approach must be a finite number of metres, 0 or more, not 'high'.",
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
    for hand, _ in robot.moves:
        assert np.isfinite(hand.position).all()
        np.testing.assert_allclose(hand.rotation, DOWN, atol=1e-12)
