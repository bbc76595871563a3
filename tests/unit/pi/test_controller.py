"""The controller on small finite worlds: the episode, what it learns, and each composition's switch."""

from __future__ import annotations

import pytest
from finite_worlds import FiniteTask, controller, demonstration, domain_of

from surefoot.memory.evidence import Tally
from surefoot.pi.compositions import COMPOSITIONS
from surefoot.pi.controller import Trial
from surefoot.pi.sources import Template

TWO = ((0, 1, 2), (0, 1, 2))
"""Two stages, three actions each, the identity."""
DOMAIN = domain_of(3, 3)


def task(request=(1, 2), tools=TWO, revision="A", name="task", **bits):
    return FiniteTask(name, revision, request, tools, **bits)


def shown(*requests, tools=TWO, revision="A"):
    return [demonstration(f"{revision}-{n}", task(request, tools, revision)) for n, request in enumerate(requests)]


def programs(episode):
    return [trial.program for trial in episode.trials]


def test_an_accepted_first_submission_ends_the_episode():
    episode = controller("pi", DOMAIN).run(task((0, 0)), 3, learn=False)
    assert (episode.first_accepted, episode.accepted, episode.trials, episode.visits) == (True, True, (), 15)


def test_a_failed_first_submission_is_repaired_stage_by_stage_and_submitted_once_more():
    episode = controller("pi", DOMAIN, shown((1, 0), (0, 2))).run(task(), 3, learn=False)
    assert episode.trials == (
        Trial(0, (1, 0), True, pytest.approx(1 - 0.01 * 6 / 2), (True, False)),
        Trial(1, (1, 2), True, pytest.approx(1 - 0.01 * 6 / 2), (True, True)),
    )
    assert (episode.program, episode.first_accepted, episode.accepted) == ((1, 2), False, True)
    assert episode.visits == 15 + 6 + 6 + 15


@pytest.mark.parametrize("budget", [0, 1])
def test_the_second_submission_is_always_made_after_a_failed_first(budget):
    episode = controller("pi", DOMAIN, shown((1, 0))).run(task(), budget, learn=False)
    assert (len(episode.trials), episode.accepted, episode.visits) == (budget, False, 15 + 6 * budget + 15)


def test_a_rejected_trial_keeps_the_program_and_the_next_candidate_is_tried():
    episode = controller("self_trial", DOMAIN).run(task((2, 0)), 6, learn=False)
    assert programs(episode) == [(1, 0), (2, 0)]
    assert [trial.committed for trial in episode.trials] == [False, True]
    assert [trial.incentive for trial in episode.trials] == [pytest.approx(-0.03), pytest.approx(0.97)]


def test_no_program_is_tried_twice_for_a_stage_and_without_a_candidate_the_loop_ends():
    never = task((1, 0), trial=lambda program: (False, True))
    episode = controller("pi", DOMAIN, shown((1, 0), (2, 0))).run(never, 50, learn=False)
    assert programs(episode) == [(1, 0), (2, 0)]


def test_a_trial_commits_on_the_target_contract_whatever_else_it_breaks():
    breaking = task((1, 0), contracts=lambda program: (program[0] == 1, program == (0, 0) or program[1] == 1))
    episode = controller("pi", domain_of(2, 2)).run(breaking, 6, learn=False)
    assert episode.trials[0][1:] == ((1, 0), True, pytest.approx(-0.03), (True, False))
    assert episode.trials[1].program == (1, 1)
    assert (episode.accepted, episode.tentative_regressions, episode.collateral) == (True, 1, False)


def test_the_first_failed_stage_comes_first_also_after_a_commit():
    episode = controller("self_trial", DOMAIN).run(task((2, 2)), 10, learn=False)
    assert [trial.stage for trial in episode.trials] == [0, 0, 1, 1]


def test_candidates_are_acquired_actions_then_fragments_of_the_effect_then_the_rest_in_order():
    wide = domain_of(6)
    tools = ((9, 9, 9, 9, 9, 9),)
    never = task((1,), tools, trial=lambda program: (False,))
    templates = [
        Template("b", "B", (1,), (2,), (1,)), Template("other effect", "A", (1,), (5,), (0,)),
        Template("a", "A", (1,), (4,), (1,)), Template("again", "A", (1,), (4,), (1,)),
    ]  # fmt: skip
    made = controller("pi", wide, templates)
    made.evidence.confirm(("A", 0, 1), 3, "x")
    made.evidence.record_trial(("A", 0, 1), 5, True, 1.0)  # tried, never confirmed: not acquired
    assert programs(made.run(never, 9, learn=False)) == [(3,), (4,), (2,), (1,), (5,)]


def test_acquired_actions_come_by_score_then_incentive():
    never = task((1,), ((9,) * 4,), trial=lambda program: (False,))
    made = controller("pi", domain_of(4))
    for action, tally in {1: Tally(1, 1, 5.0, {"x"}), 2: Tally(1, 0, 1.0, {"x"}), 3: Tally(1, 0, 2.0, {"x"})}.items():
        made.evidence.merge(("A", 0, 1), action, tally)
    assert programs(made.run(never, 3, learn=False)) == [(3,), (2,), (1,)]


