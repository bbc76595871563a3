"""The independent full audit: the requested total and supporting rows, computed without the interpreter's stages."""

from __future__ import annotations

import itertools
import operator
from typing import NamedTuple

from surefoot.environments.tables.contracts import Request
from surefoot.environments.tables.table import Rows


class Reference(NamedTuple):
    """What a correct program emits: the total in 1/10,000 yuan, and the supporting row ids in the table's order."""

    total: int
    supporting: tuple[str, ...]


def reference(rows: Rows, request: Request) -> Reference:
    """The answer to a request, from the rows alone."""
    population, revision, unit = request
    wanted: set[str] = set()
    by_order = sorted(rows, key=operator.attrgetter("order"))
    for _, group in itertools.groupby(by_order, key=operator.attrgetter("order")):
        history = [row for row in sorted(group, key=operator.attrgetter("moment")) if population == 0 or row.settled]
        if revision == 0:
            wanted.update(row.row for row in history)
        elif history:
            wanted.add(history[0 if revision == 1 else -1].row)
    numerator, denominator = ((1, 1), (1, 100), (100, 1))[unit]
    chosen = [row for row in rows if row.row in wanted]
    total, rest = divmod(sum(row.amount for row in chosen) * numerator, denominator)
    assert not rest, "amounts are read in ten-thousandths, so cents divide exactly"
    return Reference(total, tuple(row.row for row in chosen))
