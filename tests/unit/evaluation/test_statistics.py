"""Intervals, paired comparison and distances against known values."""

from __future__ import annotations

import pytest

from surefoot.boundary.environment import Scene
from surefoot.boundary.outcome import Failure, Infrastructure, Success, Timeout
from surefoot.evaluation.frozen import Score, overlap, score
from surefoot.evaluation.pool import Episode
from surefoot.evaluation.statistics import (
    Paired,
    Spread,
    mean_of,
    paired_difference,
    paired_exact,
    ratio,
    smallest_distance,
    spread,
    wilson_interval,
)


@pytest.mark.parametrize(
    ("successes", "episodes", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662)],
)
def test_wilson_intervals_are_the_published_ones(successes, episodes, low, high):
    assert wilson_interval(successes, episodes) == pytest.approx((low, high), abs=1e-4)  # Newcombe 1998 for 81/263


def test_the_deviation_is_that_of_a_sample():
    found = spread([0.98, 1.0, 0.96])  # deviations 0, 0.02, 0.02; squares 8e-4; over n - 1 = 2: 4e-4
    assert (found.mean, found.deviation) == (pytest.approx(0.98), pytest.approx(0.02))


def test_one_run_has_no_deviation_and_no_run_no_mean():
    assert spread([0.5]) == Spread(0.5, None)
    assert spread([]) == Spread(None, None)
    assert spread([None, 0.5, None]) == Spread(0.5, None)


def test_means_and_shares_are_of_what_there_is():
    assert mean_of([None, 1.0, 2.0]) == 1.5
    assert mean_of([None]) is None
    assert (ratio(1, 4), ratio(0, 4), ratio(1, 0)) == (0.25, 0.0, None)


def test_no_episodes_say_nothing():
    assert wilson_interval(0, 0) == (0.0, 1.0)


def test_the_paired_test_is_the_exact_binomial_of_discordant_pairs():
    first = [True] * 5 + [False] * 1 + [True] * 10
    second = [False] * 5 + [True] * 1 + [True] * 10
    assert paired_exact(first, second) == Paired(5, 1, pytest.approx(2 * (1 + 6) / 2**6))
    assert paired_exact([True], [True]) == Paired(0, 0, 1.0)


def test_pairs_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match="shorter"):
        paired_exact([True], [])


def test_a_paired_difference_keeps_pairs_together():
    shifted = paired_difference([[(value + 3.0, value) for value in (1.0, 50.0, 900.0)]])
    assert (shifted.mean, shifted.interval) == (3.0, (3.0, 3.0))
    assert (shifted.first_smaller, shifted.second_smaller, shifted.pairs) == (0, 3, 3)


def test_the_interval_of_a_paired_difference_is_the_bootstraps():
    pairs = [(float(value), 0.0) for value in (-4, -2, -1, 0, 2)]
    found = paired_difference([pairs])
    assert (found.mean, found.first_smaller, found.second_smaller) == (-1.0, 3, 1)
    low, high = found.interval
    assert -3.2 < low < -2.4  # 1.96 * sd / sqrt(n) is 1.75; a bootstrap of five is a little narrower
    assert 0.4 < high < 1.2


def test_groups_of_pairs_weigh_the_same_whatever_their_size():
    assert paired_difference([[(1.0, 0.0)] * 9, [(3.0, 0.0)]]).mean == 2.0


def test_no_pairs_are_refused():
    for groups in ([], [[]]):
        with pytest.raises(ValueError, match="no pairs"):
            paired_difference(groups)


def episode(seed: int, outcome: object, scene: str | None = None) -> Episode:
    return Episode(seed, outcome, Scene(seed, scene or str(seed), {"a": (float(seed), 0.0)}), 0, 0.0)


def test_infrastructure_failures_are_counted_apart_and_timeouts_are_not():
    episodes = [
        episode(1, Success()),
        episode(2, Failure("normal")),
        episode(3, Infrastructure("x")),
        episode(4, Timeout(1.0)),
    ]
    assert score(episodes) == Score(1, 3, wilson_interval(1, 3), 1)
    assert score(episodes).text == "1/3 (33 %, interval 6-79 %, 1 infrastructure failures apart)"


def test_shared_scenes_are_found_by_their_digest_and_the_nearest_pair_is_measured():
    development = [episode(1, Success()).scene, episode(2, Success()).scene]
    held_out = [episode(11, Success(), "2").scene, episode(5, Success()).scene]
    found = overlap(development, held_out)
    assert (found.shared, found.smallest_distance) == ((11,), 3.0)


def test_the_distance_of_two_scenes_is_that_of_the_object_that_moved_most():
    near, far = {"a": (0.0, 0.0), "b": (0.0, 0.0)}, {"a": (3.0, 4.0), "b": (0.0, 1.0)}
    assert smallest_distance([near], [far]) == 5.0
    assert smallest_distance([near], [{"c": (0.0, 0.0)}]) is None
    assert smallest_distance([], [far]) is None
