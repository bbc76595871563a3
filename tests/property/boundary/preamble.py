"""What every generated surface and every generated program begins with; cases are kept without it."""

from __future__ import annotations

import marshal
from pathlib import Path

LOOK = compile(Path(__file__).with_name("look.py").read_text(encoding="utf-8"), "<look>", "exec")
"""What runs look with, see `look`."""
SURFACE = """
import collections, ctypes, dataclasses, datetime, decimal, enum, fractions, mmap, pathlib, struct, typing, uuid
import numpy as np
from surefoot.boundary.surface import api

class Root(Exception):
    pass

class ToyError(Root):
    def __init__(self, detail, *, code=1):
        super().__init__(f"code {code}", code)
        self.detail, self.code = detail, code

class SubError(ToyError):
    pass

def shares(shared, value):
    return type(value) in shared if shared != "all" else isinstance(value, (list, dict, set, tuple, np.ndarray, Box))

def alter(value, item):
    kind = type(value)
    if kind is list:
        value.append(item)
    elif kind is dict or kind is collections.OrderedDict:
        value["new"] = value.pop("new", 0), item
        first = next(iter(value))
        value[first] = value.pop(first)
    elif kind is collections.defaultdict:
        value["missing"] if value.default_factory else value.update(new=item)
    elif kind is collections.Counter:
        value["n"] += 2
    elif kind is set:
        value.add(17)
    elif kind is collections.deque:
        value.appendleft(item)
        value.rotate(2)
    elif kind is bytearray:
        value.extend(b"z")
    elif kind is np.ndarray and value.flags.writeable and value.dtype.kind in "iuf":
        value += 1
    elif kind is np.ndarray and value.flags.writeable and value.base is None:
        value.flags.writeable = False
    elif kind is Box and not Box.__dataclass_params__.frozen:
        value.item = [value.item, item]
        if hasattr(value, "__dict__"):
            value.extra = item
    elif kind is Point and not Point.__dataclass_params__.frozen:
        value.x = item
    elif isinstance(value, BaseException):
        value.add_note("altered")
        value.mark = item
    return value
"""
PROGRAM = f"""import marshal; exec(marshal.loads({marshal.dumps(LOOK)!r}))
import collections, dataclasses, datetime, decimal, os, random, secrets, sys, time, uuid
import numpy as np
x, y, z, r, h = [1, 2.5, "three"], np.arange(6.0), {{"k": [1]}}, None, None
"""
