"""What PI's paper states, measured on thirty worlds (the short form of `surefoot pi check --worlds 1000`)."""

from __future__ import annotations

import pytest

from surefoot.pi.check import GROUP, held, place
from surefoot.pi.compositions import COMPOSITIONS
from surefoot.pi.experiment import Key, Results, run_world
from surefoot.pi.figures import FIGURES
from surefoot.pi.streams import PUBLISHED_SEEDS

pytestmark = pytest.mark.paper
SEEDS = range(1_000, 1_030)
BOUND = 1 + 2 + 2
"""Small trials that suffice with two, three and three actions."""


@pytest.fixture(scope="module")
def worlds() -> list[Results]:
    return [run_world(seed) for seed in SEEDS]


def cells(worlds, field, setting, group, budget, name):
    return [getattr(results[Key(setting, group, budget, name)], field) for results in worlds]


def mean(worlds, *cell):
    return sum(cells(worlds, *cell)) / len(worlds)


def test_every_published_figure_lies_among_the_values_of_ten_worlds(worlds):
    placed = place(worlds)
    assert [each.name for each in placed] == [figure.name for figure in FIGURES]
    assert {each.name: (each.published, each.mean) for each in placed if not each.inside} == {}


def test_the_published_seeds_are_none_of_those_measured_here():
    assert len(PUBLISHED_SEEDS) == GROUP
    assert not set(PUBLISHED_SEEDS) & set(SEEDS)


def test_every_invariant_holds_in_every_world(worlds):
    found = held(worlds)
    assert len(found) > 100
    assert [each.name for each in found if not each.holds] == []


@pytest.mark.parametrize("name", ["pi", "compositional", "no_trial", "pi_no_incentive"])
def test_cold_compositions_are_all_solved_by_whoever_matches_effects_to_goals(worlds, name):
    assert min(cells(worlds, "final", "cold", "composition", 3, name)) == pytest.approx(100)


@pytest.mark.parametrize("name", ["pi", "compositional", "self_trial", "no_localization", "no_goal"])
def test_after_acquisition_compositions_never_seen_are_right_at_once(worlds, name):
    assert min(cells(worlds, "first", "acquired", "composition", 3, name)) == pytest.approx(100)


@pytest.mark.parametrize("name", ["pi", "compositional", "self_trial"])
def test_six_trials_suffice_on_a_revision_never_met(worlds, name):
    assert min(cells(worlds, "final", "acquired", "revision-C", 6, name)) == pytest.approx(100)
    assert max(cells(worlds, "trials", "acquired", "revision-C", 6, name)) < BOUND


@pytest.mark.parametrize("setting", ["cold", "acquired"])
def test_whole_trajectories_never_solve_a_composition_that_the_default_program_does_not(worlds, setting):
    cell = (setting, "composition", 3, "trajectory")
    assert cells(worlds, "final", *cell) == cells(worlds, "first", *cell)


def test_the_findings_that_speak_against_pi_are_there(worlds):
    assert mean(worlds, "visits", "cold", "composition", 3, "no_trial") < mean(
        worlds, "visits", "cold", "composition", 3, "pi"
    )
    new = {name: mean(worlds, "final", "acquired", "revision-C", 3, name) for name in COMPOSITIONS}
    assert new["self_trial"] > new["pi"]
    assert new["compositional"] == new["pi"]
    assert mean(worlds, "trials", "acquired", "revision-C", 6, "self_trial") < mean(
        worlds, "trials", "acquired", "revision-C", 6, "pi"
    )


def test_replacing_whole_programs_breaks_what_held(worlds):
    assert mean(worlds, "collateral", "cold", "composition", 3, "no_localization") > 20
    assert mean(worlds, "final", "cold", "composition", 3, "no_localization") < 20


def test_schema_shift_costs_work_but_no_success(worlds):
    for setting in ("cold", "acquired"):
        shifted, ordinary = ((setting, group, 3, "pi") for group in ("schema-shift", "composition"))
        assert min(cells(worlds, "final", *shifted)) == pytest.approx(100)
        assert mean(worlds, "visits", *shifted) > mean(worlds, "visits", *ordinary)
