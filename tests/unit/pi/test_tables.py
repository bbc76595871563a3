"""The paper's tables: Markdown, CSV and JSON say the same, with the published figure beside the measured one."""

from __future__ import annotations

import csv
import io
import json
import statistics

import pytest

from surefoot.pi.compositions import COMPOSITIONS
from surefoot.pi.experiment import Key
from surefoot.pi.figures import FIGURES, Quantity
from surefoot.pi.tables import Table, published, spread, tables

NAMES = [
    "cold-compositions", "cold-atomic", "cold-schema-shift", "cold-revision-C", "acquired-atomic", "acquired-composition",
    "acquired-schema-shift", "transfer-and-budgets", "acquisition-and-retention", "follow-up", "reset", "published",
]  # fmt: skip


@pytest.fixture(scope="module")
def made(worlds):
    return tables(worlds)


def shown(cell):
    """A cell as Markdown has it."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    return str(int(cell)) if cell == int(cell) else f"{cell:.2f}"


def test_there_is_a_table_for_every_table_and_figure_of_the_paper(made):
    assert [table.name for table in made] == NAMES


def test_markdown_csv_and_json_agree(made):
    for table in made:
        data = json.loads(json.dumps(table.data()))
        assert (data["name"], data["title"]) == (table.name, table.title)
        assert [tuple(row) for row in data["rows"]] == [table.columns] * len(table.rows)
        cells = [tuple(row.values()) for row in data["rows"]]
        assert cells == list(table.rows)
        header, *rows = csv.reader(io.StringIO(table.csv()))
        assert tuple(header) == table.columns
        assert rows == [["" if cell is None else str(cell) for cell in row] for row in cells]
        title, _, columns, rule, *lines = table.markdown().splitlines()
        assert title == f"### {table.title}"
        assert columns == f"| {' | '.join(table.columns)} |"
        assert rule.count("---") == len(table.columns)
        assert lines == [f"| {' | '.join(map(shown, row))} |" for row in cells]


def test_numbers_are_shown_with_two_places_and_nothing_as_nothing():
    table = Table("t", "T", ("a", "b"), (("x", 1.0), (None, 2 / 3), ("y", -0.004)))
    assert table.markdown() == "### T\n\n| a | b |\n| --- | --- |\n| x | 1 |\n|  | 0.67 |\n| y | -0.00 |\n"
    assert table.csv() == "a,b\nx,1.0\n,0.6666666666666666\ny,-0.004\n"
    assert table.data() == {
        "name": "t",
        "title": "T",
        "rows": [{"a": "x", "b": 1.0}, {"a": None, "b": 2 / 3}, {"a": "y", "b": -0.004}],
    }


def test_cells_are_mean_and_sample_deviation_over_worlds_and_the_paper_s_mean(made, worlds):
    (cold,) = [table for table in made if table.name == "cold-compositions"]
    rows = {row[0]: dict(zip(cold.columns, row, strict=True)) for row in cold.rows}
    assert list(rows) == list(COMPOSITIONS)
    visits = [results[Key("cold", "composition", 3, "pi")].visits for results in worlds]
    assert rows["pi"]["visits"] == statistics.fmean(visits)
    assert rows["pi"]["sd of visits"] == statistics.stdev(visits)
    assert rows["pi"]["published visits"] == 75.90
    assert rows["no_localization"]["published collateral"] == 41.83
    assert rows["trajectory"]["published visits"] is None


def test_budgets_follow_up_and_probe_have_a_row_for_each_controller_and_place(made):
    by_name = {table.name: table for table in made}
    assert [row[:2] for row in by_name["transfer-and-budgets"].rows] == [
        (budget, name) for budget in (1, 3, 6) for name in COMPOSITIONS
    ]
    assert [row[1] for row in by_name["follow-up"].rows] == [0, 6, 12, 24] * 4
    assert [row[1] for row in by_name["acquisition-and-retention"].rows] == [0, 24, 48, 96] * 8
    assert [row[:2] for row in by_name["reset"].rows][:2] == [("atomic", "cold"), ("atomic", "reset")]


def test_every_published_figure_has_its_row(made):
    assert [(row[0], row[2]) for row in made[-1].rows] == [(figure.name, figure.published) for figure in FIGURES]


def test_the_published_mean_of_a_quantity_is_no_deviation_and_no_difference():
    assert published(Quantity(Key("acquired", "revision-C", 3, "pi"), "final")) == 70.0
    assert published(Quantity(Key("acquired", "revision-C", 3, "pi"), "visits")) is None


def test_one_world_has_no_deviation(worlds):
    assert spread(worlds[:1], Quantity(Key("cold", "composition", 3, "pi"), "final")) == (pytest.approx(100), 0.0)
