"""Fitting a guard's condition: one stump that sends some scenes one way and leaves others as they are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from surefoot.boundary.wire import Scalar
from surefoot.proposer.skills.sketch import Condition

Values = Mapping[str, Scalar]
_NEAR = 0.1
_DIGITS = 6


class Stump(msgspec.Struct, frozen=True):
    """A fitted condition. `chance` is how many expressions like its own would fit as well by luck alone."""

    condition: Condition
    chance: float

    @property
    def telling(self) -> bool:
        """Whether the fit is likelier to mean something than not."""
        return self.chance <= 1.0


def fit_stump(
    wanted: Sequence[Values], kept: Sequence[Values], others: Sequence[Values], generous: bool
) -> Stump | None:
    """A condition that holds on all of `wanted` and on none of `kept`; None if no single expression tells them apart.

    Its expression can be read on all scenes, `others` included, so that no scene that is known fails at it.
    Preferred is what would least likely fit by luck (few expressions of its kind, many scenes), then a wide
    gap relative to the spread seen on all scenes. A `generous` threshold lies close to the kept scenes, so
    that unseen ones follow the wanted; otherwise it lies half way.
    """
    if not wanted or not kept:
        return None
    scenes = [*wanted, *kept, *others]
    readable = [name for name in wanted[0] if all(name in values for values in scenes)]
    peers = Counter(_kind(name, wanted[0]) for name in readable if len({values[name] for values in scenes}) > 1)
    luck = 2 / math.comb(len(wanted) + len(kept), len(wanted))
    best: tuple[float, float, Condition] | None = None
    for name in readable:
        columns = [[values[name] for values in group] for group in (wanted, kept, others)]
        found = _fit(name, columns[0], columns[1], columns[2], generous)
        if found is None:
            continue
        rank = (-peers[_kind(name, wanted[0])] * luck, found[0])
        if best is None or rank > best[:2]:
            best = (*rank, found[1])
    return Stump(best[2], -best[0]) if best else None


def _kind(name: str, values: Values) -> tuple[bool, bool]:
    """Expressions of one kind are as likely to matter: named or deep in a reading, text or number."""
    return ("[" in name, isinstance(values[name], str | bool))


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
