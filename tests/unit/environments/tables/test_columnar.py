"""The columnar engine is the small interpreter, on many rows."""

from __future__ import annotations

import random

import polars as pl
import pytest

from surefoot.environments.tables import columnar
from surefoot.environments.tables.columnar import LargeTask, checked, drawn, frame_of, states_of
from surefoot.environments.tables.errors import TableError
from surefoot.environments.tables.worlds import (
    COMPOSED,
    ORDINARY_SIZE,
    PROGRAMS,
    REQUESTS,
    SHIFTED_SIZE,
    World,
    generate,
)

WORLD = World.drawn(5)


@pytest.mark.parametrize("size", [ORDINARY_SIZE, SHIFTED_SIZE], ids=["ordinary", "schema-shift"])
@pytest.mark.parametrize("revision", "ABC")
def test_every_state_total_and_row_is_that_of_the_interpreter(size, revision):
    task = generate(WORLD, random.Random(f"{revision} {size.orders}"), "t", revision, COMPOSED[0], size)
    frame = frame_of(task.rows)
    for program in PROGRAMS:
        trace = task.trace(program)
        states = states_of(task.tools, program, frame)
        assert [state["row"].to_list() for state in states] == [[row.row for row in rows] for rows in trace.states]
        assert [state["amount"].to_list() for state in states] == [
            [row.amount for row in rows] for rows in trace.states
        ]
        assert states[-1]["amount"].sum() == trace.total


@pytest.mark.parametrize("request_", REQUESTS, ids=str)
def test_exactly_one_program_is_accepted_and_its_contracts_agree_on_the_micro_task(request_):
    task = LargeTask("t", "A", request_, drawn(200, 3), WORLD.tools["A"])
    accepted = [program for program in PROGRAMS if task.full(program).accepted]
    assert len(accepted) == 1
    assert all(
        WORLD.tools["A"][stage][action] == goal
        for stage, (action, goal) in enumerate(zip(accepted[0], request_, strict=True))
    )
    assert all(task.full(program).bits == task.small(program).bits for program in PROGRAMS)


def test_the_audit_is_not_the_engine_s_own_word(monkeypatch):
    task = LargeTask("t", "A", (1, 2, 0), drawn(400, 4), WORLD.tools["A"])
    right = next(program for program in PROGRAMS if task.full(program).accepted)
    # latest and oldest mixed up, in the stage and in its contract alike: every contract passes, the audit does not
    swapped = (columnar.APPLY[0], (columnar.APPLY[1][0], columnar.APPLY[1][2], columnar.APPLY[1][1]), columnar.APPLY[2])
    monkeypatch.setattr(columnar, "APPLY", swapped)
    feedback = task.full(right)
    assert all(feedback.bits)
    assert not feedback.accepted


def test_work_counts_rows_that_enter_each_stage_and_the_emission():
    task = LargeTask("t", "A", (0, 0, 0), drawn(1_000, 6), WORLD.tools["A"])
    everything = next(program for program in PROGRAMS if task.full(program).accepted)
    assert task.full(everything).work == 4 * 1_000
    assert task.small(everything).work == 4 * 4


def test_amounts_beyond_64_bits_are_refused_with_a_sentence():
    frame = drawn(100, 1)
    with pytest.raises(TableError, match="too large to be summed exactly"):
        checked(frame.with_columns(pl.lit(2**60).alias("amount")))


def test_the_same_seed_draws_the_same_table():
    assert drawn(1_000, 9).equals(drawn(1_000, 9))
    assert not drawn(1_000, 9).equals(drawn(1_000, 10))
