"""`surefoot campaign`: learn and evaluate a whole suite; `surefoot resume` goes on with one, too."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.arguments import AsJson, Development, Engine, HeldOut, Proposer, Workers, parse_seeds
from surefoot.cli.console import err, out, print_json, say, table, tenths
from surefoot.environments.base import Task
from surefoot.environments.registry import find_suite, find_task
from surefoot.errors import EnvironmentFaultError, unknown_name
from surefoot.evaluation.campaign import CampaignReport, run_campaign
from surefoot.evaluation.campaign_folder import CampaignFolder, Witnesses, new_campaign
from surefoot.evaluation.crew import Crew
from surefoot.evaluation.engines import engine
from surefoot.proposer.registry import make_proposer
from surefoot.report.campaign import SHORT_COLUMNS, cost_table, full_table, short_rows
from surefoot.report.words import counted

WAYS: dict[str, tuple[Witnesses, ...]] = {
    "refresh": ("refresh",), "paper": ("paper",), "both": ("refresh", "paper"),
}  # fmt: skip


def campaign(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="Name of a suite, such as robosuite or desk.")],
    tasks: Annotated[str | None, typer.Option("--tasks", metavar="A,B", help="Only these tasks of the suite.")] = None,
    runs: Annotated[int, typer.Option("--runs", min=1, help="Independent learning runs of each task.")] = 3,
    run_seed: Annotated[int, typer.Option("--run-seed", help="Run seed of the first run; the others follow.")] = 0,
    dev: Development = None,
    held_out: HeldOut = None,
    witnesses: Annotated[
        str, typer.Option("--witnesses", help="'refresh', 'paper' or 'both'; see docs/learning.md.")
    ] = "refresh",
    proposer: Proposer = "skills",
    workers: Workers = 2,
    on: Engine = "local",
    out_folder: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="New folder for the campaign; default: runs/campaign-SUITE."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Learn every task of SUITE several times, then test what was learned frozen on held-out configurations.

    Writes table.md, costs.md, report.json and programs/ into its folder. Exit 0 when it is complete, 4 if the
    environment failed. An interrupted campaign goes on with 'surefoot resume'.
    """
    chosen = _chosen(suite, tasks)
    if witnesses not in WAYS:
        raise typer.BadParameter(f"'{witnesses}' is none of {', '.join(WAYS)}.", param_hint="--witnesses")
    for task in chosen:
        make_proposer(proposer, task, run_seed)  # so that a wrong name is noticed before there is a campaign
    manifest = new_campaign(suite, chosen, proposer, run_seed, runs, WAYS[witnesses], _seeds(dev), _seeds(held_out))
    with engine(on, workers) as hire:
        folder = CampaignFolder.create(out_folder or Path("runs") / f"campaign-{suite}", manifest)
        return pursue(folder, Crew(hire, workers), as_json)


def resume_campaign(path: Path, workers: int, on: str, as_json: bool) -> int:
    """Go on with the campaign at `path`."""
    with engine(on, workers) as hire:
        return pursue(CampaignFolder.open(path), Crew(hire, workers), as_json)


def pursue(folder: CampaignFolder, crew: Crew, as_json: bool) -> int:
    """Do what is left of a campaign, write its tables and print them."""
    with folder:
        if not as_json:
            _announce(folder)
        try:
            with crew:
                report = run_campaign(folder, crew, lambda line: say(f"  {line}", err), tenths())
        except KeyboardInterrupt:
            say(f"Go on with 'surefoot resume {folder.path}'.", err)
            raise
        folder.save_bytes("table.md", full_table(report).encode())
        folder.save_bytes("costs.md", cost_table(report, crew.lost).encode())
    if as_json:
        print_json(report)
    else:
        print_campaign(report, folder.path)
    return EnvironmentFaultError.exit_code if report.infrastructure_failures else 0


def _chosen(suite: str, names: str | None) -> list[Task]:
    known = find_suite(suite)
    if names is None:
        return [find_task(name) for name in known]
    asked = [name.strip() for name in names.split(",")]
    full = {name.rpartition("/")[2]: name for name in known} | {name: name for name in known}
    for name in asked:
        if name not in full:
            raise unknown_name(f"'{suite}' task", name, known)
    wanted = {full[name] for name in asked}
    return [find_task(name) for name in known if name in wanted]


def _seeds(text: str | None) -> list[int] | None:
    return None if text is None else parse_seeds(text)


def _announce(folder: CampaignFolder) -> None:
    manifest = folder.manifest
    say(
        f"Campaign {manifest.suite}: {counted(len(folder.keys), 'learning run')} of "
        f"{counted(len(manifest.parts), 'task')} with '{manifest.proposer}', then all programs on held-out configurations.\n"
        f"Folder: {folder.path}  (stop at any time; 'surefoot resume {folder.path}' goes on)",
        err,
    )


def print_campaign(report: CampaignReport, path: Path) -> None:
    """Print a finished campaign in short, and where the rest stands."""
    for found in report.tables:
        rows = table(*SHORT_COLUMNS)
        for row in short_rows(found):
            rows.add_row(*row)
        say(f"\nHeld-out success, witnesses: {found.witnesses}")
        out.print(rows)
    names = ("table.md", "costs.md", "report.json", "programs")
    say(f"\nEverything else: {', '.join(str(path / name) for name in names)}", err)
