"""From objects to a node table; see `surefoot.boundary.table` for its form."""

from __future__ import annotations

import collections
import dataclasses
import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from surefoot.boundary.arrays import address, contents, dtype_text, is_gapless, memory, span
from surefoot.boundary.declared import FACTORIES, is_named_tuple, qualified
from surefoot.boundary.handles import Handles
from surefoot.boundary.objects import attributes_of
from surefoot.boundary.plain import KIND_NAMES, PLAIN
from surefoot.boundary.table import ACROSS, BUILTIN_EXCEPTIONS, Cell, Node, UnsupportedValueError, pack_table

_INT_MIN, _INT_MAX = -(1 << 63), (1 << 64) - 1
_FACTORY_NAMES = {kind: name for name, kind in FACTORIES.items()}


class Encoder:
    """Builds one node table.

    `known` maps id(object) to the index under which the receiver knows it. `types` are the declared ones that
    the receiver can rebuild, by qualified name; without it any is written. `handles` numbers the objects that
    stay with the host. `alone` keeps the bytes of items of sets, by id.
    """

    def __init__(
        self,
        known: Mapping[int, int] | None = None,
        known_arrays: Sequence[tuple[int, Any]] = (),
        types: Mapping[str, type] | None = None,
        handles: Handles | None = None,
        alone: dict[int, tuple[Any, bytes]] | None = None,
    ):
        self.objects: list[Any] = []
        self._types = types
        self._handles = handles
        self._nodes: list[Node] = []
        self._index: dict[int, int] = {}
        self._known = known or {}
        self._bases = dict(known_arrays)
        self._arrays: list[int] = []
        self._texts = {} if alone is None else alone

    def cell(self, value: Any) -> Cell:
        """The cell for `value`; a new object is queued until `drain`."""
        kind = type(value)
        if kind is float or kind is bool or value is None or kind is bytes:
            return value
        if kind is str:
            if value.isascii():
                return value
            try:
                value.encode()
            except UnicodeEncodeError:
                return self._refer(value)
            return value
        if kind is int and _INT_MIN <= value <= _INT_MAX:
            return value
        return self._refer(value)

    def _refer(self, value: Any) -> list[int]:
        key = id(value)
        index = self._index.get(key)
        if index is None:
            index = len(self.objects)
            self._index[key] = index
            self.objects.append(value)  # keeps the object alive, so its id stays its own
        return [index]

    def drain(self) -> int:
        """Write the nodes of all queued objects; returns how many nodes there are now."""
        while len(self._nodes) < len(self.objects):
            value = self.objects[len(self._nodes)]
            known = self._known.get(id(value))
            self._nodes.append(["^", known] if known is not None else self._node(value))
        return len(self._nodes)

    def finish(self) -> list[Node]:
        """All nodes, with arrays that share memory turned into views of it."""
        self.drain()
        if self._arrays and (len(self._arrays) > 1 or self._bases):
            self._share_memory()
        return self._nodes

    def _node(self, value: Any) -> Node:
        build = _BUILDERS.get(type(value))
        if build is not None:
            return build(self, value)
        if isinstance(value, np.generic):
            return _scalar_node(value)
        if isinstance(value, BaseException):
            return self._exception_node(value)
        return self._declared_node(value)

    def _sequence_node(self, tag: str, items: Iterable[Any]) -> Node:
        cell = self.cell
        return [tag, *[cell(item) for item in items]]

    def _dict_node(self, head: Node, value: dict[Any, Any]) -> Node:
        if head[0] != "d" and getattr(value, "__dict__", None):
            raise UnsupportedValueError(value, "it has attributes beside its items")
        for key, item in value.items():
            head.append(self.cell(key))
            head.append(self.cell(item))
        return head

    def _defaultdict_node(self, value: collections.defaultdict[Any, Any]) -> Node:
        factory = value.default_factory
        if factory is not None and factory not in _FACTORY_NAMES:
            raise UnsupportedValueError(value, "its default factory is no built-in type")
        return self._dict_node(["D", factory and _FACTORY_NAMES[factory]], value)

    def _exception_node(self, value: BaseException) -> Node:
        kind = type(value)
        name = qualified(kind)
        if isinstance(value, BaseExceptionGroup):
            raise UnsupportedValueError(value, "exceptions in groups are not carried; pass them in a list")
        if self._types is not None and name not in self._types and name not in BUILTIN_EXCEPTIONS:
            raise UnsupportedValueError(
                value, "of exceptions only Python's own and those declared with raises=(...) can"
            )
        arguments, attributes = value.args, vars(value)
        if isinstance(value, OSError):  # keeps a file name outside `args`
            arguments = OSError.__reduce__(value)[1]  # type: ignore[assignment]
        elif isinstance(value, ImportError):  # keeps name and path outside `vars`
            attributes = {**attributes, "name": value.name, "path": value.path}
        cells = [self.cell(item) for item in (arguments, attributes, value.__cause__)]
        return ["e", name, *cells, value.__suppress_context__]

    def _declared_node(self, value: Any) -> Node:
        kind = type(value)
        name = qualified(kind)
        if self._types is not None and self._types.get(name) is not kind:
            raise UnsupportedValueError(value)
        if isinstance(value, enum.Enum):
            return ["E", name, self.cell(value.value if isinstance(value, enum.Flag) else value.name)]
        if is_named_tuple(kind):
            return ["N", name, *[self.cell(item) for item in value]]
        if dataclasses.is_dataclass(kind):
            node: Node = ["o", name]
            for attribute, item in attributes_of(value).items():
                node += [attribute, self.cell(item)]
            return node
        if self._handles is not None and self._types is not None:
            return ["h", name, self._handles.number(value)]
        raise UnsupportedValueError(value)

    def _plain_node(self, value: Any) -> Node:
        name = KIND_NAMES[type(value)]
        return ["x", name, *[self.cell(part) for part in PLAIN[name].parts(value)]]

    def _set_node(self, tag: str, items: Iterable[Any]) -> Node:
        # One canonical order: what the receiver sees depends on the set's content, not on how it grew.
        try:
            ordered = sorted(items, key=self._alone)
        except RecursionError:
            raise UnsupportedValueError(items, "its frozensets are nested too deeply") from None
        return [tag, *[self.cell(item) for item in ordered]]

    def _alone(self, item: Any) -> bytes:
        """An item as bytes, found once for all sets that hold it: nested sets would double the work at each level."""
        known = self._texts.get(id(item))
        if known is None:
            encoder = Encoder(types=self._types, handles=self._handles, alone=self._texts)
            root = encoder.cell(item)
            known = self._texts[id(item)] = item, pack_table([root, encoder.finish()])
        return known[1]

    def _array_node(self, value: Any) -> Node:
        self._arrays.append(len(self._nodes))
        dtype, writeable = dtype_text(value), bool(value.flags.writeable)
        if not value.flags.forc:
            value = value.copy(order="K")
        order: Any = "C" if value.flags.c_contiguous else "F" if value.flags.f_contiguous else list(value.strides)
        data = contents(value) if isinstance(order, str) else memory(value)
        return ["a", dtype, list(value.shape), order, data, writeable]

    def _share_memory(self) -> None:
        """Turn arrays that overlap in memory (with each other or with a known array) into views."""
        spans = [(*span(self.objects[index]), index, False) for index in self._arrays if self.objects[index].size]
        spans += [(*span(array), index, True) for index, array in self._bases.items() if array.size]
        groups: list[list[tuple[int, int, int, bool]]] = []
        reach = -1
        for item in sorted(spans):
            if item[0] < reach:
                groups[-1].append(item)
            else:
                groups.append([item])
            reach = max(reach, item[1])
        shared = [group for group in groups if len(group) > 1 and not all(known for *_, known in group)]
        for group in sorted(shared, key=_first_own):  # addresses decide who shares, never the order of the table
            self._share_group(group)

    def _share_group(self, group: list[tuple[int, int, int, bool]]) -> None:
        own = sorted(index for _, _, index, known in group if not known)
        anchors = [(start, stop, index) for start, stop, index, known in group if known]
        if anchors:
            for index in own:
                self._nodes[index] = self._view_of_known(self.objects[index], anchors)
            return
        start, end = group[0][0], max(stop for _, stop, _, _ in group)
        memory = np.zeros(end - start, np.uint8)
        for index in own:
            array = self.objects[index]
            view = np.ndarray(array.shape, array.dtype, memory, address(array) - start, array.strides)
            view[...] = array
        buffer = len(self._nodes)
        self.objects.append(memory)
        self._nodes.append(["b", memory.tobytes()])
        for index in own:
            self._nodes[index] = self._view_node("v", [buffer], self.objects[index], start)

    def _view_of_known(self, array: Any, anchors: list[tuple[int, int, int]]) -> Node:
        first, last = span(array)
        for start, stop, known in anchors:
            if start <= first and last <= stop and is_gapless(self._bases[known]):
                return self._view_node("w", known, array, start)
        raise UnsupportedValueError(array, ACROSS)

    @staticmethod
    def _view_node(tag: str, base: Any, array: Any, start: int) -> Node:
        offset = address(array) - start
        dtype, shape, strides = dtype_text(array), list(array.shape), list(array.strides)
        return [tag, base, dtype, shape, strides, offset, bool(array.flags.writeable)]


