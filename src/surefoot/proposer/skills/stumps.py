"""Fitting a guard's condition: one stump that sends some scenes one way and leaves others as they are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from surefoot.boundary.wire import Scalar
from surefoot.proposer.skills.sketch import Condition

Values = Mapping[str, Scalar]
_NEAR = 0.1
_DIGITS = 6


def fit_stump(
    wanted: Sequence[Values], kept: Sequence[Values], others: Sequence[Values], generous: bool
) -> Condition | None:
    """A condition that holds on all of `wanted` and on none of `kept`; None if no single expression tells them apart.

    Its expression can be read on all scenes, `others` included, so that no scene that is known fails at it.
    Preferred are equality of texts and flags, a wide gap relative to the spread seen on all scenes (`others`
    included), and values with names of their own. A `generous` threshold lies close to the kept scenes, so that
    unseen ones follow the wanted; otherwise it lies half way.
    """
    if not wanted or not kept:
        return None
    best: tuple[float, Condition] | None = None
    for expression in wanted[0]:
        if not all(expression in values for group in (wanted, kept, others) for values in group):
            continue
        columns = [[values[expression] for values in group] for group in (wanted, kept, others)]
        found = _fit(expression, *columns, generous)
        if found is None:
            continue
        # a value that the author gave a name of its own is likelier to matter than one deep in a reading
        weight = found[0] / (1 + expression.count("["))
        if best is None or weight > best[0]:
            best = (weight, found[1])
    return best[1] if best else None


def _fit(
    expression: str, wanted: list[Scalar], kept: list[Scalar], spread: list[Scalar], generous: bool
) -> tuple[float, Condition] | None:
    if all(isinstance(value, str | bool) for value in (*wanted, *kept)):
        first = wanted[0]
        if all(value == first for value in wanted) and all(value != first for value in kept):
            return 2.0, Condition(expression, "==", first)
        return None
    if any(isinstance(value, str) for value in (*wanted, *kept, *spread)):
        return None
    if not all(math.isfinite(value) for value in (*_floats(wanted), *_floats(kept))):
        return None
    return _threshold(
        expression, _floats(wanted), _floats(kept), list(filter(math.isfinite, _floats(spread))), generous
    )


def _floats(values: list[Scalar]) -> list[float]:
    return [float(value) for value in values]


def _threshold(
    expression: str, wanted: list[float], kept: list[float], spread: list[float], generous: bool
) -> tuple[float, Condition] | None:
    every = [*wanted, *kept, *spread]
    width = max(every) - min(every)
    if min(wanted) > max(kept):
        near, far, operator = max(kept), min(wanted), ">"
    elif max(wanted) < min(kept):
        near, far, operator = min(kept), max(wanted), "<"
    else:
        return None
    value = near + (far - near) * (_NEAR if generous else 0.5)
    rounded = round(value, _DIGITS)
    if not min(near, far) < rounded < max(near, far):
        rounded = value
    if not min(near, far) <= rounded <= max(near, far) or rounded == far:
        return None  # no float lies between them, or their distance is none
    return abs(far - near) / width, Condition(expression, operator, rounded)
