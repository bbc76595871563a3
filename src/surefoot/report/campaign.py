"""The tables of a finished campaign as Markdown.

`full_table` holds nothing that a clock decides, so equal campaigns have equal bytes; `cost_table` holds the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from surefoot.evaluation.aggregate import Costs, Tally, TaskResult
from surefoot.evaluation.campaign import CampaignReport, Table
from surefoot.evaluation.frozen import Score
from surefoot.evaluation.statistics import Spread
from surefoot.report.words import counted, span

_NONE = "-"


def full_table(report: CampaignReport) -> str:
    """`table.md`: success, failures, certification, episodes, and what the tasks are."""
    seeds = span(report.run_seeds)
    head = [
        f"# Campaign {report.suite}",
        "",
        f"Proposer `{report.proposer}`; {counted(len(report.run_seeds), 'learning run')} per task (run seed "
        f"{seeds}); surefoot {report.code}. Every program was frozen and run once on each held-out scene, with "
        f"program seed {report.program_seed}; programs of equal bytes share these episodes.",
        "",
        "Success is k/n per run, then mean ± sample standard deviation over runs [%]; the last row averages over tasks "
        "first, then over runs. The interval is Wilson's (95 %) on the pooled episodes of the learned programs, those "
        "of byte-equal programs counted once. `learned` is the last accepted program, `best` the one that holds on "
        "most of the run's bank; `best demonstration` is the one that does best on the development scenes, unchanged: one of "
        "another task names that task's objects, and fails at once where there are none of those names.",
    ]
    if report.infrastructure_failures:
        head += ["", f"{counted(report.infrastructure_failures, 'episode')} lost to the environment, in no n."]
    for found in report.tables:
        head += ["", f"## Witnesses: {found.witnesses}", "", *_success(found), "", *_missed(found)]
        head += ["", *_checks(found), "", *_roles(found)]
    return "\n".join([*head, "", *_tasks(report.tables[0])]) + "\n"


SHORT_COLUMNS = ("task", "first %", "best demonstration", "learned %", "best %", "checks certified")


def short_rows(found: Table) -> list[list[str]]:
    """What a terminal shows of a table, by `SHORT_COLUMNS`: a row for each task and one for the mean over tasks."""
    rows = []
    for item in found.tasks:
        shown, checks = item.best_demonstration, item.checks
        rows.append([
            item.task, _spread(item.first.spread), _percent(shown.held_out.rate) if shown else _NONE,
            _spread(item.final.spread), _spread(item.best.spread), f"{checks.certified}/{checks.checks}",
        ])  # fmt: skip
    means = found.macro
    spreads = [_spread(means.first), _percent(means.best_demonstration), _spread(means.final), _spread(means.best)]
    return [*rows, ["mean over tasks", *spreads, ""]]


def cost_table(report: CampaignReport, lost_workers: int = 0) -> str:
    """`costs.md`: seconds and their ratios; `lost_workers` died in the last attempt."""
    lines = [
        f"# Costs of campaign {report.suite}",
        "",
        "Learning time is what the effects of a run took up to its freeze (demonstrations, trials, diagnostics, "
        "planning, replays), mean ± sample standard deviation over runs; the last row averages over tasks. Replay is "
        "over the original execution's time, of tapes that were consumed whole and of all. Certification (retrieval, "
        "replay, self-match) and diagnostics are shares of learning time.",
    ]
    for found in report.tables:
        rows = [[item.task, *_costs(item.costs)] for item in found.tasks]
        rows.append(["mean over tasks", *_costs(found.macro.costs)])
        columns = [
            "task", "learning s", "freeze s", "replay / execution, whole", "replay / execution, all", "certification",
            "diagnostics",
        ]  # fmt: skip
        lines += ["", f"## Witnesses: {found.witnesses}", "", *_rows(columns, rows)]
    if lost_workers:
        lines += ["", f"{counted(lost_workers, 'worker process')} died in the last attempt; their work was done again."]
    return "\n".join(lines) + "\n"


def _success(found: Table) -> list[str]:
    rows = []
    for item in found.tasks:
        shown = item.best_demonstration
        low, high = (100 * bound for bound in item.final.pooled.interval)
        demonstrated = f"{shown.name}: {_score(shown.held_out)} ({_percent(shown.held_out.rate)})" if shown else _NONE
        rows.append([
            item.task, item.tier, _sources(item), _tally(item.first), demonstrated, _tally(item.final),
            f"{low:.1f}-{high:.1f} of {_score(item.final.pooled)}", _tally(item.best),
        ])  # fmt: skip
    means = found.macro
    rows.append([
        "mean over tasks", "", "", _spread(means.first), _percent(means.best_demonstration), _spread(means.final), "",
        _spread(means.best),
    ])  # fmt: skip
    columns = ["task", "tier", "demonstrations of", "first", "best demonstration", "learned", "interval", "best"]
    return _rows(columns, rows)


def _missed(found: Table) -> list[str]:
    """Where the learned programs failed; what the environment lost is listed apart."""
    lines: list[str] = []
    for title, lost in (("Failures of the learned programs:", False), ("Lost to the environment:", True)):
        seeds: dict[tuple[str, tuple[int, ...], str], list[str]] = {}
        for item in found.tasks:
            for miss in item.missed:
                if miss.infrastructure is lost:
                    seeds.setdefault((item.task, miss.runs, miss.outcome), []).append(str(miss.seed))
        rows = [
            [task, ", ".join(map(str, runs)), outcome, ", ".join(at)] for (task, runs, outcome), at in seeds.items()
        ]
        if rows:
            lines += ["", title, "", *_rows(["task", "run seeds", "outcome", "held-out seeds"], rows)]
    return lines[1:] or ["The learned programs failed nowhere."]


def _checks(found: Table) -> list[str]:
    rows = []
    for item in found.tasks:
        counted = item.checks
        numbers = (
            counted.checks, counted.certified, counted.diverged, counted.unavailable, counted.edited_line_ran,
            item.diagnostics["run"], item.diagnostics["failed"],
        )  # fmt: skip
        rows.append([item.task, *map(str, numbers), _percent(counted.rate)])
    rows.append(["mean over tasks", *[""] * 7, _percent(found.macro.rate)])
    columns = [
        "task", "checks of older witnesses", "certified", "diverged", "unavailable", "certified while an edited line ran",
        "diagnostics", "of these failed", "certification rate",
    ]  # fmt: skip
    return ["Checks and diagnostics, all runs of a task together:", "", *_rows(columns, rows)]


def _roles(found: Table) -> list[str]:
    roles = list(found.tasks[0].roles)
    rows = [
        [item.task, *(str(item.roles[role]) for role in roles), str(sum(item.roles.values()))] for item in found.tasks
    ]
    return ["Environment episodes of learning, all runs of a task together:", "", *_rows(["task", *roles, "all"], rows)]


def _tasks(found: Table) -> list[str]:
    rows = [
        [item.task, span(item.development), span(item.held_out), item.revision, item.protocol] for item in found.tasks
    ]
    return ["## Tasks", "", *_rows(["task", "development", "held-out", "environment revision", "protocol"], rows)]


def _sources(item: TaskResult) -> str:
    """Which tasks' demonstrations a task was learned from."""
    return ", ".join("own" if name == item.task else name for name in item.demonstrations) or "none"


