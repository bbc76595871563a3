"""Recording: run a program against a live environment and tape every exchange."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from surefoot.boundary.encoding import encode_value
from surefoot.boundary.environment import Environment, Scene, StepLimitReachedError
from surefoot.boundary.exchange import Callee
from surefoot.boundary.outcome import Failure, Infrastructure, InvalidProgram, Outcome, Success, Timeout
from surefoot.boundary.process import ProgramProcess, Zygote
from surefoot.boundary.session import Died, Ending, RunStoppedError, Stalled, Stopped, converse
from surefoot.boundary.surface import Function, Surface, functions_of, types_of
from surefoot.boundary.table import MalformedMessageError, UnsupportedValueError
from surefoot.boundary.wire import MAX_TABLE, SLEEP, Answer, Begin, Call, Ended, Limits, Watched
from surefoot.errors import EnvironmentFaultError, InvalidProgramError
from surefoot.program.source import Program
from surefoot.tape.file import Tape, TapeWriter
from surefoot.tape.records import FORMAT, End, Event, Header, Telemetry


class Origin(msgspec.Struct, frozen=True):
    """What a tape's header says of the task that it was recorded on."""

    task: str
    tier: str
    protocol: str
    surface: Surface
    revision: str


Around = Callable[[Environment], contextlib.AbstractContextManager[object]]
"""What stands around a run: entered once the scene stands and before the program runs, left after the verdict."""


class Execution(msgspec.Struct, frozen=True):
    """One run of a program on one fresh reset.

    `tape` is None only when the run never began (invalid program, environment that can't be reset).
    `seconds` is wall-clock time from the reset to the evaluator's verdict.
    """

    seed: int
    outcome: Outcome
    seconds: float
    steps: int
    scene: Scene | None
    tape: Tape | None


def execute(
    program: Program,
    environment: Environment,
    origin: Origin,
    seed: int,
    zygote: Zygote,
    *,
    path: Path | None = None,
    limits: Limits | None = None,
    run_seed: int = 0,
    on_event: Callable[[Event], None] | None = None,
    around: Around = contextlib.nullcontext,
) -> Execution:
    """Run `program` on a fresh reset of configuration `seed`; write a tape to `path` if given.

    A program's failure, an environment's fault and an invalid program are outcomes, not errors. Raises
    TapeError where the tape can't be written, and what entering `around` raises.
    """
    try:
        program.check()
    except InvalidProgramError as error:
        return Execution(seed, InvalidProgram(str(error)), 0.0, 0, None, None)
    started = time.perf_counter()
    try:
        scene = environment.reset(seed)
        observed = environment.telemetry()
    except Exception as error:  # noqa: BLE001 - whatever a simulator raises at reset is infrastructure
        return Execution(seed, Infrastructure(fault_text(error)), time.perf_counter() - started, 0, None, None)
    with around(environment):
        limits = limits or Limits()
        try:
            callee = Callee(environment.public_state, types_of(type(environment.api)))
        except UnsupportedValueError as error:
            detail = f"the public state holds what can't cross: {error}"
            return Execution(seed, Infrastructure(detail), time.perf_counter() - started, 0, scene, None)
        if len(callee.opening) > MAX_TABLE:
            detail = f"the public state is more than can cross: {len(callee.opening) >> 20} MB"
            return Execution(seed, Infrastructure(detail), time.perf_counter() - started, 0, scene, None)
        header = header_of(program, origin, scene, zygote, limits, run_seed, callee.opening, environment.clock)
        writer = TapeWriter(path, header) if path is not None else None
        try:
            host = LiveHost(environment, origin.surface, callee, limits, writer, on_event)
            begin = Begin(
                program.source,
                origin.surface.functions,
                origin.surface.types,
                callee.opening,
                run_seed,
                environment.clock,
                False,
                modules=program.modules,
                profile=program.profile,
            )
            ending, process = _converse(host, observed, lambda: zygote.run(begin, limits))
            tape = concluded(host, header, ending, process, started)
        finally:
            if writer is not None:
                writer.close()
        assert tape.end is not None
        return Execution(seed, tape.end.outcome, tape.seconds, tape.end.steps, scene, tape)


