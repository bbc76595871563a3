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
    rise = vary(0.03, 0.02, 0.2)
    hand = get_observation()
    goto_pose(hand["hand_position"] + [0.0, 0.0, rise], hand["hand_quaternion_wxyz"])


reach("cube")
grasp("cube")
raise_up("cube")
