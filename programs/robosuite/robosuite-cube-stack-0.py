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
    close_gripper()


@stage
def raise_up(item):
    rise = vary(0.175, 0.02, 0.2)
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


reach("cubeA")
grasp("cubeA")
raise_up("cubeA")
set_down("cubeA", "cubeB")
