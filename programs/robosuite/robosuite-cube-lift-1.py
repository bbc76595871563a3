@stage
def reach(item):
    approach = vary(0.03, 0.0, 0.12)
    position, quaternion = sample_grasp_pose(item)
    places = get_observation()["object_positions"]
    room = min([abs(place - position).max() for name, place in places.items() if name != item], default=1.0)
    print(f"{item}: nearest neighbour {room:.3f} m away")
    open_gripper()
    goto_pose(position, quaternion, z_approach=approach)


@stage
def grasp(item):
    close_gripper()


@stage
def raise_up(item):
    rise = vary(0.03, 0.02, 0.2)
    hand = get_observation()
    goto_pose(hand["hand_position"] + [0.0, 0.0, rise], hand["hand_quaternion_wxyz"])


reach("cube")
grasp("cube")
raise_up("cube")
