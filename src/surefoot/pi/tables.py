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
_BUDGETED: tuple[Field, ...] = ("final", "trials", "visits")
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
        _setting("cold-compositions", "Cold compositions, K=3", worlds, "cold", "composition",
                 ("final", "first", "collateral", "tentative", "trials", "visits")),
        *[_setting(f"cold-{group}", f"Cold, {group}, K=3", worlds, "cold", group,
                   ("final", "first", "collateral", "trials", "visits")) for group in GROUPS if group != "composition"],
        *[_setting(f"acquired-{group}", f"After acquisition, {group}, K=3", worlds, "acquired", group,
                   ("first", "final", "collateral", "trials", "visits")) for group in GROUPS if group != "revision-C"],
        _budgets(worlds),
        _probe(worlds),
        _follow_up(worlds),
        _reset(worlds),
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


def _measured(worlds: Sequence[Results], quantity: Quantity) -> tuple[Cell, Cell, Cell]:
    return (*spread(worlds, quantity), published(quantity))


def _headed(fields: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for field in fields for name in (field, f"sd of {field}", f"published {field}"))


def _setting(
    name: str, title: str, worlds: Sequence[Results], setting: str, group: str, fields: tuple[Field, ...]
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for controller in COMPOSITIONS:
        key = Key(setting, group, COLD_BUDGET, controller)
        rows.append((controller, *[cell for field in fields for cell in _measured(worlds, Quantity(key, field))]))
    return Table(name, title, ("controller", *_headed(fields)), tuple(rows))


def _budgets(worlds: Sequence[Results]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for budget in BUDGETS:
        for controller in COMPOSITIONS:
            key = Key("acquired", "revision-C", budget, controller)
            cells = [cell for field in _BUDGETED for cell in _measured(worlds, Quantity(key, field))]
            rows.append((float(budget), controller, *cells))
    return Table("transfer-and-budgets", "Transfer to revision C, by budget", ("K", "controller", *_headed(_BUDGETED)), tuple(rows))  # fmt: skip


def _probe(worlds: Sequence[Results]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for controller in COMPOSITIONS:
        for checkpoint in CHECKPOINTS:
            key = Key(f"probe {checkpoint}", "composition", COLD_BUDGET, controller)
            cells = [cell for field in _LEARNED for cell in spread(worlds, Quantity(key, field))]
            rows.append((controller, float(checkpoint), *cells))
    columns = ("controller", "acquired tasks", "first", "sd of first", "final", "sd of final", "visits", "sd of visits")
    return Table("acquisition-and-retention", "Probe of 24 compositions during acquisition, K=3", columns, tuple(rows))


def _follow_up(worlds: Sequence[Results]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for controller in FOLLOW_UP_CONTROLLERS:
        for exposures in FOLLOW_UP_CHECKPOINTS:
            key = Key(f"follow-up {exposures}", "revision-C", FOLLOW_UP_BUDGET, controller)
            cells = [cell for field in _LEARNED for cell in _measured(worlds, Quantity(key, field))]
            rows.append((controller, float(exposures), *cells))
    columns = ("controller", "C tasks seen", *_headed(_LEARNED))
    return Table("follow-up", "Follow-up on revision C (exploratory), K=3", columns, tuple(rows))


def _reset(worlds: Sequence[Results]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for group in GROUPS:
        for setting in ("cold", "reset"):
            key = Key(setting, group, COLD_BUDGET, "pi")
            cells = [cell for field in _LEARNED for cell in spread(worlds, Quantity(key, field))]
            rows.append((group, setting, *cells))
    columns = ("group", "setting", "first", "sd of first", "final", "sd of final", "visits", "sd of visits")
    return Table("reset", "pi, cold and after its evidence was discarded, K=3", columns, tuple(rows))


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
