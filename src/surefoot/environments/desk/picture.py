"""The desk from above, as videos show it."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from surefoot.boundary.environment import Frame
from surefoot.environments.desk.gripper import BUILDS
from surefoot.environments.desk.world import CEILING, Body, World

HEIGHT, WIDTH = 360, 480
SCALE = 500.0  # pixels per metre: the reach and a margin of 6 to 8 cm around it

Colour = tuple[int, int, int]
Mask = npt.NDArray[np.bool_]

SURFACE: Colour = (222, 214, 200)
COLOURS: dict[str, Colour] = {
    "block": (200, 60, 50),
    "mug": (50, 110, 190),
    "brick": (150, 80, 50),
    "bin": (90, 130, 90),
    "wall": (110, 110, 115),
    "lamp": (230, 190, 60),
}
FINGERS: Colour = (25, 25, 30)
HANDLE_RADIUS = 0.012  # [m]
FINGER = (0.008, 0.024)  # half side lengths from above [m]
OPENING = (0.018, 0.036)  # from the grip point to a finger's middle, closed and open [m]
GAUGE = 0.012  # width of the bar at the right edge that shows how high the hand is [m]

# Middles of the pixels in the desk's frame [m].
X = ((np.arange(WIDTH) + 0.5 - WIDTH / 2) / SCALE)[np.newaxis, :]
Y = ((HEIGHT / 2 - 0.5 - np.arange(HEIGHT)) / SCALE)[:, np.newaxis]


def draw(world: World) -> Frame:
    """The world from above, (360, 480, 3): what is higher hides what is lower, the hand hides all.

    What has toppled is paler, what is broken darker. The bar at the right edge is as long as the hand is high.
    """
    frame = np.empty((HEIGHT, WIDTH, 3), np.uint8)
    frame[:] = SURFACE
    for body in sorted(world.bodies.values(), key=lambda body: (body.z, body.shape != "bin")):
        frame[_outline(body)] = _colour(body)
    hand = world.hand
    for side in (-1.0, 1.0):
        frame[_box(hand.x + side * OPENING[hand.open], hand.y, *FINGER)] = FINGERS
    right, bottom = WIDTH / 2 / SCALE, -HEIGHT / 2 / SCALE
    top = HEIGHT / SCALE * hand.height / CEILING
    frame[_box(right, bottom, GAUGE, top)] = FINGERS
    return frame


def _outline(body: Body) -> Mask:
    if body.shape != "mug":
        return _box(body.x, body.y, body.size[0] / 2, body.size[1] / 2)
    reach = BUILDS["mug"].reach
    handle = body.x + reach * math.cos(body.angle), body.y + reach * math.sin(body.angle)
    return _disc(body.x, body.y, body.size[0] / 2) | _disc(*handle, HANDLE_RADIUS)


def _colour(body: Body) -> Colour:
    red, green, blue = COLOURS[body.shape]
    if not body.upright:
        red, green, blue = (red + 255) // 2, (green + 255) // 2, (blue + 255) // 2
    if not body.intact:
        red, green, blue = red // 2, green // 2, blue // 2
    return red, green, blue


def _box(x: float, y: float, half_width: float, half_depth: float) -> Mask:
    inside: Mask = (np.abs(X - x) <= half_width) & (np.abs(Y - y) <= half_depth)
    return inside


def _disc(x: float, y: float, radius: float) -> Mask:
    return (X - x) ** 2 + (Y - y) ** 2 <= radius**2
