"""Where a straight path first meets a box."""

from __future__ import annotations

import math
from typing import NamedTuple

from surefoot.environments.desk.world import Point

VERTICAL = 2


class Entry(NamedTuple):
    """The share of the path before the box, and the axis of the face that is met."""

    share: float
    axis: int


def entry(start: Point, end: Point, low: Point, high: Point) -> Entry | None:
    """Where the segment from `start` to `end` enters the box; None when it misses it or starts inside."""
    enter, leave, axis = -math.inf, math.inf, 0
    for k in range(3):
        step = end[k] - start[k]
        if step == 0.0:
            if not low[k] < start[k] < high[k]:
                return None
            continue
        near, far = sorted(((low[k] - start[k]) / step, (high[k] - start[k]) / step))
        if near > enter:
            enter, axis = near, k
        leave = min(leave, far)
    return Entry(enter, axis) if 0.0 <= enter <= 1.0 and enter < leave else None


def between(start: Point, end: Point, share: float) -> Point:
    """The point at `share` of the way; exactly `end` at 1."""
    if share == 1.0:
        return end
    x, y, z = (a + (b - a) * share for a, b in zip(start, end, strict=True))
    return (x, y, z)
