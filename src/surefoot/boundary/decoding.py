"""From a node table to objects, new ones or the ones that the receiver has; see `surefoot.boundary.table`."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import enum
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from surefoot.boundary.arrays import MAX_VIEW, MAX_VIEWS, dtype_of, extent, is_gapless, set_writeable, unlocked, window
from surefoot.boundary.declared import FACTORIES, is_named_tuple
from surefoot.boundary.handles import Handles
from surefoot.boundary.objects import attributes_of, set_attributes
from surefoot.boundary.plain import KIND_NAMES, PLAIN
from surefoot.boundary.table import (
    ACROSS,
    BUILTIN_EXCEPTIONS,
    Cell,
    MalformedMessageError,
    Node,
    UnsupportedValueError,
    pack_table,
    unpack_table,
)

MOST_HASHED = 1 << 24
"""Objects, each counted as often as it stands there, that a key or an item of a set may hold."""


class Decoder:
    """Rebuilds the objects of one node table.

    `known[k]` is the object that the sender refers to as known k; `links` maps node to k for nodes whose
    new content goes INTO a known object, in place; an immutable one with that content is taken as it is.
    `types` are the declared ones by qualified name. Malformed input raises MalformedMessageError.
    """

    def __init__(
        self,
        nodes: list[Node],
        known: Sequence[Any] = (),
        links: Mapping[int, int] | None = None,
        types: Mapping[str, type] | None = None,
        handles: Handles | None = None,
    ):
        self._nodes = nodes
        self._known = known
        self._links = links or {}
        self._types = types or {}
        self._handles = handles
        self._anchors: dict[int, list[tuple[int, int, Any, Node]]] = {}
        self._viewed = 0
        self._weights: dict[int, int] = {}
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

    def key(self, cell: Cell) -> Any:
        """The object behind a cell that is to be hashed: a few tuples within each other can take for ever."""
        if type(cell) is list and self._weights.get(cell[0], 1) > MOST_HASHED:
            raise MalformedMessageError("A key or an item of a set that holds too much.")
        return self.value(cell)

    def _build(self) -> None:
        later: list[int] = []
        built: set[int] = set()
        for index, node in enumerate(self._nodes):
            make = _SHELLS.get(node[0])
            made = None if make is None else make(self, index, node)
            if made is None and node[0] not in _ALWAYS:
                later.append(index)
                continue
            self.objects[index] = made
            built.add(index)
        for index in later:
            self._build_immutable(index, built)
        for fillers in (_FILLERS_FIRST, _FILLERS):  # what is hashed by its attributes has them before it is a key
            for index, node in enumerate(self._nodes):
                fill = fillers.get(node[0])
                if fill is not None:
                    fill(self, self.objects[index], node)
        for index in later:
            if self._nodes[index][0] == "e":  # only now are its attributes whole
                self._complete(self.objects[index], self._nodes[index])

    def _build_immutable(self, first: int, built: set[int]) -> None:
        """Build tuples, frozensets and exceptions after what they hold (their cycles go through shells)."""
        stack, opened = [first], set()
        while stack:
            index = stack[-1]
            if index in built:
                stack.pop()
                continue
            node = self._nodes[index]
            needed = node[2:3] if node[0] == "e" else node[1:]
            missing = [cell[0] for cell in needed if type(cell) is list and cell[0] not in built]
            if missing:
                if index in opened:
                    if any(self._nodes[item][0] == "e" for item in stack):
                        raise UnsupportedValueError(Exception(), "an exception is among its own args")
                    raise MalformedMessageError("Malformed node table: immutable objects in a circle.")
                opened.add(index)
                stack.extend(dict.fromkeys(missing))
                continue
            if node[0] != "f":  # a frozenset keeps its hash
                self._weights[index] = 1 + sum(self._weights.get(cell[0], 1) for cell in node[1:] if type(cell) is list)
            self.objects[index] = self._kept(index, _IMMUTABLES[node[0]](self, index, node))
            built.add(index)
            stack.pop()

    def _kept(self, index: int, value: Any) -> Any:
        """The immutable object that the receiver has for node `index` if it holds the very same, else `value`."""
        target = self._into(index, type(value))
        if target is None or target is value:
            return value
        if isinstance(value, tuple):
            return target if list(map(_key, target)) == list(map(_key, value)) else value
        if isinstance(value, frozenset):
            return target if set(map(_key, target)) == set(map(_key, value)) else value
        if self._nodes[index][0] == "o":
            then, now = ([(name, _key(item)) for name, item in attributes_of(each).items()] for each in (target, value))
            return target if then == now else value
        return value

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
        self._check_size(shape, kind)
        if self._links and self._into(index, np.ndarray) is None:
            first, last = extent(offset, shape, strides, kind.itemsize)
            for start, stop, known, as_sent in self._anchors_in(base[0]):
                if last <= start or stop <= first:
                    continue
                if start <= first and last <= stop and list(known.strides) == as_sent[4] and is_gapless(known):
                    return window(known, kind, shape, strides, offset - start, writeable)
                raise UnsupportedValueError(known, ACROSS)
        return self._placed(index, np.ndarray(shape, kind, memory, offset, strides), writeable)

    def _check_size(self, shape: Sequence[int], kind: Any) -> None:
        size = math.prod(shape) * kind.itemsize
        self._viewed += size
        if size > MAX_VIEW or self._viewed > MAX_VIEWS:
            raise MalformedMessageError(f"A view of shape {shape} is larger than any message.")

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
        kind, base = dtype_of(dtype), self._known[known]
        self._check_size(shape, kind)
        if type(base) is not np.ndarray:
            raise MalformedMessageError("A view of what is no array.")
        if not is_gapless(base):  # here it lies otherwise than where the view was taken: backwards, or with gaps
            raise UnsupportedValueError(base, ACROSS)
        return window(base, kind, shape, strides, offset, writeable)

    def _placed(self, index: int, array: Any, writeable: bool) -> Any:
        target = self._into(index, np.ndarray)
        if target is not None:
            if target.shape != array.shape or target.dtype != array.dtype:
                raise MalformedMessageError(
                    "An array's shape or dtype was changed in place; that can't be carried back."
                )
            if target.tobytes() != array.tobytes():
                with unlocked(target):
                    target[...] = array
            set_writeable(target, writeable)
            return target
        if not writeable:
            array.flags.writeable = False
        return array

    def _declared(self, name: str) -> type:
        kind = self._types.get(name)
        if kind is None:
            raise MalformedMessageError(f"A type that the surface does not declare: {name}.")
        return kind

    def _exception(self, index: int, node: Node) -> BaseException:
        name, args = node[1:3]
        kind = BUILTIN_EXCEPTIONS.get(name) or self._declared(name)
        if not issubclass(kind, BaseException):
            raise MalformedMessageError(f"{name} is no exception.")
        arguments = self.value(args)
        error: BaseException | None = self._into(index, kind)
        # Never a foreign constructor: it may take other arguments than `args`.
        own = next(base for base in kind.__mro__ if base.__module__ == "builtins")
        if error is None:
            error = own.__new__(kind, *arguments)
        assert error is not None
        with contextlib.suppress(TypeError):
            own.__init__(error, *arguments)  # type: ignore[misc]
        if not isinstance(error, OSError):
            error.args = arguments
        return error

    def _complete(self, error: BaseException, node: Node) -> None:
        attributes = dict(self.value(node[3]))
        cause = self.value(node[4])
        if isinstance(error, ImportError):
            error.name, error.path = attributes.pop("name"), attributes.pop("path")
        vars(error).clear()
        vars(error).update(attributes)
        if type(node[3]) is list and node[3][0] not in self._links:  # what the other side means by it from now on
            self.objects[node[3][0]] = vars(error)
        error.__cause__ = cause
        error.__suppress_context__ = bool(node[5])

    def _enum(self, node: Node) -> enum.Enum:
        kind = self._declared(node[1])
        if not issubclass(kind, enum.Enum):
            raise MalformedMessageError(f"{node[1]} is no enum.")
        member = self.value(node[2])
        found: enum.Enum = kind(member) if issubclass(kind, enum.Flag) else kind.__members__[member]
        return found

    def _named_tuple(self, node: Node) -> Any:
        kind = self._declared(node[1])
        items = [self.value(cell) for cell in node[2:]]
        if not is_named_tuple(kind) or len(items) != len(kind._fields):  # type: ignore[attr-defined]
            raise MalformedMessageError(f"{node[1]} is no named tuple of {len(items)}.")
        return tuple.__new__(kind, items)

    def _dataclass(self, index: int, node: Node) -> Any:
        """An instance without its attributes; None for a frozen one, which is made when they are there."""
        kind = self._declared(node[1])
        if not dataclasses.is_dataclass(kind):
            raise MalformedMessageError(f"{node[1]} is no dataclass.")
        if kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
            return None
        target = self._into(index, kind)
        return object.__new__(kind) if target is None else target

    def _frozen(self, node: Node) -> Any:
        instance: Any = object.__new__(self._declared(node[1]))
        set_attributes(instance, self._attributes(node))
        return instance

    def _attributes(self, node: Node) -> dict[str, Any]:
        return dict(zip(node[2::2], map(self.value, node[3::2]), strict=True))

    def _handle(self, node: Node) -> Any:
        if self._handles is None:
            raise MalformedMessageError("A handle, where none can be.")
        return self._handles.object(node[2], self._declared(node[1]))


def _key(item: Any) -> Any:
    """Equal for two items exactly when they are one object, or one number or text."""
    kind = type(item)
    if item is None or kind in (bool, float, bytes):
        return kind, pack_table([item])
    if kind in (int, str, complex) or kind in KIND_NAMES:
        return kind, repr(item)
    return (kind, item.tobytes()) if isinstance(item, np.generic) else id(item)


def _scalar(node: Node) -> Any:
    _, text, data = node
    if text == "U":
        return np.str_(data.decode("utf-32-le", "surrogatepass"))
    return np.bytes_(data) if text == "S" else np.ndarray((), dtype_of(text), data)[()]


def decode_value(data: bytes, types: Mapping[str, type] | None = None, handles: Handles | None = None) -> Any:
    """The value behind `encode_value`."""
    root, nodes = unpack_table(data)
    return Decoder(nodes, types=types, handles=handles).value(root)


def _fresh(kind: Callable[[], Any]) -> Callable[[Decoder, int, Node], Any]:
    def make(decoder: Decoder, index: int, node: Node) -> Any:
        target = decoder._into(index, kind)  # type: ignore[arg-type]
        return kind() if target is None else target

    return make


def _bytearray(decoder: Decoder, index: int, node: Node) -> bytearray:
    target: bytearray = _fresh(bytearray)(decoder, index, node)
    target[:] = node[1]
    return target


def _defaultdict(decoder: Decoder, index: int, node: Node) -> Any:
    target = _fresh(collections.defaultdict)(decoder, index, node)
    target.default_factory = None if node[1] is None else FACTORIES[node[1]]
    return target


def _deque(decoder: Decoder, index: int, node: Node) -> Any:
    target = decoder._into(index, collections.deque)
    return target if target is not None and target.maxlen == node[1] else collections.deque(maxlen=node[1])


_SHELLS: dict[str, Callable[[Decoder, int, Node], Any]] = {
    "l": _fresh(list),
    "d": _fresh(dict),
    "s": _fresh(set),
    "O": _fresh(collections.OrderedDict),
    "C": _fresh(collections.Counter),
    "D": _defaultdict,
    "q": _deque,
    "i": lambda decoder, index, node: int(node[1], 16),
    "u": lambda decoder, index, node: node[1].decode("utf-8", "surrogatepass"),
    "c": lambda decoder, index, node: complex(node[1], node[2]),
    "y": _bytearray,
    "n": lambda decoder, index, node: _scalar(node),
    "a": lambda decoder, index, node: decoder._array(index, node),
    "b": lambda decoder, index, node: decoder._memory_of(index),
    "v": lambda decoder, index, node: decoder._view(index, node),
    "w": lambda decoder, index, node: decoder._known_view(node),
    "o": lambda decoder, index, node: decoder._dataclass(index, node),
    "h": lambda decoder, index, node: decoder._handle(node),
    "^": lambda decoder, index, node: decoder._known[node[1]],
}
_ALWAYS = frozenset(_SHELLS) - {"o"}
"""Nodes whose objects exist before what they hold."""
_IMMUTABLES: dict[str, Callable[[Decoder, int, Node], Any]] = {
    "t": lambda decoder, index, node: tuple([decoder.value(cell) for cell in node[1:]]),
    "f": lambda decoder, index, node: frozenset(decoder.key(cell) for cell in node[1:]),
    "N": lambda decoder, index, node: decoder._named_tuple(node),
    "E": lambda decoder, index, node: decoder._enum(node),
    "x": lambda decoder, index, node: PLAIN[node[1]].make(*[decoder.value(cell) for cell in node[2:]]),
    "o": lambda decoder, index, node: decoder._frozen(node),
    "e": lambda decoder, index, node: decoder._exception(index, node),
}


def _fill_list(decoder: Decoder, target: list[Any], node: Node) -> None:
    target[:] = [decoder.value(cell) for cell in node[1:]]


def _fill_deque(decoder: Decoder, target: collections.deque[Any], node: Node) -> None:
    content = [decoder.value(cell) for cell in node[2:]]
    target.clear()
    target.extend(content)


def _fill_mapping(decoder: Decoder, target: dict[Any, Any], node: Node) -> None:
    cells = node[2 if node[0] == "D" else 1 :]
    content = list(zip(map(decoder.key, cells[::2]), map(decoder.value, cells[1::2]), strict=True))
    target.clear()
    for key, item in content:
        target[key] = item


def _fill_set(decoder: Decoder, target: set[Any], node: Node) -> None:
    content = [decoder.key(cell) for cell in node[1:]]
    target.clear()
    target.update(content)


def _fill_dataclass(decoder: Decoder, target: Any, node: Node) -> None:
    if not type(target).__dataclass_params__.frozen:
        set_attributes(target, decoder._attributes(node))


_FILLERS_FIRST: dict[str, Callable[[Decoder, Any, Node], None]] = {"o": _fill_dataclass}
_FILLERS: dict[str, Callable[[Decoder, Any, Node], None]] = {
    "l": _fill_list,
    "d": _fill_mapping,
    "O": _fill_mapping,
    "C": _fill_mapping,
    "D": _fill_mapping,
    "q": _fill_deque,
    "s": _fill_set,
}
