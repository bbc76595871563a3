"""The paper's tables, measured: every row beside the published figure where there is one."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from surefoot.pi.compositions import COMPOSITIONS
from surefoot.pi.experiment import (
    BUDGETS,
    CHECKPOINTS,
    COLD_BUDGET,
    FOLLOW_UP_BUDGET,
    FOLLOW_UP_CHECKPOINTS,
    FOLLOW_UP_CONTROLLERS,
    Key,
    Results,
)
from surefoot.pi.figures import FIGURES, Field, Quantity
from surefoot.pi.streams import GROUPS

Cell = str | float | None
_LEARNED: tuple[Field, ...] = ("first", "final", "visits")


class Table(NamedTuple):
    """A table as data; `name` is its file's."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def markdown(self) -> str:
        """The table for people, numbers with two places."""
        lines = [f"### {self.title}", "", "| " + " | ".join(self.columns) + " |", "| --- " * len(self.columns) + "|"]
        lines += ["| " + " | ".join(map(cell_text, row)) + " |" for row in self.rows]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """The table for programs, numbers in full."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([["" if cell is None else cell for cell in row] for row in self.rows])
        return text.getvalue()

    def data(self) -> dict[str, object]:
        """The table as JSON values."""
        return {"name": self.name, "title": self.title, "rows": [dict(zip(self.columns, row, strict=True)) for row in self.rows]}  # fmt: skip


def tables(worlds: Sequence[Results]) -> list[Table]:
    """All tables over some worlds; means over worlds, sample standard deviations beside them."""
    return [
        _controllers("cold-compositions", "Cold compositions, K=3", worlds, "cold", "composition",
                     ("final", "first", "collateral", "tentative", "trials", "visits")),
        *[_controllers(f"cold-{group}", f"Cold, {group}, K=3", worlds, "cold", group,
                       ("final", "first", "collateral", "trials", "visits")) for group in GROUPS if group != "composition"],
        *[_controllers(f"acquired-{group}", f"After acquisition, {group}, K=3", worlds, "acquired", group,
                       ("first", "final", "collateral", "trials", "visits")) for group in GROUPS if group != "revision-C"],
        _measured("transfer-and-budgets", "Transfer to revision C, by budget", worlds, ("K", "controller"), [
            ((float(budget), name), Key("acquired", "revision-C", budget, name))
            for budget in BUDGETS for name in COMPOSITIONS], ("final", "trials", "visits")),
        _measured("acquisition-and-retention", "Probe of 24 compositions during acquisition, K=3", worlds,
                  ("controller", "acquired tasks"), [
            ((name, float(seen)), Key(f"probe {seen}", "composition", COLD_BUDGET, name))
            for name in COMPOSITIONS for seen in CHECKPOINTS], _LEARNED, beside_published=False),
        _measured("follow-up", "Follow-up on revision C (exploratory), K=3", worlds, ("controller", "C tasks seen"), [
            ((name, float(seen)), Key(f"follow-up {seen}", "revision-C", FOLLOW_UP_BUDGET, name))
            for name in FOLLOW_UP_CONTROLLERS for seen in FOLLOW_UP_CHECKPOINTS], _LEARNED),
        _measured("reset", "pi, cold and after its evidence was discarded, K=3", worlds, ("group", "setting"), [
            ((group, setting), Key(setting, group, COLD_BUDGET, "pi"))
            for group in GROUPS for setting in ("cold", "reset")], _LEARNED, beside_published=False),
        _published(worlds),
    ]  # fmt: skip


def summary(worlds: Sequence[Results]) -> Table:
    """The main measurements of every controller in one small table."""
    rows: list[tuple[Cell, ...]] = []
    for controller in COMPOSITIONS:
        cold, acquired = (Key(setting, "composition", COLD_BUDGET, controller) for setting in ("cold", "acquired"))
        new = Key("acquired", "revision-C", COLD_BUDGET, controller)
        quantities = (
            Quantity(cold, "first"), Quantity(cold, "final"), Quantity(cold, "trials"), Quantity(cold, "visits"),
            Quantity(acquired, "first"), Quantity(acquired, "visits"), Quantity(new, "final"),
        )  # fmt: skip
        rows.append((controller, *[spread(worlds, quantity)[0] for quantity in quantities]))
    columns = ("controller", "cold first", "final", "trials", "visits", "acquired first", "visits", "revision C final")
    return Table("summary", "Compositions cold and after acquisition, revision C; K=3, means", columns, tuple(rows))


def spread(worlds: Sequence[Results], quantity: Quantity) -> tuple[float, float]:
    """Mean and sample standard deviation over worlds."""
    return mean_and_deviation([quantity.of(results) for results in worlds])


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """Mean and sample standard deviation."""
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0


def published(quantity: Quantity) -> float | None:
    """The paper's mean for a quantity, where it gives one."""
    found = (
        each.published
        for each in FIGURES
        if each.quantity == quantity and (each.statistic, each.minus) == ("mean", None)
    )
    return next(found, None)


def _controllers(
    name: str, title: str, worlds: Sequence[Results], setting: str, group: str, fields: tuple[Field, ...]
) -> Table:
    cells: list[tuple[tuple[Cell, ...], Key]] = [
        ((controller,), Key(setting, group, COLD_BUDGET, controller)) for controller in COMPOSITIONS
    ]
    return _measured(name, title, worlds, ("controller",), cells, fields)


def _measured(
    name: str,
    title: str,
    worlds: Sequence[Results],
    heads: tuple[str, ...],
    rows: Sequence[tuple[tuple[Cell, ...], Key]],
    fields: tuple[Field, ...],
    *,
    beside_published: bool = True,
) -> Table:
    """One row per head cells and key: mean and deviation of each field, and the published mean beside them."""
    made: list[tuple[Cell, ...]] = []
    for head, key in rows:
        cells = list(head)
        for field in fields:
            quantity = Quantity(key, field)
            cells += [*spread(worlds, quantity), *([published(quantity)] if beside_published else [])]
        made.append(tuple(cells))
    columns = [*heads]
    for field in fields:
        columns += [field, f"sd of {field}", *([f"published {field}"] if beside_published else [])]
    return Table(name, title, tuple(columns), tuple(made))


def _published(worlds: Sequence[Results]) -> Table:
    rows = tuple((figure.name, figure.of(worlds), figure.published) for figure in FIGURES)
    return Table("published", "Every published figure beside these worlds", ("figure", "measured", "published"), rows)


def cell_text(cell: Cell) -> str:
    """A cell for people."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    return f"{cell:,.0f}" if float(cell).is_integer() else f"{cell:,.2f}"
