"""What a task is: everything about an environment that can be known without starting it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from surefoot.boundary.environment import Environment
from surefoot.boundary.surface import Surface
from surefoot.diagnosis.graph import DiagnosticGraph, Predicate
from surefoot.errors import EnvironmentFaultError

Tier = Literal["state", "camera"]


@dataclass(frozen=True)
class Demonstration:
    """A program that ships with a task family, with the task it was written for.

    Demonstrations are evidence for the `skills` proposer; none of them needs to solve the task at hand.
    """

    name: str
    task: str
    path: Path

    @property
    def source(self) -> str:
        """The program's text. EnvironmentFaultError where its package lacks it."""
        try:
            return self.path.read_text(encoding="utf-8")
        except OSError as error:
            raise EnvironmentFaultError(
                f"The demonstration '{self.name}' of {self.task} can't be read: {error.strerror} ({self.path}). "
                "Repair the package that provides the task."
            ) from None


@dataclass(frozen=True)
class Task:
    """A named task: surface, configurations, checks, and how to start its environment.

    `make` imports and starts the simulator; nothing else here may. `roles` binds the task's object roles
    to object ids; `goal` lists the checks of `graph` that mean success to the checks (the environment's
    own evaluator decides success). `role_types` gives each role's type, so that skills transfer between
    roles of one type.
    """

    name: str
    description: str
    tier: Tier
    protocol: str
    surface: Surface
    graph: DiagnosticGraph
    predicates: Mapping[str, Predicate]
    roles: Mapping[str, str]
    role_types: Mapping[str, str]
    goal: tuple[str, ...]
    development: tuple[int, ...]
    held_out: tuple[int, ...]
    make: Callable[[], Environment]
    revision: Callable[[], str]
    demonstrations: tuple[Demonstration, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


def revision_of(folder: Path, distributions: tuple[str, ...]) -> str:
    """Environment revision: hash of an environment's code and of the versions it stands on."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(folder.rglob("*.py")):
        if "demonstrations" in path.parts or "programs" in path.parts:
            continue  # programs run against the environment; they are not part of it
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    for name in distributions:
        digest.update(f"{name}=={metadata.version(name)}\0".encode())
    return digest.hexdigest()
