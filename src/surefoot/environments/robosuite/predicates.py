"""The vocabulary of facts about one moment that all robosuite tasks share.

Pure functions of the telemetry: positions in the robot-base frame [m], lengths in metres. A comparison with
NaN is false, so a broken state supports nothing.
"""

from __future__ import annotations

import math
from typing import Any

from surefoot.diagnosis.graph import Predicate, Telemetry

REACH = 0.03
"""Largest distance of the fingertips from an object's centre that counts as reached [m]."""

LIFT_HEIGHT = 0.04
"""Height of an object's centre above the table that counts as lifted; robosuite's own margin [m]."""

STILL_DISTANCE = 0.015
"""Farthest that an object may have moved since the start and count as still [m]."""

ABOVE_OFFSET = 0.02
"""Largest horizontal offset of an object above another [m]."""

ABOVE_RISE = 0.03
"""Smallest rise of an object's centre above that of the object under it [m]."""

STACKED_RISE = 0.015
"""Smallest rise of centres that puts the upper of two touching objects on the lower one [m]."""


def reached(telemetry: Telemetry, item: str) -> bool:
    """The fingertips are at the item's centre."""
    return math.dist(telemetry["hand.position"], _position(telemetry, item)) < REACH


def grasped(telemetry: Telemetry, item: str) -> bool:
    """Both finger pads touch the item."""
    return bool(telemetry[f"grasped.{item}"])


def lifted(telemetry: Telemetry, item: str) -> bool:
    """The item's centre is well above the table."""
    return bool(telemetry[f"height.{item}"] > LIFT_HEIGHT)


def still(telemetry: Telemetry, item: str) -> bool:
    """The item is where it was at the start."""
    return bool(telemetry[f"displacement.{item}"] < STILL_DISTANCE)


def above(telemetry: Telemetry, item: str, base: str) -> bool:
    """The item's centre is over the base's, touching or not."""
    upper, lower = _position(telemetry, item), _position(telemetry, base)
    return math.dist(upper[:2], lower[:2]) < ABOVE_OFFSET and upper[2] - lower[2] > ABOVE_RISE


def on(telemetry: Telemetry, item: str, base: str) -> bool:
    """The item touches the base from above and is no longer grasped."""
    rise = _position(telemetry, item)[2] - _position(telemetry, base)[2]
    touching = bool(telemetry[contact_key(item, base)])
    return touching and rise > STACKED_RISE and lifted(telemetry, item) and not grasped(telemetry, item)


def contact_key(first: str, second: str) -> str:
    """The telemetry key that says whether two objects touch; either order gives the same key."""
    return f"contact.{min(first, second)}.{max(first, second)}"


PREDICATES = {
    function.__name__: Predicate(function.__name__, function)
    for function in (reached, grasped, lifted, still, above, on)
}
"""The vocabulary by name."""


def _position(telemetry: Telemetry, name: str) -> list[float]:
    value: Any = telemetry[f"position.{name}"]
    return list(value)
