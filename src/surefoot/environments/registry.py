"""The tasks and suites that are installed: found through entry points, so that other packages can add their own."""

from __future__ import annotations

from functools import cache
from importlib import metadata
from typing import Any

from surefoot.environments.base import Task
from surefoot.errors import EnvironmentFaultError, UsageError, unknown_name

GROUP = "surefoot.environments"
SUITES = "surefoot.suites"
"""Group of entry points that hold suites: a suite's name to its tasks' names, in order."""


@cache
def all_tasks() -> dict[str, Task]:
    """Every installed task by name. UsageError if two packages claim one name."""
    return _collected(GROUP, "task")


def find_task(name: str) -> Task:
    """The task called `name`; UsageError with the nearest match where there is none."""
    family = name.partition("/")[0]
    for entry in metadata.entry_points(group=GROUP):
        if entry.name == family and name in _load(entry):
            task: Task = _load(entry)[name]
            return task
    tasks = all_tasks()
    if name not in tasks:
        raise unknown_name("task", name, tasks)
    return tasks[name]


def find_suite(name: str) -> tuple[str, ...]:
    """The names of a suite's tasks, in order; UsageError with the nearest match where there is no such suite."""
    suites: dict[str, tuple[str, ...]] = _collected(SUITES, "suite")
    if name not in suites:
        raise unknown_name("suite", name, suites)
    return suites[name]


def _collected(group: str, noun: str) -> dict[str, Any]:
    """What all entry points of a group provide. UsageError if two packages claim one name."""
    found: dict[str, Any] = {}
    owners: dict[str, str] = {}
    for entry in sorted(metadata.entry_points(group=group), key=lambda entry: entry.name):
        for name, value in _load(entry).items():
            if name in found:
                raise UsageError(
                    f"Two packages provide a {noun} '{name}': {owners[name]} and {entry.value}. Uninstall one of them."
                )
            found[name] = value
            owners[name] = entry.value
    return found


@cache
def _load(entry: metadata.EntryPoint) -> dict[str, Any]:
    try:
        provided: dict[str, Any] = entry.load()
    except Exception as error:  # another package's code
        raise EnvironmentFaultError(
            f"The tasks of {entry.value} can't be loaded: {type(error).__name__}: {error}. "
            "Repair or uninstall the package that provides them."
        ) from error
    return provided
