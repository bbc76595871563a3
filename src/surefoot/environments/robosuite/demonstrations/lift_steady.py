"""Lift the cube: from above, across its faces, and just off the table."""


@stage
def pick(item):
    rise = vary(0.06, 0.03, 0.25)
    position, quaternion = sample_grasp_pose(item)
    open_gripper()
    goto_pose(position, quaternion, z_approach=0.1)
    close_gripper()
    goto_pose(position + [0.0, 0.0, rise], quaternion)


pick("cube")
