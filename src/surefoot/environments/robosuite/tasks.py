"""The robosuite tasks. Importing this file starts no simulator."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from surefoot.boundary.environment import Environment
from surefoot.boundary.surface import Surface
from surefoot.diagnosis.graph import Check, DiagnosticGraph
from surefoot.environments.base import Demonstration, Task, revision_of
from surefoot.environments.robosuite.importing import check_installed, load_robosuite
from surefoot.environments.robosuite.predicates import PREDICATES
from surefoot.environments.robosuite.setups import (
    CUBE_LIFT,
    CUBE_RESTACK,
    CUBE_STACK,
    NUT_ASSEMBLY,
    SPILL_WIPE,
    TWO_ARM_HANDOVER,
    TWO_ARM_LIFT,
    Setup,
)

DEVELOPMENT = tuple(range(101, 126))
HELD_OUT = tuple(range(1, 101))


def start(setup: Setup, name: str) -> Environment:
    """Import robosuite and start a task's simulator."""
    load_robosuite()  # before anything imports mujoco
    from surefoot.environments.robosuite.environment import RobosuiteEnvironment

    return RobosuiteEnvironment(setup, name)


def revision() -> str:
    """Hash of this package's code and of the versions it stands on."""
    check_installed()
    return revision_of(Path(__file__).parent, ("robosuite", "mujoco", "numba", "numpy"))


def check(predicate: str, *roles: str, after: tuple[str, ...] = (), invariant: bool = False, name: str = "") -> Check:
    """A check of the shared vocabulary, named after its predicate unless that is needed twice."""
    return Check(name or predicate, PREDICATES[predicate], roles, after, invariant)


def task(
    name: str,
    setup: Setup,
    description: str,
    checks: tuple[Check, ...],
    roles: dict[str, str],
    role_types: dict[str, str],
    demonstrations: tuple[Demonstration, ...] = (),
) -> Task:
    """A task on the state tier whose last check is its goal."""
    return Task(
        name=name,
        description=description,
        tier="state",
        protocol=setup.protocol,
        surface=Surface.of(setup.api),
        graph=DiagnosticGraph(checks),
        predicates=PREDICATES,
        roles=roles,
        role_types=role_types,
        goal=(checks[-1].name,),
        development=DEVELOPMENT,
        held_out=HELD_OUT,
        make=partial(start, setup, name),
        revision=revision,
        demonstrations=demonstrations,
        options={"step_limit": setup.step_limit},
    )


def demonstrations_of(task: str, *names: str) -> tuple[Demonstration, ...]:
    """Demonstrations that ship with this package, written for `task`."""
    folder = Path(__file__).parent / "demonstrations"
    return tuple(Demonstration(name, task, folder / f"{name}.py") for name in names)


CUBES_SHOWN = demonstrations_of("robosuite/cube-restack", "restack_aligned", "restack_hasty", "restack_fingertips")
"""What all tasks with one arm and a gripper learn from."""

_LIFT = task(
    "robosuite/cube-lift",
    CUBE_LIFT,
    "Lift the red cube ('cube', 4 to 4.4 cm wide) from the table and hold it: at the end its centre must be "
    "more than 4 cm above the table top.",
    (
        check("reached", "item"),
        check("grasped", "item", after=("reached",), invariant=True),
        check("lifted", "item", after=("grasped",)),
    ),
    {"item": "cube"},
    {"item": "block"},
    CUBES_SHOWN,
)

_STACK = task(
    "robosuite/cube-stack",
    CUBE_STACK,
    "Put the red cube ('cubeA', 4 cm wide) on top of the green cube ('cubeB', 5 cm wide) and let go of it: "
    "at the end the red cube must touch the green one, be clear of the table, and not be grasped. The cubes "
    "can stand close to each other; the green one must stay where it is.",
    (
        check("still", "base", invariant=True),
        check("reached", "item", after=("still",)),
        check("grasped", "item", after=("reached",)),
        check("lifted", "item", after=("grasped",)),
        check("above", "item", "base", after=("lifted",)),
        check("on", "item", "base", after=("above",)),
    ),
    {"item": "cubeA", "base": "cubeB"},
    {"item": "block", "base": "block"},
    CUBES_SHOWN,
)

