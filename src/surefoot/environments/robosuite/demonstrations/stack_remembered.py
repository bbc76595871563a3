"""Stack a cube that stands where it stood the last time; set it down from above, with the measured grasp."""


@stage
def pick(item):
    rise = vary(0.15, 0.05, 0.25)
    position = [0.56, 0.0, -0.09]
    print(f"{item}: should be at {position}")
    open_gripper()
    goto_pose(position, [0.0, 0.0, 1.0, 0.0], z_approach=0.1)
    close_gripper()
    goto_pose([position[0], position[1], position[2] + rise], [0.0, 0.0, 1.0, 0.0])


@stage
def place(item, base):
    above = vary(0.04, 0.0, 0.15)
    target, _ = get_object_pose(base)
    held, _ = get_object_pose(item)
    hand = get_observation()
    offset = hand["hand_position"] - held
    way = target - held
    distance = (way[0] ** 2 + way[1] ** 2) ** 0.5
    print(f"{base}: {distance:.3f} m away")
    goto_pose(target + offset + [0.0, 0.0, 0.047], hand["hand_quaternion_wxyz"], z_approach=above)
    open_gripper()
    goto_pose(target + [0.0, 0.0, 0.2], hand["hand_quaternion_wxyz"])


pick("cubeA")
place("cubeA", "cubeB")
