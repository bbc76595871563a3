"""Lift the pot by its two handles, in small steps so that it stays level."""

import numpy as np
from scipy.spatial.transform import Rotation


def across(bar, present):
    """Straight down with the fingers across a bar, turned as little as can be from the present quaternion."""
    now = 2 * np.arctan2(-present[1], present[2])
    yaw = now + (bar - now + np.pi / 2) % np.pi - np.pi / 2
    return np.array([0.0, -np.sin(yaw / 2), np.cos(yaw / 2), 0.0])


_, (w, x, y, z) = get_pot_pose()
bar = Rotation.from_quat([x, y, z, w]).as_euler("xyz")[2]
_, quaternion0 = get_arm0_gripper_pose()
_, quaternion1 = get_arm1_gripper_pose()
quaternion0, quaternion1 = across(bar, quaternion0), across(bar, quaternion1)

open_gripper_arm0()
open_gripper_arm1()
handle0, handle1 = get_handle0_pos(), get_handle1_pos()
goto_pose_both(handle0, quaternion0, handle1, quaternion1, z_approach=0.1)
close_gripper_arm0()
close_gripper_arm1()

start0, _ = get_arm0_gripper_pose()
start1, _ = get_arm1_gripper_pose()
for height in np.linspace(0.025, 0.2, 8):
    up = np.array([0.0, 0.0, height])
    goto_pose_both(start0 + up, quaternion0, start1 + up, quaternion1)
