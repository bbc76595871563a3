"""Lift the cube where it usually stands, without looking, and barely off the table."""


@stage
def reach(item):
    spot = [0.56, 0.0, -0.09]
    print(f"{item}: should be at {spot}")
    open_gripper()
    goto_pose(spot, [0.0, 0.0, 1.0, 0.0], z_approach=0.1)


@stage
def grasp(item):
    grip = vary(0.0, -0.01, 0.03)
    hand = get_observation()
    goto_pose(hand["hand_position"] + [0.0, 0.0, grip], hand["hand_quaternion_wxyz"])
    close_gripper()


@stage
def raise_up(item):
    rise = vary(0.03, 0.02, 0.2)
    hand = get_observation()
    goto_pose(hand["hand_position"] + [0.0, 0.0, rise], hand["hand_quaternion_wxyz"])


reach("cube")
grasp("cube")
raise_up("cube")
