"""Four ways to check a changed program: what each of them runs."""

from __future__ import annotations

import pytest

GROWS = ((1, 2, 3, 4), {"P0": [1, 2], "P1": [1, 2, 3], "P2": [1, 2, 3, 4]})
"""Two accepted changes, on configurations 3 and 4, that lose nothing."""


def runs(effects, role: str) -> list[str]:
    return [line.removeprefix(f"{role} ") for line in effects.log if line.startswith(f"{role} ")]


def test_rerun_all_runs_every_older_success_after_each_change_and_replays_none(search):
    effects, learned = search(*GROWS, checking="rerun-all")
    assert runs(effects, "diagnostic") == ["P1 @1 +", "P1 @2 +", "P2 @1 +", "P2 @2 +", "P2 @3 +"]
    assert (learned.checks, learned.episodes) == ([], 6 + 5)


def test_none_runs_and_replays_nothing_but_the_search_itself(search):
    effects, learned = search(*GROWS, checking="none")
    assert not runs(effects, "diagnostic")
    assert (learned.checks, learned.diagnostics, learned.episodes) == ([], [], 6)


def test_certify_runs_only_what_its_replay_does_not_certify(search):
    effects, learned = search(*GROWS, {("P1", "P0"), ("P2", "P1")})
    assert [line[-1] for line in runs(effects, "replay")[: len(learned.checks)]].count("/") == 2
    assert sorted(runs(effects, "diagnostic")) == ["P2 @1 +", "P2 @2 +"]


def test_a_failed_rerun_queues_a_follow_up_but_once(search):
    solves = {"P0": [1], "P1": [2], "P2": [3], "P3": [1, 2, 3]}
    effects, _ = search((1, 2, 3), solves, checking="rerun-all", regressions="paper", last=4)
    assert runs(effects, "diagnostic")[:1] == ["P1 @1 -"]
    assert len([line for line in effects.log if line.startswith("follow-up repair") and "@1" in line]) == 1


LOSES = ((1, 2), {"P0": [1], "P1": [2], "P2": [1, 2]})
"""The first repair on configuration 2 loses 1, the second keeps it."""


@pytest.mark.parametrize("checking", ["certify", "rerun-all"])
def test_a_change_that_loses_an_older_success_is_refused_and_the_visit_goes_on_from_the_parent(search, checking):
    effects, learned = search(*LOSES, checking=checking, regressions="refuse", last=3)
    log = [line for line in effects.log if not line.startswith("replay")]
    assert log[:6] == [
        "entry P0 @1 +", "entry P0 @2 -", "repair P1 @2 +", "diagnostic P1 @1 -", "repair P2 @2 +", "diagnostic P2 @1 +",
    ]  # fmt: skip
    assert (effects.contexts[1].working.source, effects.contexts[1].failure.number) == ("P0", 1)
    assert [(effects.archive.programs[item.program].source, item.episodes) for item in learned.history] == [
        ("P0", 1), ("P2", 6),
    ]  # fmt: skip


def test_a_refused_visit_goes_on_from_a_run_of_the_accepted_program_where_it_never_ran(search):
    # P3, a failed repair of 2, is still at work when 3 is visited; it solves 3 and loses 1
    effects, _ = search((1, 2, 3), {"P0": [1], "P3": [3], "P4": [1, 3]}, regressions="refuse", last=5)
    log = [line for line in effects.log if not line.startswith("replay")]
    assert log[5:10] == ["entry P3 @3 +", "diagnostic P3 @1 -", "entry P0 @3 -", "repair P4 @3 +", "diagnostic P4 @1 +"]


def test_the_freeze_runs_no_program_where_it_failed_before(search):
    effects, learned = search((1, 2), {"P0": [1], "P1": [2]}, last=2)
    assert runs(effects, "diagnostic") == ["P1 @1 -"]
    assert not runs(effects, "freeze")
    assert sorted(learned.holding.values()) == [1, 1]


def test_replays_that_ask_what_the_accepted_program_holds_are_certification_and_no_checks(search):
    # P1 is certified on 1 and 2 and so was never run there; P2 loses them, which counts if P1 holds there
    solves = {"P0": [1, 2], "P1": [1, 2, 3], "P2": [4]}
    effects, learned = search((1, 2, 3, 4), solves, {("P1", "P0")}, regressions="refuse", last=3)
    replays = [line.removeprefix("replay ") for line in effects.log if line.startswith("replay")]
    assert replays[5] == "P1 on P0 @2 ="
    assert len(learned.checks) == 5
    assert learned.certification_seconds == 6 * 0.5


