"""Break-even: cumulative costs, and where they cross."""

from __future__ import annotations

from surefoot.pi.beyond.break_even import ARMS, BASE, crossing, run_world, tables


def test_the_crossing_is_the_first_task_after_which_it_stays_below():
    assert crossing([5, 6, 7, 8], [4, 5, 8, 9]) == 3
    assert crossing([1, 2, 3], [2, 3, 4]) == 1
    assert crossing([3, 1, 9], [2, 2, 8]) == 4  # never, for good


def test_demonstrations_are_charged_to_those_who_use_them():
    world = run_world(11)
    first = {name: costs[0] for name, (costs, _) in world.items()}
    assert first["self_trial"] < first["pi"] == first["compositional"] == first[BASE]
    assert all(len(costs) == 216 and list(costs) == sorted(costs) for costs, _ in world.values())
    assert world["pi"][0][-1] < world[BASE][0][-1]
    crossings, totals, equal = tables([world, world])
    assert [row[0] for row in crossings.rows] == list(ARMS)
    assert len(totals.rows) == 4 * 5
    assert [row[0] for row in equal.rows] == [*ARMS, BASE]
