"""The search's effects, each through the journal: execute, annotate, plan, revise, replay."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from surefoot.boundary.outcome import Infrastructure, Outcome
from surefoot.boundary.wire import Watched
from surefoot.diagnosis.annotation import Diagnosis, diagnose
from surefoot.environments.base import Task
from surefoot.environments.host import TaskHost
from surefoot.errors import EnvironmentFaultError
from surefoot.memory.archive import Archive, Record, Role
from surefoot.memory.journal import Journal
from surefoot.memory.tapes import TapeStore
from surefoot.program.source import Program
from surefoot.proposer.base import Plan, Proposer, RepairContext
from surefoot.tape.certificate import Certificate
from surefoot.tape.file import Tape
from surefoot.tape.recording import Execution
from surefoot.tape.replay import watch


class Executed(msgspec.Struct, frozen=True):
    """An execution as the journal keeps it. `seconds` is the only field that may differ between reruns."""

    outcome: Outcome
    scene: str
    tape: str
    steps: int
    seconds: float


class Replayed(msgspec.Struct, frozen=True):
    """A replay as the journal keeps it: seconds of the replay itself, and of finding and reading the tape."""

    certificate: Certificate
    seconds: float
    retrieval_seconds: float = 0.0


class Chosen(msgspec.Struct, frozen=True):
    """A proposer's plan, or None where it has nothing left to try."""

    plan: Plan | None


class Effects:
    """Everything that the search does to the world. Hosts start when first needed; `close` stops them."""

    def __init__(
        self, journal: Journal, tapes: TapeStore, proposer: Proposer, run_seed: int, infrastructure_tries: int
    ):
        self.archive = Archive(tapes.load, self._watch)
        self._journal = journal
        self._tapes = tapes
        self._proposer = proposer
        self._run_seed = run_seed
        self._tries = infrastructure_tries
        self._tasks: dict[str, Task] = {}
        self._hosts: dict[str, TaskHost] = {}

    def execute(
        self, role: Role, task: Task, program: Program, seed: int, plan: Plan | None = None, number: int | None = None
    ) -> Record:
        """Run a program on a fresh reset, annotate and archive it.

        Raises EnvironmentFaultError if the environment fails again and again; the run can be resumed.
        """
        self._tasks[task.name] = task
        inputs = [role, task.name, program.digest, seed, len(self.archive)]
        executed = self._journal.step("execute", inputs, Executed, lambda: self._execute(task, program, seed))
        diagnosis = self._annotate(task, executed)
        record = Record(
            len(self.archive), role, task.name, seed, program.digest, executed.scene, executed.outcome, diagnosis,
            executed.tape, executed.steps, executed.seconds, number,
        )  # fmt: skip
        self.archive.register(program)
        self.archive.add(record)
        self._proposer.observe(task, record, self.archive, plan)
        return record

    def plan(self, context: RepairContext) -> Plan | None:
        """Ask for a repair plan."""
        inputs = [context.failure.number, context.working.digest, context.trial]
        return self._journal.step("plan", inputs, Chosen, lambda: Chosen(self._proposer.plan_repair(context))).plan

    def first_plan(self, task: Task) -> Plan:
        """Ask for the plan of P_0."""
        return self._journal.step(
            "plan", [task.name, "first"], Plan, lambda: self._proposer.first_plan(task, self.archive)
        )

    def write(self, plan: Plan) -> Program:
        """Ask for the program that a plan describes."""
        text = self._journal.step("revise", plan, str, lambda: self._proposer.write(plan).source)
        program = Program(text)
        self.archive.register(program)
        return program

    def replay(self, task: Task, program: Program, witness: Record) -> Replayed:
        """Replay a program on a witness's tape."""
        inputs = [program.digest, witness.tape]
        return self._journal.step("replay", inputs, Replayed, lambda: self._replay(task, program, witness))

    def close(self) -> None:
        """Stop all environments and program processes."""
        for host in self._hosts.values():
            host.close()

    def host(self, task: Task) -> TaskHost:
        """The task's host, started when first needed."""
        return self._hosts.setdefault(task.name, TaskHost(task))

    def _execute(self, task: Task, program: Program, seed: int) -> Executed:
        for _ in range(self._tries):
            path = self._tapes.unfinished_path()
            execution = self.host(task).execute(program, seed, path=path, run_seed=self._run_seed)
            if not isinstance(execution.outcome, Infrastructure):
                return self._kept(execution, path)
            self._tapes.set_aside(path)
        raise EnvironmentFaultError(
            f"{task.name} failed {self._tries} times in a row on seed {seed} ({execution.outcome.text}). "
            "See 'surefoot doctor'; the run can be resumed."
        )

    def _kept(self, execution: Execution, path: Path) -> Executed:
        tape = self._tapes.keep(path, execution.tape) if execution.tape is not None else ""
        scene = execution.scene.digest if execution.scene else ""
        return Executed(execution.outcome, scene, tape, execution.steps, execution.seconds)

    def _annotate(self, task: Task, executed: Executed) -> Diagnosis | None:
        if not executed.tape:
            return None
        return self._journal.step(
            "annotate",
            executed.tape,
            Diagnosis,
            lambda: diagnose(task.graph, self._tapes.load(executed.tape).telemetry, task.roles),
        )

    def _replay(self, task: Task, program: Program, witness: Record) -> Replayed:
        began = time.perf_counter()
        tape = self._tapes.load(witness.tape)
        started = time.perf_counter()
        certificate = self.host(task).certify(program, tape, trace_lines=True)
        return Replayed(certificate, time.perf_counter() - started, started - began)

    def _watch(self, program: Program, tape: Tape, places: tuple[str, ...]) -> list[Watched]:
        host = self.host(self._tasks[tape.header.task])
        return watch(program, tape, host.zygote(program), places)


Narrate = Callable[[str], None]
"""Receives one line per step of the search, for a person who watches."""
