"""The first difference between two node tables: where, what was expected, what came instead."""

from __future__ import annotations

import struct
from typing import Any

import msgspec
import numpy as np

from surefoot.tape.text import Nodes, array_of, value_text

_WHOLE_KEY = 10_000
_KINDS = {
    "l": "list", "t": "tuple", "d": "dict", "s": "set", "f": "frozenset", "i": "int", "u": "str", "c": "complex",
    "y": "bytearray", "n": "NumPy scalar", "a": "ndarray", "v": "ndarray", "w": "ndarray", "e": "exception",
    "O": "OrderedDict", "C": "Counter", "D": "defaultdict", "q": "deque", "N": "named tuple", "o": "dataclass",
    "E": "enum", "h": "handle",
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
        if self._partner.get(first) == second:
            return None
        return self._paired(path, first, second, "object") or self._nodes(path, first, second, stack)

    def _paired(self, path: str, first: int, second: int, noun: str) -> Difference | None:
        """Take two nodes as counterparts of each other; a difference where either has another counterpart."""
        if first in self._partner:
            return Difference(path, f"the same {noun} as {self._names[first]}", f"{noun} of its own")
        if second in self._taken:
            return Difference(path, f"{noun} of its own", f"the same {noun} as {self._taken[second]}")
        self._partner[first] = second
        self._names[first] = self._taken[second] = path
        return None

    def _nodes(self, path: str, first: int, second: int, stack: list[Any]) -> Difference | None:
        expected, got = self._expected[first], self._got[second]
        tag = expected[0]
        if {tag, got[0]} == {"a", "v"}:
            own, view = "memory of its own", "memory that another value in the request shares"
            return Difference(path, *((own, view) if tag == "a" else (view, own)))
        if tag != got[0]:
            return self._differ(path, [first], [second])
        if tag in ("l", "t"):
            return self._sequences(path, expected, got, stack)
        if tag in ("N", "q", "x") and expected[1] == got[1]:
            return self._sequences(path, expected[1:], got[1:], stack)
        if tag == "D" and expected[1] == got[1]:
            return self._dicts(path, expected[1:], got[1:], stack)
        if tag == "o" and expected[1] == got[1]:
            return self._attributes(path, expected, got, stack)
        if tag in ("s", "f"):
            return None if expected == got else self._differ(path, [first], [second])
        if tag in ("d", "O", "C"):
            return self._dicts(path, expected, got, stack)
        if tag == "a":
            return self._arrays(path, expected, got)
        if tag == "e":
            if expected[1] != got[1]:
                return self._differ(path, [first], [second])
            stack += [
                (f"{path}.{name}", expected[index], got[index])
                for name, index in (("__suppress_context__", 5), ("__cause__", 4), ("__dict__", 3), ("args", 2))
            ]
            return None
        if tag == "v":
            return self._views(path, expected, got)
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
        keys = [value_text(self._expected, cell, _WHOLE_KEY) for cell in expected[1::2]]
        others = [value_text(self._got, cell, _WHOLE_KEY) for cell in got[1::2]]
        if keys != others:
            missing = [key for key in keys if key not in others]
            extra = [key for key in others if key not in keys]
            if missing or extra:
                return Difference(f"keys of {path}", _listed(missing, "no further key"), _listed(extra, "no such key"))
            return Difference(f"order of keys of {path}", ", ".join(keys), ", ".join(others))
        values = zip(keys, expected[2::2], got[2::2], strict=True)
        stack += [(f"{path}[{key}]", first, second) for key, first, second in reversed(list(values))]
        return None

    def _attributes(self, path: str, expected: list[Any], got: list[Any], stack: list[Any]) -> Difference | None:
        if expected[2::2] != got[2::2]:
            return Difference(f"attributes of {path}", ", ".join(expected[2::2]), ", ".join(got[2::2]))
        values = list(zip(expected[2::2], expected[3::2], got[3::2], strict=True))
        stack += [(f"{path}.{name}", first, second) for name, first, second in reversed(values)]
        return None

    def _arrays(self, path: str, expected: list[Any], got: list[Any]) -> Difference | None:
        if expected == got:
            return None
        for name, index in (("dtype", 1), ("shape", 2)):
            if expected[index] != got[index]:
                return Difference(f"{path}.{name}", _plain(expected[index]), _plain(got[index]))
        if expected[3] != got[3]:
            return Difference(f"memory order of {path}", str(expected[3]), str(got[3]))
        return _first_element(path, array_of(self._expected, expected), array_of(self._got, got)) or Difference(
            f"{path}.flags.writeable", str(expected[5]), str(got[5])
        )

    def _views(self, path: str, expected: list[Any], got: list[Any]) -> Difference | None:
        for name, index in ((".dtype", 2), (".shape", 3), (".strides", 4)):
            if expected[index] != got[index]:
                return Difference(path + name, _plain(expected[index]), _plain(got[index]))
        found = _first_element(path, array_of(self._expected, expected), array_of(self._got, got))
        if found is None and self._partner.get(expected[1][0]) != got[1][0]:
            found = self._paired(path, expected[1][0], got[1][0], "memory")
        if found is None and expected[5:] != got[5:]:
            name, index = (
                ("offset in memory of " + path, 5) if expected[5] != got[5] else (path + ".flags.writeable", 6)
            )
            found = Difference(name, str(expected[index]), str(got[index]))
        return found

    def _differ(self, path: str, expected: Any, got: Any) -> Difference:
        first, second = value_text(self._expected, expected), value_text(self._got, got)
        if first == second:
            first, second = _exact(self._expected, expected, first), _exact(self._got, got, second)
        return Difference(path, first, second)


def same_scalar(first: Any, second: Any) -> bool:
    """Equality by type and bits: 1, 1.0 and True differ, and so do 0.0 and -0.0."""
    if type(first) is not type(second):
        return False
    if type(first) is float:
        return struct.pack("<d", first) == struct.pack("<d", second)
    return bool(first == second)


def _first_element(path: str, expected: Any, got: Any) -> Difference | None:
    """The first element in which two arrays of one dtype and shape differ by bits."""
    arrays = [np.ascontiguousarray(array).reshape(-1) for array in (expected, got)]
    if expected.dtype.itemsize == 0 or arrays[0].tobytes() == arrays[1].tobytes():
        return None
    raw = [array.view(np.uint8).reshape(len(array), -1) for array in arrays]
    flat = int(np.flatnonzero((raw[0] != raw[1]).any(axis=1))[0])
    texts = [str(array[flat].item() if array.dtype.names is None else array[flat]) for array in arrays]
    if texts[0] == texts[1]:
        texts = [f"{text} (bits {bytes(bits[flat])[::-1].hex()})" for text, bits in zip(texts, raw, strict=True)]
    where = "".join(f"[{int(index)}]" for index in np.unravel_index(flat, expected.shape)) if expected.shape else ""
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
