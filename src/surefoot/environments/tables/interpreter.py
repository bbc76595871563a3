"""Running a program: stages in order, then the emission of an exact total and its supporting rows, with lineage."""

from __future__ import annotations

from typing import NamedTuple

from surefoot.environments.tables.effects import ACTIONS, APPLY, STAGES
from surefoot.environments.tables.errors import TableError
from surefoot.environments.tables.table import Rows

Program = tuple[int, ...]
"""One action per stage, by its place in `ACTIONS`."""
Tools = tuple[tuple[int, ...], ...]
"""Hidden: per stage, the effect of each action, by its place in `EFFECTS`."""


class Trace(NamedTuple):
    """What running a program gave: the rows before each stage and before the emission, total and supporting row ids.

    The lineage is in the rows themselves: every state keeps the row ids that it came from.
    """

    states: tuple[Rows, ...]
    total: int
    supporting: tuple[str, ...]

    @property
    def work(self) -> int:
        """Row-stage visits: rows that enter each stage, plus rows that enter the emission."""
        return sum(map(len, self.states))


def run(tools: Tools, program: Program, rows: Rows) -> Trace:
    """Execute a program on rows."""
    states = [rows]
    for stage, action in enumerate(program):
        states.append(APPLY[stage][tools[stage][action]](states[-1]))
    emitted = states[-1]
    return Trace(tuple(states), sum([row.amount for row in emitted]), tuple([row.row for row in emitted]))


def parse(names: tuple[str, ...]) -> Program:
    """A program from its public identifiers, `("F0", "D1", "N2")`. TableError for one that is none."""
    if len(names) != len(STAGES):
        raise TableError(f"A program has one action for each of {', '.join(STAGES)}; got {len(names)}.")
    for stage, name in enumerate(names):
        if name not in ACTIONS[stage]:
            raise TableError(f"There is no {STAGES[stage]} action {name!r}; there are {', '.join(ACTIONS[stage])}.")
    return tuple(ACTIONS[stage].index(name) for stage, name in enumerate(names))


def names(program: Program) -> tuple[str, ...]:
    """The public identifiers of a program."""
    return tuple(ACTIONS[stage][action] for stage, action in enumerate(program))
