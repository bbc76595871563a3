"""Published figures and exact invariants, computed from results made by hand."""

from __future__ import annotations

import pytest

from surefoot.pi.experiment import Key, Measure
from surefoot.pi.figures import FIGURES, Figure, Invariant, Quantity, invariants

OWN, OTHER = (Key("cold", "composition", 3, name) for name in ("pi", "no_trial"))
PUBLISHED = {
    "cold, pi, trials": 1.74,
    "cold, pi, visits": 75.90,
    "cold, no_localization, collateral": 41.83,
    "cold, no_trial, visits": 58.82,
    "acquired, pi, visits": 28.98,
    "acquired, pi against pi_no_incentive, visits in per cent": -61.82,
    "revision C, K=3, pi, sd of final": 21.20,
    "revision C, K=3, self_trial, sd of final": 9.91,
    "revision C, K=1, pi, final": 21.5,
    "revision C, K=6, pi, trials": 2.67,
    "follow-up, pi, first after 6": 54.33,
    "follow-up, pi, final after 6": 96.5,
    "follow-up, pi, visits after 12": 31.47,
    "follow-up, self_trial, first after 12": 91.17,
    "follow-up, pi_no_incentive, final after 24": 70.0,
}


def world(own, other=0.0):
    return {OWN: Measure(own, own, 0, 0, own, own), OTHER: Measure(other, other, 0, 0, other, other)}


def test_figures_have_names_of_their_own_and_the_paper_s_numbers():
    found = {figure.name: figure.published for figure in FIGURES}
    assert len(found) == len(FIGURES)
    assert {name: found.get(name) for name in PUBLISHED} == PUBLISHED


def test_every_figure_can_be_measured(worlds):
    assert all(isinstance(figure.of(worlds), float) for figure in FIGURES)


@pytest.mark.parametrize(
    ("figure", "value"),
    [
        (Figure("mean", 0, Quantity(OWN, "visits")), 6.0),
        (Figure("sd", 0, Quantity(OWN, "visits"), "sd"), 2.0),
        (Figure("difference", 0, Quantity(OWN, "visits"), minus=Quantity(OTHER, "visits")), -6.0),
        (Figure("reduction", 0, Quantity(OWN, "visits"), "reduction", Quantity(OTHER, "visits")), -50.0),
    ],
)
def test_a_figure_is_a_mean_a_sample_deviation_a_paired_difference_or_a_reduction(figure, value):
    assert figure.of([world(4, 10), world(6, 12), world(8, 14)]) == pytest.approx(value)


def test_an_invariant_holds_at_its_value_or_where_all_are_equal():
    quantities = (Quantity(OWN, "final"), Quantity(OTHER, "final"))
    assert Invariant("both are 100", quantities, 100).holds(world(100, 100))
    assert not Invariant("both are 100", quantities, 100).holds(world(100, 98.3))
    assert Invariant("equal", quantities).holds(world(7, 7))
    assert not Invariant("equal", quantities).holds(world(7, 7.01))
    assert not Invariant("zero", (Quantity(OWN, "final"),), 0).holds(world(1))


def test_pi_and_compositional_are_compared_in_every_cell_that_both_have_and_every_field(worlds):
    (results, _) = worlds
    ties = [each for each in invariants(results) if each.name.startswith("pi = compositional")]
    both = [key for key in results if key.controller == "compositional"]
    assert len(ties) == 6 * len(both)
    spoilt = dict(results)
    key = Key("probe 48", "composition", 3, "compositional")
    spoilt[key] = spoilt[key]._replace(visits=spoilt[key].visits + 1)
    broken = [each.name for each in invariants(spoilt) if not each.holds(spoilt)]
    assert broken == ["pi = compositional, probe 48, composition, K=3, visits"]


@pytest.mark.parametrize(
    ("key", "field", "value", "name"),
    [
        (Key("cold", "composition", 3, "no_trial"), "final", 99.0, "cold compositions: final of pi, compositional, no_trial is 100 %"),
        (Key("acquired", "composition", 3, "no_goal"), "first", 98.0, "acquired compositions: first of pi, compositional, self_trial, no_localization, no_goal is 100 %"),
        (Key("acquired", "revision-C", 6, "self_trial"), "final", 98.0, "revision C at K=6: final of pi, compositional, self_trial is 100 %"),
        (Key("cold", "composition", 3, "trajectory"), "final", 50.0, "compositions, cold: trajectory's final is its first"),
        (Key("acquired", "composition", 3, "trajectory"), "final", 50.0, "compositions, acquired: trajectory's final is its first"),
        (Key("acquired", "schema-shift", 1, "no_goal"), "collateral", 1.0, "no collateral regression by local controllers"),
        (Key("reset", "composition", 3, "pi"), "visits", 1.0, "reset pi is cold pi"),
    ],
)  # fmt: skip
def test_each_invariant_notices_its_own_violation(worlds, key, field, value, name):
    spoilt = dict(worlds[0])
    spoilt[key] = spoilt[key]._replace(**{field: value})
    assert [each.name for each in invariants(spoilt) if not each.holds(spoilt)] == [name]
