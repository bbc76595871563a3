"""Results of a campaign's runs put together as in the paper: over seeds, then runs; over tasks last.

Seconds and what is made of them stand apart from everything else (`Costs`): they alone differ between two
campaigns of equal arguments.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from surefoot.boundary.outcome import Infrastructure, is_success
from surefoot.evaluation.frozen import Score, score
from surefoot.evaluation.learning import Report
from surefoot.evaluation.pool import Episode
from surefoot.evaluation.statistics import Spread, mean_of, ratio, spread


class Tally(msgspec.Struct, frozen=True):
    """One program of each run: its scores in the order of the runs, their spread, and all distinct episodes pooled.

    Runs that ended with byte-equal programs share their episodes, which are pooled once.
    """

    scores: tuple[Score, ...]
    spread: Spread
    pooled: Score


class Demonstrated(msgspec.Struct, frozen=True):
    """The demonstration that did best on a task's development scenes, unchanged; `task` is what it was written for."""

    name: str
    task: str
    development: Score
    held_out: Score


class Missed(msgspec.Struct, frozen=True):
    """A held-out scene that the final programs of some runs (by run seed) did not solve, and how they ended there."""

    seed: int
    runs: tuple[int, ...]
    outcome: str
    infrastructure: bool


class Checks(msgspec.Struct, frozen=True):
    """Checks of older witnesses by another program, over a task's runs; `rate` counts the unavailable in."""

    checks: int
    certified: int
    diverged: int
    unavailable: int
    edited_line_ran: int
    rate: float | None


class Costs(msgspec.Struct, frozen=True):
    """Where a task's learning time went, over its runs. Seconds are means over runs.

    `replay_whole` and `replay_all` are replay time over original execution time, of fully consumed tapes and of all;
    `certification` (retrieval, replay, self-match) and `diagnostics` are shares of learning time.
    """

    learning: Spread
    freeze: float | None
    replay_whole: float | None
    replay_all: float | None
    certification: float | None
    diagnostics: float | None


class TaskResult(msgspec.Struct, frozen=True):
    """All runs of one task. `demonstrations` names the tasks that its demonstrations were written for."""

    task: str
    tier: str
    protocol: str
    revision: str
    development: tuple[int, ...]
    held_out: tuple[int, ...]
    demonstrations: tuple[str, ...]
    best_demonstration: Demonstrated | None
    first: Tally
    final: Tally
    best: Tally
    missed: tuple[Missed, ...]
    checks: Checks
    diagnostics: dict[str, int]
    roles: dict[str, int]
    costs: Costs


class Macro(msgspec.Struct, frozen=True):
    """Means over tasks: per run first where there are runs."""

    first: Spread
    best_demonstration: float | None
    final: Spread
    best: Spread
    rate: float | None
    costs: Costs


def tally(programs: Sequence[str], scores: Sequence[Score]) -> Tally:
    """The tally of one program per run, known by their digests."""
    distinct = list(dict(zip(programs, scores, strict=True)).values())
    successes, episodes = (sum(getattr(item, name) for item in distinct) for name in ("successes", "episodes"))
    lost = sum(item.infrastructure_failures for item in distinct)
    return Tally(tuple(scores), spread(item.rate for item in scores), Score.of(successes, episodes, lost))


def checks(reports: Sequence[Report]) -> Checks:
    """The checks of a task's runs."""
    counts = {
        name: sum(getattr(report.certification, name) for report in reports)
        for name in Checks.__struct_fields__
        if name != "rate"
    }
    return Checks(**counts, rate=ratio(counts["certified"], counts["checks"]))


def costs(reports: Sequence[Report]) -> Costs:
    """Where the time of a task's runs went."""
    spent = [report.spent for report in reports]
    learning = sum(item.learning for item in spent)
    certification = [report.certification for report in reports]
    return Costs(
        spread(item.learning for item in spent),
        mean_of(item.freeze for item in spent),
        ratio(
            sum(item.certified_replay_seconds for item in certification),
            sum(item.certified_execution_seconds for item in certification),
        ),
        ratio(
            sum(item.replay_seconds for item in certification),
            sum(item.execution_seconds for item in certification),
        ),
        ratio(sum(item.certification for item in spent), learning),
        ratio(sum(item.diagnostics for item in spent), learning),
    )


def missed(run_seeds: Sequence[int], results: Sequence[Sequence[Episode]]) -> tuple[Missed, ...]:
    """Scenes that final programs did not solve, by seed; `results` holds each run's episodes."""
    runs: dict[tuple[int, str, bool], list[int]] = {}
    for run_seed, episodes in zip(run_seeds, results, strict=True):
        for episode in episodes:
            if not is_success(episode.outcome):
                lost = isinstance(episode.outcome, Infrastructure)
                runs.setdefault((episode.seed, episode.outcome.text, lost), []).append(run_seed)
    return tuple(Missed(seed, tuple(found), text, lost) for (seed, text, lost), found in sorted(runs.items()))


def best_of(development: Sequence[Sequence[Episode]]) -> int:
    """Which demonstration did best on the development scenes; the first of equals."""
    rates = [score(episodes).rate or 0.0 for episodes in development]
    return rates.index(max(rates))


def summed(counts: Sequence[dict[str, int]]) -> dict[str, int]:
    """Counts of several runs added up."""
    return {name: sum(item[name] for item in counts) for name in counts[0]}


def macro(tasks: Sequence[TaskResult]) -> Macro:
    """Means over tasks; a task counts where it has the quantity."""
    shown = [task.best_demonstration.held_out.rate for task in tasks if task.best_demonstration is not None]
    of_costs = {
        name: mean_of(getattr(task.costs, name) for task in tasks)
        for name in Costs.__struct_fields__
        if name != "learning"
    }
    return Macro(
        over_tasks([task.first for task in tasks]),
        mean_of(shown),
        over_tasks([task.final for task in tasks]),
        over_tasks([task.best for task in tasks]),
        mean_of(task.checks.rate for task in tasks),
        Costs(learning=Spread(mean_of(task.costs.learning.mean for task in tasks), None), **of_costs),
    )


def over_tasks(tallies: Sequence[Tally]) -> Spread:
    """Each run's mean over tasks, then mean and deviation over runs."""
    by_run = zip(*[[item.rate for item in found.scores] for found in tallies], strict=True)
    return spread(mean_of(rates) for rates in by_run)
