"""One call as two messages: what each side encodes, what it applies in place, what both remember.

Every request carries the public state and the arguments; every answer the result and, where the callee
changed them, state and arguments again, with links that say which of the receiver's objects each node IS.
So aliases hold across a call, and a list that the callee appended to is the caller's own list, grown.
Both sides remember the state's objects, in the order of their nodes, until the next message.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from surefoot.boundary.decoding import Decoder
from surefoot.boundary.encoding import Encoder
from surefoot.boundary.table import MalformedMessageError, pack_table, unpack_table

UNCHANGED, CHANGED = 0, 1


class Caller:
    """The program's side."""

    def __init__(self, opening: bytes, exceptions: Mapping[str, type[BaseException]]):
        root, nodes = unpack_table(opening)
        decoder = Decoder(nodes, exceptions=exceptions)
        self.state = decoder.value(root)
        self._exceptions = exceptions
        self._state_objects: list[Any] = decoder.objects
        self._sent: list[Any] = []
        self._state_nodes = len(decoder.objects)

    def request(self, arguments: tuple[Any, ...]) -> bytes:
        """Encode a call. UnsupportedValueError for an argument that can't cross exactly."""
        encoder = Encoder(exceptions=self._exceptions)
        state = encoder.cell(self.state)
        self._state_nodes = encoder.drain()
        root = encoder.cell(arguments)
        nodes = encoder.finish()
        self._sent = encoder.objects
        known = {id(item): index for index, item in enumerate(self._state_objects)}
        return pack_table([state, root, nodes, _links(encoder.objects, known), self._state_nodes])

    def apply(self, answer: bytes) -> Any:
        """Apply the callee's changes in place and return its result."""
        change, *parts = unpack_table(answer)
        if change == UNCHANGED:
            result, nodes = parts
            decoder = Decoder(nodes, self._sent, exceptions=self._exceptions)
            self._state_objects = self._sent[: self._state_nodes]
        else:
            _, _, result, nodes, links, state_nodes = parts
            decoder = Decoder(nodes, self._sent, dict(links), self._exceptions)
            self._state_objects = decoder.objects[:state_nodes]
        self._sent = []
        return decoder.value(result)


class Callee:
    """The environment's side. `state` is its public state, or None; `exceptions` are the declared ones by name."""

    def __init__(self, state: dict[str, Any] | None, exceptions: Mapping[str, type[BaseException]] | None = None):
        self.state = state
        self._exceptions = exceptions or {}
        encoder = Encoder(exceptions=self._exceptions)
        root = encoder.cell(state)
        nodes = encoder.finish()
        self.opening = pack_table([root, nodes])
        self._state_objects = encoder.objects
        self._received: list[Any] = []
        self._arguments: tuple[Any, ...] = ()
        self._request: Any = None

    def open(self, request: bytes) -> tuple[Any, ...]:
        """Apply the program's changes to the public state and return the arguments."""
        parts = unpack_table(request)
        try:
            state, root, nodes, links, state_nodes = parts
            decoder = Decoder(nodes, self._state_objects, dict(links), self._exceptions)
            arguments: tuple[Any, ...] = decoder.value(root)
            shared = decoder.value(state)
            fits = type(arguments) is tuple and shared is self.state and 0 <= state_nodes <= len(nodes)
        except (TypeError, ValueError, IndexError) as error:
            raise MalformedMessageError(f"Malformed request: {str(error).rstrip('.')}.") from error
        if not fits:
            raise MalformedMessageError("Malformed request: its state or arguments are not what was shared.")
        self._request = (state, root, nodes, state_nodes)
        self._received = decoder.objects
        self._arguments = arguments
        return arguments

    def close(self, result: Any) -> bytes:
        """Encode the answer; `result` is the return value or the exception raised."""
        state, root, nodes, state_nodes = self._request
        encoder = Encoder(exceptions=self._exceptions)
        state_now = encoder.cell(self.state)
        state_nodes_now = encoder.drain()
        root_now = encoder.cell(self._arguments)
        nodes_now = encoder.finish()
        same = (state_now, root_now, state_nodes_now) == (state, root, state_nodes)
        if same and self._untouched(nodes, nodes_now, encoder.objects):
            self._state_objects = self._received[:state_nodes]
            return self._unchanged(result)
        return self._changed(result)

    def _untouched(self, nodes: list[Any], nodes_now: list[Any], objects: list[Any]) -> bool:
        if len(nodes) != len(nodes_now) or pack_table(nodes) != pack_table(nodes_now):
            return False
        return all(
            now is then or node[0] == "b" for now, then, node in zip(objects, self._received, nodes, strict=True)
        )

    def _unchanged(self, result: Any) -> bytes:
        known = {id(item): index for index, item in enumerate(self._received)}
        arrays = [(index, item) for index, item in enumerate(self._received) if type(item) is np.ndarray]
        encoder = Encoder(known, arrays, self._exceptions)
        root = encoder.cell(result)
        return pack_table([UNCHANGED, root, encoder.finish()])

    def _changed(self, result: Any) -> bytes:
        encoder = Encoder(exceptions=self._exceptions)
        state = encoder.cell(self.state)
        state_nodes = encoder.drain()
        arguments, root = encoder.cell(self._arguments), encoder.cell(result)
        nodes = encoder.finish()
        known = {id(item): index for index, item in enumerate(self._received)}
        self._state_objects = encoder.objects[:state_nodes]
        return pack_table([CHANGED, state, arguments, root, nodes, _links(encoder.objects, known), state_nodes])


def _links(objects: list[Any], known: dict[int, int]) -> list[list[int]]:
    if not known:
        return []
    found = ((index, known.get(id(item))) for index, item in enumerate(objects))
    return [[index, target] for index, target in found if target is not None]
