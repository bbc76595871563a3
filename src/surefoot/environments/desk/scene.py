"""Scenes: what a seed puts on the desk.

A scene is drawn from `random.Random`, whose uniform draws are the same in every Python version, seeded with
protocol and seed only; so the tasks of one protocol share their layouts. What a scene holds and where it
lies come from streams of their own: one more draw in the one does not move the other.
"""

from __future__ import annotations

import hashlib
import math
from random import Random

import msgspec

from surefoot.boundary.environment import Scene
from surefoot.environments.desk.world import Body, Hand, World

PROTOCOL = "desk-1"
HOME = (-0.35, 0.0, 0.30)  # where the hand starts (x, y, height) [m]
STEP_LIMIT = 600


class Setting(msgspec.Struct, frozen=True):
    """What distinguishes the desk's tasks.

    `shapes` gives each item shape's share of the scenes, `walls` and `lamps` the shares with a wall, or
    else a lamp, between item and bin. `unsteady` [m] bounds how far two resets of one seed lie apart on
    each axis; 0 makes a reset a pure function of its seed. With `hand_hides` the hand blocks the camera.
    """

    shapes: dict[str, float]
    walls: float
    lamps: float
    unsteady: float = 0.0
    hand_hides: bool = False


def draw(setting: Setting, seed: int, reset: int) -> World:
    """The world of `seed`; `reset` counts resets and matters to an unsteady setting only."""
    kinds, places = (Random(f"{PROTOCOL}:{seed}:{stream}") for stream in ("kinds", "places"))
    shape, kind = _choice(kinds, setting.shapes), _obstacle_kind(kinds, setting)
    bodies = {"item": _item(shape, places), "bin": _bin(places)}
    if kind is not None:
        bodies[kind] = _obstacle(kind, bodies["item"], bodies["bin"], places)
    if setting.unsteady:
        _shift((bodies["item"], bodies["bin"]), setting.unsteady, Random(f"{PROTOCOL}:{seed}:reset:{reset}"))
    return World(bodies, Hand(*HOME), STEP_LIMIT, setting.hand_hides)


def describe_scene(task: str, seed: int, world: World) -> Scene:
    """The scene's identity, rounded to 1e-9 so that it is the same on every machine."""
    digest = hashlib.blake2b(f"{task}\0{PROTOCOL}\0{STEP_LIMIT}".encode(), digest_size=16)
    for name, body in world.bodies.items():
        numbers = (body.x, body.y, body.z, *body.size, body.weight, body.angle)
        rounded = " ".join(f"{round(number, 9) + 0.0:.9f}" for number in numbers)
        digest.update(f"\0{name} {body.shape} {rounded}".encode())
    layout: dict[str, tuple[float, ...]] = {name: (body.x, body.y) for name, body in world.bodies.items()}
    return Scene(seed, digest.hexdigest(), layout)


def _item(shape: str, random: Random) -> Body:
    x, y = _within(random, -0.30, -0.12), _within(random, -0.20, 0.20)
    size, lightest, heaviest = {
        "block": ((0.04, 0.04, 0.04), 0.1, 0.3),
        "mug": ((0.08, 0.08, 0.08), 0.3, 0.4),
        "brick": ((0.05, 0.05, 0.05), 2.1, 2.8),
    }[shape]
    weight, angle = _within(random, lightest, heaviest), _within(random, -math.pi, math.pi)
    return _body(shape, x, y, size, weight, angle)


def _bin(random: Random) -> Body:
    return _body("bin", _within(random, 0.14, 0.30), _within(random, -0.20, 0.20), (0.12, 0.12, 0.05), 1.5)


def _obstacle_kind(random: Random, setting: Setting) -> str | None:
    point = random.random()
    if point < setting.walls:
        return "wall"
    return "lamp" if point < setting.walls + setting.lamps else None


def _obstacle(kind: str, item: Body, container: Body, random: Random) -> Body:
    """A wall or a lamp across the straight line from item to bin."""
    x = _within(random, 0.0, 0.04)
    share = (x - item.x) / (container.x - item.x)
    y = item.y + share * (container.y - item.y) + _within(random, -0.02, 0.02)
    if kind == "wall":
        return _body("wall", x, y, (0.02, 0.24, _within(random, 0.12, 0.22)), 5.0)
    bottom = _within(random, 0.14, 0.20)
    return _body("lamp", x, y, (0.06, 0.24, 0.6 - bottom), 2.0, z=bottom)


def _body(
    shape: str,
    x: float,
    y: float,
    size: tuple[float, float, float],
    weight: float,
    angle: float = 0.0,
    z: float = 0.0,
) -> Body:
    return Body(shape, x, y, z, size, weight, angle, origin=(x, y))


def _shift(bodies: tuple[Body, ...], bound: float, random: Random) -> None:
    for body in bodies:
        body.x, body.y = body.x + _within(random, -bound, bound), body.y + _within(random, -bound, bound)
        body.origin = (body.x, body.y)


def _choice(random: Random, shares: dict[str, float]) -> str:
    point = random.random() * sum(shares.values())
    for name, share in shares.items():
        point -= share
        if point < 0.0:
            return name
    return name


def _within(random: Random, low: float, high: float) -> float:
    return low + (high - low) * random.random()
