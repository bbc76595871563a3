"""Where published figures lie among groups of ten worlds."""

from __future__ import annotations

import random
import statistics

import pytest

from surefoot.pi import check
from surefoot.pi.check import Held, held, place
from surefoot.pi.experiment import Key, Measure
from surefoot.pi.figures import Figure, Quantity

OWN, OTHER = (Key("cold", "composition", 3, name) for name in ("pi", "no_trial"))
FIELD = Quantity(OWN, "visits")
PAIR = Quantity(OTHER, "visits")


def placed(monkeypatch, *figures, spread=10.0, count=60):
    """The figures placed among worlds whose visits are normal around 50, paired with the same plus 5."""
    chance = random.Random(1)
    values = [chance.gauss(50, spread) for _ in range(count)]
    results = [{OWN: Measure(0, 0, 0, 0, 0, value), OTHER: Measure(0, 0, 0, 0, 0, value + 5)} for value in values]
    monkeypatch.setattr(check, "FIGURES", figures)
    monkeypatch.setattr(check, "GROUPS_DRAWN", 2_000)
    return place(results)


def test_a_mean_near_that_of_all_worlds_lies_in_the_middle_and_one_far_off_outside(monkeypatch):
    middle, above, below = placed(
        monkeypatch, *(Figure(name, value, FIELD) for name, value in (("m", 50.0), ("a", 75.0), ("b", 25.0)))
    )
    assert (middle.name, middle.published, middle.inside) == ("m", 50.0, True)
    assert middle.mean == pytest.approx(50, abs=3)
    assert 5 < middle.percentile < 95
    assert (above.inside, above.percentile) == (False, 100.0)
    assert (below.inside, below.percentile) == (False, 0.0)


def test_paired_differences_are_taken_within_a_world(monkeypatch):
    # each of the two varies by ten, their difference not at all
    right, wrong = placed(monkeypatch, Figure("d", -5.0, FIELD, minus=PAIR), Figure("d", -6.0, FIELD, minus=PAIR))
    assert (right.inside, right.percentile, right.mean) == (True, 50.0, pytest.approx(-5))
    assert (wrong.inside, wrong.percentile) == (False, 0.0)


def test_deviations_are_those_of_the_ten_worlds_of_a_group(monkeypatch):
    near, far = placed(monkeypatch, Figure("sd", 10.0, FIELD, "sd"), Figure("sd", 40.0, FIELD, "sd"))
    assert (near.inside, far.inside) == (True, False)
    assert near.mean == pytest.approx(10, abs=2)


def test_of_ten_worlds_there_is_one_group_and_its_deviation_is_the_sample_s(monkeypatch):
    chance = random.Random(1)
    deviation = statistics.stdev(chance.gauss(50, 10) for _ in range(10))
    (found,) = placed(monkeypatch, Figure("sd", deviation, FIELD, "sd"), count=10)
    assert (found.mean, found.percentile) == (pytest.approx(deviation), 50.0)


def test_reductions_are_of_the_means(monkeypatch):
    (found,) = placed(monkeypatch, Figure("r", 100 * -5 / 55, FIELD, "reduction", PAIR))
    assert found.inside
    assert found.mean == pytest.approx(-9.1, abs=0.6)


def test_a_figure_that_never_varies_is_inside_if_it_agrees_as_it_is_rounded(monkeypatch):
    exact, rounded, other = placed(
        monkeypatch, *(Figure("x", value, FIELD) for value in (50.0, 50.004, 50.02)), spread=0.0
    )
    assert (exact.percentile, rounded.percentile) == (50.0, 50.0)
    assert (exact.inside, rounded.inside, other.inside) == (True, True, False)


def test_the_same_worlds_are_placed_the_same(monkeypatch):
    figure = Figure("m", 51.0, FIELD)
    assert placed(monkeypatch, figure) == placed(monkeypatch, figure)


def test_an_invariant_is_held_only_if_it_holds_in_every_world(worlds):
    assert all(each.holds for each in held(worlds))
    spoilt = dict(worlds[1])
    key = Key("reset", "composition", 3, "pi")
    spoilt[key] = spoilt[key]._replace(visits=0.0)
    assert [each for each in held([worlds[0], spoilt]) if not each.holds] == [Held("reset pi is cold pi", False)]
