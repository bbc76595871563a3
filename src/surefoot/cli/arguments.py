"""Arguments and options that several commands share."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from surefoot.errors import UsageError
from surefoot.program.source import Profile

MOST_SEEDS = 100_000
LARGEST_SEED = 2**32 - 1
"""Simulators are seeded with 32 bits."""
TaskName = Annotated[str, typer.Argument(metavar="TASK", help="Name of a task; see 'surefoot tasks'.")]
ProgramPath = Annotated[Path, typer.Argument(metavar="PROGRAM", help="A Python file that calls the task's functions.")]
BankFolder = Annotated[Path, typer.Option("--bank", metavar="DIR", help="Folder of recorded successes.")]
RunSeed = Annotated[int, typer.Option("--run-seed", help="Randomness of the run itself, not of the scene.")]
Development = Annotated[
    str | None,
    typer.Option("--dev", metavar="SEEDS", help="Development configurations, like 101-125; default: the task's own."),
]
HeldOut = Annotated[
    str | None,
    typer.Option("--held-out", metavar="SEEDS", help="Held-out configurations, like 1-100; default: the task's own."),
]
Proposer = Annotated[str, typer.Option("--proposer", help="Who writes the edits; see docs/learning.md.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
Trusted = Annotated[
    bool,
    typer.Option("--trusted", help="A script of your own: it may import what lies beside it and what is installed."),
]
ApiObject = Annotated[
    str | None,
    typer.Option("--api", metavar="MODULE:NAME", help="Class or object that own-API tapes were recorded with."),
]
Workers = Annotated[int, typer.Option("--workers", min=1, help="Simulator processes at a time.")]

Engine = Annotated[str, typer.Option("--engine", help="'local', or 'ray' for the workers of a Ray cluster.")]


def profile_of(trusted: bool) -> Profile:
    """The profile that `--trusted` asks for."""
    return "trusted" if trusted else "strict"


def parse_seeds(text: str) -> list[int]:
    """Configurations such as `101-125`, `3` or `1-5,9`. UsageError for anything else."""
    seeds: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"([0-9]{1,18})(?:-([0-9]{1,18}))?", part.strip())
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if last > LARGEST_SEED:
            raise UsageError(f"Configuration {last} is too large; they go from 0 to {LARGEST_SEED}.")
        if last < first:
            raise UsageError(f"'{text}' names no configurations. Write them like 101-125, or 3, or 1-5,9.")
        if len(seeds) + last - first >= MOST_SEEDS:
            raise UsageError(f"'{text}' names more than {MOST_SEEDS} configurations. Split them over several runs.")
        seeds += range(first, last + 1)
    return list(dict.fromkeys(seeds))


def find_object(text: str | None) -> Any:
    """What `module:name` names, looked for in the working folder, too; None for None. UsageError if there is none."""
    if text is None:
        return None
    module, _, name = text.partition(":")
    if not module or not name:
        raise UsageError(f"--api takes module:name, such as shop:ShopClient, not '{text}'.")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:  # whatever a user's module raises when it is imported
        raise UsageError(f"{text} can't be imported: {type(error).__name__}: {error}.") from error
    finally:
        sys.path.remove(str(Path.cwd()))
    return found
