"""Put two cubes the other way round in straight lines: no approach from above, a low carry, a rough aim."""


@stage
def reach(item):
    approach = vary(0.0, 0.0, 0.12)
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


@stage
def put_aside(item, other):
    distance = vary(0.07, 0.05, 0.15)
    place, _ = get_object_pose(other)
    hand = get_observation()
    goto_pose(place + [0.0, distance, 0.005], hand["hand_quaternion_wxyz"])
    open_gripper()
    goto_pose(place + [0.0, distance, 0.1], hand["hand_quaternion_wxyz"])


@stage
def set_down(item, base):
    clearance = vary(0.047, 0.04, 0.12)
    target, _ = get_object_pose(base)
    hand = get_observation()
    way = target - hand["hand_position"]
    distance = (way[0] ** 2 + way[1] ** 2) ** 0.5
    print(f"{base}: {distance:.3f} m away, {-way[2]:.3f} m below the hand")
    goto_pose(target + [0.0, 0.0, clearance], hand["hand_quaternion_wxyz"])
    open_gripper()
    goto_pose(target + [0.0, 0.0, 0.2], hand["hand_quaternion_wxyz"])


reach("cubeB")
grasp("cubeB")
raise_up("cubeB")
put_aside("cubeB", "cubeA")
reach("cubeA")
grasp("cubeA")
raise_up("cubeA")
set_down("cubeA", "cubeB")
