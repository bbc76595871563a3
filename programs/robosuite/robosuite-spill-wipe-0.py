@stage
def sweep(item):
    margin = vary(0.03, -0.05, 0.03)
    place, _, size = get_object_pose(item, return_bbox_extent=True)
    length, width = size[0] + margin, size[1] + margin
    strokes = max(1, round(width / 0.09))
    steps = max(1, round(length / 0.05))
    for stroke in range(strokes):
        across = (stroke - (strokes - 1) / 2) * 0.09
        goto_pose(place + [-length / 2, across, 0.01], [0.0, 0.0, 1.0, 0.0])
        for step in range(steps + 1):
            goto_pose(place + [(step / steps - 0.5) * length, across, -0.015], [0.0, 0.0, 1.0, 0.0])
        goto_pose(place + [length / 2, across, 0.01], [0.0, 0.0, 1.0, 0.0])


sweep("spill")
