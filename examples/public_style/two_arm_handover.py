"""Hand the hammer from arm 0 to arm 1: each hand holds one end of the handle, straight from above."""

import numpy as np
from scipy.spatial.transform import Rotation

UP = np.array([0.0, 0.0, 1.0])


def down(yaw):
    return np.array([0.0, -np.sin(yaw / 2), np.cos(yaw / 2), 0.0])


def yaw_of(quaternion_wxyz):
    return 2 * np.arctan2(-quaternion_wxyz[1], quaternion_wxyz[2])


def across(direction, quaternion_wxyz):
    """The yaw whose fingers close across a handle along `direction`, nearest to that of a hand."""
    angle = np.arctan2(direction[1], direction[0])
    return angle + np.pi * np.round((yaw_of(quaternion_wxyz) - angle) / np.pi)


def find_handle():
    """Middle of the handle, and the unit vector along it to the head."""
    middle, (w, x, y, z) = get_hammer_pose()
    return middle, Rotation.from_quat([x, y, z, w]).apply(UP)


_, _, extent = get_object_pose("hammer handle", return_bbox_extent=True)
half = extent[2] / 2
middle, to_head = find_handle()
to_held_end = to_head if to_head[0] < 0.3 else -to_head  # the end nearer to arm 0; in doubt the head
turn = (np.pi - np.arctan2(-to_held_end[1], -to_held_end[0])) % (2 * np.pi) - np.pi  # then the free end points at arm 1

_, quaternion0 = get_arm0_gripper_pose()
nearest = across(to_held_end, quaternion0)
# the arm reaches yaws from -2 to 3: choose the grasp that leaves most room, before the turn and after it
yaw = min((nearest + k * np.pi for k in (-1, 0, 1)), key=lambda way: max(abs(way - 0.5), abs(way + turn - 0.5)))

open_gripper_arm0()
open_gripper_arm1()
grasp = middle + to_held_end * (half - 0.03)
goto_pose_arm0(grasp, down(yaw), z_approach=0.1)
close_gripper_arm0()
goto_pose_arm0(grasp + 0.15 * UP, down(yaw))
goto_pose_arm0([0.79 - (half - 0.03), 0.0, 0.14], down(yaw + turn))

middle, to_head = find_handle()
held, _ = get_arm0_gripper_pose()
to_free_end = to_head if to_head @ (middle - held) > 0 else -to_head
_, quaternion1 = get_arm1_gripper_pose()
goto_pose_arm1(middle + to_free_end * (half - 0.02), down(across(to_free_end, quaternion1)), z_approach=0.12)
close_gripper_arm1()
open_gripper_arm0()
held, quaternion0 = get_arm0_gripper_pose()
goto_pose_arm0(held + 0.1 * UP, quaternion0)
