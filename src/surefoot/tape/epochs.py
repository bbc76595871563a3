"""Pure events and epochs: which recorded queries an edit may drop, repeat or add.

A pure event is a query that changed nothing that anyone can see: not the public state, not its arguments,
not the clock; and that the program used for no change of the public state either. An epoch is a maximal run
of pure events between impure ones. See docs/certificates.md for what rests on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from surefoot.boundary.exchange import UNCHANGED
from surefoot.boundary.table import pack_table, unpack_table
from surefoot.tape.records import Event, Header


class Epochs:
    """The epochs of one tape."""

    def __init__(self, header: Header, events: Sequence[Event]):
        self._pure = pure_events(header, events)

    def around(self, position: int) -> tuple[int, int]:
        """First and end of the epoch that the next event, at `position`, belongs to or begins after.

        All events from first to end are pure; the one at end, where there is one, is not.
        """
        first = end = position
        while first and self._pure[first - 1]:
            first -= 1
        while end < len(self._pure) and self._pure[end]:
            end += 1
        return first, end


def pure_events(header: Header, events: Sequence[Event]) -> list[bool]:
    """For each event whether it is pure.

    A function whose equal requests in one epoch have unequal recorded answers is not pure in this tape.
    """
    quiet = _quiet_events(header, events)
    unsteady: set[str] = set()
    answers: dict[tuple[str, bytes], tuple[bytes, bool]] = {}
    for event, is_quiet in zip(events, quiet, strict=True):
        if not is_quiet:
            answers.clear()
        elif answers.setdefault((event.function, event.request), (event.answer, event.raised)) != (
            event.answer,
            event.raised,
        ):
            unsteady.add(event.function)
    return [is_quiet and event.function not in unsteady for event, is_quiet in zip(events, quiet, strict=True)]


def _quiet_events(header: Header, events: Sequence[Event]) -> list[bool]:
    """For each event whether it left public state, arguments and clock as they were, as did the program before it."""
    quiet = []
    state, clock = opening_state(header.opening), header.clock
    for event in events:
        brought, kept = state_brought(event.request)
        unchanged = unpack_table(event.answer)[0] == UNCHANGED
        same = kept and brought == state and event.clock == clock
        quiet.append(event.kind == "query" and unchanged and same)
        state, clock = state_left(event), event.clock
    return quiet


def opening_state(opening: bytes) -> bytes:
    """The public state that a run starts from, comparable with those below."""
    root, nodes = unpack_table(opening)
    return _state(root, nodes, sum(node[0] != "b" for node in nodes))


def state_brought(request: bytes) -> tuple[bytes, bool]:
    """The public state that a request brings, and whether all its objects are those of the message before."""
    state, _, nodes, links, count = unpack_table(request)
    kept = [link for link in links if link[0] < count] == [[index, index] for index in range(count)]
    return _state(state, nodes, count), kept


def state_left(event: Event) -> bytes:
    """The public state after an event."""
    change, *parts = unpack_table(event.answer)
    if change == UNCHANGED:
        return state_brought(event.request)[0]
    state, _, _, nodes, _, count = parts
    return _state(state, nodes, count)


def _state(root: Any, nodes: list[Any], count: int) -> bytes:
    """The state's nodes, which come first; memory that some of them share stands behind them, by content."""
    memories: list[int] = []
    shown = []
    for node in nodes[:count]:
        if node[0] == "v":
            if node[1][0] not in memories:
                memories.append(node[1][0])
            node = ["v", memories.index(node[1][0]), *node[2:]]
        shown.append(node)
    return pack_table([root, shown, [nodes[memory] for memory in memories]])
