"""One call as two messages: what each side encodes, what it applies in place, what both remember.

Shared objects are what can be reached from the *roots*: the public state (root 0, None where there is none),
then whatever functions declared as shared, in the order in which it first crossed. Every request carries the
roots and the arguments; every answer the result and, where the callee changed them, roots and arguments
again, with links that say which of the receiver's objects each node IS. So aliases hold across a call, and a
list that the callee appended to is the caller's own list, grown. Both sides remember the shared objects, in
the order of their nodes, until the next message. Roots are never dropped: when a program forgets an object,
no message changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from surefoot.boundary.decoding import Decoder
from surefoot.boundary.encoding import Encoder
from surefoot.boundary.handles import Handles
from surefoot.boundary.surface import Shared
from surefoot.boundary.table import MalformedMessageError, UnsupportedValueError, pack_table, unpack_table

UNCHANGED, CHANGED = 0, 1
WITHOUT_IDENTITY = frozenset("iucnxEhb")
"""Nodes of numbers, texts and the like, whose objects are equal or not, but never the same."""


class Caller:
    """The program's side."""

    def __init__(self, opening: bytes, types: Mapping[str, type]):
        self._types = types
        self._handles = Handles(issuing=False)
        roots, nodes = unpack_table(opening)
        decoder = Decoder(nodes, types=types, handles=self._handles)
        self._roots = [decoder.value(cell) for cell in roots]
        self._shared: list[Any] = decoder.objects
        self._sent: list[Any] = []
        self._shared_nodes = len(decoder.objects)

    @property
    def state(self) -> Any:
        """The public state, or None."""
        return self._roots[0]

    def request(self, arguments: tuple[Any, ...]) -> bytes:
        """Encode a call. UnsupportedValueError for an argument that can't cross exactly."""
        encoder = Encoder(types=self._types, handles=self._handles)
        roots = [encoder.cell(root) for root in self._roots]
        self._shared_nodes = encoder.drain()
        cell = encoder.cell(arguments)
        nodes = encoder.finish()
        self._sent = encoder.objects
        return pack_table([roots, cell, nodes, _links(encoder.objects, nodes, self._shared), self._shared_nodes])

    def apply(self, answer: bytes) -> Any:
        """Apply the callee's changes in place and return its result."""
        change, *parts = unpack_table(answer)
        if change == UNCHANGED:
            result, nodes = parts
            decoder = Decoder(nodes, self._sent, types=self._types, handles=self._handles)
            self._shared = self._sent[: self._shared_nodes]
        else:
            roots, _, result, nodes, links, shared_nodes = parts
            decoder = Decoder(nodes, self._sent, dict(links), self._types, self._handles)
            self._roots = [decoder.value(cell) for cell in roots]
            self._shared = decoder.objects[:shared_nodes]
        self._sent = []
        return decoder.value(result)