def test_fragments_of_the_revision_come_first_then_those_of_better_evidence_under_their_own_condition_then_by_id():
    never = task((1,), ((9,) * 6,), trial=lambda program: (False,))
    templates = [
        Template("1", "B", (1,), (1,), (1,)), Template("2", "C", (1,), (2,), (1,)),
        Template("3", "C", (1,), (3,), (1,)), Template("4", "A", (1,), (4,), (1,)),
    ]  # fmt: skip
    made = controller("pi", domain_of(6), templates)
    made.evidence.record_trial(("C", 0, 1), 3, True, 1.0)
    made.evidence.record_trial(("A", 0, 1), 2, True, 1.0)  # another condition than the fragment's
    assert programs(made.run(never, 4, learn=False)) == [(4,), (3,), (1,), (2,)]
    control = controller("compositional", domain_of(6), templates)
    control.evidence = made.evidence
    assert programs(control.run(never, 4, learn=False)) == [(4,), (1,), (2,), (3,)]


def test_the_initial_program_has_the_promoted_action_with_the_highest_score_and_identifier_0_elsewhere():
    made = controller("pi", DOMAIN)
    made.evidence.merge(("A", 0, 1), 2, Tally(5, 1, 9.0, {"x", "y"}))
    made.evidence.merge(("A", 0, 1), 1, Tally(5, 0, 1.0, {"x", "y"}))
    made.evidence.merge(("A", 1, 2), 2, Tally(9, 0, 9.0, {"x"}))
    made.evidence.merge(("B", 1, 2), 2, Tally(9, 0, 9.0, {"x", "y"}))
    assert made.initial(task((1, 2))) == (1, 0)
    assert made.initial(task((2, 2), revision="B")) == (0, 2)


def test_learning_counts_trials_and_confirms_the_accepted_program_under_the_task_s_conditions():
    made = controller("self_trial", DOMAIN)
    made.run(task((2, 0), name="t1"), 6, learn=True)
    assert dict(made.evidence.items()) == {
        (("A", 0, 2), 1): Tally(0, 1, pytest.approx(-0.03)),
        (("A", 0, 2), 2): Tally(2, 0, pytest.approx(1.97), {"t1"}),
        (("A", 1, 0), 0): Tally(1, 0, 1.0, {"t1"}),
    }


def test_a_failed_target_never_stores_a_positive_incentive():
    lucky = task((1, 1), contracts=lambda program: (False, program[0] == 1))
    made = controller("self_trial", domain_of(2, 2))
    episode = made.run(lucky, 1, learn=True)
    assert episode.trials[0].incentive == pytest.approx(0.97)
    assert dict(made.evidence.items()) == {(("A", 0, 1), 1): Tally(0, 1, 0.0)}


def test_a_rejected_audit_confirms_nothing():
    made = controller("pi", DOMAIN, shown((1, 0)))
    assert not made.run(task(), 1, learn=True).accepted
    assert dict(made.evidence.items()) == {(("A", 0, 1), 1): Tally(1, 0, pytest.approx(0.97))}


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_without_learning_nothing_is_written_and_reset_forgets_everything(name):
    made = controller(name, DOMAIN, shown((1, 0), (0, 2), (1, 2)))
    cold = made.digest()
    made.run(task(), 6, learn=False)
    assert made.digest() == cold
    made.run(task(), 6, learn=True)
    assert (made.digest() == cold) is (name == "pi_no_incentive")
    made.reset()
    assert made.digest() == cold


def test_the_digest_sees_every_part_of_what_is_known():
    def digest(**changed):
        made = controller("pi", DOMAIN)
        made.evidence.merge(
            ("A", 0, 1), 1, Tally(**{"successes": 1, "failures": 1, "incentive": 0.5, "confirmed": {"x"}, **changed})
        )
        return made.digest()

    seen = {digest(), digest(successes=2), digest(failures=2), digest(incentive=0.25), digest(confirmed={"y"})}
    assert len(seen) == 5
    made = controller("trajectory", DOMAIN)
    made.programs["A", (0, 1)] = (1, 1)
    assert made.digest() not in {controller("trajectory", DOMAIN).digest(), *seen}


# the switches, one by one


def test_trajectory_tries_whole_programs_of_the_revision_first_then_the_likest_and_commits_if_all_contracts_pass():
    # in B the meanings are others, so its programs are others
    templates = [*shown((1, 1), (2, 0), (2, 1), tools=((2, 0, 1), (0, 1, 2)), revision="B"), *shown((1, 0), (0, 2))]
    episode = controller("trajectory", DOMAIN, templates).run(task((1, 1)), 9, learn=False)
    assert programs(episode) == [(1, 0), (0, 2), (2, 1), (0, 1)]
    assert not any(trial.committed for trial in episode.trials)
    assert (episode.program, episode.accepted) == ((0, 0), False)
    found = controller("trajectory", DOMAIN, shown((1, 0), (1, 2))).run(task((1, 2)), 9, learn=False)
    assert (programs(found), found.accepted) == ([(1, 2)], True)


