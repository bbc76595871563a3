"""Break-even: acquisition and demonstrations charged, after how many tasks does retention pay?

Every controller serves one stream of tasks of all familiar requests, learning as it goes; what it has spent is
counted from the first demonstration on. `pi_no_incentive` keeps nothing and is what the others are held against.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from surefoot.environments.tables.worlds import DOMAIN
from surefoot.pi.compositions import COMPOSITIONS
from surefoot.pi.controller import Controller
from surefoot.pi.experiment import COLD_BUDGET
from surefoot.pi.streams import Streams
from surefoot.pi.tables import Cell, Table, mean_and_deviation

ARMS = ("pi", "compositional", "self_trial")
BASE = "pi_no_incentive"
LENGTHS = (12, 24, 48, 96, 216)
WITHOUT_DEMONSTRATIONS = frozenset({"self_trial"})
BUDGETS = (2_000, 4_000, 8_000)
"""Total visits at which the tasks solved are compared."""

Spent = dict[str, tuple[tuple[int, ...], tuple[int, ...]]]
"""Per controller: visits spent after each task (demonstrations included from the start), and tasks accepted by then."""


def run_world(seed: int) -> Spent:
    """Cumulative costs and successes of every controller on one stream of 216 tasks: acquisition and compositions, mixed."""
    streams = Streams.of(seed)
    # acquisition tasks and compositions by turns, so that neither part of the stream is special
    pairs = itertools.zip_longest(streams.acquisition, streams.final["composition"] + streams.final["atomic"])
    tasks = [task for pair in pairs for task in pair if task is not None]
    demonstrations = sum(task.full(template.program).work for task, template in zip(streams.sources, streams.templates(), strict=True))  # fmt: skip
    found: Spent = {}
    for name in (*ARMS, BASE):
        controller = Controller(COMPOSITIONS[name], DOMAIN, streams.templates())
        spent, solved = (0 if name in WITHOUT_DEMONSTRATIONS else demonstrations), 0
        costs, accepted = [], []
        for task in tasks:
            episode = controller.run(task, COLD_BUDGET, learn=True)
            spent, solved = spent + episode.visits, solved + episode.accepted
            costs.append(spent)
            accepted.append(solved)
        found[name] = (tuple(costs), tuple(accepted))
    return found


def tables(worlds: Sequence[Spent]) -> list[Table]:
    """Where the curves cross, what has been spent by then, and what equal totals buy."""
    return [_crossings(worlds), _totals(worlds), _equal_totals(worlds)]


def crossing(own: Sequence[int], base: Sequence[int]) -> int:
    """The first task after which `own` has spent less, for good; one more than there are tasks if it never has."""
    last = max(
        (number for number, pair in enumerate(zip(own, base, strict=True), start=1) if pair[0] >= pair[1]), default=0
    )
    return last + 1


def _crossings(worlds: Sequence[Spent]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name in ARMS:
        found = [float(crossing(world[name][0], world[BASE][0])) for world in worlds]
        rows.append((name, *mean_and_deviation(found), min(found), max(found)))
    title = f"Break-even: tasks after which a controller that learns has spent less than {BASE}, for good"
    return Table("break-even", title, ("controller", "tasks", "sd of tasks", "fewest", "most"), tuple(rows))


def _totals(worlds: Sequence[Spent]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name in (*ARMS, BASE):
        for length in LENGTHS:
            costs = mean_and_deviation([float(world[name][0][length - 1]) for world in worlds])
            solved = mean_and_deviation([float(world[name][1][length - 1]) for world in worlds])
            rows.append((name, float(length), *costs, solved[0]))
    columns = ("controller", "tasks", "visits spent", "sd of visits", "tasks solved")
    return Table("break-even-totals", "Visits spent by the end of so many tasks, demonstrations and learning included", columns, tuple(rows))  # fmt: skip


def _equal_totals(worlds: Sequence[Spent]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name in (*ARMS, BASE):
        cells = []
        for budget in BUDGETS:
            solved = [_solved(*world[name], budget) for world in worlds]
            cells += list(mean_and_deviation([float(each) for each in solved]))
        rows.append((name, *cells))
    columns = ("controller", *(text for budget in BUDGETS for text in (f"solved within {budget:,} visits", "sd")))
    return Table("break-even-equal-totals", "Tasks solved at equal total cost", columns, tuple(rows))


def _solved(costs: Sequence[int], accepted: Sequence[int], budget: int) -> int:
    served = sum(cost <= budget for cost in costs)
    return accepted[served - 1] if served else 0