def test_the_first_loss_ends_the_check_of_a_change(search):
    solves = {"P0": [1, 2, 3], "P1": [4]}
    effects, _ = search((1, 2, 3, 4), solves, checking="rerun-all", regressions="refuse", last=2)
    assert runs(effects, "diagnostic") == ["P1 @1 -"]


def test_a_failure_where_the_accepted_program_is_not_known_to_succeed_is_no_loss_and_queues_a_follow_up(search):
    # with one witness sampled, P1 is tried on 2 only and accepted; P2 fails on 1, which P1 may have lost
    solves = {"P0": [1, 2], "P1": [2, 3], "P2": [2, 3, 4]}
    effects, learned = search((1, 2, 3, 4), solves, sampled_witnesses=1, run_seed=2, regressions="refuse", last=3)
    assert runs(effects, "diagnostic") == ["P1 @2 +", "P2 @1 -"]
    assert effects.archive.programs[learned.final].source == "P2"
    last = effects.contexts[-1].failure
    assert (last.role, last.seed) == ("diagnostic", 1)


def test_checking_none_accepts_a_change_whatever_it_loses(search):
    effects, learned = search(*LOSES, checking="none", last=3)
    assert effects.archive.programs[learned.final].source == "P1"


def test_a_minibatch_rejects_a_child_that_does_not_beat_its_parent_and_the_visit_goes_on_from_the_parent(search):
    effects, learned = search(*LOSES, checking="minibatch", minibatch=2, last=3)
    assert effects.log[:5] == ["entry P0 @1 +", "entry P0 @2 -", "repair P1 @2 +", "gate P1 @1 -", "repair P2 @2 +"]
    assert effects.contexts[1].working.source == "P0"
    assert effects.contexts[1].failure.number == 1
    assert [effects.archive.programs[item.program].source for item in learned.history] == ["P0", "P2"]


def test_a_minibatch_accepts_a_child_that_beats_its_parent_and_counts_the_runs_of_both(search):
    effects, learned = search((1, 2), {"P0": [], "P1": [1]}, checking="minibatch", minibatch=2, last=2)
    assert effects.log[:4] == ["entry P0 @1 -", "repair P1 @1 +", "gate P0 @2 -", "gate P1 @2 -"]
    assert learned.history[0].episodes == 4


def test_a_minibatch_runs_no_pair_of_program_and_configuration_twice(search):
    effects, learned = search(*GROWS, checking="minibatch", minibatch=4)
    pairs = [tuple(line.split()[-3:-1]) for line in effects.log if not line.startswith(("replay", "freeze"))]
    assert len(pairs) == len(set(pairs)) == learned.episodes
    expected = ["P0 @4 -", "P1 @1 +", "P1 @2 +", "P1 @4 -", "P2 @1 +", "P2 @2 +", "P2 @3 +"]
    assert sorted(runs(effects, "gate")) == expected


def test_the_sampled_minibatch_depends_on_the_run_seed_and_holds_development_configurations_only(search):
    development = tuple(range(1, 10))
    solves = {"P0": development[:-1], "P1": development}
    batches = set()
    for run_seed in range(5):
        effects, _ = search(development, solves, checking="minibatch", run_seed=run_seed)
        batch = [int(line.split("@")[1].split()[0]) for line in runs(effects, "gate")]
        assert set(batch) <= set(development)
        assert len(batch) == 2  # the child's other two; its parent was run there before
        batches.add(tuple(batch))
    assert len(batches) > 1


@pytest.mark.parametrize("checking", ["certify", "rerun-all", "minibatch", "none"])
def test_episodes_are_counted_the_same_whatever_the_way(search, checking):
    effects, learned = search(*GROWS, checking=checking)
    assert learned.episodes == len([record for record in effects.archive if record.role != "freeze"])


def test_a_budget_ends_a_gate_and_the_parent_stays_accepted(search):
    effects, learned = search((1, 2), {"P0": [1], "P1": [1, 2]}, checking="minibatch", executions=3)
    assert learned.episodes == 3
    assert effects.archive.programs[learned.final].source == "P0"
