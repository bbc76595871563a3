"""Replay: run a program with a tape in the environment's place, and say what that shows."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from surefoot.boundary.outcome import is_success
from surefoot.boundary.process import ProgramProcess, Zygote
from surefoot.boundary.session import Died, Ending, RunStoppedError, Stalled, converse
from surefoot.boundary.surface import FunctionSpec, Surface
from surefoot.boundary.table import MalformedMessageError, unpack_table
from surefoot.boundary.wire import SLEEP, Answer, Begin, Call, Ended, Watched
from surefoot.errors import InvalidProgramError, UsageError
from surefoot.program.source import Profile, Program
from surefoot.tape.certificate import Certificate, Certified, Diverged, Place, Unavailable
from surefoot.tape.difference import Comparison, Difference
from surefoot.tape.file import Tape
from surefoot.tape.records import Event
from surefoot.tape.text import value_text


def certify(
    program: Program,
    tape: Tape,
    zygote: Zygote,
    *,
    surface: Surface | None = None,
    revision: str | None = None,
    trace_lines: bool = False,
) -> Certificate:
    """C(P, w): replay `program` on a tape (SCOPE section 3.3).

    `surface` and `revision` are the task's present ones; without them the tape's own are taken as
    unchanged. Raises InvalidProgramError for a program that can't be run.
    """
    unavailable = _unavailable(tape, zygote, surface, revision)
    if unavailable is not None:
        return unavailable
    program.check()
    certificate = _replay(program, tape, zygote, surface or tape.header.surface, trace_lines)
    own = program_of(tape)
    if isinstance(certificate, Diverged) and program != own:
        match = _replay(own, tape, zygote, tape.header.surface, False)
        if isinstance(match, Unavailable):
            return match
        if not _as_recorded(match, tape):
            return Unavailable("not self-matching", "the program that made this tape does not match it either")
    if tape.end is not None and not is_success(tape.end.outcome) and _as_recorded(certificate, tape):
        return Unavailable(
            "not a success",
            f"all {len(tape.events)} events match, but the tape records no success: {tape.end.outcome.text}",
        )
    return certificate


def program_of(tape: Tape) -> Program:
    """The program that made a tape, with the modules that belonged to it."""
    header = tape.header
    profile: Profile = "trusted" if header.profile == "trusted" else "strict"
    return Program(header.program, header.program_name, header.modules, profile)


def _as_recorded(certificate: Certificate, tape: Tape) -> bool:
    """Whether a replay agreed with all that was recorded; the tape of a failure ends where it failed."""
    if isinstance(certificate, Certified):
        return True
    failed = tape.end is not None and not is_success(tape.end.outcome)
    return failed and isinstance(certificate, Diverged) and certificate.event == len(tape.events)


def watch(program: Program, tape: Tape, zygote: Zygote, places: tuple[str, ...]) -> list[Watched]:
    """Local values at watched places of `program` while it replays `tape`, as far as the two agree.

    Places are `line:12` (before that line runs) and `end:pick` (when that function returns).
    """
    surface = tape.header.surface
    host = TapeHost(tape, program, surface)
    converse(_started(program, tape, zygote, surface, watch=places), host)
    return host.watched


def _unavailable(tape: Tape, zygote: Zygote, surface: Surface | None, revision: str | None) -> Unavailable | None:
    header = tape.header
    if tape.truncated:
        return Unavailable("truncated", f"the recording was cut after {len(tape.events)} events; record it anew")
    if revision is not None and revision != header.revision:
        return Unavailable(
            "environment changed",
            "the environment's code or versions differ from the recording's; record it anew",
        )
    if surface is not None:
        now, then = surface.digests, header.surface.digests
        changed = sorted(
            {event.function for event in tape.events if event.function in then}
            & {name for name in then if now.get(name) != then[name]}
        )
        if changed:
            return Unavailable("surface changed", f"{', '.join(changed)} changed since the recording")
    differing = _differing(
        header.platform | {"python": _minor(header.python)}, zygote.platform | {"python": _minor(zygote.python)}
    )
    if differing:
        return Unavailable("numeric platform", f"{', '.join(differing)} differ from the recording's")
    return None


def _differing(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return [f"{key} ({then.get(key)} then, {now.get(key)} now)" if key != "cpu" else "CPU features"
            for key in sorted({*then, *now}) if then.get(key) != now.get(key)]  # fmt: skip


def _minor(version: str) -> str:
    """A Python version without its patch level, which changes no results."""
    return ".".join(version.split(".")[:2])


def _replay(program: Program, tape: Tape, zygote: Zygote, surface: Surface, trace_lines: bool) -> Certificate:
    host = TapeHost(tape, program, surface)
    ending = converse(_started(program, tape, zygote, surface, trace_lines=trace_lines), host)
    return host.conclude(ending)


def _started(
    program: Program,
    tape: Tape,
    zygote: Zygote,
    surface: Surface,
    *,
    trace_lines: bool = False,
    watch: tuple[str, ...] = (),
) -> ProgramProcess:
    """A process that starts from what the tape's program started from."""
    header = tape.header
    begin = Begin(
        program.source,
        surface.functions,
        surface.exceptions,
        header.opening,
        header.run_seed,
        header.clock,
        trace_lines,
        watch,
        program.modules,
        program.profile,
    )
    return zygote.run(begin, header.limits)