class Callee:
    """The environment's side. `state` is its public state, or None; `types` are the declared ones by name."""

    def __init__(self, state: dict[str, Any] | None, types: Mapping[str, type] | None = None):
        self._types = types or {}
        self._handles = Handles(issuing=True)
        self._roots: list[Any] = [state]
        encoder = self._encoder()
        roots = [encoder.cell(state)]
        nodes = encoder.finish()
        self.opening = pack_table([roots, nodes])
        self._shared = encoder.objects
        self._received: list[Any] = []
        self._arguments: tuple[Any, ...] = ()
        self._request: Any = None

    @property
    def state(self) -> Any:
        """The public state, or None."""
        return self._roots[0]

    def open(self, request: bytes) -> tuple[Any, ...]:
        """Apply the program's changes to the shared objects and return the arguments.

        UnsupportedValueError for a view that reaches beyond the arrays that this side has.
        """
        parts = unpack_table(request)
        try:
            cells, root, nodes, links, shared_nodes = parts
            decoder = Decoder(nodes, self._shared, dict(links), self._types, self._handles)
            arguments: tuple[Any, ...] = decoder.value(root)
            roots = [decoder.value(cell) for cell in cells]
            same = len(roots) == len(self._roots) and all(map(_is, roots, self._roots))
            fits = type(arguments) is tuple and same and 0 <= shared_nodes <= len(nodes)
        except UnsupportedValueError:
            raise
        except (TypeError, ValueError, IndexError) as error:
            raise MalformedMessageError(f"Malformed request: {str(error).rstrip('.')}.") from error
        if not fits:
            raise MalformedMessageError("Malformed request: its shared objects or arguments are not what was shared.")
        self._request = (cells, root, nodes, shared_nodes)
        self._received = decoder.objects
        self._arguments = arguments
        return arguments

    def close(self, result: Any, shared: Shared = ()) -> bytes:
        """Encode the answer; `result` is the return value or the exception raised, `shared` what is shared with it."""
        fresh = self._newly_shared(result, shared) if shared else []
        if not fresh and self._untouched():
            handles = len(self._handles)
            answer = self._unchanged(result)
            if len(self._handles) == handles:
                self._shared = self._received[: self._request[3]]
                return answer
        self._roots += fresh
        return self._changed(result)

    def _encoder(self, known: Mapping[int, int] | None = None, arrays: Sequence[tuple[int, Any]] = ()) -> Encoder:
        return Encoder(known, arrays, self._types, self._handles)

    def _untouched(self) -> bool:
        """Whether roots and arguments are what they were when the request came."""
        roots, root, nodes, shared_nodes = self._request
        encoder = self._encoder()
        roots_now = [encoder.cell(item) for item in self._roots]
        shared_nodes_now = encoder.drain()
        root_now = encoder.cell(self._arguments)
        nodes_now = encoder.finish()
        if (roots_now, root_now, shared_nodes_now) != (roots, root, shared_nodes) or len(nodes) != len(nodes_now):
            return False
        if pack_table(nodes) != pack_table(nodes_now):
            return False
        return all(
            now is then or node[0] in WITHOUT_IDENTITY
            for now, then, node in zip(encoder.objects, self._received, nodes, strict=True)
        )

    def _unchanged(self, result: Any) -> bytes:
        known = {id(item): index for index, item in enumerate(self._received)}
        arrays = [(index, item) for index, item in enumerate(self._received) if type(item) is np.ndarray]
        encoder = self._encoder(known, arrays)
        root = encoder.cell(result)
        return pack_table([UNCHANGED, root, encoder.finish()])

    def _changed(self, result: Any) -> bytes:
        encoder = self._encoder()
        roots = [encoder.cell(item) for item in self._roots]
        shared_nodes = encoder.drain()
        arguments, root = encoder.cell(self._arguments), encoder.cell(result)
        nodes = encoder.finish()
        self._shared = encoder.objects[:shared_nodes]
        links = _links(encoder.objects, nodes, self._received)
        return pack_table([CHANGED, roots, arguments, root, nodes, links, shared_nodes])

    def _newly_shared(self, result: Any, shared: Shared) -> list[Any]:
        """Objects of this exchange that are to keep their identity from now on, in the order of their nodes."""
        encoder = self._encoder()
        for item in self._roots:
            encoder.cell(item)
        known = encoder.drain()
        encoder.cell(self._arguments), encoder.cell(result)
        nodes = encoder.finish()
        # an exception's attributes go with it: as a dict of their own nobody shared them
        spared = {id(vars(item)) for item in encoder.objects if isinstance(item, BaseException)}
        found = [(item, node) for item, node in zip(encoder.objects, nodes, strict=True) if id(item) not in spared]
        if shared == "all":  # also what a root holds now: it stays shared when the root lets go of it
            spared = {id(self._arguments), *map(id, self._roots)}
            return [item for item, node in found if node[0] not in WITHOUT_IDENTITY and id(item) not in spared]
        fresh = {id(item) for item in encoder.objects[known:]}
        return [item for item, _ in found if type(item) in shared and id(item) in fresh]


def _links(objects: list[Any], nodes: list[Any], receiver: list[Any]) -> list[list[int]]:
    """For each node that the receiver has as an object: its index here and there."""
    if not receiver:
        return []
    known = {id(item): index for index, item in enumerate(receiver)}
    found = ((index, known.get(id(item))) for index, item in enumerate(objects))
    return [
        [index, target] for index, target in found if target is not None and nodes[index][0] not in WITHOUT_IDENTITY
    ]


def _is(first: Any, second: Any) -> bool:
    return first is second
