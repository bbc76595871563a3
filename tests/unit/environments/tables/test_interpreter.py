"""Running a program: states, exact total, supporting rows, work, and public names."""

from __future__ import annotations

import itertools
import re

import pytest

from surefoot.environments.tables.errors import TableError
from surefoot.environments.tables.interpreter import names, parse, run
from surefoot.environments.tables.worlds import PROGRAMS

IDENTITY = ((0, 1), (0, 1, 2), (0, 1, 2))
OTHER = ((1, 0), (2, 0, 1), (1, 2, 0))
"""F0 is settled; D0 latest, D1 all; N0 cents, N1 hundreds."""


def test_a_program_runs_its_stages_in_order_on_what_the_stage_before_gave(rows):
    trace = run(IDENTITY, (1, 2, 2), rows)
    assert [[row.row for row in state] for state in trace.states] == [
        ["a2", "b1", "a1", "b2"],
        ["b1", "b2"],
        ["b2"],
        ["b2"],
    ]
    assert (trace.total, trace.supporting) == (400 * 10_000, ("b2",))


def test_an_action_does_what_the_tools_of_the_revision_say(rows):
    assert run(OTHER, (0, 0, 1), rows) == run(IDENTITY, (1, 2, 2), rows)
    assert run(OTHER, (0, 0, 1), rows) != run(IDENTITY, (0, 0, 1), rows)


@pytest.mark.parametrize(
    ("program", "work"), [((0, 0, 0), 4 + 4 + 4 + 4), ((1, 0, 0), 4 + 2 + 2 + 2), ((0, 1, 0), 4 + 4 + 2 + 2), ((1, 2, 1), 4 + 2 + 1 + 1)]
)  # fmt: skip
def test_work_is_the_rows_that_enter_each_stage_and_the_emission(rows, program, work):
    assert run(IDENTITY, program, rows).work == work


def test_lineage_every_emitted_row_can_be_followed_to_the_first_state(rows):
    for program in PROGRAMS:
        states = run(OTHER, program, rows).states
        for before, after in itertools.pairwise(states):
            assert {row.row for row in after} <= {row.row for row in before}


def test_totals_stay_exact_where_binary_floats_would_not(rows):
    large = tuple(row._replace(amount=10**18 + 100 * number) for number, row in enumerate(rows))
    assert run(IDENTITY, (0, 0, 2), large).total == 100 * (4 * 10**18 + 600)
    assert run(IDENTITY, (0, 0, 1), large).total == 4 * 10**16 + 6


def test_programs_have_public_names():
    assert names((0, 1, 2)) == ("F0", "D1", "N2")
    assert {parse(names(program)) for program in PROGRAMS} == set(PROGRAMS)
    assert len(PROGRAMS) == 18


@pytest.mark.parametrize(
    ("named", "text"),
    [
        (("F0", "D9", "N0"), "There is no revision action 'D9'; there are D0, D1, D2."),
        (("N0", "D0", "F0"), "There is no population action 'N0'; there are F0, F1."),
        (("F0", "D0"), "A program has one action for each of population, revision, normalization; got 2."),
    ],
)
def test_a_program_of_other_names_is_an_error(named, text):
    with pytest.raises(TableError, match=f"^{re.escape(text)}$"):
        parse(named)
