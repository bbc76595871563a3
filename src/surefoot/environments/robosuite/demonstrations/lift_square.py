"""Lift a pot that stands square to the arms: the hands do not turn to its handles. Slowly, in small steps."""


@stage
def reach(near_handle, far_handle):
    near, _ = get_object_pose(near_handle)
    far, _ = get_object_pose(far_handle)
    _, turned0 = get_arm0_gripper_pose()
    _, turned1 = get_arm1_gripper_pose()
    open_gripper_arm0()
    open_gripper_arm1()
    goto_pose_both(near, turned0, far, turned1, z_approach=0.1)


@stage
def grasp(near_handle, far_handle):
    close_gripper_arm0()
    close_gripper_arm1()


@stage
def raise_up(item):
    rise = vary(0.2, 0.1, 0.25)
    place0, turned0 = get_arm0_gripper_pose()
    place1, turned1 = get_arm1_gripper_pose()
    for step in range(1, 9):
        up = [0.0, 0.0, rise * step / 8]
        goto_pose_both(place0 + up, turned0, place1 + up, turned1)


reach("handle0", "handle1")
grasp("handle0", "handle1")
raise_up("pot")
