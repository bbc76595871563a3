"""Lift the cube: a plain program for `robosuite/cube-lift`."""

import numpy as np

position, quaternion = sample_grasp_pose("cube")
approach = 0.10
print(f"cube at {np.round(position, 3)}")

open_gripper()
goto_pose(position, quaternion, z_approach=approach)
close_gripper()
goto_pose(position + np.array([0.0, 0.0, 0.15]), quaternion)
