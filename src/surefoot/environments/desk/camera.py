"""What the camera above the desk sees."""

from __future__ import annotations

import math

from surefoot.environments.desk.world import World

HIDING_DISTANCE = 0.10  # the hand hides what is nearer than this, measured along the desk [m]
HIDING_HEIGHT = 0.25  # a hand as high as this hides nothing [m]


def visible(world: World, name: str) -> bool:
    """Whether the camera sees the body's centre past the hand."""
    hand, body = world.hand, world.bodies[name]
    if not world.hand_hides or hand.height >= HIDING_HEIGHT:
        return True
    return math.hypot(hand.x - body.x, hand.y - body.y) >= HIDING_DISTANCE
