"""Agreement with the paper: where each published figure lies among many groups of ten worlds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from surefoot.pi.experiment import Results
from surefoot.pi.figures import FIGURES, Figure, invariants

GROUP = 10
GROUPS_DRAWN = 20_000
CENTRAL = 99.0
_TOLERANCE = 0.005 + 1e-9
"""Published figures are rounded to two places."""


class Placed(NamedTuple):
    """A published figure, the mean of the ten-world values, the figure's percentile among them, and the verdict."""

    name: str
    published: float
    mean: float
    percentile: float
    inside: bool


class Held(NamedTuple):
    """An invariant, and whether it held in every world."""

    name: str
    holds: bool


def place(worlds: Sequence[Results], seed: int = 0) -> list[Placed]:
    """Each figure's percentile among the values of random groups of ten worlds, drawn without replacement."""
    chance = random.Random(f"pi groups {seed}")
    size = min(GROUP, len(worlds))
    groups = np.array([chance.sample(range(len(worlds)), size) for _ in range(GROUPS_DRAWN)])
    return [_placed(figure, worlds, groups) for figure in FIGURES]


def _placed(figure: Figure, worlds: Sequence[Results], groups: npt.NDArray[np.int64]) -> Placed:
    pairs = np.array([figure.per_world(results) for results in worlds])
    own, other = pairs[groups, 0], pairs[groups, 1]
    if figure.statistic == "sd":
        values = own.std(axis=1, ddof=1)
    else:
        values = own.mean(axis=1) - other.mean(axis=1)
        if figure.statistic == "reduction":
            values = 100 * values / other.mean(axis=1)
    below = np.mean(values < figure.published - _TOLERANCE)
    equal = np.mean(np.abs(values - figure.published) <= _TOLERANCE)
    percentile = float(100 * (below + equal / 2))
    edge = (100 - CENTRAL) / 2
    low, high = np.percentile(values, [edge, 100 - edge])
    inside = bool(low - _TOLERANCE <= figure.published <= high + _TOLERANCE)
    return Placed(figure.name, figure.published, float(values.mean()), percentile, inside)


def held(worlds: Sequence[Results]) -> list[Held]:
    """Each exact invariant over all worlds."""
    every = [{each.name: each.holds(results) for each in invariants(results)} for results in worlds]
    return [Held(name, all(found[name] for found in every)) for name in every[0]]
