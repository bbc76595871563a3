@stage
def reach(near_handle, far_handle):
    above = vary(0.15, 0.0, 0.15)
    import numpy as np

    near, _ = get_object_pose(near_handle)
    far, _ = get_object_pose(far_handle)
    bar = np.arctan2(far[1] - near[1], far[0] - near[0]) - np.pi / 2
    downs = []
    for _, turned in (get_arm0_gripper_pose(), get_arm1_gripper_pose()):
        now = 2 * np.arctan2(-turned[1], turned[2])
        yaw = now + (bar - now + np.pi / 2) % np.pi - np.pi / 2
        downs.append([0.0, -np.sin(yaw / 2), np.cos(yaw / 2), 0.0])
    open_gripper_arm0()
    open_gripper_arm1()
    goto_pose_both(near, downs[0], far, downs[1], z_approach=above)


@stage
def grasp(near_handle, far_handle):
    depth = vary(0.004, -0.02, 0.02)
    place0, turned0 = get_arm0_gripper_pose()
    place1, turned1 = get_arm1_gripper_pose()
    goto_pose_both(place0 - [0.0, 0.0, depth], turned0, place1 - [0.0, 0.0, depth], turned1)
    close_gripper_arm0()
    close_gripper_arm1()


@stage
def raise_up(item):
    rise = vary(0.13, 0.1, 0.25)
    place0, turned0 = get_arm0_gripper_pose()
    place1, turned1 = get_arm1_gripper_pose()
    goto_pose_both(place0 + [0.0, 0.0, rise], turned0, place1 + [0.0, 0.0, rise], turned1)


reach("handle0", "handle1")
grasp("handle0", "handle1")
raise_up("pot")
