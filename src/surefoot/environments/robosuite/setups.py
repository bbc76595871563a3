"""What robosuite is asked to build for each task: plain data, no simulator needed."""

from __future__ import annotations

import math
from typing import Any

import msgspec

ROBOSUITE_VERSION = "1.4.0"
MUJOCO_VERSION = "3.3.7"

CONTROL_PERIOD = 0.05
"""Duration of one control step, the environment's unit of work [s]."""

SETTLING_STEPS = 10
"""Control steps after a reset until objects that start in the air have come to rest."""


class ObjectSpec(msgspec.Struct, frozen=True):
    """An object that programs can name.

    `name` is its id and also the attribute of robosuite's environment that holds its model. `aliases` are
    further names that public programs use for it, in lower case with blanks. `grasp_period` is the turn about
    the vertical after which a top-down grasp repeats [rad].
    """

    name: str
    aliases: tuple[str, ...] = ()
    grasp_period: float = math.pi / 2


class Setup(msgspec.Struct, frozen=True):
    """A robosuite environment with the objects that programs may ask for.

    `environment` is robosuite's name of it; `options` are further arguments for `robosuite.make`;
    `step_limit` is an episode's budget of control steps.
    """

    environment: str
    objects: tuple[ObjectSpec, ...]
    robots: tuple[str, ...] = ("Panda",)
    step_limit: int = 1500
    options: dict[str, Any] = msgspec.field(default_factory=dict)

    @property
    def protocol(self) -> str:
        """How episodes start, run and are judged; part of every scene's identity."""
        return (
            f"robosuite {ROBOSUITE_VERSION} {self.environment}, {'+'.join(self.robots)}, OSC_POSE at "
            f"{1 / CONTROL_PERIOD:g} Hz; hard reset seeded through numpy.random and random, "
            f"{SETTLING_STEPS} control steps of holding still while the hand opens; at most "
            f"{self.step_limit} control steps; success is robosuite's own check of the state in which the "
            "program ended, with no steps after it"
        )


CUBE_LIFT = Setup("Lift", (ObjectSpec("cube", aliases=("red cube",)),))

CUBE_STACK = Setup(
    "Stack",
    (ObjectSpec("cubeA", aliases=("red cube",)), ObjectSpec("cubeB", aliases=("green cube",))),
)
