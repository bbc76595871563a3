"""Lift the cube with the fingertips, as high on its sides as they hold."""


@stage
def reach(item):
    position, quaternion = sample_grasp_pose(item)
    open_gripper()
    goto_pose(position + [0.0, 0.0, 0.02], quaternion, z_approach=0.1)


@stage
def grasp(item):
    grip = vary(0.025, -0.01, 0.03)
    position, _ = get_object_pose(item)
    hand = get_observation()
    goto_pose(position + [0.0, 0.0, grip], hand["hand_quaternion_wxyz"])
    close_gripper()


@stage
def raise_up(item):
    rise = vary(0.15, 0.02, 0.2)
    hand = get_observation()
    goto_pose(hand["hand_position"] + [0.0, 0.0, rise], hand["hand_quaternion_wxyz"])


reach("cube")
grasp("cube")
raise_up("cube")
