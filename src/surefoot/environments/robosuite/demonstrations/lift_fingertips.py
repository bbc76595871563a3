"""Lift the cube with the fingertips, as high on its sides as they hold."""


@stage
def pick(item):
    grip = vary(0.025, 0.0, 0.03)
    position, quaternion = sample_grasp_pose(item)
    open_gripper()
    goto_pose(position + [0.0, 0.0, grip], quaternion, z_approach=0.1)
    close_gripper()
    goto_pose(position + [0.0, 0.0, 0.15], quaternion)


pick("cube")
