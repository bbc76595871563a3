"""Arguments of API functions, checked before anything moves, so that a wrong one is the program's error."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping

import numpy as np

from surefoot.environments.robosuite.errors import BadFlagError, BadPoseError, UnknownObjectError
from surefoot.environments.robosuite.objects import ObjectSpec
from surefoot.environments.robosuite.poses import Array, matrix_of
from surefoot.errors import shown


def finite_array(value: object, size: int, what: str) -> Array:
    """A copy of `value` as a float array (size,); BadPoseError unless it is that many finite numbers."""
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        array = np.asarray(None)
    if array.dtype.kind not in "iuf" or array.shape != (size,):
        raise BadPoseError(f"{what} must be {size} numbers, not {shown(value)}.")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise BadPoseError(f"{what} must be finite, not {shown(value)}.")
    return array


def distance_of(value: object, what: str) -> float:
    """`value` as a float; BadPoseError unless it is one finite number."""
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    try:
        distance = float(value) if number else math.nan  # type: ignore[arg-type]
    except OverflowError:  # an int beyond all floats
        distance = math.inf
    if not math.isfinite(distance):
        raise BadPoseError(f"{what} must be a finite number of metres, not {shown(value)}.")
    return distance


def flag_of(value: object, what: str) -> bool:
    """`value` as a bool; BadFlagError unless it is True or False, 1 or 0."""
    if isinstance(value, bool | int | np.bool_ | np.integer) and value in (0, 1):
        return bool(value)
    raise BadFlagError(f"{what} must be True or False, not {shown(value)}.")


def rotation(value: object, what: str) -> Array:
    """Rotation matrix (3, 3) of a quaternion wxyz of any length but zero."""
    quaternion = finite_array(value, 4, what)
    largest = np.abs(quaternion).max()
    if largest < 1e-9:
        raise BadPoseError(f"{what} must not be zero; straight down is (0, 0, 1, 0).")
    quaternion /= largest  # so that squares neither vanish nor overflow
    return matrix_of(quaternion / np.sqrt((quaternion**2).sum()))


class ObjectNames:
    """Finds things by id or alias; case, underscores and blanks make no difference to an alias."""

    def __init__(self, names: Iterable[str], objects: Iterable[ObjectSpec]):
        self.specs: Mapping[str, ObjectSpec] = {spec.name: spec for spec in objects}
        self._names = tuple(names)
        self._aliases = {alias: spec.name for spec in self.specs.values() for alias in spec.aliases}

    def find(self, name: object) -> str:
        """The id of the thing that `name` means; UnknownObjectError with the nearest match where there is none."""
        if not isinstance(name, str):
            raise UnknownObjectError(
                f"An object's name is a string, not {shown(name)}. Available: {', '.join(self._names)}."
            )
        found = name if name in self._names else self._aliases.get(name.lower().replace("_", " "))
        if found is None:
            raise UnknownObjectError(self._complaint(name))
        return found

    def _complaint(self, asked: str) -> str:
        near = difflib.get_close_matches(asked, [*self._names, *self._aliases], n=1, cutoff=0.5)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        return f"There is no object '{asked}'.{hint} Available: {', '.join(self._names)}."
