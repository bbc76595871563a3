"""What robosuite is asked to build for each task: plain data, no simulator needed."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from surefoot.environments.robosuite.api import ArmApi, GripperApi, HammerApi, ObjectsApi, PotApi
from surefoot.environments.robosuite.objects import ObjectSpec

ROBOSUITE_VERSION = "1.4.0"
MUJOCO_VERSION = "3.3.7"

CONTROL_PERIOD = 0.05
"""Duration of one control step, the environment's unit of work [s]."""

SETTLING_STEPS = 10
"""Control steps after a reset until objects that start in the air have come to rest."""


class Setup(msgspec.Struct, frozen=True):
    """A robosuite environment with the things that programs may ask for, and the functions that they call.

    `environment` is robosuite's name of it; `options` are further arguments for `robosuite.make`;
    `step_limit` is an episode's budget of control steps; `camera` is the robosuite camera that videos are seen
    from. With `spill`, dirt on the table is a thing of that
    name, and is wiped off as in robosuite's Wipe.
    """

    environment: str
    objects: tuple[ObjectSpec, ...]
    api: type[ObjectsApi] = GripperApi
    robots: tuple[str, ...] = ("Panda",)
    step_limit: int = 1500
    options: dict[str, Any] = msgspec.field(default_factory=dict)
    spill: str = ""
    camera: str = "sideview"

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

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the arms, in robosuite's order."""
        return tuple(f"arm{index}" for index in range(len(self.robots)))


OPPOSED = {"env_configuration": "single-arm-opposed"}
"""Two arms that face each other across the table."""

CUBE_LIFT = Setup("Lift", (ObjectSpec.of_model("cube", "cube", ("red cube",)),))

CUBES = (
    ObjectSpec.of_model("cubeA", "cubeA", ("red cube",), "top"),
    ObjectSpec.of_model("cubeB", "cubeB", ("green cube",), "top"),
)

CUBE_STACK = Setup("Stack", CUBES)

CUBE_RESTACK = Setup("Restack", CUBES)

SPILL_WIPE = Setup("Wipe", (), ArmApi, step_limit=2000, spill="spill")

NUT_ASSEMBLY = Setup(
    "NutAssemblySquare",
    (
        ObjectSpec(
            "square_nut",
            ("body", "SquareNut_main"),
            ("square nut", "nut"),
            ("SquareNut", "contact_geoms"),
            grasp_at="square_nut_handle",
        ),
        ObjectSpec(
            "square_nut_handle",
            ("site", "SquareNut_handle_site"),
            ("square nut handle", "nut handle", "handle"),
            ("SquareNut", "contact_geoms"),
            grasp_period=math.pi,
            long_axis=0,
        ),
        ObjectSpec("square_peg", ("body", "peg1"), ("square peg", "peg", "square block"), holds="foot"),
    ),
)

TWO_ARM_LIFT = Setup(
    "TwoArmLift",
    (
        ObjectSpec("pot", ("body", "pot_root"), geoms=("pot", "contact_geoms"), lift_height=0.17),
        ObjectSpec("handle0", ("site", "pot_handle0"), ("green handle",), ("pot", "handle0_geoms"), long_axis=0),
        ObjectSpec("handle1", ("site", "pot_handle1"), ("blue handle",), ("pot", "handle1_geoms"), long_axis=0),
    ),
    PotApi,
    ("Panda", "Panda"),
    options=OPPOSED,
    camera="frontview",
)

TWO_ARM_HANDOVER = Setup(
    "TwoArmHandover",
    (
        ObjectSpec("hammer", ("body", "hammer_root"), geoms=("hammer", "contact_geoms"), lift_height=0.1),
        ObjectSpec(
            "handle", ("geom", "hammer_handle"), ("hammer handle",), ("hammer", "handle_geoms"), lift_height=0.1
        ),
    ),
    HammerApi,
    ("Panda", "Panda"),
    step_limit=2500,
    options=OPPOSED,
    camera="frontview",
)
