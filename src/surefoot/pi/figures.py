"""The paper's published figures, each with the way to measure it on ten worlds.

Means and standard deviations are over the ten worlds of a group; differences are paired within each world.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from surefoot.pi.experiment import COLD_BUDGET, FOLLOW_UP_BUDGET, Key, Results

Statistic = Literal["mean", "sd", "reduction"]
Field = Literal["final", "first", "collateral", "tentative", "trials", "visits"]


class Quantity(NamedTuple):
    """One number per world: a field of one cell of the results."""

    key: Key
    field: Field

    def of(self, results: Results) -> float:
        """The number of one world."""
        value: float = getattr(results[self.key], self.field)
        return value


class Figure(NamedTuple):
    """A published figure. With `minus`, it is the paired difference of two quantities; `reduction` is in per cent."""

    name: str
    published: float
    quantity: Quantity
    statistic: Statistic = "mean"
    minus: Quantity | None = None

    def per_world(self, results: Results) -> tuple[float, float]:
        """The quantity of one world, and what it is compared with (0 where it stands alone)."""
        return self.quantity.of(results), self.minus.of(results) if self.minus is not None else 0.0

    def of(self, worlds: Sequence[Results]) -> float:
        """The figure on a group of worlds."""
        pairs = [self.per_world(results) for results in worlds]
        own, other = (statistics.fmean(values) for values in zip(*pairs, strict=True))
        if self.statistic == "sd":
            return statistics.stdev(value for value, _ in pairs)
        return 100 * (own - other) / other if self.statistic == "reduction" else own - other


def _cold(controller: str, field: Field) -> Quantity:
    return Quantity(Key("cold", "composition", COLD_BUDGET, controller), field)


def _acquired(controller: str, field: Field, group: str = "composition", budget: int = 3) -> Quantity:
    return Quantity(Key("acquired", group, budget, controller), field)


def _new(controller: str, field: Field, budget: int) -> Quantity:
    return _acquired(controller, field, "revision-C", budget)


def _follow(controller: str, field: Field, exposures: int) -> Quantity:
    return Quantity(Key(f"follow-up {exposures}", "revision-C", FOLLOW_UP_BUDGET, controller), field)


_FOLLOW_UPS: tuple[tuple[str, Field, tuple[float | None, ...]], ...] = (
    ("pi", "first", (6.17, 54.33, 92.33, 100.0)),
    ("pi", "final", (70.0, 96.5, 100.0, 100.0)),
    ("pi", "visits", (82.19, 49.40, 31.47, 28.93)),
    ("compositional", "first", (6.17, 54.33, 92.33, 100.0)),
    ("self_trial", "first", (None, 37.33, 91.17, 100.0)),
    ("pi_no_incentive", "first", (6.17, 6.17, 6.17, 6.17)),
    ("pi_no_incentive", "final", (70.0, 70.0, 70.0, 70.0)),
)


def _follow_ups() -> list[Figure]:
    return [
        Figure(f"follow-up, {controller}, {field} after {exposures}", value, _follow(controller, field, exposures))
        for controller, field, values in _FOLLOW_UPS
        for exposures, value in zip((0, 6, 12, 24), values, strict=True)
        if value is not None
    ]


FIGURES: tuple[Figure, ...] = (
    Figure("cold, pi, final", 100.0, _cold("pi", "final")),
    Figure("cold, pi, first", 6.17, _cold("pi", "first")),
    Figure("cold, pi, trials", 1.74, _cold("pi", "trials")),
    Figure("cold, pi, visits", 75.90, _cold("pi", "visits")),
    Figure("cold, compositional, final", 100.0, _cold("compositional", "final")),
    Figure("cold, compositional, trials", 1.74, _cold("compositional", "trials")),
    Figure("cold, compositional, visits", 75.90, _cold("compositional", "visits")),
    Figure("cold, trajectory, final", 6.17, _cold("trajectory", "final")),
    Figure("cold, no_localization, final", 9.50, _cold("no_localization", "final")),
    Figure("cold, no_localization, collateral", 41.83, _cold("no_localization", "collateral")),
    Figure("cold, no_goal, final", 92.50, _cold("no_goal", "final")),
    Figure("cold, no_goal, trials", 1.90, _cold("no_goal", "trials")),
    Figure("cold, no_trial, final", 100.0, _cold("no_trial", "final")),
    Figure("cold, no_trial, visits", 58.82, _cold("no_trial", "visits")),
    Figure("cold, self_trial, final", 80.33, _cold("self_trial", "final")),
    Figure("cold, self_trial, collateral", 0.0, _cold("self_trial", "collateral")),
    Figure("cold, pi - no_trial, visits", 75.90 - 58.82, _cold("pi", "visits"), minus=_cold("no_trial", "visits")),
    Figure("cold, pi - no_goal, final", 7.5, _cold("pi", "final"), minus=_cold("no_goal", "final")),
    Figure("cold, pi - no_goal, trials", -0.16, _cold("pi", "trials"), minus=_cold("no_goal", "trials")),
    Figure("cold, pi - self_trial, final", 19.67, _cold("pi", "final"), minus=_cold("self_trial", "final")),
    Figure("cold, pi - no_localization, final", 90.5, _cold("pi", "final"), minus=_cold("no_localization", "final")),
    *(
        Figure(f"acquired, {name}, first", 100.0, _acquired(name, "first"))
        for name in ("pi", "compositional", "self_trial", "no_localization", "no_goal")
    ),
    Figure("acquired, pi, visits", 28.98, _acquired("pi", "visits")),
    Figure("acquired, pi_no_incentive, first", 6.17, _acquired("pi_no_incentive", "first")),
    Figure("acquired, pi_no_incentive, final", 100.0, _acquired("pi_no_incentive", "final")),
    Figure("acquired, pi_no_incentive, trials", 1.74, _acquired("pi_no_incentive", "trials")),
    Figure("acquired, pi_no_incentive, visits", 75.90, _acquired("pi_no_incentive", "visits")),
    Figure(
        "acquired, pi against pi_no_incentive, visits in per cent", -61.82, _acquired("pi", "visits"), "reduction",
        _acquired("pi_no_incentive", "visits"),
    ),
    Figure("acquired, trajectory, final", 6.17, _acquired("trajectory", "final")),
    Figure("revision C, K=3, pi, final", 70.0, _new("pi", "final", 3)),
    Figure("revision C, K=3, pi, sd of final", 21.20, _new("pi", "final", 3), "sd"),
    Figure("revision C, K=3, compositional, final", 70.0, _new("compositional", "final", 3)),
    Figure("revision C, K=3, no_trial, final", 24.0, _new("no_trial", "final", 3)),
    Figure("revision C, K=3, self_trial, final", 79.0, _new("self_trial", "final", 3)),
    Figure("revision C, K=3, self_trial, sd of final", 9.91, _new("self_trial", "final", 3), "sd"),
    Figure("revision C, K=3, no_goal, final", 76.0, _new("no_goal", "final", 3)),
    Figure("revision C, K=3, self_trial - pi, final", 9.0, _new("self_trial", "final", 3), minus=_new("pi", "final", 3)),
    Figure("revision C, K=3, no_goal - pi, final", 6.0, _new("no_goal", "final", 3), minus=_new("pi", "final", 3)),
    Figure("revision C, K=3, pi - no_trial, final", 46.0, _new("pi", "final", 3), minus=_new("no_trial", "final", 3)),
    Figure("revision C, K=1, pi, final", 21.5, _new("pi", "final", 1)),
    Figure("revision C, K=1, no_trial, final", 24.0, _new("no_trial", "final", 1)),
    Figure("revision C, K=1, pi - no_trial, final", -2.5, _new("pi", "final", 1), minus=_new("no_trial", "final", 1)),
    *(
        Figure(f"revision C, K=6, {name}, final", 100.0, _new(name, "final", 6))
        for name in ("pi", "compositional", "self_trial")
    ),
    Figure("revision C, K=6, pi, trials", 2.67, _new("pi", "trials", 6)),
    Figure("revision C, K=6, self_trial, trials", 2.46, _new("self_trial", "trials", 6)),
    Figure("revision C, K=6, self_trial - pi, trials", -0.21, _new("self_trial", "trials", 6), minus=_new("pi", "trials", 6)),
    *_follow_ups(),
)  # fmt: skip


class Invariant(NamedTuple):
    """A statement that holds exactly in every world."""

    name: str
    quantities: tuple[Quantity, ...]
    value: float | None = None

    def holds(self, results: Results) -> bool:
        """Whether all quantities have the value; without one, whether they are all equal."""
        values = [quantity.of(results) for quantity in self.quantities]
        wanted = values[0] if self.value is None else self.value
        return all(abs(value - wanted) < 1e-9 for value in values)


_LOCAL = ("pi", "no_goal", "no_trial", "pi_no_incentive", "compositional", "self_trial")


def invariants(results: Results) -> tuple[Invariant, ...]:
    """The exact invariants of PI, over all cells of the results where they apply to all."""
    settings = [
        key for key in results if key.controller == "pi" and key._replace(controller="compositional") in results
    ]
    ties = tuple(
        Invariant(f"pi = compositional, {key.setting}, {key.group}, K={key.budget}, {field}",
                  (Quantity(key, field), Quantity(key._replace(controller="compositional"), field)))
        for key in settings
        for field in get_args(Field)
    )  # fmt: skip
    return (
        Invariant(
            "cold compositions: final of pi, compositional, no_trial is 100 %",
            tuple(_cold(name, "final") for name in ("pi", "compositional", "no_trial")),
            100.0,
        ),
        Invariant(
            "acquired compositions: first of pi, compositional, self_trial, no_localization, no_goal is 100 %",
            tuple(
                _acquired(name, "first") for name in ("pi", "compositional", "self_trial", "no_localization", "no_goal")
            ),
            100.0,
        ),
        Invariant(
            "revision C at K=6: final of pi, compositional, self_trial is 100 %",
            tuple(_new(name, "final", 6) for name in ("pi", "compositional", "self_trial")),
            100.0,
        ),
        Invariant(
            "compositions, cold: trajectory's final is its first",
            (_cold("trajectory", "final"), _cold("trajectory", "first")),
        ),
        Invariant(
            "compositions, acquired: trajectory's final is its first",
            (_acquired("trajectory", "final"), _acquired("trajectory", "first")),
        ),
        Invariant(
            "no collateral regression by local controllers",
            tuple(Quantity(key, "collateral") for key in results if key.controller in _LOCAL),
            0.0,
        ),
        Invariant(
            "reset pi is cold pi",
            tuple(Quantity(Key(setting, "composition", COLD_BUDGET, "pi"), "visits") for setting in ("cold", "reset")),
        ),
        *ties,
    )
