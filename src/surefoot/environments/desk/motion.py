"""How the hand moves: straight, at one speed, until it arrives or meets something."""

from __future__ import annotations

import math
from typing import NamedTuple

from surefoot.environments.desk.clock import spend
from surefoot.environments.desk.gripper import let_go, slips
from surefoot.environments.desk.segment import VERTICAL, between, entry
from surefoot.environments.desk.world import STRIDE, Body, Point, World

PUSH = 0.02  # how far the hand pushes what it meets [m]
GAP = 0.001  # the hand stops this short of what it meets, so that it is never inside it [m]
OPEN_ABOVE = ("bin", "block", "mug", "brick")  # entered from above: by what is dropped in, or by the fingers


class Hit(NamedTuple):
    """The first body on the path, and the share of the path before it."""

    share: float
    name: str


def move(world: World, target: Point) -> bool:
    """Send the fingertips to `target`; whether they arrived.

    A body too heavy for the grip stays behind. A hit stops the hand, pushes what was hit, topples an item,
    and knocks what the hand held out of it.
    """
    if slips(world):
        let_go(world)
    start = world.hand.point
    length = math.dist(start, target)
    hit = first_hit(world, start, target)
    share = 1.0 if hit is None else max(0.0, hit.share - GAP / length)
    needed = max(1, math.ceil(length * share / STRIDE - 1e-9))
    spend(world, needed, lambda step: carry(world, between(start, target, share * (step / needed))))
    if hit is not None:
        strike(world, world.bodies[hit.name], start, target)
    return hit is None


def first_hit(world: World, start: Point, target: Point) -> Hit | None:
    """The first body that the hand, or what it holds, meets on the way."""
    hits = []
    for name, body in world.bodies.items():
        if name == world.hand.holding:
            continue
        x, y, top = body.high
        met = entry(start, target, body.low, (x, y, top + world.hand.hang))
        if met is not None and not (met.axis == VERTICAL and body.shape in OPEN_ABOVE):
            hits.append(Hit(met.share, name))
    return min(hits, default=None)


def carry(world: World, point: Point) -> None:
    """Put the fingertips at `point`, with what they hold."""
    hand = world.hand
    hand.x, hand.y, hand.height = point
    if hand.holding is not None:
        body = world.bodies[hand.holding]
        body.x, body.y, body.z = (a + b for a, b in zip(point, hand.offset, strict=True))


def strike(world: World, body: Body, start: Point, target: Point) -> None:
    """What a hit does: the body gives way, an item topples, the held item is knocked loose."""
    x, y = target[0] - start[0], target[1] - start[1]
    length = math.hypot(x, y)
    # What is pressed straight from above or below gives way to the right.
    along = (x / length, y / length) if length else (1.0, 0.0)
    body.x, body.y = body.x + PUSH * along[0], body.y + PUSH * along[1]
    if body.shape in OPEN_ABOVE and body.shape != "bin":
        body.upright = False
    if world.hand.holding is not None:
        world.bodies[world.hand.holding].upright = False
        let_go(world)
