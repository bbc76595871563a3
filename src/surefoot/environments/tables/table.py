"""Tables as they come, and what their columns mean: a public role map from column names to logical roles."""

from __future__ import annotations

import decimal
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from surefoot.environments.tables.errors import TableError

Role = Literal["order", "row", "moment", "settled", "amount"]
ROLES: tuple[Role, ...] = get_args(Role)
PLACES = 4
"""Decimal places that amounts are carried in: two of the table's, two more for cents of the unit."""
SCALE = 10**PLACES
MOST = 10**15
"""Largest amount, in the table's unit, that is taken; sums of 10^7 of them stay exact in every engine."""


class Table(NamedTuple):
    """A physical table: column names, and rows of values in that order."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


class Row(NamedTuple):
    """A row by logical role. `amount` is exact, in 1/10,000 of the unit; `moment` orders an order's revisions."""

    order: str
    row: str
    moment: int | str
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
    moments: set[type] = set()
    for number, values in enumerate(table.rows, start=1):
        if len(values) != len(table.columns):
            raise TableError(f"Row {number} has {len(values)} values; the table has {len(table.columns)} columns.")
        row = Row(
            _name(values[places["order"]], number, "order"),
            _name(values[places["row"]], number, "row"),
            _moment(values[places["moment"]], number, moments),
            _settled(values[places["settled"]], number),
            _amount(values[places["amount"]], number),
        )
        if row.row in seen:
            raise TableError(
                f"Row {number} has the row id {row.row!r}, and so has row {seen[row.row]}; ids are unique."
            )
        seen[row.row] = number
        found.append(row)
    _refuse_equal_moments(found)
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
        raise TableError(f"Row {number}: the {role} id is {value!r}; ids are texts that are not empty.")
    return value


def _moment(value: Any, number: int, kinds: set[type]) -> int | str:
    if type(value) not in (int, str) or value == "":
        raise TableError(
            f"Row {number}: the moment is {value!r}; it is a revision number (int) or a time stamp (ISO text)."
        )
    kinds.add(type(value))
    if len(kinds) > 1:
        raise TableError(f"Row {number}: revision numbers and time stamps are mixed in one column.")
    return value  # type: ignore[no-any-return]


def _settled(value: Any, number: int) -> bool:
    if type(value) is not bool:
        raise TableError(f"Row {number}: the settled flag is {value!r}; it is True or False.")
    return value


def _amount(value: Any, number: int) -> int:
    """An amount in 1/10,000 of the unit."""
    if type(value) is float and not math.isfinite(value):
        raise TableError(f"Row {number}: the amount is {value!r}; amounts are finite.")
    whole: int
    if type(value) is int:
        whole = value * SCALE
    elif isinstance(value, decimal.Decimal) and value.is_finite() and abs(value) <= MOST:
        scaled = value.scaleb(2, _EXACT)
        if scaled != scaled.to_integral_value():
            raise TableError(f"Row {number}: the amount {value} has more than two decimal places.")
        whole = int(scaled) * (SCALE // 100)
    elif isinstance(value, decimal.Decimal):
        raise TableError(f"Row {number}: the amount {value} is not finite or beyond {MOST:.0e}.")
    else:
        raise TableError(f"Row {number}: the amount is {value!r}; amounts are int or Decimal, never binary floats.")
    if abs(whole) > MOST * SCALE:
        raise TableError(f"Row {number}: the amount {value} is beyond {MOST:.0e}, the most that is summed exactly.")
    return whole


_EXACT = decimal.Context(prec=60)


def _refuse_equal_moments(rows: Sequence[Row]) -> None:
    seen: set[tuple[str, int | str]] = set()
    for row in rows:
        if (row.order, row.moment) in seen:
            raise TableError(
                f"Order {row.order!r} has two rows at {row.moment!r}: oldest and latest would be ambiguous."
            )
        seen.add((row.order, row.moment))


def total_text(total: int) -> decimal.Decimal:
    """A total as an exact decimal number of yuan."""
    return decimal.Decimal(total).scaleb(-PLACES, _EXACT).normalize(_EXACT)
