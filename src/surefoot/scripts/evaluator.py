"""Certificates as a cache for an outside optimiser: what is certified need not be run."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Literal

import msgspec

from surefoot.boundary.outcome import Infrastructure, InvalidProgram, Outcome, Success, Timeout, is_success
from surefoot.boundary.platform import numeric_platform
from surefoot.environments.base import Task
from surefoot.environments.host import TaskHost
from surefoot.errors import EnvironmentFaultError, InvalidProgramError, UsageError
from surefoot.memory.tapes import TapeStore
from surefoot.program.source import Program
from surefoot.tape.certificate import Certified, Diverged
from surefoot.tape.file import Tape, load_tape
from surefoot.tape.replay import program_of

How = Literal["certified", "repeated", "executed", "refused"]


class Result(msgspec.Struct, frozen=True):
    """How a program does on one configuration, and how that is known.

    `tape` is the execution's own, or the one that certifies the program; None where the program can't be run.
    """

    seed: int
    outcome: Outcome
    how: How
    tape: Tape | None

    @property
    def score(self) -> float:
        """1.0 for a success, else 0.0."""
        return float(is_success(self.outcome))


class Counts(msgspec.Struct):
    """How many results came from a certificate, from an equal program's execution, and from a new one."""

    certified: int = 0
    repeated: int = 0
    executed: int = 0
    refused: int = 0


def _made_with(tape: Tape, task: str, revision: str) -> bool:
    """Whether running the tape's program again on this machine would give the tape again."""
    header = tape.header
    return (header.task, header.revision, header.platform) == (task, revision, numeric_platform())


class CertifiedEvaluator:
    """Scores programs on configurations of a task; a context manager.

    A configuration on which the tape of any earlier success certifies a program scores a success without a run;
    otherwise the program runs live and is taped to `folder`, where a later evaluator finds the tapes again. That
    needs a task whose reset gives the same scene each time; another scene is a UsageError. With
    `certificates=False` nothing but equal text counts as known: the baseline to compare with.
    """

    def __init__(self, task: Task, seeds: tuple[int, ...], folder: Path, *, certificates: bool = True):
        self.counts = Counts()
        self._seeds = seeds
        self._certificates = certificates
        self._host = TaskHost(task)
        self._store = TapeStore(folder)
        self._successes: dict[int, list[Tape]] = {}
        self._known: dict[tuple[str, int], Tape] = {}
        self._scenes: dict[int, str] = {}
        self._reset_repeats = False
        for path in sorted(folder.glob("*.mcap")):
            tape = load_tape(path)
            if tape.end is not None and _made_with(tape, task.name, self._host.revision):
                self._learn(program_of(tape), tape)

    def __enter__(self) -> CertifiedEvaluator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop the environment and the program processes."""
        self._host.close()

    def evaluate(self, source: str, seeds: tuple[int, ...] | None = None) -> list[Result]:
        """One result per configuration, in order; of `seeds` instead of all where given.

        A program that can't be run is a result; EnvironmentFaultError where the environment fails, since that is
        no score of the program's.
        """
        program = Program(source)
        wanted = self._seeds if seeds is None else seeds
        try:
            program.check()
        except InvalidProgramError as error:
            results = [Result(seed, InvalidProgram(str(error)), "refused", None) for seed in wanted]
        else:
            results = [self._result(program, seed) for seed in wanted]
        for result in results:
            setattr(self.counts, result.how, getattr(self.counts, result.how) + 1)
        return results

    def _result(self, program: Program, seed: int) -> Result:
        known = self._known.get((program.digest, seed))
        if known is not None and known.end is not None:
            return Result(seed, known.end.outcome, "repeated", known)
        witness = self._certifying(program, seed)
        if witness is not None:
            self._known[program.digest, seed] = witness
            return Result(seed, Success(), "certified", witness)
        return self._executed(program, seed)

    def _certifying(self, program: Program, seed: int) -> Tape | None:
        """An earlier success whose tape certifies the program; the latest to have done so is tried first."""
        tapes = self._successes.get(seed, []) if self._certificates else []
        for place, tape in enumerate(tapes):
            certificate = self._host.certify(program, tape)
            if isinstance(certificate, Certified):
                self._check_reset(tape)
                tapes.insert(0, tapes.pop(place))
                return tape
            if isinstance(certificate, Diverged) and certificate.kind == "limit":
                return None  # it would use up its time on every other tape, too
        return None

    def _check_reset(self, tape: Tape) -> None:
        """Before the first certificate counts: two resets in a row must give the recorded scene. UsageError otherwise."""
        if self._reset_repeats:
            return
        environment = self._host.task.make()
        try:
            digests = [environment.reset(tape.header.scene.seed).digest for _ in range(2)]
        finally:
            environment.close()
        for digest in digests:
            self._note_scene(tape, digest)
        self._reset_repeats = True

    def _executed(self, program: Program, seed: int) -> Result:
        path = self._store.unfinished_path()
        execution = self._host.execute(program, seed, path=path)
        tape = execution.tape
        if isinstance(execution.outcome, Infrastructure) or tape is None:
            self._store.set_aside(path)
            raise EnvironmentFaultError(f"Configuration {seed} can't be scored: {execution.outcome.text}.")
        identity = self._store.keep(path, tape)
        tape = msgspec.structs.replace(tape, path=self._store.path(identity))
        self._learn(program, tape)
        return Result(seed, execution.outcome, "executed", tape)

    def _learn(self, program: Program, tape: Tape) -> None:
        seed = tape.header.scene.seed
        self._note_scene(tape, tape.header.scene.digest)
        assert tape.end is not None
        if isinstance(tape.end.outcome, Timeout):
            return  # wall-clock time decides nothing
        self._known[program.digest, seed] = tape
        if is_success(tape.end.outcome):
            self._successes.setdefault(seed, []).insert(0, tape)

    def _note_scene(self, tape: Tape, digest: str) -> None:
        seed = tape.header.scene.seed
        if self._scenes.setdefault(seed, digest) != digest and self._certificates:
            raise UsageError(
                f"Configuration {seed} of {tape.header.task} is not the same scene each time, so a recorded success "
                "says nothing about the next run. Use a task whose reset repeats, or certificates=False."
            )
