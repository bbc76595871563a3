"""Two throw-away programs that should solve their tasks on every scene."""

import numpy as np

UP = np.array([0.0, 0.0, 1.0])
QUARTER = np.array([np.cos(np.pi / 4), 0.0, 0.0, np.sin(np.pi / 4)])


def lift(api):
    """Grasp the cube across its faces and raise it."""
    position, quaternion = api.sample_grasp_pose("cube")
    api.open_gripper()
    api.goto_pose(position, quaternion, z_approach=0.1)
    api.close_gripper()
    api.goto_pose(position + 0.15 * UP, quaternion)


def stack(api):
    """Grasp the red cube across the neighbour, set it down on the green one, let go, back off."""
    position, quaternion = api.sample_grasp_pose("red cube")
    neighbour, _ = api.get_object_pose("green cube")
    quaternion = across(quaternion, neighbour - position)
    api.open_gripper()
    api.goto_pose(position, quaternion, z_approach=0.1)
    api.close_gripper()
    api.goto_pose(position + 0.15 * UP, quaternion)
    base, _ = api.get_object_pose("cubeB")
    held, _ = api.get_object_pose("cubeA")
    offset = api.get_observation()["hand_position"] - held
    api.goto_pose(base + (0.025 + 0.02 + 0.002) * UP + offset, quaternion, z_approach=0.08)
    api.open_gripper()
    api.goto_pose(base + 0.2 * UP, quaternion)


def across(quaternion, direction):
    """Of a downward grasp and the one a quarter turn further, that whose fingers pass beside the neighbour."""
    if np.hypot(direction[0], direction[1]) > 0.13:
        return quaternion
    turned = multiply(QUARTER, quaternion)
    return min((quaternion, turned), key=lambda q: abs(finger_axis(q) @ direction))


def finger_axis(quaternion):
    """The hand's y axis in the base frame."""
    w, x, y, z = quaternion
    return np.array([2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 0.0])


def multiply(a, b):
    """Hamilton product, wxyz."""
    aw, av, bw, bv = a[0], a[1:], b[0], b[1:]
    return np.array([aw * bw - av @ bv, *(aw * bv + bw * av + np.cross(av, bv))])
