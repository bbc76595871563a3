"""The vocabulary of facts about one moment that all robosuite tasks share.

Pure functions of the telemetry: positions in the robot-base frame [m], lengths in metres. A comparison with
NaN is false, so a broken state supports nothing. Roles are things, or arms (`arm0`, `arm1`) where a predicate
says which hand it is about.
"""

from __future__ import annotations

import math
from typing import Any, Literal

from surefoot.diagnosis.graph import Predicate, Telemetry

REACH = 0.03
"""Largest distance of the fingertips from where a thing is grasped that counts as reached [m]."""

SKEW = 0.3
"""Farthest that fingers may be turned from closing straight across a long thing [rad]."""

STILL_DISTANCE = 0.015
"""Farthest that a thing may have moved since the start and count as still [m]."""

ABOVE_OFFSET = 0.02
"""Largest horizontal offset of a thing above another [m]."""

CLEARANCE = 0.005
"""Smallest height of a thing's centre above the top of the one that it is over [m]."""

STACKED_RISE = 0.015
"""Smallest rise of centres that puts the upper of two touching things on the lower one [m]."""

PEG_OFFSET = 0.03
"""Largest offset from a peg, along each horizontal axis, of what sits around its foot; robosuite's margin [m]."""

FOOT_HEIGHT = 0.05
"""Largest height above the table of what sits around a peg's foot; robosuite's margin [m]."""

ASIDE_DISTANCE = 0.03
"""Smallest horizontal distance of a thing that was put aside from the one that it was on [m]."""

OFFERED = 0.5
"""Largest distance of a thing that is held up from the hand that is to take it [m]."""

RESTING_HEIGHT = 0.035
"""Largest height of a thing's centre above the table that counts as standing on it [m]."""


def reached(telemetry: Telemetry, item: str) -> bool:
    """The fingertips, or the tool, are where the item is taken hold of."""
    return math.dist(telemetry["hand.position"], telemetry[f"grasp_point.{item}"]) < REACH


def reached_by(telemetry: Telemetry, item: str, arm: str) -> bool:
    """One arm's fingertips are where the item is taken hold of, and close across it if it is long."""
    there = math.dist(telemetry[f"{arm}.position"], telemetry[f"grasp_point.{item}"]) < REACH
    return there and bool(telemetry[f"skew.{item}.{arm}"] < SKEW)


def near(telemetry: Telemetry, item: str, arm: str) -> bool:
    """One arm's fingertips are within 12 cm of the item's grasp point: somewhere along it."""
    return math.dist(telemetry[f"{arm}.position"], telemetry[f"grasp_point.{item}"]) < 4 * REACH


def grasped(telemetry: Telemetry, item: str) -> bool:
    """Both finger pads of a hand touch the item."""
    return bool(telemetry[f"grasped.{item}"])


def grasped_by(telemetry: Telemetry, item: str, arm: str) -> bool:
    """Both finger pads of one arm's hand touch the item."""
    return bool(telemetry[f"grasped.{item}.{arm}"])


def lifted(telemetry: Telemetry, item: str) -> bool:
    """The item is well above the table."""
    return bool(telemetry[f"lifted.{item}"])


def still(telemetry: Telemetry, item: str) -> bool:
    """The item is where it was at the start."""
    return bool(telemetry[f"displacement.{item}"] < STILL_DISTANCE)


def above(telemetry: Telemetry, item: str, base: str) -> bool:
    """The item's centre is over the base, touching or not."""
    rise = telemetry[f"height.{item}"] - telemetry[f"top.{base}"]
    return _offset(telemetry, item, base) < ABOVE_OFFSET and rise > CLEARANCE


def on(telemetry: Telemetry, item: str, base: str) -> bool:
    """The item rests on the base's top, or around a peg's foot, and is no longer grasped."""
    return bool(telemetry[f"seated.{item}.{base}"]) and not grasped(telemetry, item)


def aside(telemetry: Telemetry, item: str, base: str) -> bool:
    """The item stands on the table, away from the base, and is no longer grasped."""
    standing = abs(telemetry[f"height.{item}"]) < RESTING_HEIGHT  # on the floor it is far below
    return standing and _offset(telemetry, item, base) > ASIDE_DISTANCE and not grasped(telemetry, item)


def offered(telemetry: Telemetry, item: str, arm: str) -> bool:
    """The item is held up where one arm gets at it."""
    return lifted(telemetry, item) and math.dist(telemetry[f"{arm}.position"], telemetry[f"position.{item}"]) < OFFERED


def handed_over(telemetry: Telemetry, item: str, giver: str, taker: str) -> bool:
    """The taker holds the item up, and the giver no longer does."""
    held = grasped_by(telemetry, item, taker) and not grasped_by(telemetry, item, giver)
    return held and lifted(telemetry, item)


def begun(telemetry: Telemetry, item: str) -> bool:
    """Some of the dirt is gone."""
    return bool(telemetry["wiped"] > 0)


def wiped(telemetry: Telemetry, item: str) -> bool:
    """All dirt is gone."""
    return bool(telemetry["wiped"] == 1.0)


def is_seated(telemetry: Telemetry, item: str, base: str, holds: Literal["top", "foot"]) -> bool:
    """Whether the item rests where the base holds things; what readings report as `seated.<item>.<base>`."""
    if holds == "foot":
        offsets = (abs(a - b) for a, b in zip(_flat(telemetry, item), _flat(telemetry, base), strict=True))
        return all(offset < PEG_OFFSET for offset in offsets) and bool(telemetry[f"height.{item}"] < FOOT_HEIGHT)
    rise = telemetry[f"position.{item}"][2] - telemetry[f"position.{base}"][2]
    return bool(telemetry[contact_key(item, base)]) and rise > STACKED_RISE and lifted(telemetry, item)


def contact_key(first: str, second: str) -> str:
    """The telemetry key that says whether two things touch; either order gives the same key."""
    return f"contact.{min(first, second)}.{max(first, second)}"


PREDICATES = {
    function.__name__: Predicate(function.__name__, function)
    for function in (
        reached, reached_by, near, grasped, grasped_by, lifted, still, above, on, aside, offered, handed_over,
        begun, wiped,
    )
}  # fmt: skip
"""The vocabulary by name."""


def _offset(telemetry: Telemetry, item: str, base: str) -> float:
    """Horizontal distance of two things [m]."""
    return math.dist(_flat(telemetry, item), _flat(telemetry, base))


def _flat(telemetry: Telemetry, name: str) -> list[float]:
    value: Any = telemetry[f"position.{name}"]
    return list(value)[:2]
