"""Scale: tables of 10^3 to 10^7 rows through a columnar engine; what a four-row trial saves against full submissions.

Each controller solves the same cold compositions twice: with trials on the micro-task, and with every trial run as a
full submission. Seconds are wall time of executions and audits on one machine: compare within one run only.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from surefoot.environments.staged import Feedback, Program
from surefoot.environments.tables.columnar import LargeTask, drawn
from surefoot.environments.tables.worlds import COMPOSED, DOMAIN
from surefoot.pi.compositions import COMPOSITIONS
from surefoot.pi.controller import Controller
from surefoot.pi.streams import FAMILIAR, Streams
from surefoot.pi.tables import Cell, Table

SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
CONTROLLERS = ("pi", "compositional", "self_trial")
TASKS = 6
TASKS_ON_LARGE = 2
LARGE = 1_000_000
"""Tables from so many rows on are met by fewer tasks: each execution takes seconds."""
BUDGET = 6


class FullTrials(LargeTask):
    """A task whose trials are full submissions."""

    @property
    def trial_rows(self) -> int:
        """All rows."""
        return len(self.frame)

    def small(self, program: Program) -> Feedback:
        """The whole table."""
        return self.full(program)


class Measured(NamedTuple):
    """What one controller took for the tasks of one size: with small trials, and with full ones."""

    rows: int
    controller: str
    solved: int
    tasks: int
    trials: int
    visits: int
    visits_full: int
    seconds: float
    seconds_full: float


def measure(sizes: Sequence[int] = SIZES, seed: int = 11) -> Iterator[Measured]:
    """Both ways, size by size, in the world of `seed`."""
    streams = Streams.of(seed)
    for rows in sizes:
        chance = random.Random(f"scale {seed} {rows}")
        keys = [
            (chance.choice(FAMILIAR), chance.choice(COMPOSED)) for _ in range(TASKS if rows < LARGE else TASKS_ON_LARGE)
        ]
        frame = drawn(rows, seed)
        for name in CONTROLLERS:
            sides = []
            for kind in (LargeTask, FullTrials):
                controller = Controller(COMPOSITIONS[name], DOMAIN, streams.templates())
                tasks = [
                    kind(f"scale-{rows}-{number}", revision, request, frame, streams.world.tools[revision])
                    for number, (revision, request) in enumerate(keys)
                ]
                episodes = [controller.run(task, BUDGET, learn=False) for task in tasks]
                sides.append((tasks, episodes))
            (small, episodes), (full, others) = sides
            assert [each.program for each in episodes] == [each.program for each in others]
            yield Measured(
                len(frame),
                name,
                sum(each.accepted for each in episodes),
                len(episodes),
                sum(len(each.trials) for each in episodes),
                sum(task.visits_full + task.visits_small for task in small),
                sum(task.visits_full for task in full),
                sum(task.seconds_full + task.seconds_small for task in small),
                sum(task.seconds_full for task in full),
            )


def tables(found: Sequence[Measured]) -> list[Table]:
    """One row per size and controller, with the ratios."""
    rows: list[tuple[Cell, ...]] = [
        (
            float(each.rows), each.controller, float(each.solved), float(each.tasks), float(each.trials),
            float(each.visits), each.visits_full / each.visits, each.seconds, each.seconds_full / each.seconds,
        )
        for each in found
    ]  # fmt: skip
    columns = ("rows", "controller", "solved", "tasks", "trials", "visits", "full trials: x visits", "seconds",
               "full trials: x seconds")  # fmt: skip
    return [
        Table("scale", f"Scale: cold compositions, K={BUDGET}, small trials against full ones", columns, tuple(rows))
    ]
