"""Stack with care: grasp across the neighbour, set down by the measured offset, back off."""

import numpy as np

UP = np.array([0.0, 0.0, 1.0])
QUARTER_TURN = np.array([np.cos(np.pi / 4), 0.0, 0.0, np.sin(np.pi / 4)])


def multiply(a, b):
    """Hamilton product, wxyz."""
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def finger_axis(quaternion):
    """The hand's y axis in the base frame."""
    w, x, y, z = quaternion
    return np.array([2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)])


position, quaternion = sample_grasp_pose("cubeA")
neighbour, _ = get_object_pose("cubeB")
way = neighbour - position
if np.hypot(way[0], way[1]) < 0.13:
    grasps = (quaternion, multiply(QUARTER_TURN, quaternion))
    quaternion = min(grasps, key=lambda grasp: abs(finger_axis(grasp) @ way))
open_gripper()
goto_pose(position, quaternion, z_approach=0.1)
close_gripper()
goto_pose(position + 0.15 * UP, quaternion)
base, _ = get_object_pose("cubeB")
held, _ = get_object_pose("cubeA")
offset = get_observation()["hand_position"] - held
goto_pose(base + 0.047 * UP + offset, quaternion, z_approach=0.08)
open_gripper()
goto_pose(base + 0.2 * UP, quaternion)
