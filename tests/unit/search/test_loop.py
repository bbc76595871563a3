"""The learning loop (SCOPE), with regressions accepted as in the paper: whole sequences of a scripted search."""

from __future__ import annotations

from functools import partial

import pytest

from surefoot.boundary.outcome import Failure
from surefoot.program.source import Program
from surefoot.search.loop import edited_lines


@pytest.fixture
def search(search):
    return partial(search, regressions="paper")


def before_freeze(log: list[str], learned) -> list[str]:
    """The log without the replays and runs of the freeze."""
    search = len(learned.checks)
    kept, replays = [], 0
    for line in log:
        if line.startswith("replay"):
            replays += 1
            if replays > search:
                return kept
        kept.append(line)
    return kept


def digest(name: str) -> str:
    return Program(name).digest


def test_a_visit_is_an_entry_and_at_most_three_repairs_and_the_last_candidate_stays_the_working_program(search):
    effects, learned = search((1, 2), {"P3": [2]})
    assert effects.log == [
        "entry P0 @1 -", "repair P1 @1 -", "repair P2 @1 -", "repair P3 @1 -", "entry P3 @2 +", "replay P3 on P3 @2 =",
    ]  # fmt: skip
    assert (learned.first, learned.final, learned.best) == (digest("P0"), digest("P3"), digest("P3"))
    assert learned.checks == []


def test_a_success_ends_the_visit_and_an_unchanged_program_is_accepted_without_certification(search):
    effects, learned = search((1, 2, 3), {"P0": [1, 2, 3]})
    assert before_freeze(effects.log, learned)[:3] == ["entry P0 @1 +", "entry P0 @2 +", "entry P0 @3 +"]
    assert (learned.checks, learned.witnesses) == ([], {1: 0, 2: 1, 3: 2})


def test_an_accepted_change_is_replayed_on_other_configurations_and_certified_ones_are_not_run(search):
    effects, learned = search((1, 2), {"P0": [1], "P1": [1, 2]}, {("P1", "P0")})
    assert before_freeze(effects.log, learned) == [
        "entry P0 @1 +", "entry P0 @2 -", "repair P1 @2 +", "replay P1 on P0 @1 =",
    ]  # fmt: skip
    assert [(check.seed, check.witness_seconds, check.seconds) for check in learned.checks] == [(1, 1.0, 0.5)]


def test_a_diverged_witness_is_run_and_its_success_refreshes_it_or_not_as_asked(search):
    story = ((1, 2), {"P0": [1], "P1": [1, 2]})
    effects, learned = search(*story)
    assert before_freeze(effects.log, learned) == [
        "entry P0 @1 +", "entry P0 @2 -", "repair P1 @2 +", "replay P1 on P0 @1 /", "diagnostic P1 @1 +",
    ]  # fmt: skip
    assert (learned.witnesses, learned.diagnostics) == ({1: 3, 2: 2}, [3])
    effects, learned = search(*story, witnesses="paper")
    assert (learned.witnesses, learned.diagnostics) == ({1: 0, 2: 2}, [3])


def test_a_failed_diagnostic_neither_vetoes_the_change_nor_removes_the_witness(search):
    _, learned = search((1, 2), {"P0": [1], "P1": [2]}, last=2)
    assert (learned.final, learned.witnesses) == (digest("P1"), {1: 0, 2: 2})


def test_a_followup_repairs_straight_from_the_diagnostic_where_its_program_still_works(search):
    effects, learned = search((1, 2), {"P0": [1], "P1": [2], "P2": [1, 2]}, {("P2", "P1")})
    assert before_freeze(effects.log, learned) == [
        "entry P0 @1 +", "entry P0 @2 -", "repair P1 @2 +", "replay P1 on P0 @1 /", "diagnostic P1 @1 -",
        "follow-up repair P2 @1 +", "replay P2 on P1 @2 =",
    ]  # fmt: skip
    assert effects.contexts[-1].failure.role == "diagnostic"


def test_a_followup_runs_the_working_program_first_where_it_has_changed(search):
    solves = {"P0": [1, 2], "P1": [3], "P2": [1, 2, 3, 4]}
    effects, learned = search((1, 2, 3, 4), solves, {("P2", "P1")}, run_seed=1)
    assert before_freeze(effects.log, learned)[4:] == [
        "replay P1 on P0 @1 /", "replay P1 on P0 @2 /", "diagnostic P1 @1 -", "diagnostic P1 @2 -",
        "follow-up repair P2 @1 +", "replay P2 on P0 @2 /", "replay P2 on P1 @3 =", "entry P2 @4 +",
        "follow-up entry P2 @2 +",
    ]  # fmt: skip


def test_main_visits_and_followups_alternate_while_there_are_both(search):
    solves = {"P0": [1, 2], "P1": [3], "P2": [4]}
    effects, learned = search((1, 2, 3, 4, 5), solves, run_seed=0, last=3)
    visits = [
        line.split()[0] + line[-3] for line in before_freeze(effects.log, learned) if not line.startswith("replay")
    ]
    assert [line for line in visits if line[0] in "ef"] == [
        "entry1",
        "entry2",
        "entry3",
        "follow-up2",
        "entry4",
        "follow-up1",
        "entry5",
    ]


def test_a_configuration_has_one_followup_repair_in_a_run_and_is_not_diagnosed_after_it(search):
    # P2, the follow-up repair of 1, fails; P3 is accepted on 3 and diverges on 1 and 2: only 2 is open
    effects, learned = search((1, 2, 3), {"P0": [1], "P1": [2], "P3": [2, 3]}, last=4)
    assert before_freeze(effects.log, learned)[3:] == [
        "replay P1 on P0 @1 /", "diagnostic P1 @1 -", "follow-up repair P2 @1 -", "entry P2 @3 -", "repair P3 @3 +",
        "replay P3 on P1 @2 /", "replay P3 on P0 @1 /", "diagnostic P3 @2 +",
    ]  # fmt: skip


