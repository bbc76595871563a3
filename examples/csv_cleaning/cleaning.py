"""The pipeline: four stages of the vendor's tool, what their output must be, and the audit by delivery notes.

The contracts look at what a stage was given and what it gave, and use nothing of the tool.
"""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import vendor
from suppliers import DATES, DELIMITERS, written

from surefoot.pi.pipeline import Pipeline, PipelineTask, Stage

Rows = list[list[str]]


def parsed(before: bytes, after: Rows, goal: str) -> bool | str:
    """Put together again as the goal says, the rows are the file."""
    encoding, delimiter = goal.split()
    if any(len(row) != 4 for row in after):
        return f"a row has {next(len(row) for row in after if len(row) != 4)} columns instead of 4"
    again = "".join(DELIMITERS[delimiter].join(row) + "\n" for row in after)
    return again.encode(encoding, "replace") == before or f"the rows are not the file in {goal}"


def dated(before: Rows, after: Rows, goal: str) -> bool | str:
    """Dates are ISO, and written as the goal says they are those of the file; the rest is untouched."""
    for old, new in zip(before, after, strict=True):
        day = date.fromisoformat(new[1])
        if DATES[goal].format(y=day.year, m=day.month, d=day.day) != old[1]:
            return f"{old[1]} was read as {new[1]}, not as {goal}"
    return _but(1, before) == _but(1, after) or "more than the dates changed"


def numbered(before: Rows, after: Rows, goal: str) -> bool | str:
    """Amounts have two decimals, and written as the goal says they are those of the file; the rest is untouched."""
    for old, new in zip(before, after, strict=True):
        cents = Decimal(new[3]) * 100
        if cents != int(cents) or written(int(cents), goal) != old[3]:
            return f"{old[3]} was read as {new[3]}, not as {goal}"
    return _but(3, before) == _but(3, after) or "more than the amounts changed"


def unrepeated(before: Rows, after: Rows, goal: str) -> bool | str:
    """Every order is there, all its rows or only its first or last one, in the order of the file."""
    if goal == "all":
        return after == before or f"{len(before) - len(after)} rows are missing"
    wanted: dict[str, list[str]] = {}
    for row in before if goal == "last" else before[::-1]:
        wanted[row[0]] = row
    if len(after) != len(wanted):
        return f"{len(after)} rows for {len(wanted)} orders"
    return all(row == wanted[row[0]] for row in after) or f"an order's row is not its {goal}"


def cleaning(folder: Path) -> Pipeline:
    """The pipeline for the files of a folder, which holds their delivery notes, too."""

    def as_noted(task: PipelineTask, output: Rows) -> bool | str:
        """The audit: number of orders, sum and dates are those that the supplier counted."""
        note = json.loads((folder / f"{task.id}.note.json").read_text())
        dates = sorted(row[1] for row in output)
        cents = int(sum(Decimal(row[3]) for row in output) * 100)
        found = {"orders": len(output), "cents": cents, "from": dates[0], "to": dates[-1]}
        wrong = [f"{name} {found[name]} instead of {note[name]}" for name in note if found[name] != note[name]]
        return not wrong or ", ".join(wrong)

    contracts = {"parse": parsed, "dates": dated, "numbers": numbered, "duplicates": unrepeated}
    stages = [Stage(name, versions=vendor.modes(name), contract=contract) for name, contract in contracts.items()]
    return Pipeline(stages, audit=as_noted, size=rows)


def rows(data: bytes | Rows) -> int:
    """Lines of a file, rows of a table."""
    return data.count(b"\n") if isinstance(data, bytes) else len(data)


def first_lines(content: bytes, lines: int = 20) -> bytes:
    """The micro-task: enough lines to show an umlaut, a thousand, a day after the twelfth and a corrected order."""
    return b"".join(content.splitlines(keepends=True)[:lines])


def _but(column: int, rows: Rows) -> Rows:
    return [row[:column] + row[column + 1 :] for row in rows]
