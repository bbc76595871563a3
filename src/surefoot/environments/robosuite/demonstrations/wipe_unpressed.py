"""Wipe in short strokes along x, side by side, hardly pressing."""


@stage
def reach(item):
    place, _, size = get_object_pose(item, return_bbox_extent=True)
    goto_pose(place + [-size[0] / 2, -size[1] / 2, 0.02], [0.0, 0.0, 1.0, 0.0])


@stage
def sweep(item):
    press = vary(0.002, 0.0, 0.02)
    place, _, size = get_object_pose(item, return_bbox_extent=True)
    strokes = int(size[1] / 0.1) + 1
    steps = int(size[0] / 0.05) + 1
    for stroke in range(strokes):
        across = (stroke - (strokes - 1) / 2) * 0.1
        for step in range(steps + 1):
            along = (step / steps - 0.5) * (size[0] + 0.03)
            if stroke % 2:
                along = -along
            goto_pose(place + [along, across, -press], [0.0, 0.0, 1.0, 0.0])


reach("spill")
sweep("spill")
