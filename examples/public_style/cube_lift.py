"""Lift the red cube."""

import numpy as np

grasp_position, grasp_quaternion = sample_grasp_pose("red cube")
open_gripper()
goto_pose(grasp_position, grasp_quaternion, z_approach=0.1)
close_gripper()
goto_pose(grasp_position + np.array([0.0, 0.0, 0.2]), grasp_quaternion)
