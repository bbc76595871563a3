"""Scale: both ways solve the same tasks, and only the small trials are cheap."""

from __future__ import annotations

from surefoot.pi.beyond import scale


def test_small_trials_find_the_same_programs_with_less_work():
    found = list(scale.measure((1_000, 4_000)))
    assert [each.controller for each in found] == [*scale.CONTROLLERS] * 2
    assert all(each.solved == each.tasks == scale.TASKS for each in found)
    assert all(each.visits < each.visits_full for each in found)
    small, large = found[0], found[3]
    assert large.visits_full - large.visits > 3 * (small.visits_full - small.visits)
    assert scale.tables(found)[0].columns[0] == "rows"
