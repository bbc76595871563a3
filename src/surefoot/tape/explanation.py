"""From a replay that stopped agreeing to a divergence that a person can act on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from surefoot.boundary.session import Died
from surefoot.boundary.surface import Surface
from surefoot.boundary.table import unpack_table
from surefoot.boundary.wire import Call, Ended
from surefoot.program.source import Program, lines_of
from surefoot.tape.certificate import Diverged, DivergenceKind, Place, SourceLine
from surefoot.tape.difference import Comparison, Difference
from surefoot.tape.records import Event
from surefoot.tape.text import argument_names, raised_in, request_text

NORMAL_END = "a normal end"
_LONGEST_LINE = 140


class Explanation:
    """Explains divergences of one program from the events of one tape.

    `position` is always the recorded event that the program should have come to next, `last` the latest
    one that it was answered from, or None.
    """

    def __init__(self, events: Sequence[Event], program: Program, surface: Surface):
        self._events = events
        self._program = program
        self._surface = surface
        self.called = 0

    def of_call(self, call: Call, position: int, last: int | None) -> Diverged:
        """A call that is not the recorded one."""
        got = request_text(self._surface, call.function, call.table)
        if position >= len(self._events):
            return self._made("extra call", position, last, "the end of the program", got, call=call)
        event = self._events[position]
        if call.function != event.function:
            return self._made("other call", position, last, self._call(event), got, call=call)
        kind, found = self._difference(event, call)
        return self._made(kind, position, last, found.expected, found.got, call=call, field=found.path)

    def of_limit(self, call: Call, most: int, position: int, last: int | None) -> Diverged:
        """A call beyond those that the recording's limits allow."""
        got = f"call {most + 1}: {request_text(self._surface, call.function, call.table)}"
        return self._made("limit", position, last, f"no more than {most} calls", got, call=call)

    def of_end(self, ending: Ended | Died, position: int, last: int | None) -> Diverged:
        """An end that is not normal, or that came before all recorded calls were made."""
        if isinstance(ending, Died):
            kind: DivergenceKind = "limit" if ending.cpu_limit else "abnormal end"
            return self._made(kind, position, last, NORMAL_END, ending.reason)
        expected = self._call(self._events[position]) if position < len(self._events) else NORMAL_END
        if ending.normal:
            left = len(self._events) - position
            expected = f"{left} more call{'s' if left != 1 else ''}: {expected}"
            return self._made("missing calls", position, last, expected, "the end of the program", ending=ending)
        kind = "abnormal end" if ending.error.startswith("SystemExit") else "exception"
        got = ending.error + self._origin(ending, last)
        return self._made(kind, position, last, expected, got, ending=ending)

    def _origin(self, ending: Ended, last: int | None) -> str:
        """Where an exception came from, if it was the answer to the latest call: the recording had it, too."""
        if last is None or not self._events[last].raised or ending.line != self.called:
            return ""
        same = ending.error.partition(":")[0] == raised_in(self._events[last].request, self._events[last].answer).name
        return f" (event {last} raised it, as it did when recorded; the recording's program went on)" if same else ""

    def _made(
        self,
        kind: DivergenceKind,
        position: int,
        last: int | None,
        expected: str,
        got: str,
        *,
        field: str = "",
        call: Call | None = None,
        ending: Ended | None = None,
    ) -> Diverged:
        line = call.line if call else ending.line if ending else 0
        return Diverged(
            kind, position, field, expected, got, line, self._program.line(line),
            None if last is None else self._place(last),
            self._nearest(call, position, kind) if call and kind != "limit" else None,
            ending.lines if ending else (), call.stage if call else "", _excerpt(self._program, line), self.called,
        )  # fmt: skip

    def _difference(self, event: Event, call: Call) -> tuple[DivergenceKind, Difference]:
        expected, got = unpack_table(event.request), unpack_table(call.table)
        compare = Comparison(expected[2], got[2])
        state = compare.first(_shared_roots(expected[0], got[0]))
        if state is not None:
            return "shared state", state
        found = compare.first(self._argument_roots(event.function, expected, got))
        if found is not None:
            return "argument", found
        return "shared state", Difference(
            "shared objects", "the same objects as after the call before", "other objects"
        )

    def _argument_roots(self, function: str, expected: list[Any], got: list[Any]) -> list[tuple[str, Any, Any]]:
        first, second = (parts[2][parts[1][0]][1:] for parts in (expected, got))
        return list(zip(argument_names(self._surface, function), first, second, strict=False))

    def _nearest(self, call: Call, position: int, kind: DivergenceKind) -> Place | None:
        """The nearest recorded event that the call equals, at another position.

        Where no such event is and the wrong function was called, the next event of the called function.
        """
        others = [event for event in self._events if event.number != position and event.function == call.function]
        equal = [event for event in others if event.request == call.table]
        if equal:
            return self._place(min(equal, key=lambda event: abs(event.number - position)).number)
        later = [event for event in others if event.number > position]
        return self._place(later[0].number) if later and kind == "other call" else None

    def _place(self, number: int) -> Place:
        event = self._events[number]
        raised = raised_in(event.request, event.answer).text if event.raised else ""
        return Place(number, self._call(event), event.line, raised)

    def _call(self, event: Event) -> str:
        return request_text(self._surface, event.function, event.request)


def _shared_roots(expected: list[Any], got: list[Any]) -> list[tuple[str, Any, Any]]:
    """The roots of two requests, by name: the public state, then what was shared later, numbered from 1."""
    pairs = enumerate(zip(expected, got, strict=False))
    return [(f"shared[{number}]" if number else "state", *pair) for number, pair in pairs]


def _excerpt(program: Program, line: int) -> tuple[SourceLine, ...]:
    """A line between its neighbours."""
    lines = lines_of(program.source)
    numbers = range(max(line - 1, 1), min(line + 1, len(lines)) + 1) if line else ()
    return tuple(SourceLine(number, _cut(lines[number - 1].expandtabs(4).rstrip())) for number in numbers)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_LINE else text[: _LONGEST_LINE - 1] + "…"
