"""A search in memory: a scripted proposer, scripted outcomes and replays, and a log of all that happens."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from surefoot.boundary.outcome import Failure, Success
from surefoot.environments.base import Task
from surefoot.memory.archive import Archive, Record
from surefoot.program.source import Program
from surefoot.proposer.base import Plan, RepairContext
from surefoot.search.effects import Replayed
from surefoot.search.loop import Learned, Search
from surefoot.search.settings import Settings
from surefoot.tape.certificate import Certified, Diverged

DIVERGED = Diverged("other call", 0, "", "a", "b", 1, "", None, None, ())


class Scripted:
    """Effects of a search in memory; programs are called P0, P1 … in the order in which they are written.

    `solves` maps a program to the configurations that it solves; a list holds its outcomes there one after
    another, the last for ever. `certifies` holds (program, witness's program) pairs; equal programs certify.
    """

    def __init__(self, solves: dict[str, Any], certifies: set[tuple[str, str]], last: int):
        self.archive = Archive(None, None)  # type: ignore[arg-type]
        self.log: list[str] = []
        self.contexts: list[RepairContext] = []
        self._solves = solves
        self._certifies = certifies
        self._last = last
        self._written = 0
        self._runs: dict[tuple[str, int], int] = {}

    def execute(
        self, role: str, task: Task, program: Program, seed: int, plan: Any = None, number: Any = None
    ) -> Record:
        name = program.source
        count = self._runs[name, seed] = self._runs.get((name, seed), 0) + 1
        told = self._solves.get(name, {})
        told = told.get(seed, False) if isinstance(told, dict) else seed in told
        success = told[min(count, len(told)) - 1] if isinstance(told, list) else told
        self.log.append(f"{role} {name} @{seed} {'+' if success else '-'}")
        outcome = Success() if success else Failure("normal")
        record = Record(
            len(self.archive), role, task.name, seed, program.digest, str(seed), outcome, None, name, 0, 1.0, number
        )  # type: ignore[arg-type]
        self.archive.register(program)
        self.archive.add(record)
        return record

    def first_plan(self, task: Task) -> Plan:
        return self._plan()

    def plan(self, context: RepairContext) -> Plan | None:
        self.contexts.append(context)
        return self._plan() if self._written < self._last else None

    def _plan(self) -> Plan:
        return Plan("local", "", "try", (), (), "success", {"number": self._written})

    def write(self, plan: Plan) -> Program:
        program = Program(f"P{self._written}")
        self._written += 1
        self.archive.register(program)
        return program

    def replay(self, task: Task, program: Program, witness: Record) -> Replayed:
        pair = (program.source, witness.tape)
        certified = pair[0] == pair[1] or pair in self._certifies
        self.log.append(f"replay {pair[0]} on {pair[1]} @{witness.seed} {'=' if certified else '/'}")
        return Replayed(Certified(1, (1,)) if certified else DIVERGED, 0.5)


Run = Callable[..., tuple[Scripted, Learned]]


@pytest.fixture
def search(desk: Task) -> Run:
    """Run a search: `search(development, solves, certifies, last=…, run_seed=…, **settings)`."""

    def run(
        development: tuple[int, ...],
        solves: dict[str, Any],
        certifies: set[tuple[str, str]] = frozenset(),  # type: ignore[assignment]
        last: int = 99,
        run_seed: int = 0,
        task: Task | None = None,
        **settings: Any,
    ) -> tuple[Scripted, Learned]:
        task = task or dataclasses.replace(desk, demonstrations=())
        effects = Scripted(solves, set(certifies), last)
        made = Search(task, development, effects, Settings(**settings), run_seed, lambda line: None)  # type: ignore[arg-type]
        learned = made.run()
        return effects, learned

    return run
