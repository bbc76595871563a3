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


@pytest.fixture
def start() -> Iterator[Callable[..., Environment]]:
    """A started environment of a task, reset unless told otherwise; closed at the end of the test."""
    started: list[Environment] = []

    def make(task: Task, seed: int | None = 101) -> Environment:
        started.append(task.make())
        if seed is not None:
            started[-1].reset(seed)
        return started[-1]

    yield make
    for environment in started:
        environment.close()