def concluded(host: LiveHost, header: Header, ending: Ending, process: ProgramProcess | None, started: float) -> Tape:
    """The whole tape of a run that has ended, written to its end; `started` is when, by `time.perf_counter`."""
    outcome = host.outcome(ending)
    seconds = time.perf_counter() - started
    line = ending.line if isinstance(ending, Ended) else 0
    output, errors = _shown(process, ending)
    end = End(outcome, len(host.events), host.environment.steps, output, errors, line)
    writer = host.writer
    identity = writer.end(end, host.environment.clock, seconds) if writer else ""
    path = writer.path if writer else None
    return Tape(header, tuple(host.events), tuple(host.telemetry), end, identity, seconds, path)


def header_of(
    program: Program,
    origin: Origin,
    scene: Scene,
    zygote: Zygote,
    limits: Limits,
    run_seed: int,
    opening: bytes,
    clock: float,
) -> Header:
    """The header of a run that starts now."""
    name = Path(program.name).name  # equal executions have equal tapes, wherever the program lies
    return Header(
        FORMAT, (), origin.task, origin.tier, origin.protocol, scene, program.source, name, run_seed, origin.surface,
        origin.revision, zygote.platform, zygote.python, zygote.sandbox, limits, opening, clock,
        program.modules, program.profile,
    )  # fmt: skip


def _converse(
    host: LiveHost, observed: dict[str, Any], start: Callable[[], ProgramProcess]
) -> tuple[Ending, ProgramProcess | None]:
    """The conversation from the first observation on; the loss of the process that starts programs is noted."""
    process = None
    try:
        host.observe(observed)
        process = start()
        return converse(process, host), process
    except RunStoppedError:
        return Stopped(), process
    except EnvironmentFaultError as error:
        host.fail(str(error))
        return Stopped(), process


