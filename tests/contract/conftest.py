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


@pytest.fixture(scope="module", params=_parameters(TASKS))
def task(request: pytest.FixtureRequest) -> Task:
    """Every task."""
    return find_task(request.param)


@pytest.fixture(scope="module", params=_parameters(STEADY))
def steady(request: pytest.FixtureRequest) -> Task:
    """Every task whose reset is a pure function of its seed."""
    return find_task(request.param)


@pytest.fixture(scope="module")
def spare() -> Iterator[list[tuple[str, Environment]]]:
    """Started simulators that no test uses, with their task's name: starting one takes longer than most tests."""
    kept: list[tuple[str, Environment]] = []
    yield kept
    for _, environment in kept:
        environment.close()


@pytest.fixture
def start(spare: list[tuple[str, Environment]]) -> Iterator[Callable[..., Environment]]:
    """An environment of a task: `start(task)` at 101, `start(task, 102)`; with None a new one, not yet reset."""
    given: list[tuple[str, Environment]] = []

    def make(task: Task, seed: int | None = 101) -> Environment:
        while spare and spare[-1][0] != task.name:  # tests come by task: what another one left is not needed again
            spare.pop()[1].close()
        environment = spare.pop()[1] if spare and seed is not None else task.make()
        given.append((task.name, environment))
        if seed is not None:
            environment.reset(seed)
        return environment

    yield make
    for name, environment in given:
        if name in SIMULATED:
            spare.append((name, environment))
        else:
            environment.close()
