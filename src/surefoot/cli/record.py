"""`surefoot record`: fill a bank with a program's successes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.boundary.outcome import Infrastructure, is_success
from surefoot.cli.arguments import AsJson, BankFolder, ProgramPath, RunSeed, TaskName, Trusted, parse_seeds, profile_of
from surefoot.cli.console import out, print_json, progress, say, table
from surefoot.environments.host import TaskHost
from surefoot.environments.registry import find_task
from surefoot.errors import EnvironmentFaultError
from surefoot.memory.bank import Bank
from surefoot.program.source import Program
from surefoot.tape.certificate import Certified
from surefoot.tape.recording import Execution


def record(
    task: TaskName,
    program: ProgramPath,
    seeds: Annotated[str, typer.Option("--seeds", metavar="SEEDS", help="Configurations, like 101-125.")],
    bank: BankFolder,
    run_seed: RunSeed = 0,
    trusted: Trusted = False,
    as_json: AsJson = False,
) -> int:
    """Run PROGRAM on each configuration and keep every success in a bank, for 'surefoot certify'.

    Each success is replayed at once: a tape that does not match its own program can certify nothing. Exit
    0 if every run succeeded and matches itself, else 1.
    """
    chosen, text, place = find_task(task), Program.read(program, profile_of(trusted)), Bank(bank)
    text.check()
    configurations = parse_seeds(seeds)
    place.create()
    place.set_aside_abandoned()
    before = len(place.replaced())
    rows: list[dict[str, object]] = []
    with TaskHost(chosen) as host, progress(f"recording {task}", len(configurations)) as advance:
        for seed in configurations:
            rows.append(_record_one(host, text, seed, place, run_seed))
            advance(f"seed {seed}: {rows[-1]['outcome']}")
    good = [row for row in rows if row["self_match"] is True]
    if as_json:
        print_json({"task": task, "tier": chosen.tier, "bank": str(bank), "successes": _count(rows), "runs": rows})
    else:
        _print(rows)
        say(f"{_count(rows)}/{len(rows)} successes kept in {bank}")
        _say_what_else(rows, bank, program, len(place.replaced()) - before)
    if any(row["infrastructure"] for row in rows):
        return EnvironmentFaultError.exit_code
    return 0 if len(good) == len(rows) else 1


def _say_what_else(rows: list[dict[str, object]], bank: Path, program: Path, replaced: int) -> None:
    if replaced:
        say(f"They took the place of {replaced} earlier tapes, which are kept in {bank / 'replaced'}.")
    if _count(rows) < len(rows):
        say(f"Tapes of runs that failed are kept in {bank / 'failures'}.")
    if _count(rows):
        say(f"After an edit: surefoot certify {program} --bank {bank}")


def _record_one(host: TaskHost, program: Program, seed: int, bank: Bank, run_seed: int) -> dict[str, object]:
    unfinished = bank.unfinished_path(seed)
    try:
        execution = host.execute(program, seed, path=unfinished, run_seed=run_seed)
    except KeyboardInterrupt:
        bank.set_aside(unfinished)
        raise
    kept: Path | None = None
    matches: bool | None = None
    if execution.tape is not None:
        kept = bank.keep(unfinished, execution.tape)
        if is_success(execution.outcome):
            matches = isinstance(host.certify(program, execution.tape), Certified)
    return _row(execution, kept, matches)


def _row(execution: Execution, kept: Path | None, matches: bool | None) -> dict[str, object]:
    return {
        "seed": execution.seed,
        "scene": execution.scene.digest if execution.scene else None,
        "outcome": execution.outcome.text,
        "success": is_success(execution.outcome),
        "infrastructure": isinstance(execution.outcome, Infrastructure),
        "events": len(execution.tape.events) if execution.tape else 0,
        "steps": execution.steps,
        "seconds": round(execution.seconds, 3),
        "self_match": matches,
        "tape": str(kept) if kept else None,
    }


def _count(rows: list[dict[str, object]]) -> int:
    return sum(bool(row["success"]) for row in rows)


def _print(rows: list[dict[str, object]]) -> None:
    shown = table("seed#", "outcome", "events#", "steps#", "s#", "replays as recorded")
    for row in rows:
        matches = {True: "yes", False: "NO: certifies nothing", None: ""}[row["self_match"]]  # type: ignore[index]
        shown.add_row(
            str(row["seed"]),
            str(row["outcome"]),
            str(row["events"]),
            str(row["steps"]),
            f"{row['seconds']:.2f}",
            matches,
        )
    out.print(shown)
