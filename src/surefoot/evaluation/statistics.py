"""Success rates with their uncertainty, and paired comparison of two programs on the same scenes."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np


def wilson_interval(successes: int, episodes: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson score interval of a success rate; (0, 1) where there are no episodes."""
    if episodes == 0:
        return (0.0, 1.0)
    interval = _binomial(successes, episodes).proportion_ci(confidence, method="wilson")
    return (float(interval.low), float(interval.high))


class Spread(msgspec.Struct, frozen=True):
    """Mean and sample standard deviation (n - 1) of a few runs; None where they are too few to have one."""

    mean: float | None
    deviation: float | None


def spread(values: Iterable[float | None]) -> Spread:
    """The spread of the values that there are."""
    known = [value for value in values if value is not None]
    return Spread(mean_of(known), statistics.stdev(known) if len(known) > 1 else None)


def mean_of(values: Iterable[float | None]) -> float | None:
    """Mean of the values that there are; None without any."""
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def ratio(part: float, whole: float) -> float | None:
    """A share; None of nothing."""
    return part / whole if whole else None


class Paired(msgspec.Struct, frozen=True):
    """Two programs on the same scenes: scenes that only one solved, and the exact two-sided p-value."""

    only_first: int
    only_second: int
    p_value: float


def paired_exact(first: Sequence[bool], second: Sequence[bool]) -> Paired:
    """McNemar's exact test on paired outcomes; ValueError for unequal lengths."""
    pairs = list(zip(first, second, strict=True))
    only_first = sum(a and not b for a, b in pairs)
    only_second = sum(b and not a for a, b in pairs)
    discordant = only_first + only_second
    p_value = float(_binomial(only_first, discordant).pvalue) if discordant else 1.0
    return Paired(only_first, only_second, p_value)


class Difference(msgspec.Struct, frozen=True):
    """First less second over pairs: the mean, its bootstrap 95 % interval, and in how many pairs each is smaller."""

    mean: float
    interval: tuple[float, float]
    first_smaller: int
    second_smaller: int
    pairs: int


def paired_difference(groups: Sequence[Sequence[tuple[float, float]]], draws: int = 10_000) -> Difference:
    """The difference within pairs; of several groups (tasks), the mean of their means, drawn anew within each.

    ValueError if there is no group or an empty one.
    """
    if not groups or not all(groups):
        raise ValueError("There are no pairs to compare.")
    differences = [np.array([first - second for first, second in group], dtype=float) for group in groups]
    random = np.random.default_rng(0)
    means = [found[random.integers(len(found), size=(draws, len(found)))].mean(axis=1) for found in differences]
    low, high = np.percentile(np.mean(means, axis=0), (2.5, 97.5))
    every = np.concatenate(differences)
    return Difference(
        float(np.mean([found.mean() for found in differences])),
        (float(low), float(high)),
        int((every < 0).sum()),
        int((every > 0).sum()),
        len(every),
    )


def smallest_distance(
    first: Sequence[dict[str, tuple[float, ...]]], second: Sequence[dict[str, tuple[float, ...]]]
) -> float | None:
    """Smallest distance [m] between two scenes, one of each group: of their objects' displacements, the largest.

    None where no two scenes have the same objects.
    """
    best: float | None = None
    for one in first:
        for other in second:
            if one.keys() != other.keys() or not one:
                continue
            distance = max(math.dist(one[name], other[name]) for name in one)
            best = distance if best is None else min(best, distance)
    return best


def _binomial(successes: int, episodes: int) -> Any:
    """SciPy's binomial test; it takes longer to import than a worker, which needs none, to start."""
    from scipy import stats

    return stats.binomtest(successes, episodes)
