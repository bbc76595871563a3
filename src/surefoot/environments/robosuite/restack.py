"""The restack environment, which robosuite does not have: two cubes on each other, to be put the other way round.

As public code-as-policy programs know it: both cubes 4 cm wide, the red one (cubeA) under the green one
(cubeB), both turned at random, the upper one shifted by 1 cm.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from surefoot.environments.robosuite.importing import load_robosuite

HALF_SIZE = 0.02
X_RANGE = (-0.12, 0.16)
Y_RANGE = (-0.12, 0.12)
SHIFT = 0.01
GAP = 0.002
TABLE = 0.8
"""Height of robosuite's table top for this environment [m]."""
LIFTED = 0.04
"""Height of a cube's centre above the table that counts as off the table; robosuite's own margin [m]."""


@cache
def register_restack() -> None:
    """Make `robosuite.make("Restack", …)` known; robosuite registers environments as their classes are made."""
    load_robosuite()
    from robosuite.environments.manipulation.stack import Stack

    class Restack(Stack):  # type: ignore[misc]
        """Robosuite's Stack, begun the other way round."""

        def __init__(self, **options: Any):
            super().__init__(placement_initializer=_Tower(), **options)

        def _load_model(self) -> None:
            super()._load_model()
            self.cubeB.size = [HALF_SIZE] * 3
            for geom in self.cubeB.get_obj().iter("geom"):
                geom.set("size", " ".join([str(HALF_SIZE)] * 3))

        def _check_success(self) -> bool:
            """The red cube is on the green one, let go of, and the green one stands on the table."""
            green = self.sim.data.body_xpos[self.cubeB_body_id][2] - self.table_offset[2]
            return bool(super()._check_success()) and bool(green <= LIFTED)


class _Tower:
    """Draws where the two cubes stand, in the place of robosuite's placement samplers."""

    def __init__(self) -> None:
        self._cubes: list[Any] = []

    def reset(self) -> None:
        """Forget the cubes of the model before."""
        self._cubes = []

    def add_objects(self, cubes: list[Any]) -> None:
        """Take the cubes of a fresh model, the lower one first."""
        self._cubes = list(cubes)

    def sample(self) -> dict[str, tuple[Any, Any, Any]]:
        """Position (3,) and quaternion wxyz (4,) of each cube in the world, with the cube, by its name."""
        at = np.array([np.random.uniform(*X_RANGE), np.random.uniform(*Y_RANGE), TABLE + HALF_SIZE + GAP])
        places = (at, at + np.array([-SHIFT, 0.0, 2 * HALF_SIZE + GAP]))
        return {cube.name: (place, _turned(), cube) for cube, place in zip(self._cubes, places, strict=True)}


def _turned() -> Any:
    half = np.random.uniform(0, np.pi)
    return np.array([np.cos(half), 0.0, 0.0, np.sin(half)])
