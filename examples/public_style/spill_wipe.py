"""Wipe the spill in lanes along x, each a tool's width from the last; look again until nothing is left."""

import numpy as np

DOWN = np.array([0.0, 0.0, 1.0, 0.0])
LANE = 0.08  # the tool's edge is 12 cm long along y
PRESS = np.array([0.0, 0.0, -0.005])

for _ in range(3):
    center, _, extent = get_object_pose("spill", return_bbox_extent=True)
    if not extent.any():
        break
    lanes = int(np.ceil(extent[1] / LANE))
    reach = extent[0] / 2 + 0.02
    for lane in range(lanes):
        y = (lane - (lanes - 1) / 2) * LANE
        along = np.linspace(-reach, reach, int(extent[0] / 0.05) + 2)
        points = [center + PRESS + np.array([x, y, 0.0]) for x in along]
        if lane % 2:
            points.reverse()
        if lane == 0:
            goto_pose(points[0], DOWN, z_approach=0.08)
        for point in points:
            goto_pose(point, DOWN)
    goto_pose(points[-1] + np.array([0.0, 0.0, 0.1]), DOWN)
