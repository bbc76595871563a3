"""Eight controllers are one, differently composed: each differs from pi in what the paper says and in nothing else."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args

import pytest

from surefoot.errors import UsageError
from surefoot.memory.evidence import Tally, promotion
from surefoot.pi.compositions import COMPOSITIONS, PI, Source, composition, two_confirmations

DIFFERENCES = {
    "pi": {},
    "trajectory": {"whole": True, "candidates": ("by request",), "commit_on": "all", "memory": "programs"},
    "no_localization": {"whole": True, "candidates": ("by effect",)},
    "no_goal": {"candidates": ("acquired", "by request", "typed")},
    "no_trial": {"trials": False, "skips_current": False},
    "pi_no_incentive": {"candidates": ("by effect", "typed"), "memory": "nothing"},
    "compositional": {"promote": two_confirmations, "ranks_fragments": False},
    "self_trial": {"candidates": ("typed",)},
}


def test_there_are_the_paper_s_eight():
    assert set(COMPOSITIONS) == set(DIFFERENCES)


@pytest.mark.parametrize(("name", "differs"), DIFFERENCES.items())
def test_each_differs_from_pi_in_these_switches_alone(name, differs):
    found = composition(name)
    assert found.name == name
    switches = [field.name for field in fields(found) if field.name != "name"]
    assert {key: getattr(found, key) for key in switches if getattr(found, key) != getattr(PI, key)} == differs


def test_pi_looks_at_acquired_actions_then_effects_then_every_action_and_promotes_by_the_paper_s_rule():
    assert PI.candidates == ("acquired", "by effect", "typed")
    assert PI.promote is promotion
    assert {source for each in COMPOSITIONS.values() for source in each.candidates} == set(get_args(Source))


@pytest.mark.parametrize(
    ("tally", "both"),
    [
        (Tally(2, 0, 0.0, {"x", "y"}), (True, True)),
        (Tally(2, 1, 0.0, {"x", "y"}), (False, True)),
        (Tally(9, 0, 0.0, {"x"}), (False, False)),
    ],
)
def test_two_confirmations_are_promotion_without_the_score(tally, both):
    assert (promotion(tally), two_confirmations(tally)) == both


def test_an_unknown_controller_is_an_error_with_the_nearest():
    with pytest.raises(UsageError) as error:
        composition("self-trial")
    assert str(error.value) == (
        "There is no controller 'self-trial'. Did you mean 'self_trial'? Available: compositional, no_goal, "
        "no_localization, no_trial, pi, pi_no_incentive, self_trial, trajectory."
    )
