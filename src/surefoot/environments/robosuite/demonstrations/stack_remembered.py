"""Stack a cube that stands where it stood the last time; set it down from above, with the measured grasp."""


@stage
def reach(item):
    spot = [0.56, 0.0, -0.09]
    print(f"{item}: should be at {spot}")
    open_gripper()
    goto_pose(spot, [0.0, 0.0, 1.0, 0.0], z_approach=0.1)


@stage
def grasp(item):
    close_gripper()


@stage
def raise_up(item):
    rise = vary(0.06, 0.02, 0.2)
    hand = get_observation()
    goto_pose(hand["hand_position"] + [0.0, 0.0, rise], hand["hand_quaternion_wxyz"])


@stage
def set_down(item, base):
    above = vary(0.02, 0.0, 0.12)
    target, _ = get_object_pose(base)
    held, _ = get_object_pose(item)
    hand = get_observation()
    offset = hand["hand_position"] - held
    way = target - held
    distance = (way[0] ** 2 + way[1] ** 2) ** 0.5
    print(f"{base}: {distance:.3f} m away, {-way[2]:.3f} m below")
    goto_pose(target + offset + [0.0, 0.0, 0.047], hand["hand_quaternion_wxyz"], z_approach=above)
    open_gripper()
    goto_pose(target + [0.0, 0.0, 0.2], hand["hand_quaternion_wxyz"])


reach("cubeA")
grasp("cubeA")
raise_up("cubeA")
set_down("cubeA", "cubeB")
