"""Lift the cube: from above, across its faces, with the whole finger pads, and just off the table."""


@stage
def reach(item):
    position, quaternion = sample_grasp_pose(item)
    open_gripper()
    goto_pose(position, quaternion, z_approach=0.1)


@stage
def grasp(item):
    depth = vary(0.005, -0.01, 0.01)
    hand = get_observation()
    goto_pose(hand["hand_position"] - [0.0, 0.0, depth], hand["hand_quaternion_wxyz"])
    close_gripper()


@stage
def raise_up(item):
    rise = vary(0.04, 0.02, 0.2)
    hand = get_observation()
    goto_pose(hand["hand_position"] + [0.0, 0.0, rise], hand["hand_quaternion_wxyz"])


reach("cube")
grasp("cube")
raise_up("cube")
