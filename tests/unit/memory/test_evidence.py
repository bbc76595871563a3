"""Skill evidence: PI's reuse score and promotion rule."""

from __future__ import annotations

import pytest

from surefoot.memory.evidence import Evidence, Tally


@pytest.mark.parametrize(
    ("successes", "failures", "score"), [(0, 0, 0.5), (2, 0, 0.75), (1, 0, 2 / 3), (2, 1, 0.6), (6, 2, 0.7)]
)
def test_the_reuse_score_is_s_plus_1_over_s_plus_f_plus_2(successes, failures, score):
    assert Tally(successes, failures).score == pytest.approx(score)


@pytest.mark.parametrize(
    ("tally", "promoted"),
    [
        (Tally(2, 0, 2.0, {"a", "b"}), True),
        (Tally(9, 0, 9.0, {"a"}), False),
        (Tally(2, 1, 2.0, {"a", "b"}), False),
        (Tally(6, 2, 2.0, {"a", "b"}), True),
        (Tally(), False),
    ],
)
def test_promotion_needs_two_scenes_and_a_score_of_0_7(tally, promoted):
    assert tally.promoted is promoted


def test_a_failed_trial_never_stores_a_positive_incentive():
    evidence: Evidence[str, str] = Evidence()
    evidence.record_trial("c", "a", False, 0.96)
    assert evidence.tally("c", "a") == Tally(0, 1, 0.0)
    evidence.record_trial("c", "a", False, -0.5)
    assert evidence.tally("c", "a") == Tally(0, 2, -0.5)
    evidence.record_trial("c", "a", True, 0.97)
    assert evidence.tally("c", "a") == Tally(1, 2, pytest.approx(0.47))


def test_a_confirmation_adds_one_success_one_incentive_and_its_scene_once():
    evidence: Evidence[str, str] = Evidence()
    for scene in ("x", "x", "y"):
        evidence.confirm("c", "a", scene)
    assert evidence.tally("c", "a") == Tally(3, 0, 3.0, {"x", "y"})


def test_promoted_actions_come_by_score_then_incentive_then_order_of_arrival():
    evidence: Evidence[str, str] = Evidence()
    for action, tally in {
        "first": Tally(3, 0, 3.0, {"x", "y"}),
        "better": Tally(8, 0, 1.0, {"x", "y"}),
        "second": Tally(3, 0, 3.0, {"x", "y"}),
        "dearer": Tally(3, 0, 3.5, {"x", "y"}),
        "single": Tally(9, 0, 9.0, {"x"}),
    }.items():
        evidence.merge("c", action, tally)
    evidence.merge("other", "elsewhere", Tally(9, 0, 9.0, {"x", "y"}))
    assert evidence.promoted("c") == ["better", "dearer", "first", "second"]


def test_asking_for_what_is_not_known_leaves_no_trace():
    evidence: Evidence[str, str] = Evidence()
    assert evidence.tally("c", "a") == Tally()
    assert list(evidence.items()) == []


def test_merging_adds_what_another_run_knows():
    evidence: Evidence[str, str] = Evidence()
    evidence.confirm("c", "a", "x")
    evidence.merge("c", "a", Tally(2, 1, 0.5, {"x", "z"}))
    assert evidence.tally("c", "a") == Tally(3, 1, 1.5, {"x", "z"})
