"""The archive: every execution of a run with its role, source, outcome and diagnosis (SCOPE section 3.1).

Evaluation on held-out scenes is never archived; no proposer can read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from surefoot.boundary.outcome import Outcome, is_success
from surefoot.boundary.wire import Watched
from surefoot.diagnosis.annotation import Diagnosis
from surefoot.program.source import Program
from surefoot.tape.file import Tape

Role = Literal[
    "demonstration", "entry", "repair", "follow-up entry", "follow-up repair", "gate", "diagnostic", "freeze"
]


class Record(msgspec.Struct, frozen=True):
    """One archived execution. `tape` is the id of its tape, empty where the run never began."""

    number: int
    role: Role
    task: str
    seed: int
    program: str
    scene: str
    outcome: Outcome
    diagnosis: Diagnosis | None
    tape: str
    steps: int
    seconds: float
    plan: int | None = None

    @property
    def success(self) -> bool:
        """Y = 1."""
        return is_success(self.outcome)


class Archive:
    """All records of a run, the sources they ran, and access to their tapes."""

    def __init__(self, load: Callable[[str], Tape], watch: Callable[[Program, Tape, tuple[str, ...]], list[Watched]]):
        self._load = load
        self._watch = watch
        self.records: list[Record] = []
        self.programs: dict[str, Program] = {}

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def add(self, record: Record) -> None:
        """Append a record; its program must have been registered."""
        assert record.program in self.programs
        self.records.append(record)

    def register(self, program: Program) -> None:
        """Keep a program's source under its identity."""
        self.programs.setdefault(program.digest, program)

    def tape(self, record: Record) -> Tape:
        """The tape of a record."""
        return self._load(record.tape)

    def watch(self, program: Program, record: Record, places: tuple[str, ...]) -> list[Watched]:
        """Local values at named places of `program` while it replays a record's tape; no environment step."""
        return self._watch(program, self.tape(record), places)

    def on(self, task: str, seed: int | None = None) -> list[Record]:
        """Records of one task, optionally of one configuration, oldest first."""
        return [item for item in self.records if item.task == task and seed in (None, item.seed)]
