"""A campaign's arithmetic against values computed by hand."""

from __future__ import annotations

import msgspec
import pytest

from surefoot.boundary.outcome import Failure, Infrastructure, Success
from surefoot.evaluation.aggregate import (
    Checks,
    Costs,
    Demonstrated,
    Missed,
    TaskResult,
    best_of,
    checks,
    costs,
    macro,
    missed,
    over_tasks,
    summed,
    tally,
)
from surefoot.evaluation.frozen import Score
from surefoot.evaluation.learning import Certification, Report, Spent
from surefoot.evaluation.pool import Episode
from surefoot.evaluation.statistics import Spread, wilson_interval


def of(*pairs: tuple[int, int]) -> list[Score]:
    return [Score.of(successes, episodes) for successes, episodes in pairs]


def episode(seed: int, outcome: object) -> Episode:
    return Episode(seed, outcome, None, 0, 0.0)


def report(report: Report, certification: tuple[float, ...], spent: tuple[float, ...]) -> Report:
    return msgspec.structs.replace(report, certification=Certification(*certification), spent=Spent(*spent))


@pytest.fixture
def run(finished) -> Report:
    """A real report, to be changed where a test looks."""
    return msgspec.json.decode((finished / "report.json").read_bytes(), type=Report)


@pytest.fixture
def two(run) -> list[Report]:
    """Two runs: (4 checks, 1 certified, …) in 100 s of learning, (6, 5, …) in 300 s."""
    return [
        report(run, (4, 1, 2, 1, 0, 2.0, 20.0, 0.5, 10.0, 1.0), (100.0, 3.0, 7.0, 2.0)),
        report(run, (6, 5, 1, 0, 3, 3.0, 30.0, 2.5, 20.0, 1.0), (300.0, 5.0, 13.0, 4.0)),
    ]


def test_a_tally_is_the_mean_and_sample_deviation_over_runs():
    found = tally(["a", "b", "c"], of((98, 100), (100, 100), (96, 100)))
    assert (found.spread.mean, found.spread.deviation) == (pytest.approx(0.98), pytest.approx(0.02))
    assert (found.pooled.successes, found.pooled.episodes) == (294, 300)
    assert found.pooled.interval == wilson_interval(294, 300)


def test_byte_equal_programs_are_pooled_once():
    found = tally(["a", "a", "b"], of((98, 100), (98, 100), (90, 100)))
    assert (found.pooled.successes, found.pooled.episodes) == (188, 200)
    assert found.spread.mean == pytest.approx((0.98 + 0.98 + 0.90) / 3)


def test_what_the_environment_lost_is_in_no_n():
    found = tally(["a", "b"], [Score.of(9, 9, 1), Score.of(5, 10)])
    assert found.spread.mean == pytest.approx(0.75)
    assert (found.pooled.episodes, found.pooled.infrastructure_failures) == (19, 1)


def test_a_suite_s_mean_is_over_tasks_in_each_run_then_over_runs():
    tallies = [tally(["a", "b"], of((10, 10), (8, 10))), tally(["c", "d"], of((2, 10), (6, 10)))]
    found = over_tasks(tallies)  # runs: 0.6 and 0.7
    assert (found.mean, found.deviation) == (pytest.approx(0.65), pytest.approx(0.005**0.5))


def test_the_certification_rate_counts_the_unavailable_in(two):
    assert checks(two) == Checks(10, 6, 3, 1, 3, 0.6)


def test_costs_are_ratios_of_sums_over_a_task_s_runs(two):
    found = costs(two)
    assert (found.learning.mean, found.learning.deviation) == (200.0, pytest.approx(20_000**0.5))
    assert found.freeze == 3.0
    assert found.replay_whole == pytest.approx(3.0 / 30.0)
    assert found.replay_all == pytest.approx(5.0 / 50.0)
    assert found.certification == pytest.approx(8.0 / 400.0)
    assert found.diagnostics == pytest.approx(20.0 / 400.0)


def test_a_task_without_checks_has_no_rate_and_counts_in_no_mean(run, two):
    none = [report(run, (0, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0), (50.0, 0.0, 0.0, 1.0))]
    assert (checks(none).rate, costs(none).replay_all, costs(none).certification) == (None, None, 0.0)
    found = macro([result(two, 0.9), result(none * 2, 0.7)])
    assert found.rate == 0.6
    assert found.costs.replay_all == pytest.approx(0.1)
    assert found.costs.certification == pytest.approx((0.02 + 0.0) / 2)
    assert found.costs.learning == Spread(125.0, None)
    assert found.best_demonstration == pytest.approx(0.8)


def result(reports: list[Report], shown: float) -> TaskResult:
    both = tally(["a", "b"], of((1, 2), (2, 2)))
    demonstrated = Demonstrated("d", "t", Score.of(1, 1), Score.of(round(10 * shown), 10))
    return TaskResult(
        "t", "state", "p", "r", (101,), (1, 2), ("t",), demonstrated, both, both, both, (), checks(reports), {}, {},
        costs(reports),
    )  # fmt: skip


def test_failures_are_listed_by_seed_with_the_runs_that_end_alike():
    failed, lost = Failure("normal"), Infrastructure("gone")
    results = [
        [episode(1, Success()), episode(2, failed), episode(3, failed)],
        [episode(1, lost), episode(2, failed), episode(3, Failure("raised", "ValueError", 4))],
    ]
    assert missed([5, 6], results) == (
        Missed(1, (6,), "infrastructure: gone", True),
        Missed(2, (5, 6), failed.text, False),
        Missed(3, (6,), "failure: raised at line 4: ValueError", False),
        Missed(3, (5,), failed.text, False),
    )


def test_the_best_demonstration_is_the_first_of_equals():
    good, bad = episode(101, Success()), episode(101, Failure("normal"))
    assert best_of([[bad, bad], [good, bad], [bad, good]]) == 1
    assert best_of([[bad], [episode(101, Infrastructure("gone"))]]) == 0


def test_counts_of_runs_are_added_by_name():
    assert summed([{"run": 1, "failed": 0}, {"run": 2, "failed": 2}]) == {"run": 3, "failed": 2}


def test_costs_name_no_seconds_where_nothing_was_learned():
    assert costs([]) == Costs(Spread(None, None), None, None, None, None, None)
