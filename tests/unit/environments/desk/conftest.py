"""Programs run in-process on the desk, without the real runner."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from surefoot.environments.desk.environment import DeskEnvironment
from surefoot.environments.desk.tasks import TASKS


def run_program(environment: DeskEnvironment, source: str) -> Exception | None:
    """Run `source` on the environment as it stands; what the program raised, if anything."""
    surface = TASKS["desk/place"].surface
    names = {function.name: getattr(environment.api, function.name) for function in surface.functions}
    names |= {"stage": lambda f: f, "vary": lambda value, low, high: value, "print": lambda *values: None}
    try:
        exec(source, names | {"public_state": environment.public_state})
    except Exception as error:  # noqa: BLE001 - whatever the program raises is its outcome
        return error
    return None


def solved(task: str, source: str, seeds: tuple[int, ...] = TASKS["desk/place"].development) -> list[int]:
    """The seeds on which `source` solves the task."""
    environment = TASKS[task].make()
    found = []
    for seed in seeds:
        environment.reset(seed)
        run_program(environment, source)
        found += [seed] if environment.succeeded() else []
    return found


@pytest.fixture
def desk() -> SimpleNamespace:
    """The helpers above."""
    return SimpleNamespace(run=run_program, solved=solved)


@pytest.fixture
def make() -> Callable[..., DeskEnvironment]:
    """A started environment: `make(task, seed)`."""

    def started(task: str = "desk/place", seed: int = 101) -> DeskEnvironment:
        environment = TASKS[task].make()
        environment.reset(seed)
        return environment

    return started


FULL = """
@stage
def pick(item):
    import numpy as np

    about = describe(item)
    reach = 0.05 if about["shape"] == "mug" else 0.0
    target = locate(item) + reach * np.array([np.cos(about["angle"]), np.sin(about["angle"])])
    move_to(target, height=0.10)
    move_to(target, height=0.02)
    grip(force=40.0 if about["weight"] > 1.0 else 10.0)
    move_to(target, height=0.10)


@stage
def place(item, goal):
    start, target = get_hand()["position"], locate(goal)
    height = 0.30 if free_heights(start, target)[0] > 0.09 else 0.10
    move_to(start, height=height)
    move_to(target, height=height)
    move_to(target, height=0.08)
    release()


pick("item")
place("item", "bin")
"""


@pytest.fixture
def full() -> str:
    """A program for desk/place with a guard for each of its difficulties."""
    return FULL
