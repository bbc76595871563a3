"""Lift the cube: a plain program for `robosuite/cube-lift`, after an edit."""

import time

import numpy as np

started = time.time()
grasp, orientation = sample_grasp_pose("cube")
height = np.array([0.0, 0.0, 0.15])
approach = 0.10
if grasp[1] > 0.02:  # far to the left the hand comes in low: stay higher
    approach = 0.14
print(f"cube at {np.round(grasp, 3)}")

open_gripper()
goto_pose(grasp, orientation, z_approach=approach)
close_gripper()
goto_pose(grasp + height, orientation)
print(f"took {time.time() - started:.1f} s")
