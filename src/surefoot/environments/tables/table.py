"""Tables as they come, and what their columns mean: a public role map from column names to logical roles."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from surefoot.environments.tables.errors import TableError

Role = Literal["order", "row", "moment", "settled", "amount"]
ROLES: tuple[Role, ...] = get_args(Role)
PLACES = 4
"""Decimal places that amounts are carried in: two of the table's, two more for cents of the unit."""
SCALE: int = 10**PLACES
MOST = 10**15
"""Largest amount, in the table's unit, that is taken; sums of 10^7 of them stay exact in every engine."""


class Table(NamedTuple):
    """A physical table: column names, and rows of values in that order."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


class Row(NamedTuple):
    """A row by logical role. `amount` is exact, in 1/10,000 of the unit.

    `moment` orders an order's revisions: their number, or their time stamp in microseconds since 1970.
    """

    order: str
    row: str
    moment: int
    settled: bool
    amount: int


Rows = tuple[Row, ...]


def read(table: Table, roles: Mapping[str, Role]) -> Rows:
    """The rows of a table by logical role. TableError for what can't be read exactly."""
    places = _places(table, roles)
    if not table.rows:
        raise TableError("The table is empty: it needs at least one row.")
    found: list[Row] = []
    seen: dict[str, int] = {}
    moments: set[tuple[str, int]] = set()
    kinds: set[str] = set()
    for number, values in enumerate(table.rows, start=1):
        if len(values) != len(table.columns):
            raise TableError(f"Row {number} has {len(values)} values; the table has {len(table.columns)} columns.")
        row = Row(
            _name(values[places["order"]], number, "order"),
            _name(values[places["row"]], number, "row"),
            _moment(values[places["moment"]], number, kinds),
            _settled(values[places["settled"]], number),
            _amount(values[places["amount"]], number),
        )
        if row.row in seen:
            raise TableError(
                f"Row {number} has the row id {row.row!r}, and so has row {seen[row.row]}; ids are unique."
            )
        if (row.order, row.moment) in moments:
            raise TableError(
                f"Row {number}: order {row.order!r} has another row at {values[places['moment']]!r}, "
                "so its oldest and its latest would be ambiguous."
            )
        seen[row.row] = number
        moments.add((row.order, row.moment))
        found.append(row)
    return tuple(found)


def _places(table: Table, roles: Mapping[str, Role]) -> dict[str, int]:
    unknown = [f"{column!r}: {role!r}" for column, role in roles.items() if role not in ROLES]
    if unknown:
        raise TableError(f"The role map names unknown roles ({', '.join(unknown)}); there are {', '.join(ROLES)}.")
    if len(set(table.columns)) != len(table.columns):
        raise TableError(f"Two columns have one name: {', '.join(table.columns)}.")
    places: dict[str, int] = {}
    for column, role in roles.items():
        if column not in table.columns:
            raise TableError(f"The role map names the column {column!r}; the table has {', '.join(table.columns)}.")
        if role in places:
            raise TableError(f"The role map gives the role {role!r} to two columns.")
        places[role] = table.columns.index(column)
    missing = [role for role in ROLES if role not in places]
    if missing:
        raise TableError(f"The role map gives no column the role {', '.join(missing)}.")
    return places


def _name(value: Any, number: int, role: str) -> str:
    if not isinstance(value, str) or not value:
        raise TableError(f"Row {number}: the {role} id is {_shown(value)}; ids are texts that are not empty.")
    return value


def _moment(value: Any, number: int, kinds: set[str]) -> int:
    moment: int
    if type(value) is int and abs(value) <= _LAST:
        kinds.add("revision numbers")
        moment = value
    elif isinstance(value, str) and (stamp := _stamp(value)) is not None:
        kinds.add("time stamps" if stamp.tzinfo is None else "time stamps with an offset")
        moment = (stamp - _EPOCH.replace(tzinfo=stamp.tzinfo and datetime.UTC)) // _TICK
    else:
        raise TableError(
            f"Row {number}: the moment is {_shown(value)}; it is a revision number (an int of 64 bits) or a time stamp "
            "(ISO 8601 text)."
        )
    if len(kinds) > 1:
        raise TableError(f"Row {number}: {' and '.join(sorted(kinds))} are mixed in one column.")
    return moment


def _stamp(text: str) -> datetime.datetime | None:
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        return None


def _settled(value: Any, number: int) -> bool:
    if type(value) is not bool:
        raise TableError(f"Row {number}: the settled flag is {_shown(value)}; it is True or False.")
    return value


def _amount(value: Any, number: int) -> int:
    """An amount in 1/10,000 of the unit."""
    if type(value) is float and not math.isfinite(value):
        raise TableError(f"Row {number}: the amount is {value!r}; amounts are finite.")
    if type(value) is int:
        if abs(value) > MOST:
            raise TableError(f"Row {number}: the amount is beyond {MOST:.0e}, the most that is summed exactly.")
        return value * SCALE
    if not isinstance(value, decimal.Decimal):
        raise TableError(
            f"Row {number}: the amount is {_shown(value)}; amounts are int or Decimal, never binary floats."
        )
    if not value.is_finite():
        raise TableError(f"Row {number}: the amount is {value}; amounts are finite.")
    if not -MOST <= value <= MOST:
        raise TableError(f"Row {number}: the amount is beyond {MOST:.0e}, the most that is summed exactly.")
    cents = value.quantize(_CENT, context=_EXACT)
    if cents != value:
        raise TableError(f"Row {number}: the amount {_shown(value)} has more than two decimal places.")
    return int(cents.scaleb(2, _EXACT)) * (SCALE // 100)


def _shown(value: Any) -> str:
    """A value as it is written, in so much space as a sentence has; Python writes no int of thousands of digits."""
    text = "an int of more than 64 bits" if type(value) is int and abs(value) > _LAST else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


_SHOWN = 60
_EXACT = decimal.Context(prec=60)
_CENT = decimal.Decimal("0.01")
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_TICK = datetime.timedelta(microseconds=1)
_LAST = 2**63 - 1


def total_text(total: int) -> decimal.Decimal:
    """A total as an exact decimal number of yuan."""
    return decimal.Decimal(total).scaleb(-PLACES, _EXACT).normalize(_EXACT)
