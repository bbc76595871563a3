import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.environments.robosuite.poses import (
    DOWN,
    Pose,
    matrix_of,
    nearest_turn,
    product,
    quaternion_of,
    rotation_of,
    rotation_vector,
    turn,
    yaw_of_box,
    yaw_of_hand,
)

angles = st.floats(-math.pi, math.pi)
vectors = st.tuples(*[st.floats(-1.8, 1.8)] * 3).map(np.array)  # shorter than pi

pytestmark = pytest.mark.property


@given(vectors)
def test_rotation_vector_inverts_rotation_of(vector):
    np.testing.assert_allclose(rotation_vector(rotation_of(vector)), vector, atol=1e-7)


@given(vectors)
def test_quaternion_of_inverts_matrix_of_and_its_largest_component_is_positive(vector):
    matrix = rotation_of(vector)
    quaternion = quaternion_of(matrix)
    np.testing.assert_allclose(matrix_of(quaternion), matrix, atol=1e-12)
    assert quaternion[np.argmax(np.abs(quaternion))] > 0


@given(vectors, vectors, vectors, vectors)
def test_a_pose_composed_with_its_inverse_is_the_identity(at, spin, point, other):
    pose = Pose(at, rotation_of(spin))
    inner = Pose(point, rotation_of(other))
    back = pose.inverse().compose(pose.compose(inner))
    np.testing.assert_allclose(back.position, inner.position, atol=1e-12)
    np.testing.assert_allclose(back.rotation, inner.rotation, atol=1e-12)


@given(angles)
def test_a_downward_hand_has_the_documented_quaternion_and_yaw(yaw):
    rotation = product(turn(yaw), DOWN)
    np.testing.assert_allclose(matrix_of([0, -math.sin(yaw / 2), math.cos(yaw / 2), 0]), rotation, atol=1e-12)
    assert math.cos(yaw_of_hand(rotation) - yaw) == pytest.approx(1)


@given(angles, angles, st.sampled_from([math.pi / 2, math.pi]))
def test_nearest_turn_is_within_half_a_period_and_equal_up_to_periods(yaw, reference, period):
    found = nearest_turn(yaw, reference, period)
    assert abs(found - reference) <= period / 2 + 1e-9
    assert math.remainder(found - yaw, period) == pytest.approx(0, abs=1e-9)


def test_straight_down_is_the_quaternion_of_public_programs():
    assert quaternion_of(DOWN).tolist() == [0, 0, 1, 0]


def test_a_box_on_its_side_is_turned_by_its_level_axis():
    tipped = product(turn(0.3), rotation_of(np.array([0.0, math.pi / 2, 0.0])))
    assert math.remainder(yaw_of_box(tipped) - 0.3, math.pi / 2) == pytest.approx(0, abs=1e-9)
