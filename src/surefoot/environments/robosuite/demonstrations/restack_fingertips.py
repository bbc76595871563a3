"""Put two cubes the other way round with the fingertips: taken high on the sides, set down where the place seems free."""


@stage
def reach(item):
    position, quaternion = sample_grasp_pose(item)
    open_gripper()
    goto_pose(position + [0.0, 0.0, 0.02], quaternion, z_approach=0.1)


@stage
def grasp(item):
    grip = vary(0.023, -0.01, 0.03)
    position, _ = get_object_pose(item)
    hand = get_observation()
    goto_pose(position + [0.0, 0.0, grip], hand["hand_quaternion_wxyz"])
    close_gripper()


@stage
def raise_up(item):
    rise = vary(0.15, 0.02, 0.2)
    hand = get_observation()
    goto_pose(hand["hand_position"] + [0.0, 0.0, rise], hand["hand_quaternion_wxyz"])


@stage
def put_aside(item, other):
    distance = vary(0.12, 0.05, 0.15)
    place, _ = get_object_pose(other)
    hand = get_observation()
    side = distance if place[1] < 0 else -distance
    goto_pose(place + [0.0, side, 0.02], hand["hand_quaternion_wxyz"], z_approach=0.08)
    open_gripper()
    goto_pose(place + [0.0, side, 0.15], hand["hand_quaternion_wxyz"])


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
    goto_pose(target + offset + [0.0, 0.0, 0.042], hand["hand_quaternion_wxyz"], z_approach=above)
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
