"""Reading a table by its role map: exact, or an error that names the place."""

from __future__ import annotations

import decimal
import re
from decimal import Decimal

import pytest

from surefoot.environments.tables.errors import TableError
from surefoot.environments.tables.table import SCALE, Row, Table, read, total_text
from surefoot.errors import UsageError

COLUMNS = ("id", "line", "version", "paid", "value")
ROLES = {"id": "order", "line": "row", "version": "moment", "paid": "settled", "value": "amount"}
FIRST = ("a", "r1", 1, True, 5)


def table(*rows, columns=COLUMNS):
    return Table(columns, rows)


def moments(*values):
    """The moments of rows whose time stamps are these, each row of an order of its own."""
    read_rows = read(table(*[(f"o{n}", f"r{n}", value, True, 1) for n, value in enumerate(values)]), ROLES)
    return [row.moment for row in read_rows]


def test_rows_are_read_by_role_wherever_their_columns_stand():
    columns = ("value", "clerk", "paid", "version", "line", "id")
    found = read(
        table((7, "Kim", False, 3, "r1", "a"), (Decimal("0.5"), "", True, 4, "r2", "a"), columns=columns), ROLES
    )
    assert found == (Row("a", "r1", 3, False, 7 * SCALE), Row("a", "r2", 4, True, SCALE // 2))


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (3, 30_000),
        (-3, -30_000),
        (0, 0),
        (Decimal("0.01"), 100),
        (Decimal("-12.30"), -123_000),
        (Decimal("1E+3"), 10_000_000),
        (Decimal("0E+40"), 0),
        (Decimal("2.5000000000"), 25_000),
        (10**15, 10**19),
        (-Decimal(10**15), -(10**19)),
    ],
)
def test_amounts_are_exact_ten_thousandths(value, exact):
    assert read(table(("a", "r1", 1, True, value)), ROLES)[0].amount == exact


def test_an_amount_divides_by_100_exactly_whatever_it_is():
    amounts = [read(table(("a", "r1", 1, True, Decimal(cents).scaleb(-2))), ROLES)[0].amount for cents in range(300)]
    assert not any(amount % 100 for amount in amounts)


def test_the_precision_of_the_caller_s_decimals_does_not_matter():
    with decimal.localcontext(decimal.Context(prec=2, traps=[decimal.Inexact])):
        assert read(table(("a", "r1", 1, True, Decimal("123456.78"))), ROLES)[0].amount == 1_234_567_800


def test_totals_are_shown_in_full():
    assert f"{total_text(1_234_567_890_000):f}" == "123456789"
    assert f"{total_text(-5):f}" == "-0.0005"
    assert f"{total_text(0):f}" == "0"


def test_time_stamps_are_compared_as_times_not_as_texts():
    early, late = moments("2026-01-01T10:00:00+02:00", "2026-01-01T09:00:00+00:00")
    assert late - early == 3600 * 10**6
    assert moments("1970-01-01", "1970-01-01T00:00:00.000001", "1969-12-31T23:59:59") == [0, 1, -(10**6)]


def row(**changed):
    return tuple({**dict(zip(COLUMNS, FIRST, strict=True)), **changed}.values())


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (table(), "The table is empty: it needs at least one row."),
        (table(FIRST, ("a", "r2", 2, True)), "Row 2 has 4 values; the table has 5 columns."),
        (table((*FIRST, 9)), "Row 1 has 6 values; the table has 5 columns."),
        (table(FIRST, row(version=2)), "Row 2 has the row id 'r1', and so has row 1; ids are unique."),
        (
            table(FIRST, row(line="r2")),
            "Row 2: order 'a' has another row at 1, so its oldest and its latest would be ambiguous.",
        ),
        (
            table(row(version="2026-01-01T10:00:00+02:00"), row(line="r2", version="2026-01-01T08:00:00+00:00")),
            "Row 2: order 'a' has another row at '2026-01-01T08:00:00+00:00', "
            "so its oldest and its latest would be ambiguous.",
        ),
        (
            table(FIRST, columns=("id", "line", "version", "paid", "id")),
            "Two columns have one name: id, line, version, paid, id.",
        ),
        (table(row(id="")), "Row 1: the order id is ''; ids are texts that are not empty."),
        (table(row(line=7)), "Row 1: the row id is 7; ids are texts that are not empty."),
        (table(row(paid=1)), "Row 1: the settled flag is 1; it is True or False."),
        (table(row(paid="yes")), "Row 1: the settled flag is 'yes'; it is True or False."),
        (
            table(FIRST, row(line="r2", version="2026-01-01")),
            "Row 2: revision numbers and time stamps are mixed in one column.",
        ),
        (
            table(row(version="2026-01-01T00:00:00+00:00"), row(line="r2", version="2026-01-02")),
            "Row 2: time stamps and time stamps with an offset are mixed in one column.",
        ),
        *[
            (
                table(row(version=value)),
                f"Row 1: the moment is {shown}; it is a revision number (an int of 64 bits) or a time stamp "
                "(ISO 8601 text).",
            )
            for value, shown in (
                (True, "True"), (1.0, "1.0"), ("", "''"), ("yesterday", "'yesterday'"), (None, "None"),
                (10**5000, "an int of more than 64 bits"), ("x" * 90, "'" + "x" * 59 + "…"),
            )
        ],
        *[
            (table(row(value=value)), f"Row 1: the amount is {shown}; amounts are finite.")
            for value, shown in (
                (float("nan"), "nan"), (float("-inf"), "-inf"), (Decimal("NaN"), "NaN"), (Decimal("sNaN"), "sNaN"),
                (Decimal("Infinity"), "Infinity"),
            )
        ],
        *[
            (table(row(value=value)), "Row 1: the amount is beyond 1e+15, the most that is summed exactly.")
            for value in (10**15 + 1, -(10**15) - 1, 10**5000, Decimal("1000000000000000.01"), Decimal("1E+100000"))
        ],
        *[
            (table(row(value=value)), f"Row 1: the amount {shown} has more than two decimal places.")
            for value, shown in (
                (Decimal("0.005"), "Decimal('0.005')"),
                (Decimal("1E-100000"), "Decimal('1E-100000')"),
                (Decimal("1." + "0" * 69 + "1"), "Decimal('1." + "0" * 49 + "…"),
            )
        ],
        *[
            (table(row(value=value)), f"Row 1: the amount is {shown}; amounts are int or Decimal, never binary floats.")
            for value, shown in ((1.5, "1.5"), (True, "True"), ("12", "'12'"), (None, "None"))
        ],
    ],
)  # fmt: skip
def test_a_table_that_can_t_be_read_exactly_is_an_error_that_names_the_place(made, text):
    with pytest.raises(TableError, match=f"^{re.escape(text)}$"):
        read(made, ROLES)


@pytest.mark.parametrize(
    ("roles", "text"),
    [
        (
            ROLES | {"paid": "flag"},
            "The role map names unknown roles ('paid': 'flag'); there are order, row, moment, settled, amount.",
        ),
        (
            ROLES | {"clerk": "amount"},
            "The role map names the column 'clerk'; the table has id, line, version, paid, value.",
        ),
        (ROLES | {"line": "order"}, "The role map gives the role 'order' to two columns."),
        ({"id": "order", "line": "row"}, "The role map gives no column the role moment, settled, amount."),
    ],
)
def test_a_role_map_that_does_not_fit_is_an_error(roles, text):
    with pytest.raises(TableError, match=f"^{re.escape(text)}$"):
        read(table(FIRST), roles)


def test_a_table_error_is_a_usage_error():
    assert issubclass(TableError, UsageError)
    assert TableError.exit_code == 2
