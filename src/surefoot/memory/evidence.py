"""Skill evidence and the promotion rule (PI: evidence, reuse score, promotion).

E(condition, action) = (s, f, R, U): successes, failures, cumulative incentive, and the distinct tasks or
scenes on which an accepted run confirmed the action.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

CONFIRMATIONS = 2
SCORE = 0.7
C = TypeVar("C", bound=Hashable)
A = TypeVar("A", bound=Hashable)


@dataclass
class Tally:
    """What is known of one action under one condition."""

    successes: int = 0
    failures: int = 0
    incentive: float = 0.0
    confirmed: set[str] = field(default_factory=set)

    @property
    def score(self) -> float:
        """Reuse score q = (s + 1) / (s + f + 2)."""
        return (self.successes + 1) / (self.successes + self.failures + 2)

    @property
    def confirmed_often(self) -> bool:
        """Whether distinct accepted runs confirmed the action: |U| >= 2."""
        return len(self.confirmed) >= CONFIRMATIONS

    @property
    def promoted(self) -> bool:
        """Whether the action may enter a first program: |U| >= 2 and q >= 0.7."""
        return self.confirmed_often and self.score >= SCORE

    @property
    def rank(self) -> tuple[float, float]:
        """Sort key among actions: highest score, then highest incentive, first."""
        return (-self.score, -self.incentive)


Rule = Callable[[Tally], bool]
"""Decides from a tally whether an action may enter a first program."""


def promotion(tally: Tally) -> bool:
    """PI's rule."""
    return tally.promoted


class Evidence(Generic[C, A]):
    """Tallies by condition and action, both in the order in which they began."""

    def __init__(self) -> None:
        self._tallies: dict[C, dict[A, Tally]] = {}

    def tally(self, condition: C, action: A) -> Tally:
        """What is known; an empty tally where nothing is. The caller must not change it."""
        return self._tallies.get(condition, {}).get(action) or Tally()

    def record_trial(self, condition: C, action: A, passed: bool, incentive: float) -> None:
        """Count a trial of an action; a failed one never adds a positive incentive."""
        tally = self._own(condition, action)
        if passed:
            tally.successes += 1
        else:
            tally.failures += 1
        tally.incentive += incentive if passed else min(0.0, incentive)

    def confirm(self, condition: C, action: A, scene: str) -> None:
        """Count an accepted run in which the action took part; `scene` counts once towards promotion."""
        tally = self._own(condition, action)
        tally.successes += 1
        tally.incentive += 1.0
        tally.confirmed.add(scene)

    def merge(self, condition: C, action: A, known: Tally) -> None:
        """Add what another run knows of an action."""
        tally = self._own(condition, action)
        tally.successes += known.successes
        tally.failures += known.failures
        tally.incentive += known.incentive
        tally.confirmed |= known.confirmed

    def promoted(self, condition: C, rule: Rule = promotion) -> list[A]:
        """Promoted actions under a condition, best first; ties in the order in which they were first seen."""
        return self._ranked(condition, rule)

    def acquired(self, condition: C) -> list[A]:
        """Actions confirmed at least once under a condition, best first (PI, step 3a)."""
        # ours: the paper says "positive acquired evidence"; a success in a trial alone fits its figures, too
        return self._ranked(condition, lambda tally: bool(tally.confirmed))

    def items(self) -> Iterator[tuple[tuple[C, A], Tally]]:
        """All tallies with their condition and action."""
        for condition, tallies in self._tallies.items():
            for action, tally in tallies.items():
                yield (condition, action), tally

    def _ranked(self, condition: C, rule: Rule) -> list[A]:
        found = [(action, tally) for action, tally in self._tallies.get(condition, {}).items() if rule(tally)]
        if len(found) > 1:
            found.sort(key=lambda item: item[1].rank)
        return [action for action, _ in found]

    def _own(self, condition: C, action: A) -> Tally:
        return self._tallies.setdefault(condition, {}).setdefault(action, Tally())
