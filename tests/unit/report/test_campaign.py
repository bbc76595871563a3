"""A campaign's tables as text."""

from __future__ import annotations

import msgspec
import pytest

from surefoot.evaluation.aggregate import Checks, Costs, Demonstrated, Missed, TaskResult, macro, tally
from surefoot.evaluation.campaign import CampaignReport, Table
from surefoot.evaluation.frozen import Score
from surefoot.evaluation.statistics import Spread
from surefoot.report.campaign import cost_table, full_table


@pytest.fixture
def result() -> TaskResult:
    both = tally(["a", "b"], [Score.of(9, 10), Score.of(10, 10)])
    return TaskResult(
        "toy/lift", "state", "toy-1", "abc", (101, 102, 103), (1, 2), ("toy/lift", "toy/stack"),
        Demonstrated("blind", "toy/stack", Score.of(1, 3), Score.of(4, 10)), both, both, both,
        (Missed(1, (0, 1), "failure: raised: a | b\nc", False), Missed(2, (1,), "infrastructure: gone", True)),
        Checks(4, 1, 2, 1, 1, 0.25), {"run": 3, "failed": 1}, {"entry": 25, "repair": 2},
        Costs(Spread(10.0, 2.0), 1.5, 0.05, 0.08, 0.01, 0.02),
    )  # fmt: skip


def reported(*results: TaskResult, lost: int = 0) -> CampaignReport:
    return CampaignReport("toy", "skills", "1+x", (0, 1), 0, 40, lost, (Table("refresh", results, macro(results)),))


def test_a_row_names_demonstrations_scores_spread_and_interval(result):
    assert (
        "| toy/lift | state | own, toy/stack | 9/10, 10/10: 95.00 ± 7.07 | blind: 4/10 (40.00 %) | "
        "9/10, 10/10: 95.00 ± 7.07 | 76.4-99.1 of 19/20 | 9/10, 10/10: 95.00 ± 7.07 |"
    ) in full_table(reported(result)).splitlines()


def test_failures_are_one_line_each_and_the_environment_s_stand_apart(result):
    lines = full_table(reported(result)).splitlines()
    own, lost = lines.index("Failures of the learned programs:"), lines.index("Lost to the environment:")
    assert "| toy/lift | 0, 1 | failure: raised: a \\| b c | 1 |" in lines[own:lost]
    assert "| toy/lift | 1 | infrastructure: gone | 2 |" in lines[lost:]


def test_no_failures_are_said(result):
    perfect = msgspec.structs.replace(result, missed=())
    assert "The learned programs failed nowhere." in full_table(reported(perfect)).splitlines()


def test_the_mean_over_tasks_leaves_out_what_a_task_does_not_have(result):
    bare = msgspec.structs.replace(result, best_demonstration=None, checks=Checks(0, 0, 0, 0, 0, None))
    text = full_table(reported(result, bare))
    assert "| mean over tasks |  |  | 95.00 ± 7.07 | 40.00 % | 95.00 ± 7.07 |  | 95.00 ± 7.07 |" in text
    assert "| toy/lift | 0 | 0 | 0 | 0 | 0 | 3 | 1 | - |" in text
    assert text.count("| mean over tasks |  |  |  |  |  |  |  | 25.00 % |") == 1


def test_only_the_cost_table_changes_with_the_clock(result):
    slower = msgspec.structs.replace(result, costs=Costs(Spread(99.0, 9.0), 9.0, 0.9, 0.9, 0.9, 0.9))
    assert full_table(reported(result)) == full_table(reported(slower))
    assert "| toy/lift | 10.00 ± 2.00 | 1.50 | 5.00 % | 8.00 % | 1.00 % | 2.00 % |" in cost_table(reported(result))
    assert cost_table(reported(result)) != cost_table(reported(slower))


def test_lost_episodes_and_dead_workers_are_said(result):
    assert "3 episodes lost to the environment, in no n." in full_table(reported(result, lost=3))
    assert "1 worker process died in the last attempt; their work was done again." in cost_table(reported(result), 1)
