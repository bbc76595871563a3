"""The same interpreter on large tables: columns in Polars, exact, with an audit in NumPy."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from surefoot.environments.staged import Feedback
from surefoot.environments.tables.contracts import LINEAGE, PATHS, Request
from surefoot.environments.tables.errors import TableError
from surefoot.environments.tables.interpreter import Program, Tools
from surefoot.environments.tables.table import SCALE, Rows
from surefoot.environments.tables.worlds import MICRO_ORDERS, SETTLED

_LARGEST = 2**63 - 1


def _oldest(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.filter(pl.col("moment") == pl.col("moment").min().over("order"))


def _latest(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.filter(pl.col("moment") == pl.col("moment").max().over("order"))


def _same(frame: pl.DataFrame) -> pl.DataFrame:
    return frame


APPLY: tuple[tuple[Callable[[pl.DataFrame], pl.DataFrame], ...], ...] = (
    (_same, lambda frame: frame.filter(pl.col("settled"))),
    (_same, _oldest, _latest),
    (
        _same,
        lambda frame: frame.with_columns(pl.col("amount") // 100),
        lambda frame: frame.with_columns(pl.col("amount") * 100),
    ),
)
"""What each effect does, in the order of `effects.EFFECTS`; rows keep their order."""


def frame_of(rows: Rows) -> pl.DataFrame:
    """Rows as columns. TableError where sums could leave 64 bits."""
    frame = pl.DataFrame(
        {
            "order": [row.order for row in rows],
            "row": [row.row for row in rows],
            "moment": [row.moment for row in rows],
            "settled": [row.settled for row in rows],
            "amount": pl.Series([row.amount for row in rows], dtype=pl.Int64, strict=True)
            if all(abs(row.amount) <= _LARGEST for row in rows)
            else _refuse(),
        }
    )
    return checked(frame)


def checked(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame, if a sum over all its rows is exact in 64 bits whatever the unit; TableError otherwise."""
    most = max(map(abs, (frame["amount"].min() or 0, frame["amount"].max() or 0)))  # type: ignore[arg-type, type-var]
    return frame if int(most) * 100 * max(len(frame), 1) <= _LARGEST else _refuse()  # type: ignore[call-overload]


def _refuse() -> pl.DataFrame:
    raise TableError(
        "The amounts are too large to be summed exactly in 64-bit columns; use smaller amounts or fewer rows."
    )


def states_of(tools: Tools, program: Program, frame: pl.DataFrame) -> tuple[pl.DataFrame, ...]:
    """The rows before each stage and before the emission."""
    states = [frame]
    for stage, action in enumerate(program):
        states.append(APPLY[stage][tools[stage][action]](states[-1]))
    return tuple(states)


def drawn(rows: int, seed: int, revisions: int = 2) -> pl.DataFrame:
    """A table of about `rows` rows, `revisions` per order, in random order; the first two orders differ in settlement."""
    chance = np.random.default_rng([seed, rows])
    orders = max(rows // revisions, MICRO_ORDERS)
    order = np.repeat(np.arange(orders), revisions)
    settled = np.repeat(chance.random(orders) < SETTLED, revisions)
    settled[:revisions], settled[revisions : 2 * revisions] = True, False
    moment = chance.integers(1, 5, len(order)).reshape(orders, revisions).cumsum(axis=1).ravel()
    amount = chance.integers(1, 10_000, len(order)) * SCALE
    mixed = chance.permutation(len(order))
    frame = pl.DataFrame({"order": order, "moment": moment, "settled": settled, "amount": amount})[mixed]
    return checked(frame.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64)))


@dataclass
class LargeTask:
    """A task on a large table. `seconds_full` and `seconds_small` add up what executions took, audit included."""

    id: str
    revision: str
    request: Request
    frame: pl.DataFrame
    tools: Tools = field(repr=False)
    seconds_full: float = 0.0
    seconds_small: float = 0.0
    visits_full: int = 0
    visits_small: int = 0

    def __post_init__(self) -> None:
        first = self.frame["order"].unique().sort().head(MICRO_ORDERS)
        self.micro = self.frame.filter(pl.col("order").is_in(first.implode()))

    @property
    def trial_rows(self) -> int:
        """Rows of the micro-task."""
        return len(self.micro)

    def full(self, program: Program) -> Feedback:
        """A full submission with its audit."""
        started = time.perf_counter()
        feedback = self._run(program, self.frame)
        self.seconds_full += time.perf_counter() - started
        self.visits_full += feedback.work
        return feedback

    def small(self, program: Program) -> Feedback:
        """A trial on the micro-task."""
        started = time.perf_counter()
        feedback = self._run(program, self.micro)
        self.seconds_small += time.perf_counter() - started
        self.visits_small += feedback.work
        return feedback

    def _run(self, program: Program, frame: pl.DataFrame) -> Feedback:
        states = states_of(self.tools, program, frame)
        bits = tuple(
            APPLY[stage][goal](states[stage]).equals(states[stage + 1]) for stage, goal in enumerate(self.request)
        )
        failed = tuple(LINEAGE[PATHS[stage]] for stage, holds in enumerate(bits) if not holds)
        return Feedback(bits, failed, not failed and _audited(states[-1], frame, self.request), sum(map(len, states)))


def _audited(emitted: pl.DataFrame, frame: pl.DataFrame, request: Request) -> bool:
    """Whether total and supporting rows are those of a computation of its own, in NumPy."""
    population, revision, unit = request
    order, moment, amount, row, settled = (
        frame[name].to_numpy() for name in ("order", "moment", "amount", "row", "settled")
    )
    chosen = np.flatnonzero(settled) if population else np.arange(len(frame))
    if revision:
        placed = chosen[np.lexsort((moment[chosen], order[chosen]))]
        edge = np.flatnonzero(np.diff(order[placed]))
        ends = np.concatenate([[0], edge + 1]) if revision == 1 else np.concatenate([edge, [len(placed) - 1]])
        chosen = np.sort(placed[ends])
    numerator, denominator = ((1, 1), (1, 100), (100, 1))[unit]
    total = int(amount[chosen].sum()) * numerator // denominator
    return total == int(emitted["amount"].sum()) and np.array_equal(row[chosen], emitted["row"].to_numpy())
