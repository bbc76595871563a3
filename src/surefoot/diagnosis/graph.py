"""The diagnostic graph: observable checks and their prerequisites (SCOPE section 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec

from surefoot.errors import UsageError, unknown_name

Telemetry = Mapping[str, Any]
Roles = Mapping[str, str]
"""Role name to object id, for example {"item": "cubeA"}."""


class Predicate(msgspec.Struct, frozen=True):
    """A named fact about one moment, over roles: `grasped(item)`, `on(item, base)`.

    `holds(telemetry, *objects)` decides it; `objects` are the object ids bound to the roles, in order.
    """

    name: str
    holds: Callable[..., bool]


class Check(msgspec.Struct, frozen=True):
    """A node: a predicate with its roles, its prerequisites, and whether it must be sustained.

    An `invariant` check must hold throughout the window of every check that depends on it.
    """

    name: str
    predicate: Predicate
    roles: tuple[str, ...]
    parents: tuple[str, ...] = ()
    invariant: bool = False

    def holds(self, telemetry: Telemetry, roles: Roles) -> bool:
        """Whether the predicate holds at one moment under a binding of roles."""
        return bool(self.predicate.holds(telemetry, *(roles[role] for role in self.roles)))

    @property
    def effect(self) -> str:
        """The check as a fact over roles, for example `on(item, base)`."""
        return f"{self.predicate.name}({', '.join(self.roles)})"


class DiagnosticGraph:
    """A directed acyclic graph of checks, in topological order.

    Raises UsageError for unknown parents, double names and cycles.
    """

    def __init__(self, checks: Sequence[Check]):
        names = [check.name for check in checks]
        doubled = {name for name in names if names.count(name) > 1}
        if doubled:
            raise UsageError(f"Check names must differ; given twice: {', '.join(sorted(doubled))}.")
        by_name = {check.name: check for check in checks}
        for check in checks:
            for parent in check.parents:
                if parent not in by_name:
                    raise unknown_name("check", parent, names)
        self.checks = _topological(by_name)

    def __iter__(self) -> Any:
        return iter(self.checks)

    def __getitem__(self, name: str) -> Check:
        """The check called `name`; UsageError with the nearest match where there is none."""
        if name not in self.by_name:
            raise unknown_name("check", name, self.by_name)
        return self.by_name[name]

    @cached_property
    def by_name(self) -> dict[str, Check]:
        """Checks by name, in topological order."""
        return {check.name: check for check in self.checks}

    @cached_property
    def ancestors(self) -> dict[str, frozenset[str]]:
        """All checks that each check depends on, directly or not."""
        found: dict[str, frozenset[str]] = {}
        for check in self.checks:
            above = set(check.parents)
            for parent in check.parents:
                above |= found[parent]
            found[check.name] = frozenset(above)
        return found

    @cached_property
    def descendants(self) -> dict[str, tuple[str, ...]]:
        """All checks that depend on each check, directly or not, in topological order."""
        return {
            check.name: tuple(other.name for other in self.checks if check.name in self.ancestors[other.name])
            for check in self.checks
        }


def _topological(by_name: dict[str, Check]) -> tuple[Check, ...]:
    ordered: dict[str, Check] = {}
    waiting = dict(by_name)
    while waiting:
        ready = [name for name, check in waiting.items() if all(parent in ordered for parent in check.parents)]
        if not ready:
            raise UsageError(f"The checks {', '.join(sorted(waiting))} depend on each other in a circle.")
        for name in ready:
            ordered[name] = waiting.pop(name)
    return tuple(ordered.values())
