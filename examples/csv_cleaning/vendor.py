"""A cleaning tool by somebody else. Its modes are called m0 to m3, and what they do changes with every version.

Nothing else in this example knows what a mode does: it has to be found out, again for each version.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

Rows = list[list[str]]
"""Order number, date, customer, amount."""
MODES = ("m0", "m1", "m2", "m3")


def _parse(encoding: str, delimiter: str) -> Callable[[bytes], Rows]:
    return lambda content: [line.split(delimiter) for line in content.decode(encoding).splitlines()]


def _dates(pattern: str) -> Callable[[Rows], Rows]:
    def convert(rows: Rows) -> Rows:
        for row in rows:  # in place, as such tools do
            row[1] = datetime.strptime(row[1], pattern).date().isoformat()
        return rows

    return convert


def _numbers(thousands: str, decimal: str, scale: int) -> Callable[[Rows], Rows]:
    def convert(rows: Rows) -> Rows:
        for row in rows:
            text = row[3].replace(thousands, "").replace(decimal, ".")
            row[3] = f"{Decimal(text) / scale:.2f}"
        return rows

    return convert


def _all(rows: Rows) -> Rows:
    return rows


def _first(rows: Rows) -> Rows:
    return list({row[0]: row for row in reversed(rows)}.values())[::-1]


def _last(rows: Rows) -> Rows:
    return list({row[0]: row for row in rows}.values())


def _once(rows: Rows) -> Rows:
    times = Counter(row[0] for row in rows)
    return [row for row in rows if times[row[0]] == 1]


_DOES: dict[str, list[Callable[[Any], Any]]] = {
    "parse": [_parse("utf-8", ";"), _parse("utf-8", "\t"), _parse("latin-1", ";"), _parse("latin-1", "\t")],
    "dates": [_dates("%d.%m.%Y"), _dates("%m.%d.%Y"), _dates("%Y.%m.%d"), _dates("%Y.%d.%m")],
    "numbers": [_numbers(".", ",", 1), _numbers(",", ".", 1), _numbers(" ", ",", 1), _numbers(" ", ".", 100)],
    "duplicates": [_all, _first, _last, _once],
}
_MEANING = {  # what m0, m1, m2, m3 do, by place in the lists above
    "1": {"parse": (3, 0, 2, 1), "dates": (2, 3, 0, 1), "numbers": (1, 3, 0, 2), "duplicates": (3, 1, 0, 2)},
    "2": {"parse": (1, 2, 3, 0), "dates": (0, 2, 1, 3), "numbers": (2, 0, 1, 3), "duplicates": (0, 2, 3, 1)},
    # version 3 changes the numbers alone; nobody is told so
    "3": {"parse": (1, 2, 3, 0), "dates": (0, 2, 1, 3), "numbers": (3, 1, 2, 0), "duplicates": (0, 2, 3, 1)},
}
VERSIONS = tuple(_MEANING)


def modes(stage: str) -> dict[str, dict[str, Callable[[Any], Any]]]:
    """The modes of a stage, by version and name."""
    return {
        version: {mode: _DOES[stage][place] for mode, place in zip(MODES, meaning[stage], strict=True)}
        for version, meaning in _MEANING.items()
    }
