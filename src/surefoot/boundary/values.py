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
| `["n", dtype, bytes]`                           | NumPy scalar; dtype `U` or `S` for its str or bytes |
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

import contextlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

Cell = Any
Node = list[Any]
_INT_MIN, _INT_MAX = -(1 << 63), (1 << 64) - 1
_DTYPE_KINDS = frozenset("biufcSUMmV")
_MAX_VIEW = 256 << 20
_ACROSS = "it is a view across the edge or the gaps of an array that the other side already has"
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
    """Builds one node table.

    `known` maps id(object) to the index under which the receiver knows it. `exceptions` are those that the
    receiver can rebuild besides Python's own; without it any is written.
    """

    def __init__(
        self,
        known: Mapping[int, int] | None = None,
        known_arrays: Sequence[tuple[int, Any]] = (),
        exceptions: Mapping[str, type[BaseException]] | None = None,
    ):
        self.objects: list[Any] = []
        self._exceptions = exceptions
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
        if isinstance(value, BaseExceptionGroup):
            raise UnsupportedValueError(value, "exceptions in groups are not carried; pass them in a list")
        if self._exceptions is not None and name not in self._exceptions and name not in BUILTIN_EXCEPTIONS:
            raise UnsupportedValueError(value, "of exceptions only Python's own and those declared with @api can")
        arguments, attributes = value.args, vars(value)
        if isinstance(value, OSError):  # keeps a file name outside `args`
            arguments = OSError.__reduce__(value)[1]  # type: ignore[assignment]
        elif isinstance(value, ImportError):  # keeps name and path outside `vars`
            attributes = {**attributes, "name": value.name, "path": value.path}
        return ["e", name, self.cell(arguments), self.cell(attributes)]

    def _array_node(self, value: Any) -> Node:
        self._arrays.append(len(self._nodes))
        dtype, writeable = dtype_text(value), bool(value.flags.writeable)
        if not value.flags.forc:
            value = value.copy(order="K")
        order: Any = "C" if value.flags.c_contiguous else "F" if value.flags.f_contiguous else list(value.strides)
        data = value.tobytes("A") if isinstance(order, str) else _memory(value)
        return ["a", dtype, list(value.shape), order, data, writeable]

    def _share_memory(self) -> None:
        """Turn arrays that overlap in memory (with each other or with a known array) into views."""
        spans = [(*_span(self.objects[index]), index, False) for index in self._arrays if self.objects[index].size]
        spans += [(*_span(array), index, True) for index, array in self._bases.items() if array.size]
        groups: list[list[tuple[int, int, int, bool]]] = []
        reach = -1
        for span in sorted(spans):
            if span[0] < reach:
                groups[-1].append(span)
            else:
                groups.append([span])
            reach = max(reach, span[1])
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
            if start <= first and last <= stop and _is_gapless(self._bases[known]):
                return self._view_node("w", known, array, start)
        raise UnsupportedValueError(array, _ACROSS)

    @staticmethod
    def _view_node(tag: str, base: Any, array: Any, start: int) -> Node:
        offset = _address(array) - start
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


def _scalar(node: Node) -> Any:
    _, text, data = node
    if text == "U":
        return np.str_(data.decode("utf-32-le", "surrogatepass"))
    return np.bytes_(data) if text == "S" else np.ndarray((), dtype_of(text), data)[()]


def _set_node(encoder: Encoder, tag: str, items: Iterable[Any]) -> Node:
    # One canonical order: what the receiver sees depends on the set's content, not on how it grew.
    try:
        ordered = sorted(items, key=encode_value)
    except RecursionError:
        raise UnsupportedValueError(items, "its frozensets are nested too deeply") from None
    return [tag, *[encoder.cell(item) for item in ordered]]


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


def dtype_text(value: Any) -> Any:
    """The dtype of an array or scalar as data: its text, or its field list where it has fields."""
    dtype = value.dtype
    if dtype.hasobject:
        raise UnsupportedValueError(value, f"its dtype {dtype} holds Python objects")
    if dtype.metadata is not None or (dtype.names is not None and dtype.type is not np.void):
        raise UnsupportedValueError(value, f"its dtype {dtype} has metadata or a class of its own")
    if dtype.names is not None or dtype.subdtype is not None:
        try:
            return np.lib.format.dtype_to_descr(dtype)
        except ValueError:
            raise UnsupportedValueError(value, f"its dtype {dtype} has overlapping or unordered fields") from None
    # `str` of a long long is that of a long
    return dtype.str[0] + dtype.char if dtype.char in "qQ" else dtype.str


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


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def _span(array: Any) -> tuple[int, int]:
    """First and one past last byte address that the array's elements touch."""
    return _extent(_address(array), array.shape, array.strides, array.itemsize)


def _extent(start: int, shape: Sequence[int], strides: Sequence[int], itemsize: int) -> tuple[int, int]:
    end = start
    if 0 in shape:
        return start, start
    for size, stride in zip(shape, strides, strict=True):
        if stride < 0:
            start += (size - 1) * stride
        else:
            end += (size - 1) * stride
    return start, end + itemsize


def _is_gapless(array: Any) -> bool:
    start, end = _span(array)
    return end - start == array.nbytes and min(array.strides, default=0) >= 0


def _window(array: Any, dtype: Any, shape: Sequence[int], strides: Sequence[int], offset: int, writeable: bool) -> Any:
    """A view into the memory of a gapless array, `offset` bytes from its start."""
    memory = np.lib.stride_tricks.as_strided(array, (array.size,), (array.itemsize,)).view(np.uint8)
    view = np.ndarray(shape, dtype, memory, offset, strides)
    view.flags.writeable = writeable
    return view


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
        if math.prod(shape) * kind.itemsize > _MAX_VIEW:
            raise MalformedMessageError(f"A view of shape {shape} is larger than any message.")
        if self._links and self._into(index, np.ndarray) is None:
            first, last = _extent(offset, shape, strides, kind.itemsize)
            for start, stop, known, as_sent in self._anchors_in(base[0]):
                if last <= start or stop <= first:
                    continue
                if start <= first and last <= stop and list(known.strides) == as_sent[4] and _is_gapless(known):
                    return _window(known, kind, shape, strides, offset - start, writeable)
                raise UnsupportedValueError(known, _ACROSS)
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
                    extent = _extent(node[5], node[3], node[4], dtype_of(node[2]).itemsize)
                    found.append((*extent, target, node))
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
        if type(base) is not np.ndarray or not _is_gapless(base):
            raise MalformedMessageError("A view of what is no gapless array.")
        return _window(base, dtype_of(dtype), shape, strides, offset, writeable)

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


def _set_attributes(error: BaseException, attributes: dict[str, Any]) -> None:
    if isinstance(error, ImportError):
        error.name, error.path = attributes.pop("name"), attributes.pop("path")
    vars(error).update(attributes)


def _builtin_exceptions() -> dict[str, type[BaseException]]:
    import builtins

    kinds = [item for item in vars(builtins).values() if isinstance(item, type) and issubclass(item, BaseException)]
    return {f"builtins.{kind.__name__}": kind for kind in kinds if not issubclass(kind, BaseExceptionGroup)}


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
