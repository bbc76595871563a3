@stage
def sweep(item):
    stride = vary(0.03, 0.03, 0.2)
    press = vary(0.0, 0.0, 0.02)
    margin = vary(-0.05, -0.05, 0.03)
    place, _, size = get_object_pose(item, return_bbox_extent=True)
    length, width = size[0] + margin, size[1] + margin
    strokes = max(1, round(width / 0.09))
    steps = max(1, round(length / stride))
    if place[1] > 0.15196:
        def sweep_f7a3(item):
            stride = vary(0.2, 0.03, 0.2)
            press = vary(0.0, 0.0, 0.02)
            margin = vary(-0.05, -0.05, 0.03)
            place, _, size = get_object_pose(item, return_bbox_extent=True)
            length, width = size[0] + margin, size[1] + margin
            strokes = max(1, round(width / 0.09))
            steps = max(1, round(length / stride))
            for stroke in range(strokes):
                across = (stroke - (strokes - 1) / 2) * 0.09
                goto_pose(place + [-length / 2, across, 0.01], [0.0, 0.0, 1.0, 0.0])
                for step in range(steps + 1):
                    goto_pose(place + [(step / steps - 0.5) * length, across, -press], [0.0, 0.0, 1.0, 0.0])
                goto_pose(place + [length / 2, across, 0.01], [0.0, 0.0, 1.0, 0.0])
        return sweep_f7a3(item)
    if place[1] > 0.021681:
        def sweep_f7a3(item):
            stride = vary(0.05, 0.03, 0.2)
            press = vary(0.015, 0.0, 0.02)
            margin = vary(-0.05, -0.05, 0.03)
            place, _, size = get_object_pose(item, return_bbox_extent=True)
            length, width = size[0] + margin, size[1] + margin
            strokes = max(1, round(width / 0.09))
            steps = max(1, round(length / stride))
            for stroke in range(strokes):
                across = (stroke - (strokes - 1) / 2) * 0.09
                goto_pose(place + [-length / 2, across, 0.01], [0.0, 0.0, 1.0, 0.0])
                for step in range(steps + 1):
                    goto_pose(place + [(step / steps - 0.5) * length, across, -press], [0.0, 0.0, 1.0, 0.0])
                goto_pose(place + [length / 2, across, 0.01], [0.0, 0.0, 1.0, 0.0])
        return sweep_f7a3(item)
    if size[0] > 0.236166:
        def sweep_f7a3(item):
            stride = vary(0.05, 0.03, 0.2)
            press = vary(0.015, 0.0, 0.02)
            margin = vary(-0.05, -0.05, 0.03)
            place, _, size = get_object_pose(item, return_bbox_extent=True)
            length, width = size[0] + margin, size[1] + margin
            strokes = max(1, round(width / 0.09))
            steps = max(1, round(length / stride))
            for stroke in range(strokes):
                across = (stroke - (strokes - 1) / 2) * 0.09
                goto_pose(place + [-length / 2, across, 0.01], [0.0, 0.0, 1.0, 0.0])
                for step in range(steps + 1):
                    goto_pose(place + [(step / steps - 0.5) * length, across, -press], [0.0, 0.0, 1.0, 0.0])
                goto_pose(place + [length / 2, across, 0.01], [0.0, 0.0, 1.0, 0.0])
        return sweep_f7a3(item)
    if place[0] > 0.561554:
        def sweep_f7a3(item):
            stride = vary(0.05, 0.03, 0.2)
            press = vary(0.015, 0.0, 0.02)
            margin = vary(-0.05, -0.05, 0.03)
            place, _, size = get_object_pose(item, return_bbox_extent=True)
            length, width = size[0] + margin, size[1] + margin
            strokes = max(1, round(width / 0.09))
            steps = max(1, round(length / stride))
            for stroke in range(strokes):
                across = (stroke - (strokes - 1) / 2) * 0.09
                goto_pose(place + [-length / 2, across, 0.01], [0.0, 0.0, 1.0, 0.0])
                for step in range(steps + 1):
                    goto_pose(place + [(step / steps - 0.5) * length, across, -press], [0.0, 0.0, 1.0, 0.0])
                goto_pose(place + [length / 2, across, 0.01], [0.0, 0.0, 1.0, 0.0])
        return sweep_f7a3(item)
    for stroke in range(strokes):
        across = (stroke - (strokes - 1) / 2) * 0.09
        goto_pose(place + [-length / 2, across, 0.01], [0.0, 0.0, 1.0, 0.0])
        for step in range(steps + 1):
            goto_pose(place + [(step / steps - 0.5) * length, across, -press], [0.0, 0.0, 1.0, 0.0])
        goto_pose(place + [length / 2, across, 0.01], [0.0, 0.0, 1.0, 0.0])


sweep("spill")
