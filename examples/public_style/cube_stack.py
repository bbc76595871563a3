"""Put the red cube on the green one; of the two ways to grasp it, the one whose fingers pass beside the green cube."""

import numpy as np
from scipy.spatial.transform import Rotation

red, _, red_extent = get_object_pose("red cube", return_bbox_extent=True)
green, _, green_extent = get_object_pose("green cube", return_bbox_extent=True)

grasp_position, (w, x, y, z) = sample_grasp_pose("red cube")
sampled = Rotation.from_quat([x, y, z, w])
ways = [Rotation.from_euler("z", angle, degrees=True) * sampled for angle in (0, 90)]
beside = min(ways, key=lambda way: abs(way.apply([0.0, 1.0, 0.0]) @ (green - red)))
x, y, z, w = beside.as_quat()
quaternion = np.array([w, x, y, z])

open_gripper()
goto_pose(grasp_position, quaternion, z_approach=0.1)
close_gripper()
goto_pose(grasp_position + np.array([0.0, 0.0, 0.15]), quaternion)

place = green + np.array([0.0, 0.0, (red_extent[2] + green_extent[2]) / 2 + 0.002])
goto_pose(place, quaternion, z_approach=0.08)
open_gripper()
goto_pose(place + np.array([0.0, 0.0, 0.15]), quaternion)
