"""Lift the pot with care: both hands down over their handles, fingers across the bars, up in small steps together."""

import numpy as np

UP = np.array([0.0, 0.0, 1.0])


def axis_y(quaternion):
    """Direction of a frame's y axis on the table, as an angle."""
    w, x, y, z = quaternion
    return np.arctan2(1 - 2 * (x * x + z * z), 2 * (x * y - w * z))


def down(yaw):
    """A hand that points down, its fingers opening along y turned by yaw."""
    return np.array([0.0, -np.sin(yaw / 2), np.cos(yaw / 2), 0.0])


def across(bar, hand):
    """The downward hand whose fingers open along an angle, turned as little as can be from where it is."""
    present = axis_y(hand) - np.pi / 2
    return down(present + (bar - np.pi / 2 - present + np.pi / 2) % np.pi - np.pi / 2)


_, pot = get_pot_pose()
_, hand0 = get_arm0_gripper_pose()
_, hand1 = get_arm1_gripper_pose()
grasp0, grasp1 = across(axis_y(pot), hand0), across(axis_y(pot), hand1)
open_gripper_arm0()
open_gripper_arm1()
goto_pose_both(get_handle0_pos(), grasp0, get_handle1_pos(), grasp1, z_approach=0.12)
close_gripper_arm0()
close_gripper_arm1()
start0, _ = get_arm0_gripper_pose()
start1, _ = get_arm1_gripper_pose()
for step in range(1, 9):
    goto_pose_both(start0 + 0.025 * step * UP, grasp0, start1 + 0.025 * step * UP, grasp1)
