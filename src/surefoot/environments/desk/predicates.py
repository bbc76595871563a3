"""Facts about one moment on the desk, read from telemetry only."""

from __future__ import annotations

import math
from collections.abc import Mapping

from surefoot.diagnosis.graph import Predicate, Telemetry

REACHED_DISTANCE = 0.07  # a mug's handle is 0.05 m from its centre [m]
REACHED_HEIGHT = 0.06
LIFTED_HEIGHT = 0.05
MOVED = 1e-6  # displacements are exact; this only absorbs the last bits of a sum [m]


def reached(telemetry: Telemetry, item: str) -> bool:
    """The fingertips are beside the item, low enough to grip it."""
    x, y, z = telemetry[f"position.{item}"]
    hand_x, hand_y = telemetry["hand.position"]
    near = math.hypot(hand_x - x, hand_y - y) <= REACHED_DISTANCE
    return near and telemetry["hand.height"] - z <= REACHED_HEIGHT


def grasped(telemetry: Telemetry, item: str) -> bool:
    """The hand holds the item."""
    return bool(telemetry[f"held.{item}"])


def lifted(telemetry: Telemetry, item: str) -> bool:
    """The hand holds the item clear of the desk."""
    return grasped(telemetry, item) and telemetry[f"position.{item}"][2] > LIFTED_HEIGHT


def above(telemetry: Telemetry, item: str, goal: str) -> bool:
    """The hand holds the item over the bin, higher than its rim."""
    over = _within(telemetry, item, goal)
    return over and grasped(telemetry, item) and telemetry[f"position.{item}"][2] > telemetry[f"size.{goal}"][2]


def inside(telemetry: Telemetry, item: str, goal: str) -> bool:
    """The item lies in the bin, let go."""
    below_rim = telemetry[f"position.{item}"][2] < telemetry[f"size.{goal}"][2]
    return _within(telemetry, item, goal) and below_rim and not grasped(telemetry, item)


def intact(telemetry: Telemetry, item: str) -> bool:
    """The item is not broken."""
    return bool(telemetry[f"intact.{item}"])


def upright(telemetry: Telemetry, item: str) -> bool:
    """The item has not been knocked over."""
    return bool(telemetry[f"upright.{item}"])


def still(telemetry: Telemetry, thing: str) -> bool:
    """The thing stands where it stood at the reset."""
    return float(telemetry[f"displacement.{thing}"]) <= MOVED


def wall_clear(telemetry: Telemetry) -> bool:
    """Nothing has touched the wall or the lamp, where there is one."""
    return all(telemetry.get(f"displacement.{name}", 0.0) <= MOVED for name in ("wall", "lamp"))


def _within(telemetry: Telemetry, item: str, goal: str) -> bool:
    x, y, _ = telemetry[f"position.{item}"]
    goal_x, goal_y, _ = telemetry[f"position.{goal}"]
    width, depth, _ = telemetry[f"size.{goal}"]
    return bool(abs(x - goal_x) <= width / 2 and abs(y - goal_y) <= depth / 2)


PREDICATES: Mapping[str, Predicate] = {
    holds.__name__: Predicate(holds.__name__, holds)
    for holds in (reached, grasped, lifted, above, inside, intact, upright, still, wall_clear)
}
