"""The desk's physical state: bodies, hand and the steps taken.

Desk frame: origin at the desk's centre, x to the right, y away from the viewer, z up from the surface [m].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import msgspec

Point = tuple[float, float, float]

STEP_SECONDS = 0.02
STRIDE = 0.01  # how far the hand travels in one step [m]
REACH = (0.4, 0.3)  # the hand reaches |x| and |y| up to these [m]
CEILING = 0.4  # highest hand height [m]


class Body(msgspec.Struct):
    """A box-shaped thing on the desk, or hanging over it; `z` is the height of its lowest point.

    `origin` is its place at the reset. `angle` [rad], from +x towards +y, is where a mug's handle points.
    """

    shape: str
    x: float
    y: float
    z: float
    size: Point
    weight: float
    angle: float
    origin: tuple[float, float]
    upright: bool = True
    intact: bool = True

    @property
    def low(self) -> Point:
        """The corner of the box with the smallest coordinates [m]."""
        return (self.x - self.size[0] / 2, self.y - self.size[1] / 2, self.z)

    @property
    def high(self) -> Point:
        """The corner of the box with the largest coordinates [m]."""
        return (self.x + self.size[0] / 2, self.y + self.size[1] / 2, self.z + self.size[2])

    @property
    def displacement(self) -> float:
        """Horizontal distance from its place at the reset [m]."""
        return math.hypot(self.x - self.origin[0], self.y - self.origin[1])


class Hand(msgspec.Struct):
    """The gripper: where its fingertips are, and what they hold.

    A held body moves with the hand, `offset` being its position less the hand's (x, y, z).
    """

    x: float
    y: float
    height: float
    open: bool = True
    holding: str | None = None
    force: float = 0.0
    offset: Point = (0.0, 0.0, 0.0)

    @property
    def point(self) -> Point:
        """Where the fingertips are [m]."""
        return (self.x, self.y, self.height)

    @property
    def hang(self) -> float:
        """How far what it holds reaches below the fingertips [m]."""
        return -self.offset[2] if self.holding else 0.0


class World(msgspec.Struct, dict=True):
    """Everything that decides what happens next."""

    bodies: dict[str, Body]
    hand: Hand
    step_limit: int
    hand_hides: bool
    steps: int = 0

    @cached_property
    def watchers(self) -> list[Callable[[], None]]:
        """Who is told of each step; no part of the state."""
        return []

    def assign(self, other: World) -> None:
        """Take over the state of `other`, keeping this object's identity."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(other, name))
