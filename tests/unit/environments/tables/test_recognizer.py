"""What a transition did, from its two sides alone."""

from __future__ import annotations

import ast
import inspect

import pytest

from surefoot.environments.tables import recognizer
from surefoot.environments.tables.effects import APPLY
from surefoot.environments.tables.recognizer import recognize


@pytest.mark.parametrize(("stage", "effect"), [(s, e) for s, effects in enumerate(APPLY) for e in range(len(effects))])
def test_every_effect_is_recognized(rows, stage, effect):
    assert recognize(stage, rows, APPLY[stage][effect](rows)) == effect


def test_it_knows_no_action_no_tool_and_no_effect_function():
    assert list(inspect.signature(recognize).parameters) == ["stage", "before", "after"]
    used = set()
    for node in ast.walk(ast.parse(inspect.getsource(recognizer))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("surefoot"):
            used |= {alias.name for alias in node.names}
    assert used == {"Row", "Rows"}


@pytest.mark.parametrize(
    ("stage", "after"),
    [
        (0, lambda rows: rows[:1]),
        (0, lambda rows: ()),
        (0, lambda rows: tuple(row for row in rows if not row.settled)),
        (1, lambda rows: rows[:3]),
        (1, lambda rows: (rows[0], rows[1])),  # the latest of one order, the oldest of the other
        (1, lambda rows: ()),
        (2, lambda rows: rows[::-1]),
        (2, lambda rows: rows[:2]),
        (2, lambda rows: tuple(row._replace(amount=row.amount * 10) for row in rows)),
        (2, lambda rows: (rows[0]._replace(amount=rows[0].amount * 100), *rows[1:])),
    ],
)
def test_an_unclear_transition_has_no_effect(rows, stage, after):
    assert recognize(stage, rows, after(rows)) is None


def test_amounts_of_nothing_but_zero_show_no_ratio(rows):
    zero = tuple(row._replace(amount=0) for row in rows)
    assert recognize(2, zero, zero) is None
    mixed = (rows[0], zero[1])
    assert recognize(2, mixed, APPLY[2][2](mixed)) == 2


def test_a_table_on_which_effects_agree_shows_the_first_of_them(rows):
    settled = tuple(row for row in rows if row.settled)
    assert recognize(0, settled, settled) == 0
