"""`surefoot learn` and `surefoot resume`: learn a program from executions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, cast, get_args

import typer

from surefoot.cli.arguments import (
    AsJson,
    Development,
    Engine,
    HeldOut,
    Proposer,
    RunSeed,
    TaskName,
    Workers,
    parse_seeds,
)
from surefoot.cli.campaign import resume_campaign
from surefoot.cli.console import err, out, print_json, say, table, tenths
from surefoot.environments.base import Task
from surefoot.environments.registry import find_task
from surefoot.errors import UsageError, unknown_name
from surefoot.evaluation.campaign_folder import CampaignFolder
from surefoot.evaluation.learning import Report, new_manifest, run_learning, run_name
from surefoot.proposer.registry import make_proposer
from surefoot.report.run import COLUMNS, score_rows, summary
from surefoot.report.words import counted
from surefoot.search.folder import RunFolder, read_library
from surefoot.search.settings import Settings, Way


def learn(
    task: TaskName,
    proposer: Proposer = "skills",
    dev: Development = None,
    held_out: HeldOut = None,
    run_seed: RunSeed = 0,
    out_folder: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="New folder for the run; default: runs/TASK-RUNSEED.")
    ] = None,
    workers: Workers = 2,
    witnesses: Annotated[
        str, typer.Option("--witnesses", help="'refresh' or 'paper'; see docs/learning.md.")
    ] = "refresh",
    regressions: Annotated[
        str,
        typer.Option(
            "--regressions", help="'refuse' a change that loses an older success, or 'paper'; see docs/learning.md."
        ),
    ] = "paper",
    checking: Annotated[
        str,
        typer.Option(
            "--checking", help="'certify', or for comparison 'rerun-all', 'minibatch', 'none'; see docs/learning.md."
        ),
    ] = "certify",
    library: Annotated[
        Path | None, typer.Option("--library", metavar="FILE", help="Skills of earlier runs; this run's are added.")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option("--without", metavar="NAME", help="Leave this demonstration out; repeatable.")
    ] = None,
    episodes: Annotated[
        int | None, typer.Option("--episodes", min=1, help="At most so many search episodes, diagnostics included.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Learn a program for TASK on development configurations, then test it frozen on held-out ones.

    Exit 0 if the final program does better than the first on the held-out configurations, or the first solved
    them all, else 1. An interrupted run goes on with 'surefoot resume'.
    """
    chosen = find_task(task)
    writer = make_proposer(proposer, chosen, run_seed)
    if library is not None:
        known = read_library(library)
        if library.exists() and not known:
            raise UsageError(f"{library} is empty, so it is no skill library. Name one, or a file yet to be made.")
        writer.load(known)  # so that a broken one is noticed before there is a run
    development = list(chosen.development) if dev is None else parse_seeds(dev)
    tested = list(chosen.held_out) if held_out is None else parse_seeds(held_out)
    settings = Settings(
        checking=_checking(checking),
        witnesses=_witnesses(witnesses),
        regressions=_regressions(regressions),
        executions=episodes,
        without=_left_out(chosen, without or []),
    )
    manifest = new_manifest(chosen, proposer, development, tested, run_seed, settings, library)
    folder = RunFolder.create(out_folder or run_name(task, run_seed), manifest)
    return _run(folder, workers, as_json)


def resume(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of an interrupted run or campaign.")],
    workers: Workers = 2,
    on: Engine = "local",
    as_json: AsJson = False,
) -> int:
    """Go on with an interrupted run or campaign; finished effects are not repeated.

    A run's search is one after another on this machine; workers share its evaluation, and all of a campaign.
    """
    if CampaignFolder.is_at(run):
        return resume_campaign(run, workers, on, as_json)
    if not RunFolder.is_at(run):
        raise UsageError(
            f"There is no run or campaign at {run}. "
            "Runs are made by 'surefoot learn TASK', campaigns by 'surefoot campaign SUITE'."
        )
    if on != "local":
        raise UsageError("A single run goes on with the engine 'local'; 'ray' is for campaigns.")
    return _run(RunFolder.open(run), workers, as_json)


def _left_out(task: Task, names: list[str]) -> tuple[str, ...]:
    known = [demonstration.name for demonstration in task.demonstrations]
    for name in names:
        if name not in known:
            raise unknown_name("demonstration", name, known)
    return tuple(names)


def _witnesses(choice: str) -> Literal["refresh", "paper"]:
    if choice != "refresh" and choice != "paper":
        raise typer.BadParameter(f"'{choice}' is neither 'refresh' nor 'paper'.", param_hint="--witnesses")
    return "paper" if choice == "paper" else "refresh"


def _regressions(choice: str) -> Literal["refuse", "paper"]:
    if choice != "refuse" and choice != "paper":
        raise typer.BadParameter(f"'{choice}' is neither 'refuse' nor 'paper'.", param_hint="--regressions")
    return "paper" if choice == "paper" else "refuse"


def _checking(choice: str) -> Way:
    for way in get_args(Way):
        if choice == way:
            return cast(Way, way)
    raise typer.BadParameter(f"'{choice}' is none of {', '.join(get_args(Way))}.", param_hint="--checking")


def _run(folder: RunFolder, workers: int, as_json: bool) -> int:
    manifest = folder.manifest
    with folder:
        if not as_json:
            _announce(folder)

        def narrate(line: str) -> None:
            if not folder.journal.replaying:
                err.print(f"  {line}", markup=False)

        try:
            report = run_learning(folder, workers, narrate, tenths())
        except KeyboardInterrupt:
            say(f"Go on with 'surefoot resume {folder.path}'.", err)
            raise
    if as_json:
        print_json(report)
    else:
        print_report(report, folder.path)
    paired = report.final_against_first
    perfect = report.first.successes == report.first.episodes == len(manifest.held_out)
    if paired.only_second > paired.only_first or perfect:
        return 0
    if not as_json:
        say("The final program does no better than the first on the held-out configurations.", err)
    return 1


def _announce(folder: RunFolder) -> None:
    manifest = folder.manifest
    settings = manifest.settings
    count = len(manifest.development)
    most = count * (1 + settings.main_repairs + 1 + settings.followup_repairs)
    search = f"{counted(most, 'search episode')} and their diagnostics"
    if settings.executions is not None:
        search = f"{counted(settings.executions, 'search episode')}, diagnostics included"
    err.print(
        f"Learning {manifest.task} (tier {manifest.tier}) with '{manifest.proposer}' on {counted(count, 'configuration')}: "
        f"up to {search}, then up to {3 * len(manifest.held_out)} held-out ones.\n"
        f"Run folder: {folder.path}  (stop at any time; 'surefoot resume {folder.path}' goes on)",
        markup=False,
    )


def print_report(report: Report, path: Path) -> None:
    """Print a finished run."""
    rows = table(*COLUMNS)
    for row in score_rows(report, path):
        rows.add_row(*row)
    out.print(rows)
    say(summary(report))