def test_a_configuration_with_a_pending_followup_is_not_diagnosed_again(search):
    solves = {"P0": [1, 2], "P1": [3], "P2": [4], "P3": [4, 1]}
    effects, _ = search((1, 2, 3, 4), solves, run_seed=0, last=4)
    diagnostics = [line.split()[2] for line in effects.log if line.startswith("diagnostic")]
    waiting = [line for line in effects.log if line.startswith(("diagnostic", "follow-up"))]
    assert len(diagnostics) >= 3
    for seed in set(diagnostics):
        turns = [line.split()[0] for line in waiting if f" {seed} " in f"{line} "]
        assert turns.count("diagnostic") <= 1 + turns.count("follow-up"), turns


def test_at_most_k_witnesses_are_sampled_without_replacement_by_run_seed_and_trial(search):
    development = tuple(range(1, 8))
    solves = {"P0": list(range(1, 7)), "P1": list(range(1, 8))}
    samples = []
    for run_seed in (0, 0, 1, 2):
        effects, learned = search(development, solves, run_seed=run_seed, diagnostics=2)
        samples.append([check.seed for check in learned.checks])
        diagnosed = [int(line.split("@")[1][0]) for line in effects.log if line.startswith("diagnostic")]
        assert diagnosed == samples[-1][:2]
    assert samples[0] == samples[1]
    assert len({tuple(sample) for sample in samples}) == 3
    assert all(len(set(sample)) == 3 and 7 not in sample for sample in samples)


def test_the_configuration_just_solved_is_never_its_own_witness(search):
    _, learned = search((1, 2), {"P0": [1], "P1": [2], "P2": [1, 2]}, {("P2", "P1")})
    assert {check.witness for check in learned.checks if check.program == digest("P2")} == {2}


def test_a_budget_is_reserved_before_a_plan_is_asked_for_and_counts_diagnostics(search):
    effects, learned = search((1, 2, 3), {"P0": [1]}, executions=3)
    assert before_freeze(effects.log, learned)[:3] == ["entry P0 @1 +", "entry P0 @2 -", "repair P1 @2 -"]
    assert (len(effects.contexts), len(learned.attempts)) == (1, 1)
    effects, learned = search((1, 2, 3), {"P0": [1], "P1": [2]}, executions=4)
    assert [line.split()[0] for line in before_freeze(effects.log, learned)] == [
        "entry",
        "entry",
        "repair",
        "replay",
        "diagnostic",
    ]


def test_a_proposer_with_nothing_left_ends_the_visit(search):
    effects, learned = search((1, 2), {}, last=1)
    assert effects.log == ["entry P0 @1 -", "entry P0 @2 -"]
    assert (learned.final, learned.best, learned.witnesses) == (digest("P0"), digest("P0"), {})


def test_the_freeze_replays_the_whole_bank_runs_what_is_unknown_and_names_final_and_best(search):
    solves = {"P0": [1, 2], "P1": [3]}
    effects, learned = search((1, 2, 3), solves, {("P0", "P1")}, last=2, followup_repairs=0)
    frozen = effects.log[len(before_freeze(effects.log, learned)) :]
    assert frozen == [
        "replay P1 on P0 @1 /", "replay P1 on P0 @2 /", "replay P1 on P1 @3 =", "freeze P1 @1 -", "freeze P1 @2 -",
        "replay P0 on P0 @1 =", "replay P0 on P0 @2 =", "replay P0 on P1 @3 =",
    ]  # fmt: skip
    assert learned.holding == {digest("P1"): 1, digest("P0"): 3}
    assert (learned.final, learned.best) == (digest("P1"), digest("P0"))


def test_at_the_freeze_the_final_program_wins_ties_and_no_run_is_spent_on_what_can_not_win(search):
    effects, learned = search((1, 2), {"P0": [1], "P1": [1, 2]}, last=2)
    assert learned.best == learned.final == digest("P1")
    assert not any(line.startswith("freeze P0") for line in effects.log)


def test_demonstrations_run_on_the_runs_own_development_configurations_until_accepted(search, desk):
    two = [Program(item.source) for item in desk.demonstrations[:2]]
    solves = {two[0].source: [5], two[1].source: []}
    effects, _ = search((4, 5, 6), {**solves, "P0": [4, 5, 6]}, task=desk, demonstration_tries=2)
    runs = [(record.role, record.seed) for record in effects.archive]
    assert runs[:4] == [("demonstration", 4), ("demonstration", 5)] * 2
    assert {seed for role, seed in runs if role == "demonstration"} <= {4, 5}


def test_the_repair_context_holds_what_happened_until_now(search):
    effects, _ = search((1, 2), {"P0": [1], "P1": [2], "P2": [1]})
    first, second = effects.contexts[:2]
    assert (first.failure.seed, first.success.seed, first.working, first.attempts) == (2, 1, Program("P0"), ())
    assert (second.failure.seed, second.accepted, second.success.seed) == (1, Program("P1"), 2)
    assert [attempt.record for attempt in second.attempts] == [2]
    assert isinstance(second.failure.outcome, Failure)
    assert [seed for seed, _ in second.feedback.certificates] == [1]
    assert second.feedback.diagnostics == (3,)


def test_edited_lines_are_those_that_the_older_program_lacks():
    assert edited_lines(Program("a\nb\nc\n"), Program("a\nx\nb\ny\nc\n")) == {2, 4}
    assert edited_lines(Program("a = '\u2028'\nb\n"), Program("a = '\u2028'\nx\nb\n")) == {2}
