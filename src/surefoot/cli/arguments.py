"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.errors import UsageError

TaskName = Annotated[str, typer.Argument(metavar="TASK", help="Name of a task; see 'surefoot tasks'.")]
ProgramPath = Annotated[Path, typer.Argument(metavar="PROGRAM", help="A Python file that calls the task's functions.")]
BankFolder = Annotated[Path, typer.Option("--bank", metavar="DIR", help="Folder of recorded successes.")]
RunSeed = Annotated[int, typer.Option("--run-seed", help="Randomness of the run itself, not of the scene.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Workers = Annotated[int, typer.Option("--workers", min=1, help="Simulator processes at a time.")]


def parse_seeds(text: str) -> list[int]:
    """Configurations such as `101-125`, `3` or `1-5,9`. UsageError for anything else."""
    seeds: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()) or (dash and int(last) < int(first)):
            raise UsageError(f"'{text}' names no configurations. Write them like 101-125, or 3, or 1-5,9.")
        seeds += range(int(first), int(last or first) + 1)
    return list(dict.fromkeys(seeds))
