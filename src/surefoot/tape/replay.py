"""Replay: run a program with a tape in the environment's place, and say what that shows."""

from __future__ import annotations

import msgspec

from surefoot.boundary.outcome import is_success
from surefoot.boundary.process import ProgramProcess, Zygote
from surefoot.boundary.session import Died, Ending, RunStoppedError, Stalled, converse
from surefoot.boundary.surface import Surface
from surefoot.boundary.table import MalformedMessageError
from surefoot.boundary.wire import Answer, Begin, Call, Ended, Watched
from surefoot.errors import InvalidProgramError
from surefoot.program.source import Profile, Program
from surefoot.tape.certificate import Certificate, Certified, Diverged, Unavailable
from surefoot.tape.epochs import Epochs
from surefoot.tape.explanation import Explanation
from surefoot.tape.file import Tape
from surefoot.tape.numerics import NUMERIC_KEYS, is_numeric

MOST_INTERPRETERS = 4
"""How many are kept ready; each holds some 100 MB."""


def certify(
    program: Program,
    tape: Tape,
    zygote: Zygote,
    *,
    surface: Surface | None = None,
    revision: str | None = None,
    trace_lines: bool = False,
    modulo: bool = False,
) -> Certificate:
    """C(P, w): replay `program` on a tape (SCOPE section 3.3).

    `surface` and `revision` are the task's present ones; without them the tape's own are taken as
    unchanged. With `modulo` a program that makes pure queries otherwise than recorded may still be certified,
    modulo queries. With `trace_lines` a certified program is replayed once more for the lines that run. Raises
    InvalidProgramError for a program that can't be run.
    """
    unavailable = unusable(tape, zygote, surface, revision, program)
    if unavailable is not None:
        return unavailable
    program.check()
    surface = surface or tape.header.surface
    certificate = _replay(program, tape, zygote, surface, modulo=modulo)
    own = program_of(tape)
    if isinstance(certificate, Diverged) and program != own:
        match = _replay(own, tape, zygote, tape.header.surface)
        if isinstance(match, Unavailable):
            return match
        if not _as_recorded(match, tape):
            return Unavailable("not self-matching", "the program that made this tape does not match it either")
    if tape.end is not None and not is_success(tape.end.outcome) and _as_recorded(certificate, tape):
        return Unavailable(
            "not a success",
            f"all {len(tape.events)} events match, but the tape records no success: {tape.end.outcome.text}",
        )
    if trace_lines and isinstance(certificate, Certified):
        # A traced program allocates otherwise, and its sets of objects have another order: it decides nothing.
        traced = _replay(program, tape, zygote, surface, trace_lines=True, modulo=modulo)
        lines = traced.lines if isinstance(traced, Certified) else ()
        certificate = msgspec.structs.replace(certificate, lines=lines)
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
    converse(started(program, tape, zygote, surface, watch=places), host)
    return host.watched


def unusable(
    tape: Tape, zygote: Zygote, surface: Surface | None, revision: str | None, program: Program | None = None
) -> Unavailable | None:
    """Why nothing can be replayed from a tape here and now, or None.

    For a `program` that is plainly not numeric another numeric platform is no reason.
    """
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
    then = header.platform | {"python": _minor(header.python)}
    now = zygote.platform | {"python": _minor(zygote.python)}
    differing = {key for key in {*then, *now} if then.get(key) != now.get(key)}
    if program is not None and differing and differing <= NUMERIC_KEYS:
        own = program_of(tape)
        whole = not any(text.modules or text.packages for text in (program, own))
        differing = set() if whole and not is_numeric((program, own), tape) else differing
    if differing:
        shown = [
            f"{key} ({then.get(key)} then, {now.get(key)} now)" if key != "cpu" else "CPU features"
            for key in sorted(differing)
        ]
        return Unavailable("numeric platform", f"{', '.join(shown)} differ from the recording's")
    return None


def _minor(version: str) -> str:
    """A Python version without its patch level, which changes no results."""
    return ".".join(version.split(".")[:2])


def _replay(
    program: Program, tape: Tape, zygote: Zygote, surface: Surface, *, trace_lines: bool = False, modulo: bool = False
) -> Certificate:
    host = TapeHost(tape, program, surface, modulo=modulo)
    ending = converse(started(program, tape, zygote, surface, trace_lines=trace_lines), host)
    return host.conclude(ending)


