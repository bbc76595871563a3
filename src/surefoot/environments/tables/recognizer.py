"""The effect recognizer: what a transition did, from its two sides alone (PI, section 3.1)."""

from __future__ import annotations

from surefoot.environments.tables.table import Row, Rows


def recognize(stage: int, before: Rows, after: Rows) -> int | None:
    """The effect of stage `stage` that turned `before` into `after`, by its place in `EFFECTS`; None if unclear.

    It sees row sets, settlement flags, moments and ratios of amounts; it knows no action and no tool.
    """
    if stage == 2:
        return _ratio(before, after)
    kept = {row.row for row in after}
    if kept == {row.row for row in before}:
        return 0
    if stage == 0:
        return 1 if kept == {row.row for row in before if row.settled} else None
    return _revision(before, kept)


def _revision(before: Rows, kept: set[str]) -> int | None:
    histories: dict[str, list[Row]] = {}
    for row in before:
        histories.setdefault(row.order, []).append(row)
    ends = [sorted(history, key=lambda row: row.moment) for history in histories.values()]
    if kept == {history[0].row for history in ends}:
        return 1
    return 2 if kept == {history[-1].row for history in ends} else None


def _ratio(before: Rows, after: Rows) -> int | None:
    if [row.row for row in before] != [row.row for row in after]:
        return None
    pairs = [(old.amount, new.amount) for old, new in zip(before, after, strict=True) if old.amount]
    for effect, (numerator, denominator) in enumerate(((1, 1), (1, 100), (100, 1))):
        if pairs and all(old * numerator == new * denominator for old, new in pairs):
            return effect
    return None
