"""Values as one flat node table: exact, data only, with aliases, cycles and array views kept.

A message's objects become a list of nodes. A cell is either an inline scalar (None, bool, int, float, str,
bytes) or `[k]`, a reference to node k, so two references to one object stay one object. Nodes are numbered
in order of discovery; the public state is always the first root, so its nodes come first.

| node                                            | object                                              |
| ----------------------------------------------- | --------------------------------------------------- |
| `["l", *cells]` `["t", *cells]`                 | list, tuple                                         |
| `["d", *(key, value)]`                          | dict, in order                                      |
| `["s", *cells]` `["f", *cells]`                 | set, frozenset, in one canonical order              |
| `["O", *(key, value)]` `["C", *(key, value)]`   | OrderedDict, Counter                                |
| `["D", factory, *(key, value)]`                 | defaultdict; factory by name, or None               |
| `["q", limit, *cells]`                          | deque                                               |
| `["i", text]` `["u", bytes]` `["c", re, im]`    | big int, str with surrogates, complex               |
| `["y", bytes]`                                  | bytearray                                           |
| `["x", kind, *cells]`                           | range, slice, date, decimal …: see `plain`          |
| `["n", dtype, bytes]`                           | NumPy scalar; dtype `U` or `S` for its str or bytes |
| `["a", dtype, shape, order, bytes, writeable]`  | ndarray that shares memory with no other            |
| `["b", bytes]`                                  | memory shared by several arrays of the message      |
| `["v", [k], dtype, shape, strides, offset, w]`  | ndarray that is a view of memory node k             |
| `["w", k, dtype, shape, strides, offset, w]`    | ndarray that is a view of the array known as k      |
| `["e", type, args, attributes, cause, s]`       | exception; s: whether its context is suppressed     |
| `["E", type, member]`                           | member of an enum: its name, a flag's number        |
| `["N", type, *cells]`                           | named tuple                                         |
| `["o", type, *(name, value)]`                   | dataclass instance: its attributes, in order        |
| `["h", type, number]`                           | handle: an object that stays with the host          |
| `["^", k]`                                      | the object that the receiver knows as k             |

An array that shares memory with nothing else in its message travels compact (C order, F order, or its own
axis order), so equal values are equal messages however they were sliced out. Nothing is flattened or
replaced: what cannot be exact is refused by its qualified name.
"""

from __future__ import annotations

import builtins
import dataclasses
import enum
import inspect
import sys
from collections.abc import Iterator
from typing import Any

import msgspec

Cell = Any
Node = list[Any]
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode


class UnsupportedValueError(TypeError):
    """A value that cannot cross the boundary exactly; the text gives its qualified type name."""

    def __init__(self, value: object, why: str = ""):
        kind = type(value)
        reason = why or _why_not(value)
        super().__init__(f"A value of type {kind.__module__}.{kind.__qualname__} can't cross the boundary: {reason}.")


def _why_not(value: object) -> str:
    if isinstance(value, Iterator):
        return "an iterator would run on one side only; pass a list"
    if callable(value) and not _has_public_methods(type(value)):
        return "functions and classes stay where they are; pass what they give"
    kind = type(value)
    if (
        dataclasses.is_dataclass(kind)
        or isinstance(value, enum.Enum)
        or (isinstance(value, tuple) and kind is not tuple)
    ):
        return (
            f"its type is not declared on the surface with types=({kind.__qualname__},), an argument of record or @api"
        )
    if _has_public_methods(kind) and getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind:
        return (
            "its type is not declared on the surface; to let it stay where it is and call its methods, declare it with "
            f"types=({kind.__qualname__},), an argument of record or @api (see docs/own-api.md), or pass what is needed of it"
        )
    return "only Python scalars, str, bytes, containers, ndarrays, NumPy scalars, exceptions and declared types can"


def _has_public_methods(kind: type) -> bool:
    """Whether a class outside Python's own defines methods that a handle could offer."""
    own = [base for base in kind.__mro__ if base.__module__ != "builtins"]
    plain = all(base in own or base is object for base in kind.__mro__)
    return plain and any(
        inspect.isfunction(item) and name[0] != "_" for base in own for name, item in vars(base).items()
    )


ACROSS = "it is a view across the edge or the gaps of an array that the other side already has"
"""Why some views are refused."""


class MalformedMessageError(ValueError):
    """A node table that no encoder wrote."""


def pack_table(parts: list[Any]) -> bytes:
    """A message's cells and nodes as bytes."""
    return _pack(parts)


def unpack_table(data: bytes) -> Any:
    """Cells and nodes behind `pack_table`; MalformedMessageError if the bytes are none."""
    try:
        return _unpack(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise MalformedMessageError(f"Not a node table: {str(error).rstrip('.')}.") from error


def _builtin_exceptions() -> dict[str, type[BaseException]]:
    kinds = [item for item in vars(builtins).values() if isinstance(item, type) and issubclass(item, BaseException)]
    return {f"builtins.{kind.__name__}": kind for kind in kinds if not issubclass(kind, BaseExceptionGroup)}


BUILTIN_EXCEPTIONS = _builtin_exceptions()
"""Exceptions that every Python has, by qualified name."""