def started(
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
        surface.types,
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
    """Answers from a tape while requests match; stops the run at the first that does not.

    With `modulo`, pure queries need only be recorded in the epoch in which they are made.
    """

    def __init__(self, tape: Tape, program: Program, surface: Surface, *, modulo: bool = False):
        self._events = tape.events
        self._most = tape.header.limits.calls
        self._explanation = Explanation(tape.events, program, surface)
        self._epochs = Epochs(tape.header, tape.events) if modulo else None
        self._position = 0
        self._calls = 0
        self._last: int | None = None
        self._used: set[int] = set()
        self._strict = True
        self._diverged: Diverged | None = None
        self.watched: list[Watched] = []

    def answer(self, call: Call) -> Answer:
        """The recorded answer; RunStoppedError at a divergence."""
        found = None if self._calls >= self._most else self._match(call)
        if found is None:
            try:
                self._diverged = self._explained(call)
            except Exception as error:  # only a request that no client sends can't be compared and shown
                raise MalformedMessageError(f"not a request: {error}") from error
            raise RunStoppedError
        self._calls += 1
        self._last = found
        self._used.add(found)
        self._explanation.called = call.line
        event = self._events[found]
        return Answer(event.answer, event.raised, event.clock)

    def settle(self) -> None:
        """Nothing is left to do: a replay keeps nothing."""

    def _match(self, call: Call) -> int | None:
        """The recorded event that a call is answered from, and the position after it."""
        if self._equals(call, self._position):
            self._position += 1
            return self._position - 1
        if self._epochs is None:
            return None
        first, end = self._epochs.around(self._position)
        ahead = range(self._position + 1, end + 1)  # pure events, and the impure one that they lead to
        found = next((index for index in (*ahead, *range(first, self._position)) if self._equals(call, index)), None)
        if found is not None:
            self._strict = False
            self._position = max(self._position, found + 1)
        return found

    def _equals(self, call: Call, index: int) -> bool:
        if index >= len(self._events):
            return False
        event = self._events[index]
        return call.function == event.function and call.table == event.request

    def _explained(self, call: Call) -> Diverged:
        if self._calls >= self._most:
            return self._explanation.of_limit(call, self._most, self._position, self._last)
        position = self._position
        if self._epochs is not None:
            _, end = self._epochs.around(position)
            if end < len(self._events) and self._events[end].function == call.function:
                position = end  # the call that the program was to come to, with other values
        return self._explanation.of_call(call, position, self._last)

    def note(self, watched: Watched) -> None:
        """Keep what a watched place held."""
        self.watched.append(watched)

    def conclude(self, ending: Ending) -> Certificate:
        """The certificate once the run has ended."""
        if self._diverged is not None:
            return self._diverged
        if isinstance(ending, Stalled):
            return Unavailable("timeout", f"the program neither called nor ended within {ending.seconds:g} s")
        assert isinstance(ending, Ended | Died)
        due = self._position if self._epochs is None else self._epochs.around(self._position)[1]
        if isinstance(ending, Died) or not ending.normal or due < len(self._events):
            return self._explanation.of_end(ending, due, self._last)
        dropped = len(self._events) - len(self._used)
        if self._strict and not dropped:
            return Certified(len(self._events), ending.lines)
        return Certified(len(self._events), ending.lines, "queries", dropped, self._calls - len(self._used))


def preload_for(program: Program) -> tuple[str, ...]:
    """Modules worth importing once before forking: the scientific ones that the program names."""
    try:
        imports = program.imports
    except InvalidProgramError:
        return ()
    return tuple(name for name in imports if name.partition(".")[0] in ("numpy", "scipy"))


class Interpreters:
    """The processes that fork programs, one for each set of modules that programs preload, started when first needed.

    What is preloaded moves the addresses of a program's objects, and so the order of its sets of them: for one
    program it must be the same in every run.
    """

    def __init__(self) -> None:
        self._started: dict[tuple[str, ...], Zygote] = {}

    def of(self, program: Program) -> Zygote:
        """The one that a program runs in. The least lately used one is closed where there are many."""
        preload = preload_for(program)
        zygote = self._started.pop(preload, None)
        if zygote is None:
            zygote = Zygote(preload)
            zygote.start()
        self._started[preload] = zygote
        if len(self._started) > MOST_INTERPRETERS:
            self._started.pop(next(iter(self._started))).close()
        return zygote

    def close(self) -> None:
        """Stop them all."""
        while self._started:
            self._started.popitem()[1].close()
