"""Tracing a program from inside its process: which lines ran, and local values at watched places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy as np

from surefoot.boundary.wire import Scalar

MOST_ELEMENTS = 16
"""Larger containers are data, not features; they are not reported."""
_DEPTH = 3
Trace = Callable[[FrameType, str, Any], Any]


def tracer(
    file: str, lines: set[int], watch: tuple[str, ...], report: Callable[[str, dict[str, Scalar]], None]
) -> Trace:
    """A trace function for code of `file`: fills `lines`, reports the locals at each watched place."""
    watched_lines = {int(place[5:]) for place in watch if place.startswith("line:")}
    watched_ends = {place[4:] for place in watch if place.startswith("end:")}

    def local(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            lines.add(frame.f_lineno)
            if frame.f_lineno in watched_lines:
                report(f"line:{frame.f_lineno}", expressions(frame.f_locals))
        elif event == "return" and frame.f_code.co_name in watched_ends:
            report(f"end:{frame.f_code.co_name}", expressions(frame.f_locals))
        return local

    return lambda frame, event, _: local if frame.f_code.co_filename == file else None


def expressions(names: dict[str, Any]) -> dict[str, Scalar]:
    """Scalars reachable from local names, by the Python expression that reads them: `pose[0][2]`."""
    found: dict[str, Scalar] = {}
    for name, value in names.items():
        if not name.startswith("_"):
            found.update(_leaves(name, value, _DEPTH))
    return found


def _leaves(path: str, value: Any, depth: int) -> Iterator[tuple[str, Scalar]]:
    kind = type(value)
    if kind in (bool, float) or (kind is int and abs(value) < 1 << 63) or (kind is str and value.isprintable()):
        yield path, value
    elif isinstance(value, np.generic) and value.ndim == 0 and value.dtype.kind in "biufU":
        yield path, value.item()
    elif depth and isinstance(value, np.ndarray) and value.size <= MOST_ELEMENTS and value.dtype.kind in "biuf":
        for place in np.ndindex(value.shape):
            yield path + "".join(f"[{index}]" for index in place), value[place].item()
    elif depth and kind in (list, tuple) and len(value) <= MOST_ELEMENTS:
        for index, item in enumerate(value):
            yield from _leaves(f"{path}[{index}]", item, depth - 1)
    elif depth and kind is dict and len(value) <= MOST_ELEMENTS:
        for key, item in value.items():
            if type(key) in (str, int):
                yield from _leaves(f"{path}[{key!r}]", item, depth - 1)
