"""Frozen programs on held-out configurations: each once, no repair, nothing a proposer can read."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from surefoot.boundary.environment import Scene
from surefoot.boundary.outcome import Infrastructure, is_success
from surefoot.evaluation.pool import Episode
from surefoot.evaluation.statistics import ratio, smallest_distance, wilson_interval


class Score(msgspec.Struct, frozen=True):
    """k of n episodes with a Wilson 95 % interval; infrastructure failures are counted apart, not in n."""

    successes: int
    episodes: int
    interval: tuple[float, float]
    infrastructure_failures: int

    @classmethod
    def of(cls, successes: int, episodes: int, infrastructure_failures: int = 0) -> Score:
        """The score of these counts."""
        return cls(successes, episodes, wilson_interval(successes, episodes), infrastructure_failures)

    @property
    def rate(self) -> float | None:
        """Successes over episodes; None without episodes."""
        return ratio(self.successes, self.episodes)

    @property
    def text(self) -> str:
        """One line for a person."""
        rate = 100 * (self.rate or 0.0)
        low, high = (100 * bound for bound in self.interval)
        apart = (
            f", {self.infrastructure_failures} infrastructure failures apart" if self.infrastructure_failures else ""
        )
        return f"{self.successes}/{self.episodes} ({rate:.0f} %, interval {low:.0f}-{high:.0f} %{apart})"


def score(episodes: Sequence[Episode]) -> Score:
    """The score of one program's episodes."""
    valid = [episode for episode in episodes if not isinstance(episode.outcome, Infrastructure)]
    successes = sum(is_success(episode.outcome) for episode in valid)
    return Score.of(successes, len(valid), len(episodes) - len(valid))


class Overlap(msgspec.Struct, frozen=True):
    """How far held-out scenes are from development scenes. `shared` lists held-out seeds that are both."""

    shared: tuple[int, ...]
    smallest_distance: float | None


def overlap(development: Sequence[Scene], held_out: Sequence[Scene]) -> Overlap:
    """Held-out scenes that are also development scenes, and the smallest distance between the two groups [m]."""
    seen = {scene.digest for scene in development}
    shared = tuple(scene.seed for scene in held_out if scene.digest in seen)
    return Overlap(shared, smallest_distance(_layouts(development), _layouts(held_out)))


def _layouts(scenes: Sequence[Scene]) -> list[dict[str, tuple[float, ...]]]:
    return [dict(scene.layout) for scene in scenes]
