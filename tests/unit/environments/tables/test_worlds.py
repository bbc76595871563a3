"""Worlds and tasks: a pure function of the seed, told apart by every effect, ids of their own."""

from __future__ import annotations

import itertools
import random

import pytest

from surefoot.environments.tables.effects import APPLY, EFFECTS
from surefoot.environments.tables.interpreter import run
from surefoot.environments.tables.table import ROLES, read
from surefoot.environments.tables.worlds import (
    ATOMIC,
    COMPOSED,
    DEFAULT,
    DOMAIN,
    ORDINARY,
    ORDINARY_SIZE,
    PROGRAMS,
    REQUESTS,
    SHIFTED,
    SHIFTED_SIZE,
    World,
    distinguishes,
    generate,
    micro_of,
)

WORLD = World.drawn(11)


def tasks(size, count=30, request=(1, 2, 1), world=WORLD):
    chance = random.Random(5)
    return [generate(world, chance, f"t{number}", "A", request, size) for number in range(count)]


def test_the_domain_is_three_stages_of_opaque_actions():
    assert DOMAIN.stages == ("population", "revision", "normalization")
    assert DOMAIN.actions == (("F0", "F1"), ("D0", "D1", "D2"), ("N0", "N1", "N2"))
    assert DOMAIN.first == (0, 0, 0)


def test_six_requests_are_atomic_and_twelve_composed():
    assert (len(REQUESTS), len(ATOMIC), len(COMPOSED)) == (18, 6, 12)
    assert DEFAULT in ATOMIC
    assert set(ATOMIC) | set(COMPOSED) == set(REQUESTS)


def test_a_world_is_a_function_of_its_seed():
    assert World.drawn(11) == World.drawn(11)
    assert World.drawn(11) != World.drawn(12)


def test_tools_are_permutations_drawn_for_each_revision_and_stage():
    seen = [set(), set(), set()]
    agree = 0
    for seed in range(200):
        tools = World.drawn(seed).tools
        assert list(tools) == ["A", "B", "C"]
        for revision in tools:
            for stage, permutation in enumerate(tools[revision]):
                assert sorted(permutation) == list(range(len(EFFECTS[stage])))
                seen[stage].add(permutation)
        agree += tools["A"] == tools["B"]
    assert [len(permutations) for permutations in seen] == [2, 6, 6]
    assert agree < 15  # 200 / 72 are expected


@pytest.mark.parametrize(
    ("size", "rows", "micro", "layouts"), [(ORDINARY_SIZE, 12, 4, ORDINARY), (SHIFTED_SIZE, 24, 6, SHIFTED)]
)
def test_a_task_has_the_rows_micro_task_and_columns_of_its_size(size, rows, micro, layouts):
    met = set()
    for task in tasks(size):
        assert (len(task.rows), len(task.micro), task.trial_rows) == (rows, micro, micro)
        assert len({row.order for row in task.rows}) == size.orders
        assert len({row.order for row in task.micro}) == 2
        assert set(task.roles.values()) == set(ROLES)
        layout = next(each for each in layouts if set(each.names.values()) == set(task.roles))
        assert set(task.table.columns) == {*layout.names.values(), *layout.others}
        met.add(layouts.index(layout))
    assert met == {0, 1, 2}


def test_schema_shift_shares_no_column_with_ordinary_tables():
    ordinary, shifted = (
        {name for layout in layouts for name in layout.names.values()} for layouts in (ORDINARY, SHIFTED)
    )
    assert not ordinary & shifted


def test_columns_stand_in_varying_order_and_the_rows_are_the_table_s():
    made = tasks(ORDINARY_SIZE)
    assert len({task.table.columns for task in made}) > 10
    assert all(read(task.table, task.roles) == task.rows for task in made)


def test_settlement_changes_within_an_order_in_schema_shift_alone():
    def changes(task):
        rows = sorted(task.rows)
        return any(
            len({row.settled for row in group}) > 1 for _, group in itertools.groupby(rows, lambda row: row.order)
        )

    assert not any(map(changes, tasks(ORDINARY_SIZE)))
    assert all(map(changes, tasks(SHIFTED_SIZE, 10)))


def test_half_of_the_orders_are_settled():
    settled = [row.settled for task in tasks(ORDINARY_SIZE, 150) for row in task.rows]
    assert 0.44 < sum(settled) / len(settled) < 0.56


def test_the_micro_task_is_the_first_two_orders_with_all_their_revisions(rows):
    more = (*rows, rows[0]._replace(order="c", row="c1"))
    assert micro_of(more) == rows
    task = tasks(SHIFTED_SIZE, 1)[0]
    first = sorted({row.order for row in task.rows})[:2]
    assert task.micro == tuple(row for row in task.rows if row.order in first)


@pytest.mark.parametrize("size", [ORDINARY_SIZE, SHIFTED_SIZE])
def test_every_pair_of_effects_differs_on_the_table_and_the_micro_task_and_one_program_is_accepted(size):
    for task, request in zip(tasks(size, 18), REQUESTS, strict=True):
        task.request = request
        for rows in (task.rows, task.micro):
            for given in (rows, APPLY[0][1](rows)):
                for effects in APPLY[1:]:
                    assert len({effect(given) for effect in effects}) == 3
        assert sum(task.full(program).accepted for program in PROGRAMS) == 1
        assert all(task.full(program).bits == task.small(program).bits for program in PROGRAMS)


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda rows: tuple(row._replace(settled=True) for row in rows),
        lambda rows: tuple(row._replace(settled=False) for row in rows),
        lambda rows: rows[1:3],  # one revision an order: oldest is latest
        lambda rows: tuple(row._replace(amount=0) for row in rows),
    ],
)
def test_rows_on_which_effects_agree_are_rejected(rows, spoilt):
    assert distinguishes(rows)
    assert not distinguishes(spoilt(rows))


def test_feedback_is_bits_failed_stages_audit_and_work():
    (task,) = tasks(ORDINARY_SIZE, 1, request=(0, 2, 1))
    tools = WORLD.tools["A"]
    right = tuple(tools[stage].index(goal) for stage, goal in enumerate(task.request))
    good = task.full(right)
    assert (good.bits, good.failed, good.accepted, good.work) == ((True,) * 3, (), True, 12 + 12 + 6 + 6)
    wrong = (right[0], right[1], (right[2] + 1) % 3)
    bad = task.full(wrong)
    assert (bad.bits, bad.failed, bad.accepted) == ((True, True, False), (2,), False)
    assert task.small(wrong).work == 4 + 4 + 2 + 2
    assert task.full(wrong) is bad  # executions are kept
    assert task.trace(right) == run(tools, right, task.rows)


def test_equal_seeds_give_equal_tasks_and_different_ids_different_rows():
    first, again = tasks(SHIFTED_SIZE, 5), tasks(SHIFTED_SIZE, 5)
    assert first == again
    rows = [row.row for task in first for row in task.rows]
    assert len(rows) == len(set(rows))
