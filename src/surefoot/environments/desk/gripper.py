"""What the fingers can hold, and what a hold does to a body."""

from __future__ import annotations

import math
from typing import NamedTuple

from surefoot.environments.desk.clock import spend
from surefoot.environments.desk.world import Body, World

CLOSING_STEPS = 10
FORCES = (1.0, 100.0)  # the gripper's range [N]
HOLD_PER_KILOGRAM = 9.81  # two rubber fingers, friction 0.5 each: a weaker grip slips [N/kg]
GRIP_TOLERANCE = 0.015  # how far the fingers may close beside a body's grip point [m]
BREAKING_FALL = 0.15  # anything that falls farther breaks [m]


class Build(NamedTuple):
    """How a shape is held: its grip point's distance from the centre [m], and the force that it bears [N]."""

    reach: float
    bears: float


BUILDS = {"block": Build(0.0, 20.0), "mug": Build(0.05, 20.0), "brick": Build(0.0, 100.0)}


def grip(world: World, force: float) -> bool:
    """Close the fingers with `force`; whether they hold something afterwards."""
    spend(world, CLOSING_STEPS)
    hand = world.hand
    hand.open, hand.force = False, force
    if hand.holding is None:
        hand.holding = next((name for name, body in world.bodies.items() if _fits(world, body)), None)
    if hand.holding is None:
        return False
    body = world.bodies[hand.holding]
    hand.offset = (body.x - hand.x, body.y - hand.y, body.z - hand.height)
    body.intact = body.intact and force <= BUILDS[body.shape].bears
    return True


def release(world: World) -> None:
    """Open the fingers; what they held falls to the desk."""
    spend(world, CLOSING_STEPS)
    world.hand.open, world.hand.force = True, 0.0
    let_go(world)


def slips(world: World) -> bool:
    """Whether what the hand holds is too heavy for the grip."""
    hand = world.hand
    return hand.holding is not None and hand.force < HOLD_PER_KILOGRAM * world.bodies[hand.holding].weight


def let_go(world: World) -> None:
    """Let what the hand holds fall straight down."""
    hand = world.hand
    if hand.holding is None:
        return
    body = world.bodies[hand.holding]
    body.intact = body.intact and body.z <= BREAKING_FALL
    body.z = 0.0
    hand.holding, hand.offset = None, (0.0, 0.0, 0.0)


def _fits(world: World, body: Body) -> bool:
    if body.shape not in BUILDS or not body.upright:
        return False
    hand, reach = world.hand, BUILDS[body.shape].reach
    grip_x = body.x + reach * math.cos(body.angle)
    grip_y = body.y + reach * math.sin(body.angle)
    beside = math.hypot(hand.x - grip_x, hand.y - grip_y)
    return beside <= GRIP_TOLERANCE and body.z <= hand.height <= body.high[2]
