@stage
def reach(item):
    import numpy as np

    position, quaternion = sample_grasp_pose(item)
    places = get_observation()["object_positions"]
    ways = [place[:2] - position[:2] for name, place in places.items() if name != item]
    way = min(ways, key=lambda offset: np.hypot(*offset), default=np.zeros(2))
    yaw = 2 * np.arctan2(-quaternion[1], quaternion[2])
    if abs(way @ [-np.sin(yaw), np.cos(yaw)]) > abs(way @ [np.cos(yaw), np.sin(yaw)]):
        yaw += np.pi / 2 if yaw < 0.5 else -np.pi / 2
    open_gripper()
    goto_pose(position, [0.0, -np.sin(yaw / 2), np.cos(yaw / 2), 0.0], z_approach=0.1)


@stage
def grasp(item):
    grip = vary(-0.01, -0.01, 0.03)
    position, _ = get_object_pose(item)
    hand = get_observation()
    goto_pose(position + [0.0, 0.0, grip], hand["hand_quaternion_wxyz"])
    close_gripper()


@stage
def raise_up(item):
    rise = vary(0.2, 0.02, 0.2)
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
def reach_again(item):
    import numpy as np

    position, quaternion = sample_grasp_pose(item)
    places = get_observation()["object_positions"]
    ways = [place[:2] - position[:2] for name, place in places.items() if name != item]
    way = min(ways, key=lambda offset: np.hypot(*offset), default=np.zeros(2))
    yaw = 2 * np.arctan2(-quaternion[1], quaternion[2])
    if abs(way @ [-np.sin(yaw), np.cos(yaw)]) > abs(way @ [np.cos(yaw), np.sin(yaw)]):
        yaw += np.pi / 2 if yaw < 0.5 else -np.pi / 2
    if yaw < 0.900812:
        def reach_again_f8a1(item):
            approach = vary(0.0, 0.0, 0.12)
            position, quaternion = sample_grasp_pose(item)
            places = get_observation()["object_positions"]
            room = min([abs(place - position).max() for name, place in places.items() if name != item], default=1.0)
            print(f"{item}: nearest neighbour {room:.3f} m away")
            open_gripper()
            goto_pose(position, quaternion, z_approach=approach)
        return reach_again_f8a1(item)
    if places['cubeA'][1] < 0.082436:
        def reach_again_682e(item):
            position, quaternion = sample_grasp_pose(item)
            open_gripper()
            goto_pose(position + [0.0, 0.0, 0.02], quaternion, z_approach=0.1)
        return reach_again_682e(item)
    open_gripper()
    goto_pose(position, [0.0, -np.sin(yaw / 2), np.cos(yaw / 2), 0.0], z_approach=0.1)


@stage
def grasp_again(item):
    grip = vary(-0.01, -0.01, 0.03)
    position, _ = get_object_pose(item)
    hand = get_observation()
    goto_pose(position + [0.0, 0.0, grip], hand["hand_quaternion_wxyz"])
    close_gripper()


@stage
def raise_up_again(item):
    rise = vary(0.2, 0.02, 0.2)
    hand = get_observation()
    goto_pose(hand["hand_position"] + [0.0, 0.0, rise], hand["hand_quaternion_wxyz"])


@stage
def set_down(item, base):
    above = vary(0.15, 0.0, 0.25)
    clearance = vary(0.042, 0.042, 0.1)
    import numpy as np

    target, frame = get_object_pose(base)
    held, pose = get_object_pose(item)
    hand = get_observation()
    w, x, y, z = hand["hand_quaternion_wxyz"]
    yaw = 2 * np.arctan2(-x, y)
    skew = 2 * np.arctan2(frame[3], frame[0]) - 2 * np.arctan2(pose[3], pose[0])
    offset = hand["hand_position"] - held
    ways = []
    for quarter in range(-4, 5):
        spin = (skew + np.pi / 4) % (np.pi / 2) - np.pi / 4 + quarter * np.pi / 2
        across = offset[0] * np.cos(spin) - offset[1] * np.sin(spin)
        along = offset[0] * np.sin(spin) + offset[1] * np.cos(spin)
        if -1.9 < yaw + spin < 2.9:
            ways.append((across + 0.01 * abs(spin), spin, across, along))
    _, spin, across, along = min(ways)
    down = [0.0, -np.sin((yaw + spin) / 2), np.cos((yaw + spin) / 2), 0.0]
    goto_pose(target + [across, along, offset[2] + clearance], down, z_approach=above)
    open_gripper()
    goto_pose(target + [across, along, offset[2] + 0.15], down)


reach("cubeB")
grasp("cubeB")
raise_up("cubeB")
put_aside("cubeB", "cubeA")
reach_again("cubeA")
grasp_again("cubeA")
raise_up_again("cubeA")
set_down("cubeA", "cubeB")
