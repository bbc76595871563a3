"""What can be seen of values, as text: types, bits, identities, shared memory, flags, attributes.

This text is put before every program and into every generated surface, so that both sides and the run
in-process look with the same eyes. What is documented as not kept isn't looked at, see `oracle`.
"""

import collections as _collections
import dataclasses as _dataclasses
import enum as _enum
import struct as _struct
import sys as _sys

import numpy as _np


class _Look:
    def __init__(self):
        self.seen = {}
        self.arrays = []
        self.kept = []

    def text(self, value):
        kind = type(value)
        name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        if kind is float:
            return f"float {value!r} {_struct.pack('>d', value).hex()}"
        if kind is complex:
            return f"complex {_struct.pack('>dd', value.real, value.imag).hex()}"
        if isinstance(value, _np.generic):
            return f"{name} {value.dtype.str} {value.tobytes().hex()}"
        if isinstance(value, _enum.Enum):
            return f"{name} {value.name} {value.value!r} {kind(value.value) is value}"
        if isinstance(value, (BaseException, list, tuple, dict, set, frozenset, bytearray, _np.ndarray)) or (
            kind is _collections.deque or _dataclasses.is_dataclass(value) or kind.__name__ in ("Arm", "Leg")
        ):
            return self.numbered(name, value)
        return name if " at 0x" in repr(value) else f"{name} {value!r}"

    def numbered(self, name, value):
        if type(value) in (tuple, frozenset) and not value:
            return f"{name} ()"
        if id(value) in self.seen:
            return f"#{self.seen[id(value)]}"
        number = self.seen[id(value)] = len(self.seen)
        self.kept.append(value)
        return f"#{number}={name}{self.inside(number, value)}"

    def inside(self, number, value):
        if isinstance(value, BaseException):
            parts = [self.many(value.args), self.mapping(vars(value)), self.text(value.__cause__)]
            plain = all(isinstance(item, (str, int)) for item in value.args)  # the text of a set has its order
            more = [value.__suppress_context__, str(value) if plain else ""]
            return f"!{parts} {more} {getattr(value, 'filename', None)!r}"
        if isinstance(value, _np.ndarray):
            return self.array(number, value)
        if _dataclasses.is_dataclass(value):
            names = [item.name for item in _dataclasses.fields(value)]
            found = {item: getattr(value, item) for item in names if hasattr(value, item)}
            own = {} if vars(type(value)).get("__slots__") else vars(value)
            return f"{list(own)}{self.mapping({**found, **own})}"
        if isinstance(value, dict):
            factory = getattr(value, "default_factory", None)
            return (f"<{factory.__name__}>" if factory else "") + self.mapping(value)
        if isinstance(value, (set, frozenset)):
            return "{" + ", ".join(self.text(item) for item in sorted(value, key=self.order)) + "}"
        if isinstance(value, bytearray):
            return repr(bytes(value))
        if isinstance(value, (list, tuple, _collections.deque)):
            return f"{getattr(value, '_fields', '')}{getattr(value, 'maxlen', '')}{self.many(value)}"
        return ""

    def order(self, item):
        return _Look().text(item), self.seen.get(id(item), -1)

    def many(self, items):
        return "[" + ", ".join([self.text(item) for item in items]) + "]"

    def mapping(self, items):
        return "{" + ", ".join([f"{self.text(key)}: {self.text(item)}" for key, item in items.items()]) + "}"

    def array(self, number, value):
        self.arrays.append((number, value))
        descr = _np.lib.format.dtype_to_descr(value.dtype)
        axes = sorted(
            (axis for axis in range(value.ndim) if value.shape[axis] > 1), key=lambda a: -abs(value.strides[a])
        )
        return f"{descr} {value.dtype.char} {value.shape} {axes} {value.flags.writeable} {'' if value.dtype.hasobject else value.tobytes().hex()}"

    def shared(self):
        found = []
        for place, (first, one) in enumerate(self.arrays):
            for second, two in self.arrays[place + 1 :]:
                if one is not two and _np.shares_memory(one, two):
                    apart = two.__array_interface__["data"][0] - one.__array_interface__["data"][0]
                    found.append(f"{first}~{second}:{apart}:{one.strides}:{two.strides}")
        return " ".join(found)


def look(*values):
    """All of `values` as one text; equal texts mean that nobody can tell the values apart."""
    eyes = _Look()
    text = "\n  ".join(eyes.text(value) for value in values)
    return f"{text}\n  {eyes.shared()}"


def one(first, second):
    """Whether two values are one object of those that have an identity."""
    return first is second and _Look().text(first).startswith("#")


def see(*values):
    """Print what can be seen."""
    print(look(*values))


def caught(error):
    """Print an exception that a program caught; a refusal at the boundary is marked as such."""
    if type(error).__name__ in ("UnsupportedValueError", "FrameTooLargeError"):
        print("REFUSED", error)
    print("caught", look(error))
    return error


def order(*values):
    """Print what has to be the same live and replayed, but not in-process: set order, entropy."""
    print(*values, file=_sys.stderr)
