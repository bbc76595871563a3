"""What programs pass to the desk's functions, checked: names, positions, heights and forces."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from surefoot.environments.desk.errors import BadForceError, BadTargetError, UnknownObjectError
from surefoot.environments.desk.gripper import FORCES
from surefoot.environments.desk.world import CEILING, REACH
from surefoot.errors import shown, unknown_name


def checked_name(name: Any, available: Iterable[str]) -> str:
    """`name` if such an object exists; UnknownObjectError with the nearest match otherwise."""
    if not isinstance(name, str):
        raise UnknownObjectError(f"An object's name is a string, not {shown(name)}. See list_objects().")
    names = list(available)
    if name not in names:
        raise UnknownObjectError(str(unknown_name("object", name, names)))
    return name


def checked_position(position: Any) -> tuple[float, float]:
    """`position` as (x, y) within reach [m]; BadTargetError otherwise."""
    try:
        array = np.asarray(position)
    except (TypeError, ValueError):  # a ragged sequence
        array = np.empty(0)
    if array.shape != (2,) or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        raise BadTargetError(f"A position is two finite numbers (x, y) in metres, not {shown(position)}.")
    x, y = float(array[0]), float(array[1])
    if abs(x) > REACH[0] or abs(y) > REACH[1]:
        raise BadTargetError(
            f"The hand can't reach ({x:.3f}, {y:.3f}); x lies within ±{REACH[0]} m, y within ±{REACH[1]} m."
        )
    return x, y


def checked_height(height: Any) -> float:
    """`height` within the hand's range [m]; BadTargetError otherwise."""
    if not _is_finite(height) or not 0.0 <= height <= CEILING:
        raise BadTargetError(f"A height is a number from 0 to {CEILING} m, not {shown(height)}.")
    return float(height)


def checked_force(force: Any) -> float:
    """`force` within the gripper's range [N]; BadForceError otherwise."""
    if not _is_finite(force) or not FORCES[0] <= force <= FORCES[1]:
        raise BadForceError(f"A force is a number from {FORCES[0]:g} to {FORCES[1]:g} N, not {shown(force)}.")
    return float(force)


def _is_finite(number: Any) -> bool:
    is_real = isinstance(number, int | float | np.integer | np.floating) and not isinstance(number, bool)
    # An int beyond the range of float is finite, but isfinite cannot say so.
    return is_real and (isinstance(number, int) or math.isfinite(number))
