"""What the search asks of whoever writes edits (SCOPE section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

import msgspec

from surefoot.environments.base import Task
from surefoot.memory.archive import Archive, Record
from surefoot.program.source import Program
from surefoot.tape.certificate import Certificate

Level = Literal["local", "stage", "strategy"]


class Plan(msgspec.Struct, frozen=True):
    """A repair plan: hypothesis, cited evidence, what to change, what should be seen, and how far it goes.

    `base` is the digest of the program that the edit starts from. `edit` is the proposer's own data, from
    which `revise` writes the candidate.
    """

    level: Level
    base: str
    hypothesis: str
    evidence: tuple[str, ...]
    regions: tuple[str, ...]
    expected: str
    edit: dict[str, Any]


class Feedback(msgspec.Struct, frozen=True):
    """What replays of the accepted program and diagnostics have shown so far, newest last."""

    certificates: tuple[tuple[int, Certificate], ...]
    diagnostics: tuple[int, ...]


class Attempt(msgspec.Struct, frozen=True):
    """An earlier repair on any configuration: its plan and the record of its validating run."""

    plan: Plan
    record: int


class RepairContext(msgspec.Struct, frozen=True):
    """Everything that a repair may use. `failure` is the current failure record.

    `success` is the latest success record of the accepted program, None before the first.
    """

    task: Task
    working: Program
    accepted: Program
    failure: Record
    success: Record | None
    archive: Archive
    attempts: Sequence[Attempt]
    feedback: Feedback
    run_seed: int
    trial: int

    @property
    def frontier(self) -> tuple[str, ...]:
        """The failure frontier of the current failure; empty where none is usable."""
        return self.failure.diagnosis.frontier if self.failure.diagnosis else ()


class Proposer(Protocol):
    """Writes programs. Its answers are journaled, so it is asked only once for each."""

    name: str

    def first_plan(self, task: Task, archive: Archive) -> Plan:
        """The plan of P_0."""

    def plan_repair(self, context: RepairContext) -> Plan | None:
        """A plan for the current failure, or None if nothing is left to try on this configuration."""

    def write(self, plan: Plan) -> Program:
        """The complete program that a plan describes."""

    def observe(self, task: Task, record: Record, archive: Archive, plan: Plan | None) -> None:
        """Learn from a finished execution; called for every archived record, in order.

        `plan` is the one that the record's program was written from, None for demonstrations.
        """

    def load(self, library: bytes) -> None:
        """Start from a library that earlier runs left; called once, before anything else."""

    def save(self, library: bytes, run: str) -> bytes:
        """The library (empty bytes: none yet) with what this run learned; a run is never merged twice."""
