"""Pure events and epochs: which recorded queries an edit may drop, repeat or add.

A pure event is a query that changed nothing that anyone can see: no shared object, none of its arguments,
not the clock; that shared nothing new; and that brought no change of a shared object by the program either.
An epoch is a maximal run of pure events between impure ones. docs/certificates.md says what rests on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from surefoot.boundary.exchange import UNCHANGED, WITHOUT_IDENTITY
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
    """For each event whether it left everything as it was, and whether the program had done so before it."""
    quiet = []
    shared, clock = shared_at_opening(header.opening), header.clock
    for event in events:
        brought, kept = shared_in_request(event.request)
        unchanged = unpack_table(event.answer)[0] == UNCHANGED
        quiet.append(event.kind == "query" and unchanged and kept and brought == shared and event.clock == clock)
        shared, clock = shared_after(event), event.clock
    return quiet


def shared_at_opening(opening: bytes) -> bytes:
    """The shared objects that a run starts from, comparable with those below."""
    roots, nodes = unpack_table(opening)
    return _shared(roots, nodes, sum(node[0] != "b" for node in nodes))


def shared_in_request(request: bytes) -> tuple[bytes, bool]:
    """The shared objects as a request brings them, and whether they are the objects of the message before."""
    roots, _, nodes, links, count = unpack_table(request)
    identical = [[index, index] for index in range(count) if nodes[index][0] not in WITHOUT_IDENTITY]
    return _shared(roots, nodes, count), [link for link in links if link[0] < count] == identical


def shared_after(event: Event) -> bytes:
    """The shared objects as an event leaves them."""
    change, *parts = unpack_table(event.answer)
    if change == UNCHANGED:
        return shared_in_request(event.request)[0]
    roots, _, _, nodes, _, count = parts
    return _shared(roots, nodes, count)


def shares_more(header: Header, events: Sequence[Event]) -> bool:
    """Whether objects beyond the public state have become shared: declared ones, or handles."""
    tables = [(unpack_table(header.opening)[0], unpack_table(header.opening)[1])]
    for event in events:
        roots, _, nodes, *_ = unpack_table(event.request)
        tables.append((roots, nodes))
        change, *parts = unpack_table(event.answer)
        tables.append(([], parts[1]) if change == UNCHANGED else (parts[0], parts[3]))
    return any(len(roots) > 1 or any(node[0] == "h" for node in nodes) for roots, nodes in tables)


def _shared(roots: list[Any], nodes: list[Any], count: int) -> bytes:
    """Their nodes, which come first; memory that some of them share stands behind all nodes."""
    memories: list[int] = []
    shown = []
    for node in nodes[:count]:
        if node[0] == "v":
            if node[1][0] not in memories:
                memories.append(node[1][0])
            node = ["v", memories.index(node[1][0]), *node[2:]]
        shown.append(node)
    return pack_table([roots, shown, [nodes[memory] for memory in memories]])
