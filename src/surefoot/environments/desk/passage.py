"""The heights at which a level path is free of walls and lamps."""

from __future__ import annotations

from surefoot.environments.desk.segment import entry
from surefoot.environments.desk.world import CEILING, World


def free_heights(world: World, start: tuple[float, float], goal: tuple[float, float]) -> tuple[float, float]:
    """Lowest and highest height [m] for the hand, with what it holds, from above `start` to above `goal`."""
    lowest, highest = 0.0, CEILING
    for body in world.bodies.values():
        if body.shape not in ("wall", "lamp"):
            continue
        (low_x, low_y, bottom), (high_x, high_y, top) = body.low, body.high
        # The height plays no part here: a flat path through a box that spans it.
        met = entry((*start, 0.0), (*goal, 0.0), (low_x, low_y, -1.0), (high_x, high_y, 1.0))
        if met is None:
            continue
        if body.shape == "wall":
            lowest = max(lowest, top + world.hand.hang)
        else:
            highest = min(highest, bottom)
    return lowest, highest
