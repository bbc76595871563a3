"""The first difference between two node tables: where, what was expected, what came instead."""

from __future__ import annotations

import struct
from typing import Any

import msgspec
import numpy as np

from surefoot.boundary.values import Decoder, dtype_of

Nodes = list[list[Any]]
_KINDS = {
    "l": "list", "t": "tuple", "d": "dict", "s": "set", "f": "frozenset", "i": "int", "u": "str", "c": "complex",
    "y": "bytearray", "n": "NumPy scalar", "a": "ndarray", "v": "ndarray", "w": "ndarray", "e": "exception",
}  # fmt: skip


class Difference(msgspec.Struct, frozen=True):
    """A place in a request and the two values there, as text."""

    path: str
    expected: str
    got: str


class Comparison:
    """Walks two tables in step. Roots are compared in the order given; the first difference is returned."""

    def __init__(self, expected: Nodes, got: Nodes):
        self._expected = expected
        self._got = got
        self._partner: dict[int, int] = {}
        self._names: dict[int, str] = {}
        self._taken: dict[int, str] = {}

    def first(self, roots: list[tuple[str, Any, Any]]) -> Difference | None:
        """First difference among `(path, expected cell, got cell)` roots, depth first."""
        stack = list(reversed(roots))
        while stack:
            path, expected, got = stack.pop()
            found = self._cells(path, expected, got, stack)
            if found is not None:
                return found
        return None

    def _cells(self, path: str, expected: Any, got: Any, stack: list[Any]) -> Difference | None:
        if type(expected) is not list or type(got) is not list:
            if type(expected) is list or type(got) is list or not same_scalar(expected, got):
                return self._differ(path, expected, got)
            return None
        first, second = expected[0], got[0]
        if first in self._partner:
            if self._partner[first] == second:
                return None
            return Difference(path, f"the same object as {self._names[first]}", "an object of its own")
        if second in self._taken:
            return Difference(path, "an object of its own", f"the same object as {self._taken[second]}")
        self._partner[first] = second
        self._names[first] = self._taken[second] = path
        return self._nodes(path, first, second, stack)

    def _nodes(self, path: str, first: int, second: int, stack: list[Any]) -> Difference | None:
        expected, got = self._expected[first], self._got[second]
        tag = expected[0]
        if tag != got[0]:
            return self._differ(path, [first], [second])
        if tag in ("l", "t"):
            return self._sequences(path, expected, got, stack)
        if tag in ("s", "f"):
            return None if expected == got else self._differ(path, [first], [second])
        if tag == "d":
            return self._dicts(path, expected, got, stack)
        if tag == "a":
            return self._arrays(path, expected, got)
        if tag == "e":
            if expected[1] != got[1]:
                return Difference(path, expected[1], got[1])
            stack += [(f"{path}.__dict__", expected[3], got[3]), (f"{path}.args", expected[2], got[2])]
            return None
        if tag == "v":
            if expected[2:] != got[2:]:
                return self._differ(path, [first], [second])
            stack.append((path, expected[1], got[1]))
            return None
        return None if expected == got else self._differ(path, [first], [second])

    def _sequences(self, path: str, expected: list[Any], got: list[Any], stack: list[Any]) -> Difference | None:
        pairs = list(zip(expected[1:], got[1:], strict=False))
        stack += [(f"{path}[{index}]", *pair) for index, pair in reversed(list(enumerate(pairs)))]
        if len(expected) == len(got):
            return None
        return self._first_of(stack, len(pairs)) or Difference(
            f"len({path})", str(len(expected) - 1), str(len(got) - 1)
        )

    def _first_of(self, stack: list[Any], count: int) -> Difference | None:
        """The first difference among the top `count` entries, which are taken off the stack."""
        top = stack[len(stack) - count :]
        del stack[len(stack) - count :]
        return self.first(list(reversed(top)))

    def _dicts(self, path: str, expected: list[Any], got: list[Any], stack: list[Any]) -> Difference | None:
        keys = [self._text(self._expected, cell) for cell in expected[1::2]]
        others = [self._text(self._got, cell) for cell in got[1::2]]
        if keys != others:
            missing = [key for key in keys if key not in others]
            extra = [key for key in others if key not in keys]
            if missing or extra:
                return Difference(f"keys of {path}", _listed(missing, "no further key"), _listed(extra, "no such key"))
            return Difference(f"order of keys of {path}", ", ".join(keys), ", ".join(others))
        values = zip(keys, expected[2::2], got[2::2], strict=True)
        stack += [(f"{path}[{key}]", first, second) for key, first, second in reversed(list(values))]
        return None

    def _arrays(self, path: str, expected: list[Any], got: list[Any]) -> Difference | None:
        if expected == got:
            return None
        for name, index in (("dtype", 1), ("shape", 2)):
            if expected[index] != got[index]:
                return Difference(f"{path}.{name}", _plain(expected[index]), _plain(got[index]))
        if expected[3] != got[3]:
            return Difference(f"memory order of {path}", str(expected[3]), str(got[3]))
        if expected[4] == got[4]:
            return Difference(f"{path}.flags.writeable", str(expected[5]), str(got[5]))
        return _first_element(path, expected, got)

    def _differ(self, path: str, expected: Any, got: Any) -> Difference:
        first, second = self._text(self._expected, expected), self._text(self._got, got)
        if first == second:
            first, second = _exact(self._expected, expected, first), _exact(self._got, got, second)
        return Difference(path, first, second)

    @staticmethod
    def _text(nodes: Nodes, cell: Any) -> str:
        return value_text(nodes, cell)


