"""How held-out success grew in a search: a step function of its episodes, and when it reached a level."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import msgspec


class Progress(msgspec.Struct, frozen=True):
    """The accepted programs of one search, tested on the same held-out configurations.

    From `starts[i]` search episodes on, until the next, the accepted program solves the configurations where
    `solved[i]` is true. The first start is 0, the others rise.
    """

    starts: tuple[int, ...]
    solved: tuple[tuple[bool, ...], ...]

    @classmethod
    def of(cls, steps: Sequence[tuple[int, Sequence[bool]]]) -> Progress:
        """From (episodes, solved) in the order in which they came; of equal episodes the last one counts."""
        latest = {episodes: tuple(solved) for episodes, solved in steps}
        return cls(tuple(latest), tuple(latest.values()))

    @property
    def rates(self) -> list[float]:
        """The success rate of each accepted program, 0 to 1."""
        return [sum(solved) / len(solved) for solved in self.solved]

    @property
    def final(self) -> float:
        """The success rate of the last accepted program."""
        return self.rates[-1]

    def at(self, episodes: float) -> float:
        """The success rate of the program that was accepted after so many episodes."""
        return self.rates[bisect_right(self.starts, episodes) - 1]

    def reached(self, level: float) -> int | None:
        """The first episode count with at least this success rate; None if it was never reached."""
        pairs = zip(self.starts, self.rates, strict=True)
        return next((start for start, rate in pairs if rate >= level), None)

    def settled(self, level: float) -> int | None:
        """The first episode count from which success never falls below `level` again; None if it ends below."""
        found = None
        for start, rate in zip(reversed(self.starts), reversed(self.rates), strict=True):
            if rate < level:
                break
            found = start
        return found

    def mean(self, horizon: int) -> float:
        """Mean success rate over the episodes from 0 to `horizon`; the last program holds on to the end."""
        ends = [min(start, horizon) for start in (*self.starts[1:], horizon)]
        begins = [min(start, horizon) for start in self.starts]
        return sum(rate * (end - begin) for rate, begin, end in zip(self.rates, begins, ends, strict=True)) / max(
            horizon, 1
        )

    @property
    def losses(self) -> int:
        """How often an accepted program failed on a configuration that the one before it had solved."""
        pairs = zip(self.solved, self.solved[1:], strict=False)
        return sum(was and not now for before, after in pairs for was, now in zip(before, after, strict=True))

    @property
    def lost(self) -> int:
        """On how many configurations the last program fails although an earlier one had solved them."""
        return sum(any(column) and not column[-1] for column in zip(*self.solved, strict=True))
