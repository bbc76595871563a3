"""What PI's controller needs of a domain: staged programs of opaque actions, contracts, and a small trial."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple, Protocol

Program = tuple[int, ...]
"""One action per stage, by its place in the domain's list."""
Goals = tuple[Hashable, ...]
"""One goal per stage."""


class Domain(NamedTuple):
    """A family of tasks: the names of its stages, and the public action identifiers of each."""

    stages: tuple[str, ...]
    actions: tuple[tuple[str, ...], ...]

    @property
    def first(self) -> Program:
        """The program of first identifiers, where nothing is known."""
        return (0,) * len(self.stages)


class Feedback(NamedTuple):
    """What an execution gave back.

    `bits` are the contracts, one per stage; `failed` the stages that diagnostics name, in order (normally those whose
    contract fails); `accepted` is the full audit's word; `work` the rows that stages visited.
    """

    bits: tuple[bool, ...]
    failed: tuple[int, ...]
    accepted: bool
    work: int


class Task(Protocol):
    """One task of a domain."""

    @property
    def id(self) -> str:
        """Unique over all tasks."""

    @property
    def revision(self) -> str:
        """The tool revision, part of what evidence is kept under."""

    @property
    def request(self) -> Goals:
        """One goal per stage."""

    @property
    def trial_rows(self) -> int:
        """n_mu: how many rows the small trial reads."""

    def full(self, program: Program) -> Feedback:
        """A full submission with its audit."""

    def small(self, program: Program) -> Feedback:
        """A trial on the micro-task."""