def same_scalar(first: Any, second: Any) -> bool:
    """Equality by type and bits: 1, 1.0 and True differ, and so do 0.0 and -0.0."""
    if type(first) is not type(second):
        return False
    if type(first) is float:
        return struct.pack("<d", first) == struct.pack("<d", second)
    return bool(first == second)


def value_text(nodes: Nodes, cell: Any, width: int = 120) -> str:
    """A value of a table as short text."""
    if type(cell) is not list:
        return _short(repr(cell), width)
    node = nodes[cell[0]]
    if node[0] == "e":
        return f"{node[1]}(…)"
    value = Decoder(nodes, exceptions=_AnyException()).value(cell)
    if isinstance(value, np.ndarray):
        return _short(np.array2string(value, separator=", ", threshold=12, floatmode="unique"), width)
    return _short(repr(value), width)


class _AnyException(dict[str, type[BaseException]]):
    """Stand-ins for exceptions of any name, for showing only."""

    def get(self, name: str, default: Any = None) -> type[BaseException]:
        return type(name.rpartition(".")[2], (Exception,), {})


def _first_element(path: str, expected: list[Any], got: list[Any]) -> Difference:
    dtype, shape, order = dtype_of(expected[1]), expected[2], expected[3]
    layout: dict[str, Any] = {"order": order} if isinstance(order, str) else {"strides": order}
    first, second = (np.ndarray(shape, dtype, node[4], **layout) for node in (expected, got))
    raw = [
        np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(-1, dtype.itemsize) for array in (first, second)
    ]
    flat = int(np.flatnonzero((raw[0] != raw[1]).any(axis=1))[0])
    place = np.unravel_index(flat, shape) if shape else ()
    texts = [
        str(array.reshape(-1)[flat].item()) if dtype.names is None else str(array.reshape(-1)[flat])
        for array in (first, second)
    ]
    if texts[0] == texts[1]:
        texts = [f"{text} (bits {bytes(bits[flat])[::-1].hex()})" for text, bits in zip(texts, raw, strict=True)]
    where = "".join(f"[{int(index)}]" for index in place)
    return Difference(path + where, texts[0], texts[1])


def _exact(nodes: Nodes, cell: Any, text: str) -> str:
    """Tell apart what prints alike: by type, or by bits."""
    if type(cell) is float:
        return f"{text} (bits {struct.pack('>d', cell).hex()})"
    if type(cell) is list:
        return f"{text} ({_KINDS.get(nodes[cell[0]][0], 'object')})"
    return f"{text} ({type(cell).__name__})"


def _listed(items: list[str], nothing: str) -> str:
    return ", ".join(items) if items else nothing


def _plain(value: Any) -> str:
    return str(tuple(value)) if isinstance(value, list) else str(value)


def _short(text: str, width: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 1] + "…"
