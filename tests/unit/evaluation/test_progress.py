"""Held-out success against episodes: a step function, when it reaches a level, and what it loses."""

from __future__ import annotations

import pytest

from surefoot.evaluation.progress import Progress

RISES_AND_FALLS = Progress.of(
    [
        (0, [False, False, False, False]),
        (4, [True, True, False, False]),
        (10, [True, False, True, True]),
        (12, [False, False, False, True]),
        (20, [False, True, True, True]),
    ]
)


def test_the_accepted_program_counts_from_its_episode_until_the_next():
    assert [RISES_AND_FALLS.at(episodes) for episodes in (0, 3, 4, 11, 12, 19, 20, 99)] == [
        0.0, 0.0, 0.5, 0.75, 0.25, 0.25, 0.75, 0.75,
    ]  # fmt: skip
    assert RISES_AND_FALLS.final == 0.75


def test_a_level_is_reached_at_once_and_settled_only_where_success_stays():
    assert [RISES_AND_FALLS.reached(level) for level in (0.0, 0.25, 0.5, 0.75, 1.0)] == [0, 4, 4, 10, None]
    assert [RISES_AND_FALLS.settled(level) for level in (0.0, 0.25, 0.5, 0.75, 1.0)] == [0, 4, 20, 20, None]


def test_a_level_that_is_lost_at_the_end_is_reached_and_never_settled():
    falls = Progress.of([(0, [True, True]), (3, [True, False])])
    assert (falls.reached(1.0), falls.settled(1.0)) == (0, None)


def test_the_mean_weights_each_program_by_its_episodes_up_to_the_horizon():
    assert RISES_AND_FALLS.mean(20) == pytest.approx((4 * 0 + 6 * 0.5 + 2 * 0.75 + 8 * 0.25) / 20)
    assert RISES_AND_FALLS.mean(40) == pytest.approx((6 * 0.5 + 2 * 0.75 + 8 * 0.25 + 20 * 0.75) / 40)
    assert RISES_AND_FALLS.mean(5) == pytest.approx(0.5 / 5)


def test_losses_are_counted_at_each_change_and_at_the_end():
    assert RISES_AND_FALLS.losses == 1 + 2 + 0
    assert RISES_AND_FALLS.lost == 1


def test_of_programs_accepted_at_the_same_episode_the_last_one_counts():
    twice = Progress.of([(0, [False]), (2, [False]), (2, [True])])
    assert (twice.starts, twice.rates) == ((0, 2), [0.0, 1.0])
