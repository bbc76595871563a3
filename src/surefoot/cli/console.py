"""How commands speak: results on standard output, progress and remarks on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

WIDTH_OF_FILES = 160
"""Columns that tables may take where the output is not a terminal."""


def _console(stderr: bool) -> Console:
    console = Console(stderr=stderr, highlight=False, soft_wrap=False)
    if not console.is_terminal:
        console.width = WIDTH_OF_FILES
    return console


out = _console(stderr=False)
err = _console(stderr=True)


def print_json(value: Any) -> None:
    """Print one JSON object on standard output."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")
    sys.stdout.flush()  # a reader that has gone is noticed here, not at exit


def say(text: str, console: Console = out) -> None:
    """Print text as it is: no markup, lines broken only where it breaks them."""
    console.print(text, markup=False, soft_wrap=True)


class _PlainTable(Table):
    """A table that shows its cells as they are: program texts may hold what looks like markup."""

    def add_row(self, *cells: Any, **options: Any) -> None:
        """One row of texts."""
        super().add_row(*[Text(cell) if isinstance(cell, str) else cell for cell in cells], **options)


def table(*columns: str) -> Table:
    """A plain table of plain texts; columns whose name ends in # are right-aligned."""
    made = _PlainTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        made.add_column(column.rstrip("#"), justify="right" if column.endswith("#") else "left", overflow="fold")
    return made


@contextmanager
def progress(label: str, total: int) -> Iterator[Any]:
    """A progress bar on standard error; yields a function that advances it by one, with a remark."""
    columns = (
        TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("{task.fields[remark]}"),
    )  # fmt: skip
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(label, total=total, remark="")
        yield lambda remark="": bar.update(task, advance=1, remark=remark)


def tenths() -> Callable[[str, int, int], None]:
    """A function of (label, done, total) that prints a line on standard error at each tenth of what is done."""
    last = 0

    def advance(label: str, done: int, total: int) -> None:
        nonlocal last
        last = min(last, done - 1)  # the next label begins anew
        if done == total or done - last >= max(1, total // 10):
            last = done
            err.print(f"  {label}: {done}/{total}", markup=False)

    return advance
