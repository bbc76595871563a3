"""Proposers by name: those that ship, and those that other packages add as entry points."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata

from surefoot.environments.base import Task
from surefoot.errors import unknown_name
from surefoot.proposer.base import Proposer

GROUP = "surefoot.proposers"


def make_proposer(name: str, task: Task, run_seed: int) -> Proposer:
    """A fresh proposer for one run; UsageError with the nearest match where there is none of this name."""
    entries = {entry.name: entry for entry in metadata.entry_points(group=GROUP)}
    if name not in entries:
        raise unknown_name("proposer", name, entries)
    make: Callable[[Task, int], Proposer] = entries[name].load()
    return make(task, run_seed)
