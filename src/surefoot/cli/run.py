"""`surefoot run`: one program on one configuration."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from surefoot.boundary.outcome import Infrastructure, is_success
from surefoot.cli.arguments import LARGEST_SEED, AsJson, ProgramPath, RunSeed, TaskName, Trusted, profile_of
from surefoot.cli.console import err, print_json, say
from surefoot.environments.host import TaskHost
from surefoot.environments.registry import find_task
from surefoot.errors import EnvironmentFaultError
from surefoot.program.source import Program
from surefoot.report.film import Film
from surefoot.tape.recording import Execution
from surefoot.tape.records import Event

SHOWN_CALLS = 20
ONE_IN = 100
"""A run's progress shows its first calls, and of the others one in so many."""


def run(
    task: TaskName,
    program: ProgramPath,
    seed: Annotated[int, typer.Option("--seed", min=0, max=LARGEST_SEED, help="The configuration.")],
    tape: Annotated[Path | None, typer.Option("--tape", metavar="F", help="Record the run to this new file.")] = None,
    video: Annotated[
        Path | None, typer.Option("--video", metavar="FILE", help="Film the run to this new .mp4 file.")
    ] = None,
    run_seed: RunSeed = 0,
    trusted: Trusted = False,
    as_json: AsJson = False,
) -> int:
    """Run PROGRAM on one configuration of TASK and say how it ended. Exit 0 on success, else 1."""
    chosen, text = find_task(task), Program.read(program, profile_of(trusted))
    text.check()
    film = Film(video) if video is not None else None

    def show_event(event: Event) -> None:
        if event.number == SHOWN_CALLS and not as_json:
            err.print(f"  … from here on one call in {ONE_IN}", style="dim", markup=False)
        if not as_json and (event.number < SHOWN_CALLS or event.number % ONE_IN == 0):
            error = " raised" if event.raised else ""
            err.print(f"  {event.number:3d}  line {event.line:<4d} {event.function}{error}", style="dim", markup=False)

    around = film.shoot if film is not None else nullcontext
    with TaskHost(chosen) as host:
        execution = host.execute(text, seed, path=tape, run_seed=run_seed, on_event=show_event, around=around)
    if as_json:
        print_json(as_data(execution))
    else:
        _print(execution, tape)
    if film is not None and film.begun:
        film.check()
        say(f"Video: {film.path}", err)
    if isinstance(execution.outcome, Infrastructure):
        return EnvironmentFaultError.exit_code
    return 0 if is_success(execution.outcome) else 1


def as_data(execution: Execution) -> dict[str, object]:
    """An execution as JSON data."""
    tape = execution.tape
    return {
        "task": tape.header.task if tape else None,
        "tier": tape.header.tier if tape else None,
        "seed": execution.seed,
        "scene": execution.scene.digest if execution.scene else None,
        "success": is_success(execution.outcome),
        "outcome": execution.outcome,
        "events": len(tape.events) if tape else 0,
        "steps": execution.steps,
        "seconds": round(execution.seconds, 3),
        "tape": str(tape.path) if tape and tape.path else None,
        "output": tape.end.output if tape and tape.end else "",
    }


def _print(execution: Execution, tape: Path | None) -> None:
    recorded = execution.tape
    if recorded and recorded.end:
        if recorded.end.output:
            say(recorded.end.output.rstrip("\n"))
        if recorded.end.errors:
            say(recorded.end.errors.rstrip("\n"), err)
    events = len(recorded.events) if recorded else 0
    say(
        f"{execution.outcome.text}  (seed {execution.seed}, {events} events, {execution.steps} steps, "
        f"{execution.seconds:.2f} s)"
    )
    if tape is not None and recorded is not None:
        say(f"Tape: {tape}  Replay it with 'surefoot replay {tape}'.", err)