def test_trajectory_keeps_accepted_programs_for_the_same_revision_and_request():
    made = controller("trajectory", DOMAIN, shown((1, 2)))
    made.run(task((1, 2)), 3, learn=True)
    assert list(made.evidence.items()) == []
    assert made.initial(task((1, 2), name="later")) == (1, 2)
    assert made.initial(task((1, 0))) == made.initial(task((1, 2), revision="B")) == (0, 0)


def test_no_localization_replaces_whole_programs_by_diagnosed_goal_then_revision_then_id_and_commits_on_the_target():
    templates = [Template("0", "B", (1, 0), (1, 0), (1, 0)), *shown((0, 1), (1, 2), (1, 1))]
    episode = controller("no_localization", DOMAIN, templates).run(task((1, 1)), 1, learn=False)
    assert episode.trials == (Trial(0, (1, 2), True, pytest.approx(0.97), (True, False)),)
    assert programs(controller("no_localization", DOMAIN, templates).run(task((1, 1)), 9, learn=False)) == [
        (1, 2),
        (0, 1),
        (1, 1),
    ]
    made = controller("no_localization", DOMAIN, templates)
    made.run(task((1, 2)), 1, learn=True)
    assert made.evidence.tally(("A", 0, 1), 1).confirmed == {"task"}


def test_no_goal_tries_the_actions_of_the_likest_requests_whatever_effect_they_had():
    wide = domain_of(4, 4)
    tools = ((0, 1, 2, 3), (0, 1, 2, 3))
    templates = [
        Template("x", "B", (3, 2), (3, 2), (3, 2)), Template("y", "A", (1, 0), (1, 0), (1, 0)),
        Template("z", "A", (2, 2), (2, 2), (2, 2)),
    ]  # fmt: skip
    asked = task((3, 2), tools)
    assert programs(controller("no_goal", wide, templates).run(asked, 9, learn=False)) == [
        (2, 0),
        (1, 0),
        (3, 0),
        (3, 2),
    ]
    assert programs(controller("pi", wide, templates).run(asked, 9, learn=False)) == [(3, 0), (3, 2)]


def test_no_trial_adopts_the_first_candidate_of_every_failed_stage_untried():
    right = controller("no_trial", DOMAIN, shown((1, 0), (0, 2))).run(task(), 3, learn=False)
    assert (right.trials, right.program, right.accepted, right.visits) == ((), (1, 2), True, 30)
    wrong = controller("no_trial", DOMAIN, [Template("b", "B", (1, 2), (2, 2), (1, 2))]).run(task(), 3, learn=False)
    assert (wrong.program, wrong.accepted) == ((2, 2), False)


def test_no_trial_takes_the_current_action_where_it_is_the_first_candidate():
    templates = [Template("b", "B", (1, 0), (0, 0), (1, 0))]
    kept = controller("no_trial", DOMAIN, templates).run(task((1, 0)), 3, learn=False)
    assert (kept.program, kept.accepted) == ((0, 0), False)
    assert programs(controller("pi", DOMAIN, templates).run(task((1, 0)), 3, learn=False)) == [(1, 0)]


def test_pi_no_incentive_repairs_the_same_task_again_and_again():
    made = controller("pi_no_incentive", DOMAIN, shown((1, 0), (0, 2)))
    first, second = (made.run(task(name=name), 3, learn=True) for name in "uvw"[:2])
    assert first == second
    assert (first.first_accepted, first.accepted, len(first.trials)) == (False, True, 2)
    assert list(made.evidence.items()) == []
    learning = controller("pi", DOMAIN, shown((1, 0), (0, 2)))
    assert [learning.run(task(name=name), 3, learn=True).first_accepted for name in "uvw"] == [False, False, True]


def test_compositional_promotes_what_was_confirmed_twice_whatever_failed():
    for name, initial in (("pi", (0, 0)), ("compositional", (1, 0))):
        made = controller(name, DOMAIN)
        made.evidence.merge(("A", 0, 1), 1, Tally(2, 1, 2.0, {"x", "y"}))
        assert made.initial(task((1, 0))) == initial


def test_self_trial_looks_at_no_demonstration_and_at_no_acquired_action():
    made = controller("self_trial", DOMAIN, shown((2, 0)))
    made.evidence.confirm(("A", 0, 2), 2, "x")
    assert programs(made.run(task((2, 0)), 6, learn=False)) == [(1, 0), (2, 0)]
    assert programs(controller("pi", DOMAIN, shown((2, 0))).run(task((2, 0)), 6, learn=False)) == [(2, 0)]


def test_self_trial_learns_and_promotes_as_pi_does():
    made = controller("self_trial", DOMAIN)
    assert [made.run(task(name=name), 9, learn=True).first_accepted for name in "uvw"] == [False, False, True]