def _tally(found: Tally) -> str:
    return f"{', '.join(map(_score, found.scores))}: {_spread(found.spread)}"


def _score(found: Score) -> str:
    apart = f" (+{found.infrastructure_failures} lost)" if found.infrastructure_failures else ""
    return f"{found.successes}/{found.episodes}{apart}"


def _costs(found: Costs) -> list[str]:
    shares = (found.replay_whole, found.replay_all, found.certification, found.diagnostics)
    return [_spread(found.learning, 1), _number(found.freeze), *(_percent(share) for share in shares)]


def _spread(found: Spread, scale: float = 100) -> str:
    mean, deviation = ("" if value is None else f"{scale * value:.2f}" for value in (found.mean, found.deviation))
    return (f"{mean} ± {deviation}" if deviation else mean) or _NONE


def _percent(share: float | None) -> str:
    return _NONE if share is None else f"{100 * share:.2f} %"


def _number(value: float | None) -> str:
    return _NONE if value is None else f"{value:.2f}"


def _rows(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(_cell(cell) for cell in cells)} |"

    return [line(columns), line(["---"] * len(columns)), *map(line, rows)]


def _cell(text: str) -> str:
    """One line; outcomes may quote whatever a program raised."""
    return " ".join(text.split()).replace("|", "\\|")
