"""What each hidden meaning does to rows."""

from __future__ import annotations

import pytest

from surefoot.environments.tables.effects import ACTIONS, APPLY, EFFECTS, STAGES

KEPT = {
    ("population", "all"): ["a2", "b1", "a1", "b2"],
    ("population", "settled"): ["b1", "b2"],
    ("revision", "all"): ["a2", "b1", "a1", "b2"],
    ("revision", "oldest"): ["b1", "a1"],
    ("revision", "latest"): ["a2", "b2"],
}
TIMES = {"yuan": [200, 30, 100, 4], "cents": [2, 0.3, 1, 0.04], "hundreds": [20_000, 3_000, 10_000, 400]}


def effect(stage, name):
    number = STAGES.index(stage)
    return APPLY[number][EFFECTS[number].index(name)]


def test_every_stage_has_as_many_actions_as_effects():
    assert (
        [len(each) for each in EFFECTS] == [len(each) for each in ACTIONS] == [len(each) for each in APPLY] == [2, 3, 3]
    )


@pytest.mark.parametrize(("named", "kept"), KEPT.items())
def test_selections_keep_rows_as_they_are_and_in_order(rows, named, kept):
    after = effect(*named)(rows)
    assert [row.row for row in after] == kept
    assert set(after) <= set(rows)


@pytest.mark.parametrize(("name", "amounts"), TIMES.items())
def test_units_change_amounts_alone(rows, name, amounts):
    after = effect("normalization", name)(rows)
    assert [row.amount for row in after] == [round(amount * 10_000) for amount in amounts]
    assert [row[:4] for row in after] == [row[:4] for row in rows]


def test_no_rows_stay_no_rows():
    assert {effect(()) for stage in APPLY for effect in stage} == {()}
