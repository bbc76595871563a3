"""Many worlds in one process or several."""

from __future__ import annotations

import math

import pytest

from surefoot.pi.worlds import each_world


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_seeds_whatever_the_workers(workers):
    seeds = [4, 1, 3, 0, 5, 2, 7]
    assert list(each_world(math.factorial, seeds, workers)) == [24, 1, 6, 1, 120, 2, 5040]


def test_results_come_one_by_one():
    met = []
    results = each_world(lambda seed: met.append(seed) or seed, [1, 2, 3])
    assert (next(results), met) == (1, [1])


def test_no_seeds_give_no_results():
    assert list(each_world(math.factorial, [], 2)) == []