class TapeHost:
    """Answers from a tape while requests match; stops the run at the first that does not."""

    def __init__(self, tape: Tape, program: Program, surface: Surface):
        self._events = tape.events
        self._program = program
        self._surface = surface
        self._position = 0
        self._diverged: Diverged | None = None
        self.watched: list[Watched] = []

    def answer(self, call: Call) -> Answer:
        """The recorded answer; RunStoppedError at a divergence."""
        try:
            return self._compared(call)
        except (UsageError, TypeError, ValueError, IndexError, KeyError, AttributeError) as error:
            # Only a request that no client sends can't be compared and shown.
            raise MalformedMessageError(f"not a request: {error}") from error

    def _compared(self, call: Call) -> Answer:
        if self._position >= len(self._events):
            raise self._stop(
                "extra call", call, "", "the end of the program", self._call_text(call.function, call.table)
            )
        event = self._events[self._position]
        if call.function != event.function:
            expected, got = (
                self._call_text(*item) for item in ((event.function, event.request), (call.function, call.table))
            )
            raise self._stop("other call", call, "", expected, got)
        if call.table != event.request:
            kind, difference = self._difference(event, call)
            raise self._stop(kind, call, difference.path, difference.expected, difference.got)
        self._position += 1
        return Answer(event.answer, event.raised, event.clock)

    def note(self, watched: Watched) -> None:
        """Keep what a watched place held."""
        self.watched.append(watched)

    def conclude(self, ending: Ending) -> Certificate:
        """The certificate once the run has ended."""
        if self._diverged is not None:
            return self._diverged
        if isinstance(ending, Stalled):
            return Unavailable("timeout", f"the program neither called nor ended within {ending.seconds:g} s")
        if isinstance(ending, Died):
            kind = "limit" if ending.cpu_limit else "abnormal end"
            return self._make(kind, 0, "", "a normal end", ending.reason, ())
        assert isinstance(ending, Ended)
        if not ending.normal:
            return self._make("abnormal end", ending.line, "", self._expected_next(), ending.error, ending.lines)
        if self._position < len(self._events):
            left = len(self._events) - self._position
            plural = "s" if left != 1 else ""
            return self._make(
                "missing calls",
                0,
                "",
                f"{left} more call{plural}: {self._expected_next()}",
                "the end of the program",
                ending.lines,
            )
        return Certified(self._position, ending.lines)

    def _expected_next(self) -> str:
        if self._position >= len(self._events):
            return "a normal end"
        event = self._events[self._position]
        return self._call_text(event.function, event.request)

    def _difference(self, event: Event, call: Call) -> tuple[str, Difference]:
        expected, got = unpack_table(event.request), unpack_table(call.table)
        compare = Comparison(expected[2], got[2])
        state = compare.first([("state", expected[0], got[0])])
        if state is not None:
            return "shared state", state
        found = compare.first(self._argument_roots(event.function, expected, got))
        if found is not None:
            return "argument", found
        return "shared state", Difference("state", "the same objects as after the call before", "other objects")

    def _argument_roots(self, function: str, expected: list, got: list) -> list[tuple[str, object, object]]:  # type: ignore[type-arg]
        first, second = (parts[2][parts[1][0]][1:] for parts in (expected, got))
        names = _names(self._surface, function)
        return list(zip(names, first, second, strict=False))

    def _call_text(self, function: str, table: bytes) -> str:
        return request_text(self._surface, function, table)

    def _stop(self, kind: str, call: Call, field: str, expected: str, got: str) -> RunStoppedError:
        nearest = self._nearest(call, kind)
        self._diverged = self._make(kind, call.line, field, expected, got, (), nearest)
        return RunStoppedError()

    def _make(
        self,
        kind: str,
        line: int,
        field: str,
        expected: str,
        got: str,
        lines: tuple[int, ...],
        nearest: Place | None = None,
    ) -> Diverged:
        last = self._place(self._position - 1) if self._position else None
        source = self._program.line(line)
        return Diverged(kind, self._position, field, expected, got, line, source, last, nearest, lines)  # type: ignore[arg-type]

    def _nearest(self, call: Call, kind: str) -> Place | None:
        """The nearest recorded event that the call equals, at another position.

        Where no such event is and the wrong function was called, the next event of the called function.
        """
        others = [event for event in self._events if event.number != self._position and event.function == call.function]
        equal = [event for event in others if event.request == call.table]
        if equal:
            return self._place(min(equal, key=lambda event: abs(event.number - self._position)).number)
        later = [event for event in others if event.number > self._position]
        return self._place(later[0].number) if later and kind == "other call" else None

    def _place(self, number: int) -> Place:
        event = self._events[number]
        return Place(number, self._call_text(event.function, event.request), event.line)


def request_text(surface: Surface, function: str, table: bytes) -> str:
    """A recorded request as a call, with short values."""
    _, root, nodes, *_ = unpack_table(table)
    cells = nodes[root[0]][1:]
    items = [
        f"{name}={value_text(nodes, cell, 48)}" for name, cell in zip(_names(surface, function), cells, strict=False)
    ]
    return f"{function}({', '.join(items)})"


def _names(surface: Surface, function: str) -> list[str]:
    return ["seconds"] if function == SLEEP else parameter_names(surface[function])


def parameter_names(function: FunctionSpec) -> list[str]:
    """Names of a function's parameters, in the order in which requests carry them."""
    parsed = ast.parse(f"def _{function.signature}: pass").body[0]
    assert isinstance(parsed, ast.FunctionDef)
    arguments = parsed.args
    every = [*arguments.posonlyargs, *arguments.args, *filter(None, [arguments.vararg])]
    every += [*arguments.kwonlyargs, *filter(None, [arguments.kwarg])]
    return [argument.arg for argument in every]


def preload_for(program: Program) -> tuple[str, ...]:
    """Modules worth importing once before forking: the scientific ones that the program names."""
    try:
        imports = program.imports
    except InvalidProgramError:
        return ()
    return tuple(name for name in imports if name.partition(".")[0] in ("numpy", "scipy"))
