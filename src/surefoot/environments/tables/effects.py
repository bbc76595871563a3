"""The hidden meanings of actions, stage by stage, and what each does to rows (PI, section 4.1)."""

from __future__ import annotations

from collections.abc import Callable

from surefoot.environments.tables.table import Row, Rows

STAGES = ("population", "revision", "normalization")
EFFECTS: tuple[tuple[str, ...], ...] = (
    ("all", "settled"),
    ("all", "oldest", "latest"),
    ("yuan", "cents", "hundreds"),
)
"""Effects per stage; the first of each is the default request."""
ACTIONS: tuple[tuple[str, ...], ...] = (("F0", "F1"), ("D0", "D1", "D2"), ("N0", "N1", "N2"))
"""Public, opaque action identifiers per stage."""


def _all(rows: Rows) -> Rows:
    return rows


def _settled(rows: Rows) -> Rows:
    return tuple([row for row in rows if row.settled])


def _oldest(rows: Rows) -> Rows:
    first: dict[str, Row] = {}
    for row in rows:
        kept = first.get(row.order)
        if kept is None or row.moment < kept.moment:
            first[row.order] = row
    return tuple([row for row in rows if first[row.order] is row])


def _latest(rows: Rows) -> Rows:
    last: dict[str, Row] = {}
    for row in rows:
        kept = last.get(row.order)
        if kept is None or row.moment > kept.moment:
            last[row.order] = row
    return tuple([row for row in rows if last[row.order] is row])


def _cents(rows: Rows) -> Rows:
    return tuple([Row(order, row, moment, settled, amount // 100) for order, row, moment, settled, amount in rows])


def _hundreds(rows: Rows) -> Rows:
    return tuple([Row(order, row, moment, settled, amount * 100) for order, row, moment, settled, amount in rows])


APPLY: tuple[tuple[Callable[[Rows], Rows], ...], ...] = (
    (_all, _settled),
    (_all, _oldest, _latest),
    (_all, _cents, _hundreds),
)
"""What each effect does, in the order of `EFFECTS`. Amounts are divisible by 100 as they are read."""