def _first_own(group: list[tuple[int, int, int, bool]]) -> int:
    return min(index for _, _, index, known in group if not known)


def _scalar_node(value: Any) -> Node:
    if type(value) is not value.dtype.type:
        raise UnsupportedValueError(value)
    if isinstance(value, np.str_):  # as an array element it would lose trailing zeros, and so would bytes
        return ["n", "U", value.encode("utf-32-le", "surrogatepass")]
    if isinstance(value, np.bytes_):
        return ["n", "S", bytes(value)]
    return ["n", dtype_text(value), value.tobytes()]


_BUILDERS: dict[type, Callable[[Encoder, Any], Node]] = {
    list: lambda encoder, value: encoder._sequence_node("l", value),
    tuple: lambda encoder, value: encoder._sequence_node("t", value),
    dict: lambda encoder, value: encoder._dict_node(["d"], value),
    set: lambda encoder, value: encoder._set_node("s", value),
    frozenset: lambda encoder, value: encoder._set_node("f", value),
    np.ndarray: lambda encoder, value: encoder._array_node(value),
    int: lambda encoder, value: ["i", hex(value)],
    str: lambda encoder, value: ["u", value.encode("utf-8", "surrogatepass")],
    complex: lambda encoder, value: ["c", value.real, value.imag],
    bytearray: lambda encoder, value: ["y", bytes(value)],
    collections.OrderedDict: lambda encoder, value: encoder._dict_node(["O"], value),
    collections.Counter: lambda encoder, value: encoder._dict_node(["C"], value),
    collections.defaultdict: lambda encoder, value: encoder._defaultdict_node(value),
    collections.deque: lambda encoder, value: ["q", value.maxlen, *[encoder.cell(item) for item in value]],
    **dict.fromkeys(KIND_NAMES, lambda encoder, value: encoder._plain_node(value)),
}


def encode_value(value: Any, types: Mapping[str, type] | None = None, handles: Handles | None = None) -> bytes:
    """One value alone, as bytes that are equal exactly when the values are equal bit by bit."""
    encoder = Encoder(types=types, handles=handles)
    root = encoder.cell(value)
    return pack_table([root, encoder.finish()])
