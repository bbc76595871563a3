"""The tasks that are installed: found through entry points, so that other packages can add their own."""

from __future__ import annotations

from functools import cache
from importlib import metadata

from surefoot.environments.base import Task
from surefoot.errors import EnvironmentFaultError, UsageError, unknown_name

GROUP = "surefoot.environments"


@cache
def all_tasks() -> dict[str, Task]:
    """Every installed task by name. UsageError if two packages claim one name."""
    tasks: dict[str, Task] = {}
    owners: dict[str, str] = {}
    for entry in sorted(metadata.entry_points(group=GROUP), key=lambda entry: entry.name):
        for name, task in _load(entry).items():
            if name in tasks:
                raise UsageError(
                    f"Two packages provide a task '{name}': {owners[name]} and {entry.value}. Uninstall one of them."
                )
            tasks[name] = task
            owners[name] = entry.value
    return tasks


def find_task(name: str) -> Task:
    """The task called `name`; UsageError with the nearest match where there is none."""
    family = name.partition("/")[0]
    for entry in metadata.entry_points(group=GROUP):
        if entry.name == family and name in _load(entry):
            return _load(entry)[name]
    tasks = all_tasks()
    if name not in tasks:
        raise unknown_name("task", name, tasks)
    return tasks[name]


@cache
def _load(entry: metadata.EntryPoint) -> dict[str, Task]:
    try:
        tasks: dict[str, Task] = entry.load()
    except Exception as error:  # another package's code
        raise EnvironmentFaultError(
            f"The tasks of {entry.value} can't be loaded: {type(error).__name__}: {error}. "
            "Repair or uninstall the package that provides them."
        ) from error
    return tasks
