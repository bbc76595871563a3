"""From a node table to objects, new ones or the ones that the receiver has; see `surefoot.boundary.table`."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from surefoot.boundary.arrays import MAX_VIEW, dtype_of, extent, is_gapless, window
from surefoot.boundary.table import (
    ACROSS,
    BUILTIN_EXCEPTIONS,
    Cell,
    MalformedMessageError,
    Node,
    UnsupportedValueError,
    unpack_table,
)


class Decoder:
    """Rebuilds the objects of one node table.

    `known[k]` is the object that the sender refers to as known k; `links` maps node to k for nodes whose
    new content goes INTO a known object, in place. Malformed input raises MalformedMessageError.
    """

    def __init__(
        self,
        nodes: list[Node],
        known: Sequence[Any] = (),
        links: Mapping[int, int] | None = None,
        exceptions: Mapping[str, type[BaseException]] | None = None,
    ):
        self._nodes = nodes
        self._known = known
        self._links = links or {}
        self._exceptions = exceptions or {}
        self._anchors: dict[int, list[tuple[int, int, Any, Node]]] = {}
        try:
            self.objects: list[Any] = [None] * len(nodes)
            self._build()
        except (MalformedMessageError, UnsupportedValueError):
            raise
        except Exception as error:  # the sender may be hostile: whatever its table provokes is its fault
            raise MalformedMessageError(f"Malformed node table: {error!r}.") from error

    def value(self, cell: Cell) -> Any:
        """The object behind a cell."""
        return self.objects[cell[0]] if type(cell) is list else cell

    def _build(self) -> None:
        built: set[int] = set()
        later: list[int] = []
        for index, node in enumerate(self._nodes):
            make = _SHELLS.get(node[0])
            if make is None:
                later.append(index)
                continue
            self.objects[index] = make(self, index, node)
            built.add(index)
        for index in later:
            self._build_immutable(index, built)
        for index, node in enumerate(self._nodes):
            fill = _FILLERS.get(node[0])
            if fill is not None:
                fill(self, self.objects[index], node)
        for index in later:
            if self._nodes[index][0] == "e":  # only now are its attributes whole
                _set_attributes(self.objects[index], dict(self.value(self._nodes[index][3])))

    def _build_immutable(self, first: int, built: set[int]) -> None:
        """Build tuples, frozensets and exceptions after what they hold (their cycles go through shells)."""
        stack, opened = [first], set()
        while stack:
            index = stack[-1]
            if index in built:
                stack.pop()
                continue
            node = self._nodes[index]
            missing = [cell[0] for cell in node[1:] if type(cell) is list and cell[0] not in built]
            if missing:
                if index in opened:
                    raise MalformedMessageError("Malformed node table: immutable objects in a circle.")
                opened.add(index)
                stack.extend(dict.fromkeys(missing))
                continue
            self.objects[index] = _IMMUTABLES[node[0]](self, node)
            built.add(index)
            stack.pop()

    def _into(self, index: int, kind: type) -> Any:
        """The known object that node `index` is to be written into, or None."""
        known = self._links.get(index)
        if known is None:
            return None
        target = self._known[known]
        return target if type(target) is kind else None

    def _array(self, index: int, node: Node) -> Any:
        _, dtype, shape, order, data, writeable = node
        kind = dtype_of(dtype)
        if math.prod(shape) * kind.itemsize != len(data):
            raise MalformedMessageError(f"An array of shape {shape} and dtype {kind} is not {len(data)} bytes.")
        if isinstance(order, str):
            array = np.ndarray(shape, kind, data, order="F" if order == "F" else "C")
        else:
            array = np.ndarray(shape, kind, data, 0, order)
        return self._placed(index, array.copy(order="K"), writeable)

    def _view(self, index: int, node: Node) -> Any:
        _, base, dtype, shape, strides, offset, writeable = node
        kind, memory = dtype_of(dtype), self._memory_of(base[0])
        if math.prod(shape) * kind.itemsize > MAX_VIEW:
            raise MalformedMessageError(f"A view of shape {shape} is larger than any message.")
        if self._links and self._into(index, np.ndarray) is None:
            first, last = extent(offset, shape, strides, kind.itemsize)
            for start, stop, known, as_sent in self._anchors_in(base[0]):
                if last <= start or stop <= first:
                    continue
                if start <= first and last <= stop and list(known.strides) == as_sent[4] and is_gapless(known):
                    return window(known, kind, shape, strides, offset - start, writeable)
                raise UnsupportedValueError(known, ACROSS)
        return self._placed(index, np.ndarray(shape, kind, memory, offset, strides), writeable)

    def _anchors_in(self, memory: int) -> list[tuple[int, int, Any, Node]]:
        """Views of memory node `memory` that are arrays the receiver has: byte range there, array, node.

        Other views of the same bytes become views of these arrays; widest first.
        """
        if memory not in self._anchors:
            found = []
            for index, node in enumerate(self._nodes):
                target = self._into(index, np.ndarray) if node[0] == "v" and node[1] == [memory] else None
                if target is not None:
                    touched = extent(node[5], node[3], node[4], dtype_of(node[2]).itemsize)
                    found.append((*touched, target, node))
            self._anchors[memory] = sorted(found, key=lambda item: item[0] - item[1])
        return self._anchors[memory]

    def _memory_of(self, index: int) -> bytearray:
        if self.objects[index] is None:
            self.objects[index] = bytearray(self._nodes[index][1])
        memory: bytearray = self.objects[index]
        return memory

    def _known_view(self, node: Node) -> Any:
        _, known, dtype, shape, strides, offset, writeable = node
        base = self._known[known]
        if type(base) is not np.ndarray or not is_gapless(base):
            raise MalformedMessageError("A view of what is no gapless array.")
        return window(base, dtype_of(dtype), shape, strides, offset, writeable)

    def _placed(self, index: int, array: Any, writeable: bool) -> Any:
        target = self._into(index, np.ndarray)
        if target is not None:
            if target.shape != array.shape or target.dtype != array.dtype:
                raise MalformedMessageError(
                    "An array's shape or dtype was changed in place; that can't be carried back."
                )
            if target.tobytes() != array.tobytes():
                target.flags.writeable = True
                target[...] = array
            target.flags.writeable = writeable
            return target
        if not writeable:
            array.flags.writeable = False
        return array

    def _exception(self, node: Node) -> BaseException:
        _, name, args, _ = node
        kind = self._exceptions.get(name) or BUILTIN_EXCEPTIONS.get(name)
        if kind is None:
            raise MalformedMessageError(f"An exception that the surface does not declare: {name}.")
        arguments = self.value(args)
        # Never a foreign constructor: it may take other arguments than `args`.
        own = next(base for base in kind.__mro__ if base.__module__ == "builtins")
        error: BaseException = own.__new__(kind, *arguments)
        with contextlib.suppress(TypeError):
            own.__init__(error, *arguments)  # type: ignore[misc]
        if not isinstance(error, OSError):
            error.args = arguments
        return error


def _scalar(node: Node) -> Any:
    _, text, data = node
    if text == "U":
        return np.str_(data.decode("utf-32-le", "surrogatepass"))
    return np.bytes_(data) if text == "S" else np.ndarray((), dtype_of(text), data)[()]


def _set_attributes(error: BaseException, attributes: dict[str, Any]) -> None:
    if isinstance(error, ImportError):
        error.name, error.path = attributes.pop("name"), attributes.pop("path")
    vars(error).update(attributes)


def decode_value(data: bytes, exceptions: Mapping[str, type[BaseException]] | None = None) -> Any:
    """The value behind `encode_value`."""
    root, nodes = unpack_table(data)
    return Decoder(nodes, exceptions=exceptions).value(root)


def _fresh(kind: Callable[[], Any]) -> Callable[[Decoder, int, Node], Any]:
    def make(decoder: Decoder, index: int, node: Node) -> Any:
        target = decoder._into(index, kind)  # type: ignore[arg-type]
        return kind() if target is None else target

    return make


def _bytearray(decoder: Decoder, index: int, node: Node) -> bytearray:
    target: bytearray = _fresh(bytearray)(decoder, index, node)
    target[:] = node[1]
    return target


_SHELLS: dict[str, Callable[[Decoder, int, Node], Any]] = {
    "l": _fresh(list),
    "d": _fresh(dict),
    "s": _fresh(set),
    "i": lambda decoder, index, node: int(node[1], 16),
    "u": lambda decoder, index, node: node[1].decode("utf-8", "surrogatepass"),
    "c": lambda decoder, index, node: complex(node[1], node[2]),
    "y": _bytearray,
    "n": lambda decoder, index, node: _scalar(node),
    "a": lambda decoder, index, node: decoder._array(index, node),
    "b": lambda decoder, index, node: decoder._memory_of(index),
    "v": lambda decoder, index, node: decoder._view(index, node),
    "w": lambda decoder, index, node: decoder._known_view(node),
    "^": lambda decoder, index, node: decoder._known[node[1]],
}


_IMMUTABLES: dict[str, Callable[[Decoder, Node], Any]] = {
    "t": lambda decoder, node: tuple([decoder.value(cell) for cell in node[1:]]),
    "f": lambda decoder, node: frozenset(decoder.value(cell) for cell in node[1:]),
    "e": lambda decoder, node: decoder._exception(node),
}


def _fill_list(decoder: Decoder, target: list[Any], node: Node) -> None:
    target[:] = [decoder.value(cell) for cell in node[1:]]


def _fill_dict(decoder: Decoder, target: dict[Any, Any], node: Node) -> None:
    items = [decoder.value(cell) for cell in node[1:]]
    content = dict(zip(items[::2], items[1::2], strict=True))
    target.clear()
    target.update(content)


def _fill_set(decoder: Decoder, target: set[Any], node: Node) -> None:
    content = [decoder.value(cell) for cell in node[1:]]
    target.clear()
    target.update(content)


_FILLERS: dict[str, Callable[[Decoder, Any, Node], None]] = {"l": _fill_list, "d": _fill_dict, "s": _fill_set}