_RESTACK = task(
    "robosuite/cube-restack",
    CUBE_RESTACK,
    "The green cube ('cubeB') stands on the red one ('cubeA'); both are 4 cm wide. Put them the other way round: at "
    "the end the red cube must rest on the green one, which stands on the table, and must not be grasped.",
    (
        check("reached", "upper", name="upper_reached"),
        check("grasped", "upper", after=("upper_reached",), name="upper_grasped"),
        check("lifted", "upper", after=("upper_grasped",), name="upper_lifted"),
        check("aside", "upper", "lower", after=("upper_lifted",)),
        check("reached", "lower", after=("aside",)),
        check("grasped", "lower", after=("reached",)),
        check("lifted", "lower", after=("grasped",)),
        check("above", "lower", "upper", after=("lifted",)),
        check("on", "lower", "upper", after=("above",)),
    ),
    {"upper": "cubeB", "lower": "cubeA"},
    {"upper": "block", "lower": "block"},
    CUBES_SHOWN,
)

_WIPE = task(
    "robosuite/spill-wipe",
    SPILL_WIPE,
    "Wipe the dirt ('spill') off the table with the tool on the hand: a straight edge 12 cm long along the hand's y "
    "axis and 5 cm wide. Dirt goes when the tool touches something, its face is over the dirt and at most 2 cm above it, while the arm "
    "itself touches nothing and no joint is at its limit. At the end nothing may be left.",
    (
        check("reached", "item"),
        check("begun", "item", after=("reached",)),
        check("wiped", "item", after=("begun",)),
    ),
    {"item": "spill"},
    {"item": "dirt"},
    demonstrations_of("robosuite/spill-wipe", "wipe_unpressed", "wipe_middle"),
)

_HANDOVER = task(
    "robosuite/two-arm-handover",
    TWO_ARM_HANDOVER,
    "Hand the hammer ('hammer', its handle is 'handle') from arm 0, near which it lies, to arm 1: at the end arm 1 "
    "must hold it by the handle, more than 10 cm above the table, and arm 0 must not touch it with its fingers.",
    (
        check("near", "handle", "giver"),
        check("grasped_by", "item", "giver", after=("near",)),
        check("lifted", "item", after=("grasped_by",)),
        check("offered", "handle", "taker", after=("lifted",)),
        check("near", "handle", "taker", after=("offered",), name="met"),
        check("grasped_by", "handle", "taker", after=("met",), name="taken"),
        check("handed_over", "item", "giver", "taker", after=("taken",)),
    ),
    {"item": "hammer", "handle": "handle", "giver": "arm0", "taker": "arm1"},
    {"item": "tool", "handle": "handle", "giver": "arm0", "taker": "arm1"},
    demonstrations_of("robosuite/two-arm-handover", "handover_ends", "handover_leaning"),
)

_TWO_ARM_LIFT = task(
    "robosuite/two-arm-lift",
    TWO_ARM_LIFT,
    "Lift the pot ('pot') with both arms, each by the handle on its side ('handle0' is arm 0's, 'handle1' arm 1's): "
    "at the end the pot's bottom must be more than 10 cm above the table.",
    (
        check("reached_by", "near_handle", "near_arm"),
        check("reached_by", "far_handle", "far_arm", after=("reached_by",), name="both_reached"),
        check("grasped_by", "near_handle", "near_arm", after=("both_reached",)),
        check("grasped_by", "far_handle", "far_arm", after=("grasped_by",), name="both_grasped"),
        check("lifted", "item", after=("both_grasped",)),
    ),
    {"item": "pot", "near_handle": "handle0", "far_handle": "handle1", "near_arm": "arm0", "far_arm": "arm1"},
    {"item": "pot", "near_handle": "handle", "far_handle": "handle", "near_arm": "arm0", "far_arm": "arm1"},
    demonstrations_of("robosuite/two-arm-lift", "lift_square", "lift_turned"),
)

_NUT = task(
    "robosuite/nut-assembly",
    NUT_ASSEMBLY,
    "Put the square nut ('square_nut') over the square peg ('square_peg'), holding it by its handle "
    "('square_nut_handle'), and let go of it: at the end the nut must lie around the peg's foot, with the hand away "
    "from it. The peg rises 13 cm above the table and is 3.2 cm wide; its sides are parallel to the base's axes.",
    (
        check("reached", "item"),
        check("grasped", "item", after=("reached",)),
        check("lifted", "item", after=("grasped",)),
        check("above", "item", "base", after=("lifted",)),
        check("on", "item", "base", after=("above",)),
    ),
    {"item": "square_nut", "base": "square_peg"},
    {"item": "block", "base": "block"},
    CUBES_SHOWN,
)

TASKS: dict[str, Task] = {
    found.name: found for found in (_LIFT, _STACK, _RESTACK, _WIPE, _HANDOVER, _TWO_ARM_LIFT, _NUT)
}
"""Robosuite tasks by name."""
