"""Values as one flat node table: exact, data only, with aliases, cycles and array views kept.

A message's objects become a list of nodes. A cell is either an inline scalar (None, bool, int, float, str,
bytes) or `[k]`, a reference to node k, so two references to one object stay one object. Nodes are numbered
in order of discovery; the public state is always the first root, so its nodes come first.

| node                                            | object                                              |
| ----------------------------------------------- | --------------------------------------------------- |
| `["l", *cells]` `["t", *cells]`                 | list, tuple                                         |
| `["d", *(key, value)]`                          | dict, in order                                      |
| `["s", *cells]` `["f", *cells]`                 | set, frozenset, in one canonical order              |
| `["i", text]` `["u", bytes]` `["c", re, im]`    | big int, str with surrogates, complex               |
| `["y", bytes]`                                  | bytearray                                           |
| `["n", dtype, bytes]`                           | NumPy scalar                                        |
| `["a", dtype, shape, order, bytes, writeable]`  | ndarray that shares memory with no other            |
| `["b", bytes]`                                  | memory shared by several arrays of the message      |
| `["v", [k], dtype, shape, strides, offset, w]`  | ndarray that is a view of memory node k             |
| `["w", k, dtype, shape, strides, offset, w]`    | ndarray that is a view of the array known as k      |
| `["e", type, args, attributes]`                 | exception                                           |
| `["^", k]`                                      | the object that the receiver knows as k             |

An array that shares memory with nothing else in its message travels compact (C order, F order, or its own
axis order), so equal values are equal messages however they were sliced out. Nothing is flattened or
replaced: what cannot be exact is refused by its qualified name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

Cell = Any
Node = list[Any]
_INT_MIN, _INT_MAX = -(1 << 63), (1 << 64) - 1
_DTYPE_KINDS = frozenset("biufcSUMmV")
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode


class UnsupportedValueError(TypeError):
    """A value that cannot cross the boundary exactly; the text gives its qualified type name."""

    def __init__(self, value: object, why: str = ""):
        kind = type(value)
        reason = why or "only Python scalars, str, bytes, containers, ndarrays, NumPy scalars and exceptions can"
        super().__init__(f"A value of type {kind.__module__}.{kind.__qualname__} can't cross the boundary: {reason}.")


class MalformedMessageError(ValueError):
    """A node table that no encoder wrote."""


class Encoder:
    """Builds one node table. `known` maps id(object) to the index under which the receiver knows it."""

    def __init__(self, known: Mapping[int, int] | None = None, known_arrays: Sequence[tuple[int, Any]] = ()):
        self.objects: list[Any] = []
        self._nodes: list[Node] = []
        self._index: dict[int, int] = {}
        self._known = known or {}
        self._bases = dict(known_arrays)
        self._arrays: list[int] = []

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
        raise UnsupportedValueError(value)

    def _sequence_node(self, tag: str, items: Iterable[Any]) -> Node:
        cell = self.cell
        return [tag, *[cell(item) for item in items]]

    def _dict_node(self, value: dict[Any, Any]) -> Node:
        node: Node = ["d"]
        for key, item in value.items():
            node.append(self.cell(key))
            node.append(self.cell(item))
        return node

    def _exception_node(self, value: BaseException) -> Node:
        kind = type(value)
        name = f"{kind.__module__}.{kind.__qualname__}"
        # OSError and its like keep part of their constructor's arguments outside `args`.
        arguments = value.__reduce__()[1] if name in BUILTIN_EXCEPTIONS else value.args
        return ["e", name, self.cell(arguments), self.cell(vars(value))]

    def _array_node(self, value: Any) -> Node:
        self._arrays.append(len(self._nodes))
        if value.flags.c_contiguous:
            order: Any = "C"
        elif value.flags.f_contiguous:
            order = "F"
        else:
            value = value.copy(order="K") if value.flags.writeable else _frozen(value.copy(order="K"))
            order = list(value.strides)
        data = value.tobytes("A") if isinstance(order, str) else _memory(value)
        return ["a", dtype_text(value.dtype), list(value.shape), order, data, bool(value.flags.writeable)]

    def _share_memory(self) -> None:
        """Turn arrays that overlap in memory (with each other or with a known array) into views."""
        spans = sorted((*_span(self.objects[index]), index, False) for index in self._arrays)
        spans += [(*_span(array), index, True) for index, array in self._bases.items()]
        spans.sort()
        group: list[tuple[int, int, int, bool]] = []
        reach = -1
        for span in [*spans, None]:
            if span is not None and span[0] < reach:
                group.append(span)
                reach = max(reach, span[1])
                continue
            if len(group) > 1:
                self._share_group(group)
            if span is not None:
                group, reach = [span], span[1]

    def _share_group(self, group: list[tuple[int, int, int, bool]]) -> None:
        own = [index for _, _, index, known in group if not known]
        anchors = [(start, stop, index) for start, stop, index, known in group if known]
        if not own:
            return
        if anchors:
            for index in own:
                self._nodes[index] = self._view_of_known(self.objects[index], anchors)
            return
        start, end = group[0][0], max(stop for _, stop, _, _ in group)
        memory = np.zeros(end - start, np.uint8)
        for index in own:
            array = self.objects[index]
            view = np.ndarray(array.shape, array.dtype, memory, _address(array) - start, array.strides)
            view[...] = array
        buffer = len(self._nodes)
        self.objects.append(memory)
        self._nodes.append(["b", memory.tobytes()])
        for index in own:
            self._nodes[index] = self._view_node("v", [buffer], self.objects[index], start)

    def _view_of_known(self, array: Any, anchors: list[tuple[int, int, int]]) -> Node:
        first, last = _span(array)
        for start, stop, known in anchors:
            base = self._bases[known]
            if start <= first and last <= stop and stop - start == base.nbytes and min(base.strides, default=0) >= 0:
                return self._view_node("w", known, array, start)
        raise UnsupportedValueError(array, "it is a view across the edge or the gaps of an array passed as an argument")

    @staticmethod
    def _view_node(tag: str, base: Any, array: Any, start: int) -> Node:
        offset = _address(array) - start
        dtype, shape, strides = dtype_text(array.dtype), list(array.shape), list(array.strides)
        return [tag, base, dtype, shape, strides, offset, bool(array.flags.writeable)]


def _scalar_node(value: Any) -> Node:
    if value.dtype.hasobject:
        raise UnsupportedValueError(value, "it holds Python objects")
    return ["n", dtype_text(value.dtype), value.tobytes()]


def _set_node(encoder: Encoder, tag: str, items: Iterable[Any]) -> Node:
    # One canonical order: what the receiver sees depends on the set's content, not on how it grew.
    return [tag, *[encoder.cell(item) for item in sorted(items, key=lambda item: encode_value(item))]]


_BUILDERS: dict[type, Callable[[Encoder, Any], Node]] = {
    list: lambda encoder, value: encoder._sequence_node("l", value),
    tuple: lambda encoder, value: encoder._sequence_node("t", value),
    dict: lambda encoder, value: encoder._dict_node(value),
    set: lambda encoder, value: _set_node(encoder, "s", value),
    frozenset: lambda encoder, value: _set_node(encoder, "f", value),
    np.ndarray: lambda encoder, value: encoder._array_node(value),
    int: lambda encoder, value: ["i", hex(value)],
    str: lambda encoder, value: ["u", value.encode("utf-8", "surrogatepass")],
    complex: lambda encoder, value: ["c", value.real, value.imag],
    bytearray: lambda encoder, value: ["y", bytes(value)],
}


def dtype_text(dtype: Any) -> Any:
    """A dtype as data: its text, or its field list where it has fields."""
    if dtype.hasobject:
        raise TypeError(f"An array of dtype {dtype} can't cross the boundary: it holds Python objects.")
    if dtype.names is not None or dtype.subdtype is not None:
        return np.lib.format.dtype_to_descr(dtype)
    return dtype.str


def dtype_of(text: Any) -> Any:
    """The dtype behind `dtype_text`; MalformedMessageError for one that no encoder writes."""
    try:
        dtype = np.dtype(text) if isinstance(text, str) else np.lib.format.descr_to_dtype(_as_descr(text))
    except (TypeError, ValueError) as error:
        raise MalformedMessageError(f"No dtype: {text!r}.") from error
    if dtype.kind not in _DTYPE_KINDS or dtype.hasobject:
        raise MalformedMessageError(f"A dtype that may not cross the boundary: {text!r}.")
    return dtype


def _as_descr(text: Any) -> Any:
    """msgpack turns tuples into lists; NumPy wants field descriptions as tuples."""
    if isinstance(text, str):
        return text
    fields = []
    for name, kind, *shape in text:
        title = tuple(name) if isinstance(name, list) else name
        fields.append((title, _as_descr(kind), *(tuple(item) for item in shape)))
    return fields


def _frozen(array: Any) -> Any:
    array.flags.writeable = False
    return array


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def _span(array: Any) -> tuple[int, int]:
    """First and one past last byte address that the array's elements touch."""
    start = end = _address(array)
    if array.size == 0:
        return start, start
    for size, stride in zip(array.shape, array.strides, strict=True):
        if stride < 0:
            start += (size - 1) * stride
        else:
            end += (size - 1) * stride
    return start, end + int(array.itemsize)


