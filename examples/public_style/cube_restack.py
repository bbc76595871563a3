"""Take the green cube off the red one, then put the red cube on the green one."""

import numpy as np


def pick(name):
    position, quaternion = sample_grasp_pose(name)
    open_gripper()
    goto_pose(position, quaternion, z_approach=0.1)
    close_gripper()
    goto_pose(position + np.array([0.0, 0.0, 0.15]), quaternion)
    return quaternion


def place(position, quaternion):
    goto_pose(position, quaternion, z_approach=0.08)
    open_gripper()
    goto_pose(position + np.array([0.0, 0.0, 0.15]), quaternion)


_, _, extent = get_object_pose("red cube", return_bbox_extent=True)
quaternion = pick("green cube")
red, _ = get_object_pose("red cube")
side = 0.12 if red[1] < 0 else -0.12
place(red + np.array([0.0, side, 0.003]), quaternion)

quaternion = pick("red cube")
green, _ = get_object_pose("green cube")
place(green + np.array([0.0, 0.0, extent[2] + 0.002]), quaternion)
