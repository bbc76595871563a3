"""Stack the red cube on the green one in straight lines: no approach from above, a low carry."""


@stage
def pick(item):
    rise = vary(0.05, 0.02, 0.2)
    approach = vary(0.0, 0.0, 0.12)
    position, quaternion = sample_grasp_pose(item)
    others = [place for name, place in get_observation()["object_positions"].items() if name != item]
    room = min([abs(place - position).max() for place in others], default=1.0)
    print(f"{item}: nearest neighbour {room:.3f} m away")
    open_gripper()
    goto_pose(position, quaternion, z_approach=approach)
    close_gripper()
    goto_pose(position + [0.0, 0.0, rise], quaternion)


@stage
def place(item, base):
    clearance = vary(0.047, 0.04, 0.12)
    target, _ = get_object_pose(base)
    hand = get_observation()
    way = target - hand["hand_position"]
    distance = (way[0] ** 2 + way[1] ** 2) ** 0.5
    print(f"{base}: {distance:.3f} m away, {-way[2]:.3f} m below the hand")
    goto_pose(target + [0.0, 0.0, clearance], hand["hand_quaternion_wxyz"])
    open_gripper()
    goto_pose(target + [0.0, 0.0, 0.2], hand["hand_quaternion_wxyz"])


pick("cubeA")
place("cubeA", "cubeB")