def _memory(array: Any) -> bytes:
    """The bytes of a gapless array in memory order."""
    start, end = _span(array)
    flat = np.lib.stride_tricks.as_strided(array.view(), (array.size,), (array.itemsize,))
    assert end - start == array.nbytes
    return bytes(flat.tobytes())


def encode_value(value: Any) -> bytes:
    """One value alone, as bytes that are equal exactly when the values are equal bit by bit."""
    encoder = Encoder()
    root = encoder.cell(value)
    return _pack([root, encoder.finish()])


def decode_value(data: bytes, exceptions: Mapping[str, type[BaseException]] | None = None) -> Any:
    """The value behind `encode_value`."""
    root, nodes = unpack_table(data)
    return Decoder(nodes, exceptions=exceptions).value(root)


def pack_table(parts: list[Any]) -> bytes:
    """A message's cells and nodes as bytes."""
    return _pack(parts)


def unpack_table(data: bytes) -> Any:
    """Cells and nodes behind `pack_table`; MalformedMessageError if the bytes are none."""
    try:
        return _unpack(data)
    except msgspec.DecodeError as error:
        raise MalformedMessageError(f"Not a node table: {error}.") from error


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
        self.objects: list[Any] = [None] * len(nodes)
        try:
            self._build()
        except (TypeError, ValueError, IndexError, KeyError, OverflowError) as error:
            if isinstance(error, MalformedMessageError):
                raise
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
        if isinstance(order, str):
            array = np.ndarray(shape, kind, data, order="F" if order == "F" else "C")
        else:
            array = np.ndarray(shape, kind, data, 0, order)
        return self._placed(index, array.copy(order="K"), writeable)

    def _view(self, index: int, node: Node) -> Any:
        _, base, dtype, shape, strides, offset, writeable = node
        memory = self._memory_of(base[0])
        return self._placed(index, np.ndarray(shape, dtype_of(dtype), memory, offset, strides), writeable)

    def _memory_of(self, index: int) -> bytearray:
        if self.objects[index] is None:
            self.objects[index] = bytearray(self._nodes[index][1])
        memory: bytearray = self.objects[index]
        return memory

    def _known_view(self, node: Node) -> Any:
        _, known, dtype, shape, strides, offset, writeable = node
        base = self._known[known]
        memory = np.lib.stride_tricks.as_strided(base, (base.size,), (base.itemsize,)).view(np.uint8)
        array = np.ndarray(shape, dtype_of(dtype), memory, offset, strides)
        array.flags.writeable = writeable
        return array

    def _placed(self, index: int, array: Any, writeable: bool) -> Any:
        target = self._into(index, np.ndarray)
        if target is not None:
            if target.shape != array.shape or target.dtype != array.dtype:
                raise MalformedMessageError(
                    "An array's shape or dtype was changed in place; that can't be carried back."
                )
            if target.tobytes() != array.tobytes():
                target[...] = array
            return target
        if not writeable:
            array.flags.writeable = False
        return array

    def _exception(self, node: Node) -> BaseException:
        _, name, args, attributes = node
        kind = self._exceptions.get(name) or BUILTIN_EXCEPTIONS.get(name)
        if kind is None:
            raise MalformedMessageError(f"An exception that the surface does not declare: {name}.")
        arguments = self.value(args)
        if name in BUILTIN_EXCEPTIONS:
            error = kind(*arguments)
        else:  # never a foreign constructor: it may take other arguments than `args`
            error = kind.__new__(kind)
            error.args = arguments
        vars(error).update(self.value(attributes))
        return error


def _builtin_exceptions() -> dict[str, type[BaseException]]:
    import builtins

    kinds = [item for item in vars(builtins).values() if isinstance(item, type) and issubclass(item, BaseException)]
    return {f"builtins.{kind.__name__}": kind for kind in kinds}


BUILTIN_EXCEPTIONS = _builtin_exceptions()
"""Exceptions that every Python has, by qualified name."""


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
    "n": lambda decoder, index, node: np.frombuffer(node[2], dtype_of(node[1]))[0],
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