class LiveHost:
    """Answers calls from an environment and tapes every exchange."""

    def __init__(
        self,
        environment: Environment,
        surface: Surface,
        callee: Callee,
        limits: Limits,
        writer: TapeWriter | None,
        on_event: Callable[[Event], None] | None = None,
    ):
        self.events: list[Event] = []
        self.telemetry: list[Telemetry] = []
        self.environment = environment
        self._callee = callee
        self._limits = limits
        self.writer = writer
        self._on_event = on_event
        self._stopped: Outcome | None = None
        self._unsettled: Event | None = None
        self._functions = functions_of(environment.api, surface)
        self._functions[SLEEP] = Function(
            "effect", lambda values: environment.sleep(*values), (ValueError,), (), lambda values: len(values) == 1
        )

    def answer(self, call: Call) -> Answer:
        """Call the environment and answer. RunStoppedError ends the run."""
        if len(self.events) >= self._limits.calls:
            raise self._stop(Failure("limit", f"more than {self._limits.calls} calls", call.line))
        if call.function not in self._functions:
            raise MalformedMessageError(f"there is no function {call.function}")
        kind, function, declared, shared, fits = self._functions[call.function]
        try:
            arguments = self._callee.open(call.table)
        except UnsupportedValueError as error:
            raise self._stop(
                Failure("raised", f"{call.function} was sent what can't cross: {error}", call.line)
            ) from None
        if not fits(arguments):
            raise MalformedMessageError(f"{call.function} takes other arguments")
        raised = False
        try:
            result = function(arguments)
        except EnvironmentFaultError as error:  # also where a function declares all of Python's exceptions
            raise self._stop(Infrastructure(f"{call.function} raised {fault_text(error)}")) from error
        except declared as error:
            result, raised = error, True
        except StepLimitReachedError as error:
            raise self._stop(Failure("limit", str(error), call.line)) from None
        except (Exception, SystemExit) as error:  # whatever else an environment raises is its fault
            raise self._stop(Infrastructure(f"{call.function} raised {fault_text(error)}")) from error
        try:
            table = self._callee.close(result, shared)
        except UnsupportedValueError as error:
            raise self._stop(Infrastructure(f"{call.function} returned what can't cross: {error}")) from None
        if len(table) > MAX_TABLE:
            raise self._stop(Infrastructure(f"{call.function} returned more than can cross: {len(table) >> 20} MB"))
        clock = self.environment.clock
        event = Event(len(self.events), call.function, kind, call.table, table, raised, clock, call.line, call.stage)
        self._unsettled = event
        return Answer(table, raised, clock)

    def settle(self) -> None:
        """Tape the exchange, observed at rest: the state stays as it is until the next call."""
        event = self._unsettled
        assert event is not None
        snapshot = self._snapshot() if event.kind == "effect" else b""  # a query leaves the state as it was
        observed = Telemetry(event.number, self._telemetry(), snapshot)
        if self.writer is not None:
            with self._holding():
                self.writer.event(event, observed)
        self.events.append(event)
        self.telemetry.append(observed)
        if self._on_event is not None:
            self._on_event(event)

    def _telemetry(self) -> dict[str, Any]:
        try:
            return self.environment.telemetry()
        except Exception as error:  # the environment's code, never the program's
            raise self._stop(Infrastructure(f"telemetry raised {fault_text(error)}")) from error

    def note(self, watched: Watched) -> None:
        """Live runs watch nothing."""

    def _snapshot(self) -> bytes:
        """The environment's state as an encoded value; empty where it can't be had."""
        try:
            value = self.environment.snapshot()
            return b"" if value is None else encode_value(value)
        except UnsupportedValueError:
            return b""
        except Exception as error:  # the environment's code, never the program's
            raise self._stop(Infrastructure(f"snapshot raised {fault_text(error)}")) from error

    def write_to(self, writer: TapeWriter, clock: float) -> None:
        """Tape what was lived through until now, and all that follows; `clock` is that of the first observation."""
        first, *later = self.telemetry
        writer.observation(first, clock)
        for event, observed in zip(self.events, later, strict=True):
            writer.event(event, observed)
        self.writer = writer

    def observe(self, values: dict[str, Any]) -> None:
        """Tape the environment's observables before the first event."""
        observed = Telemetry(-1, values, self._snapshot())
        if self.writer is not None:
            with self._holding():
                self.writer.observation(observed, self.environment.clock)
        self.telemetry.append(observed)

    @contextlib.contextmanager
    def _holding(self) -> Iterator[None]:
        try:
            yield
        except TypeError as error:
            raise self._stop(Infrastructure(f"telemetry gave what a tape can't hold: {error}")) from None

    def fail(self, detail: str) -> None:
        """Note that the machinery failed; the program is not to blame."""
        self._stopped = Infrastructure(detail)

    def outcome(self, ending: Ending) -> Outcome:
        """How the execution counts, once the run has ended."""
        if self._stopped is not None:
            return self._stopped
        if isinstance(ending, Stalled):
            return Timeout(ending.seconds)
        if isinstance(ending, Died):
            return Failure("limit" if ending.cpu_limit else "raised", ending.reason)
        assert isinstance(ending, Ended)
        if not ending.normal:
            return Failure("raised", ending.error, ending.line)
        try:
            return Success() if self.environment.succeeded() else Failure("normal")
        except Exception as error:  # noqa: BLE001 - the evaluator runs simulator code
            return Infrastructure(f"the evaluator raised {fault_text(error)}")

    def _stop(self, outcome: Outcome) -> RunStoppedError:
        self._stopped = outcome
        return RunStoppedError()


def _shown(process: ProgramProcess | None, ending: Ending) -> tuple[str, str]:
    """What the program wrote, and its errors with how it ended."""
    output, errors = (process.output, process.errors) if process is not None else ("", "")
    return output, errors + (ending.traceback if isinstance(ending, Ended) else "")


def fault_text(error: BaseException) -> str:
    """What an environment raised, for a person."""
    if isinstance(error, EnvironmentFaultError):
        return str(error)
    return f"{type(error).__name__}: {error}"
