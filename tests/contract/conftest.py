"""Environments that must keep the contract: every desk task now, simulators under their own marker."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence

import pytest

from surefoot.boundary.environment import Environment
from surefoot.environments.base import Task
from surefoot.environments.registry import find_task
from surefoot.environments.robosuite.suites import SUITES

STEADY = ["desk/place", "desk/occlusion"]
TASKS = [*STEADY, "desk/place-unsteady"]
SIMULATED = SUITES["robosuite"]
"""Tasks of simulators, run under the `sim` marker alone."""


def _parameters(names: Sequence[str]) -> list[object]:
    # not importorskip: importing robosuite here would choose a renderer
    missing = pytest.mark.skipif(importlib.util.find_spec("robosuite") is None, reason="needs the extra robosuite")
    return [*names, *(pytest.param(name, marks=[pytest.mark.sim, missing]) for name in SIMULATED)]


@pytest.fixture(params=_parameters(TASKS))
def task(request: pytest.FixtureRequest) -> Task:
    """Every task."""
    return find_task(request.param)


@pytest.fixture(params=_parameters(STEADY))
def steady(request: pytest.FixtureRequest) -> Task:
    """Every task whose reset is a pure function of its seed."""
    return find_task(request.param)


@pytest.fixture(scope="session")
def spare() -> Iterator[dict[str, list[Environment]]]:
    """Started simulators that no test uses, by task: starting one takes longer than most tests."""
    kept: dict[str, list[Environment]] = {}
    yield kept
    for environments in kept.values():
        for environment in environments:
            environment.close()


@pytest.fixture
def start(spare: dict[str, list[Environment]]) -> Iterator[Callable[..., Environment]]:
    """An environment of a task: `start(task)` at 101, `start(task, 102)`; with None a new one, not yet reset."""
    given: list[tuple[Task, Environment]] = []

    def make(task: Task, seed: int | None = 101) -> Environment:
        unused = spare.get(task.name)
        environment = unused.pop() if unused and seed is not None else task.make()
        given.append((task, environment))
        if seed is not None:
            environment.reset(seed)
        return environment

    yield make
    for task, environment in given:
        if task.name in SIMULATED:
            spare.setdefault(task.name, []).append(environment)
        else:
            environment.close()
