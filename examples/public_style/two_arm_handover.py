"""Hand the hammer from arm 0 to arm 1: each hand holds one end of the handle and leans away from the other."""

import numpy as np
from scipy.spatial.transform import Rotation

LEAN = 0.35  # radians
UP = np.array([0.0, 0.0, 1.0])


def rotation_of(quaternion_wxyz):
    w, x, y, z = quaternion_wxyz
    return Rotation.from_quat([x, y, z, w])


def quaternion_of(rotation):
    x, y, z, w = rotation.as_quat()
    return np.array([w, x, y, z])


def yaw_of(quaternion_wxyz):
    return 2 * np.arctan2(-quaternion_wxyz[1], quaternion_wxyz[2])


def gripping(yaw, away):
    """Down, fingers across a handle that lies along yaw; the palm leans to where the angle `away` points."""
    down = Rotation.from_quat([-np.sin(yaw / 2), np.cos(yaw / 2), 0.0, 0.0])
    return Rotation.from_rotvec([-LEAN * np.sin(away), LEAN * np.cos(away), 0.0]) * down


def handle_direction():
    """Middle of the handle, and the unit vector along it to the head."""
    middle, quaternion = get_hammer_pose()
    return middle, rotation_of(quaternion).apply(UP)


_, _, extent = get_object_pose("hammer handle", return_bbox_extent=True)
half = extent[2] / 2
middle, to_head = handle_direction()
held_end = 1.0 if to_head[0] < 0.3 else -1.0  # the end that is nearer to arm 0, in doubt the head
free = np.arctan2(-held_end * to_head[1], -held_end * to_head[0])  # where the free end points

_, quaternion = get_arm0_gripper_pose()
turn = (np.pi - free) % (2 * np.pi) - np.pi  # the free end must point at arm 1, along x
nearest = free + np.pi * np.round((yaw_of(quaternion) - free) / np.pi)
yaw = min((nearest + k * np.pi for k in (-1, 0, 1)), key=lambda way: max(abs(way - 0.5), abs(way - turn - 0.5)))
giving = gripping(yaw, free + np.pi)

open_gripper_arm0()
open_gripper_arm1()
grasp = middle + held_end * to_head * (half - 0.03)
goto_pose_arm0(grasp, quaternion_of(giving), z_approach=0.1)
close_gripper_arm0()
goto_pose_arm0(grasp + 0.15 * UP, quaternion_of(giving))

middle, _ = handle_direction()
held, quaternion = get_arm0_gripper_pose()
way = middle - held
offered = Rotation.from_euler("z", -np.arctan2(way[1], way[0])) * rotation_of(quaternion)
goto_pose_arm0([0.79 - np.hypot(way[0], way[1]), 0.0, 0.14], quaternion_of(offered))

middle, to_head = handle_direction()
outward = -held_end * to_head
angle = np.arctan2(outward[1], outward[0])
_, quaternion = get_arm1_gripper_pose()
yaw = angle + np.pi * np.round((yaw_of(quaternion) - angle) / np.pi)
goto_pose_arm1(middle + outward * (half - 0.02), quaternion_of(gripping(yaw, angle)), z_approach=0.12)
close_gripper_arm1()
open_gripper_arm0()
held, quaternion = get_arm0_gripper_pose()
goto_pose_arm0(held - 0.1 * rotation_of(quaternion).apply(UP), quaternion)
