@stage
def reach(handle):
    inset = vary(0.03, 0.015, 0.05)
    tilt = vary(0.0, 0.0, 0.5)
    from scipy.spatial.transform import Rotation
    import numpy as np

    centre, frame = get_hammer_pose()
    length = get_object_pose(handle, return_bbox_extent=True)[2].max()
    axis = Rotation.from_quat([*frame[1:], frame[0]]).apply([0.0, 0.0, 1.0])
    end = 1.0 if axis[0] < 0.3 else -1.0
    free = np.arctan2(-end * axis[1], -end * axis[0])
    _, turned = get_arm0_gripper_pose()
    now = 2 * np.arctan2(-turned[1], turned[2])
    swing = (np.pi - free) % (2 * np.pi) - np.pi
    across = free + np.pi * np.round((now - free) / np.pi)
    yaw = min([across - np.pi, across, across + np.pi], key=lambda turn: max(abs(turn - 0.5), abs(turn - swing - 0.5)))
    down = Rotation.from_quat([-np.sin(yaw / 2), np.cos(yaw / 2), 0.0, 0.0])
    lean = Rotation.from_rotvec([tilt * np.sin(free), -tilt * np.cos(free), 0.0]) * down
    x, y, z, w = lean.as_quat()
    open_gripper_arm0()
    open_gripper_arm1()
    goto_pose_arm0(centre + axis * end * (length / 2 - inset), [w, x, y, z], z_approach=0.1)


@stage
def grasp(item):
    close_gripper_arm0()


@stage
def raise_up(item):
    rise = vary(0.15, 0.1, 0.25)
    place, turned = get_arm0_gripper_pose()
    goto_pose_arm0(place + [0.0, 0.0, rise], turned)


@stage
def offer(handle):
    gap = vary(0.02, 0.0, 0.1)
    height = vary(0.14, 0.1, 0.3)
    from scipy.spatial.transform import Rotation
    import numpy as np

    centre, _ = get_hammer_pose()
    place, turned = get_arm0_gripper_pose()
    way = centre - place
    swing = Rotation.from_rotvec([0.0, 0.0, -np.arctan2(way[1], way[0])])
    x, y, z, w = (swing * Rotation.from_quat([*turned[1:], turned[0]])).as_quat()
    goto_pose_arm0([0.81 - np.hypot(way[0], way[1]) - gap, 0.0, height], [w, x, y, z])


@stage
def meet(handle):
    inset = vary(0.02, 0.01, 0.05)
    tilt = vary(0.35, 0.0, 0.5)
    from scipy.spatial.transform import Rotation
    import numpy as np

    centre, frame = get_hammer_pose()
    length = get_object_pose(handle, return_bbox_extent=True)[2].max()
    axis = Rotation.from_quat([*frame[1:], frame[0]]).apply([0.0, 0.0, 1.0])
    held, _ = get_arm0_gripper_pose()
    out = axis if (centre - held) @ axis > 0 else -axis
    free = np.arctan2(out[1], out[0])
    _, turned = get_arm1_gripper_pose()
    now = 2 * np.arctan2(-turned[1], turned[2])
    yaw = free + np.pi * np.round((now - free) / np.pi)
    down = Rotation.from_quat([-np.sin(yaw / 2), np.cos(yaw / 2), 0.0, 0.0])
    lean = Rotation.from_rotvec([-tilt * np.sin(free), tilt * np.cos(free), 0.0]) * down
    x, y, z, w = lean.as_quat()
    goto_pose_arm1(centre + out * (length / 2 - inset), [w, x, y, z], z_approach=0.12)


@stage
def take(handle):
    close_gripper_arm1()


@stage
def let_go(item):
    back = vary(0.1, 0.0, 0.2)
    from scipy.spatial.transform import Rotation

    open_gripper_arm0()
    place, turned = get_arm0_gripper_pose()
    ahead = Rotation.from_quat([*turned[1:], turned[0]]).apply([0.0, 0.0, 1.0])
    goto_pose_arm0(place - back * ahead, turned)


reach("handle")
grasp("hammer")
raise_up("hammer")
offer("handle")
meet("handle")
take("handle")
let_go("hammer")
