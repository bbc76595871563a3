"""Forking at a divergence: the recorded scene, restored where an edited program first differs, gets an exact outcome.

The program runs from its beginning. While its calls equal the recorded ones they are answered from the
tape; at the first that does not, the environment is reset, restored to the latest snapshot before it, and
serves the rest. What comes out is the execution, and the tape, of a full run.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import msgspec

from surefoot.boundary.decoding import decode_value
from surefoot.boundary.environment import Environment, Scene
from surefoot.boundary.exchange import Callee
from surefoot.boundary.outcome import Infrastructure
from surefoot.boundary.process import Zygote
from surefoot.boundary.session import RunStoppedError, converse
from surefoot.boundary.surface import types_of
from surefoot.boundary.table import UnsupportedValueError
from surefoot.boundary.wire import Answer, Call, Watched
from surefoot.program.source import Program
from surefoot.tape.certificate import Unavailable
from surefoot.tape.epochs import shared_after, shared_at_opening, shares_more
from surefoot.tape.file import Tape, TapeWriter
from surefoot.tape.recording import Execution, LiveHost, Origin, concluded, fault_text, header_of
from surefoot.tape.replay import started, unusable


class Forked(Execution, frozen=True):
    """An execution that began on a tape: `event` is the first event that did not come from it.

    `live_steps` are the environment steps taken since; `steps` counts all, as for any execution.
    """

    event: int
    live_steps: int


class NotForkedError(Exception):
    """Ends a fork that can't be made: the tape's scene could not be restored."""

    def __init__(self, found: Unavailable | Infrastructure):
        super().__init__(found.text)
        self.found = found


def fork(
    program: Program, tape: Tape, environment: Environment, origin: Origin, zygote: Zygote, path: Path | None = None
) -> Forked | Unavailable:
    """Run `program` on the recorded scene of `tape`, live from where it first differs; tape it to `path` if given.

    The outcome, the final state and the new tape are those of a full run on that scene, with the tape's
    limits and run seed. Unavailable where the tape can't be used or the scene can't be restored. Raises
    InvalidProgramError for a program that can't be run, TapeError where the new tape can't be written.
    """
    unavailable = unusable(tape, zygote, origin.surface, origin.revision)
    if unavailable is not None:
        return unavailable
    program.check()
    begun = time.perf_counter()
    with contextlib.ExitStack() as stack:
        host = _ForkHost(program, tape, environment, origin, zygote, path, stack)
        try:
            process = started(program, tape, zygote, origin.surface)
            ending = converse(process, host)
            live = host.live or host.restored()
        except NotForkedError as error:
            if isinstance(error.found, Unavailable):
                return error.found
            seconds = time.perf_counter() - begun
            return Forked(tape.header.scene.seed, error.found, seconds, 0, None, None, host.matched, 0)
        made = concluded(live, host.header, ending, process, begun)
    assert made.end is not None
    scene, steps = made.header.scene, made.end.steps
    live_steps = steps - host.steps_before
    return Forked(scene.seed, made.end.outcome, made.seconds, steps, scene, made, host.matched, live_steps)


class _ForkHost:
    """Answers from the tape up to the first call that differs, from the restored environment from then on."""

    def __init__(
        self,
        program: Program,
        tape: Tape,
        environment: Environment,
        origin: Origin,
        zygote: Zygote,
        path: Path | None,
        stack: contextlib.ExitStack,
    ):
        self._program = program
        self._tape = tape
        self._environment = environment
        self._origin = origin
        self._zygote = zygote
        self._path = path
        self._stack = stack
        self._calls: list[Call] = []
        self.header = tape.header
        self.live: LiveHost | None = None
        self.steps_before = 0

    @property
    def matched(self) -> int:
        """How many events came from the tape."""
        return len(self._calls)

    def answer(self, call: Call) -> Answer:
        """The recorded answer while calls match, then the environment's."""
        if self.live is None:
            events = self._tape.events
            event = events[self.matched] if self.matched < len(events) else None
            if event is not None and (call.function, call.table) == (event.function, event.request):
                self._calls.append(call)
                return Answer(event.answer, event.raised, event.clock)
            self.live = self.restored()
        return self.live.answer(call)

    def settle(self) -> None:
        """Tape what the environment answered."""
        if self.live is not None:
            self.live.settle()

    def note(self, watched: Watched) -> None:
        """Forks watch nothing."""

    def restored(self) -> LiveHost:
        """A live host at the point that the matched calls have led to. NotForkedError where it can't be reached."""
        if shares_more(self._tape.header, self._tape.events[: self.matched]):
            detail = "the program holds objects of the environment beyond the public state; run the scene in full"
            raise NotForkedError(Unavailable("shared objects", detail))
        scene = self._reset()
        latest = self._latest_snapshot()
        live = self._live_after(latest)
        self._relive(live, latest)
        header = self._tape.header
        self.header = header_of(
            self._program, self._origin, scene, self._zygote, header.limits, header.run_seed, header.opening, header.clock
        )  # fmt: skip
        if self._path is not None:
            live.write_to(self._stack.enter_context(TapeWriter(self._path, self.header)), header.clock)
        self.steps_before = self._environment.steps
        return live

    def _reset(self) -> Scene:
        header, environment = self._tape.header, self._environment
        try:
            scene = environment.reset(header.scene.seed)
            opening = self._callee().opening
        except UnsupportedValueError as error:
            raise NotForkedError(Infrastructure(f"the public state holds what can't cross: {error}")) from error
        except Exception as error:  # whatever a simulator raises at reset is infrastructure
            raise NotForkedError(Infrastructure(fault_text(error))) from error
        if scene.digest != header.scene.digest or opening != header.opening or environment.clock != header.clock:
            raise NotForkedError(
                Unavailable(
                    "scene changed", f"a reset to seed {header.scene.seed} gives another scene than was recorded"
                )
            )
        return scene

    def _callee(self) -> Callee:
        return Callee(self._environment.public_state, types_of(type(self._environment.api)))

    def _latest_snapshot(self) -> int:
        """The latest event among those matched that a snapshot was taken after; -1 for the one before the first."""
        for number in range(self.matched - 1, -2, -1):
            if self._tape.telemetry[number + 1].snapshot:
                return number
        raise NotForkedError(Unavailable("no snapshot", "the recording holds no snapshot of the environment"))

    def _live_after(self, number: int) -> LiveHost:
        """A live host that has taken over all events up to `number`, with the environment restored to there."""
        tape, environment = self._tape, self._environment
        observed = tape.telemetry[number + 1]
        try:
            environment.restore(decode_value(observed.snapshot, types_of(type(environment.api))))
            callee, telemetry = self._callee(), environment.telemetry()
        except Exception as error:  # a snapshot that an environment stumbles on is no snapshot
            raise _no_snapshot(f"the environment can't return to event {number}: {fault_text(error)}") from error
        event = tape.events[number] if number >= 0 else None
        shared = shared_after(event) if event else shared_at_opening(tape.header.opening)
        clock = event.clock if event else tape.header.clock
        if (
            shared_at_opening(callee.opening) != shared
            or environment.clock != clock
            or _bits(telemetry) != _bits(observed.values)
        ):
            raise _no_snapshot(f"the state that a snapshot gives back is not that after event {number}")
        live = LiveHost(environment, self._origin.surface, callee, tape.header.limits, None)
        live.events += [
            msgspec.structs.replace(event, line=call.line, stage=call.stage)
            for event, call in zip(tape.events[: number + 1], self._calls, strict=False)
        ]
        live.telemetry += tape.telemetry[: number + 2]
        return live

    def _relive(self, live: LiveHost, number: int) -> None:
        """Make the matched calls after event `number` again: queries, and what the program wrote before them."""
        for call, event in zip(self._calls[number + 1 :], self._tape.events[number + 1 :], strict=False):
            try:
                answer = live.answer(call)
                live.settle()
            except RunStoppedError:
                answer = None
            if answer != Answer(event.answer, event.raised, event.clock):
                raise _no_snapshot(f"from the snapshot after event {number}, event {event.number} goes otherwise")


_bits = msgspec.msgpack.Encoder().encode
"""Equal also for values that do not equal themselves."""


def _no_snapshot(detail: str) -> NotForkedError:
    return NotForkedError(Unavailable("no snapshot", detail))
