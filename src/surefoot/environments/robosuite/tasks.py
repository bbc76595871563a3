"""The robosuite tasks. Importing this file starts no simulator."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from surefoot.boundary.environment import Environment
from surefoot.boundary.surface import Surface
from surefoot.diagnosis.graph import Check, DiagnosticGraph
from surefoot.environments.base import Demonstration, Task, revision_of
from surefoot.environments.robosuite.api import RobosuiteApi
from surefoot.environments.robosuite.importing import check_installed, load_robosuite
from surefoot.environments.robosuite.predicates import PREDICATES
from surefoot.environments.robosuite.setups import CUBE_LIFT, CUBE_STACK, Setup

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


def check(predicate: str, *roles: str, after: tuple[str, ...] = (), invariant: bool = False) -> Check:
    """A check of the shared vocabulary, named after its predicate."""
    return Check(predicate, PREDICATES[predicate], roles, after, invariant)


def demonstration(name: str, task: str) -> Demonstration:
    """A demonstration that ships with this package, and the task that it was written for."""
    return Demonstration(name, task, Path(__file__).parent / "demonstrations" / f"{name}.py")


def task(
    name: str,
    setup: Setup,
    description: str,
    checks: tuple[Check, ...],
    roles: dict[str, str],
    demonstrations: tuple[Demonstration, ...] = (),
) -> Task:
    """A single-arm task on the state tier whose last check is its goal."""
    return Task(
        name=name,
        description=description,
        tier="state",
        protocol=setup.protocol,
        surface=Surface.of(RobosuiteApi),
        graph=DiagnosticGraph(checks),
        predicates=PREDICATES,
        roles=roles,
        role_types=dict.fromkeys(roles, "cube"),
        goal=(checks[-1].name,),
        development=DEVELOPMENT,
        held_out=HELD_OUT,
        make=partial(start, setup, name),
        revision=revision,
        demonstrations=demonstrations,
        options={"step_limit": setup.step_limit},
    )


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
    tuple(demonstration(name, "robosuite/cube-lift") for name in ("lift_blind", "lift_fingertips", "lift_steady")),
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
    (
        demonstration("lift_blind", "robosuite/cube-lift"),
        demonstration("stack_hasty", "robosuite/cube-stack"),
        demonstration("lift_steady", "robosuite/cube-lift"),
        demonstration("lift_fingertips", "robosuite/cube-lift"),
        demonstration("stack_remembered", "robosuite/cube-stack"),
    ),
)

TASKS: dict[str, Task] = {found.name: found for found in (_LIFT, _STACK)}
"""Robosuite tasks by name."""
