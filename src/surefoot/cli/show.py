"""`surefoot show`: what a tape or a run holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.arguments import AsJson
from surefoot.cli.console import out, print_json, table
from surefoot.errors import UsageError
from surefoot.tape.file import Tape, load_tape
from surefoot.tape.replay import request_text


def show(
    path: Annotated[Path, typer.Argument(metavar="TAPE", help="A tape.")],
    as_json: AsJson = False,
) -> None:
    """Show what a tape holds: header, events, end."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder. Name a tape inside it, for example {path}/….mcap.")
    tape = load_tape(path)
    if as_json:
        print_json(as_data(tape))
    else:
        _print(tape)


def as_data(tape: Tape) -> dict[str, object]:
    """A tape as JSON data."""
    header = tape.header
    return {
        "id": tape.id or None,
        "truncated": tape.truncated,
        "task": header.task,
        "tier": header.tier,
        "protocol": header.protocol,
        "seed": header.scene.seed,
        "scene": header.scene.digest,
        "run_seed": header.run_seed,
        "program": header.program_name,
        "revision": header.revision,
        "platform": header.platform,
        "sandbox": header.sandbox,
        "outcome": tape.end.outcome if tape.end else None,
        "steps": tape.end.steps if tape.end else None,
        "seconds": round(tape.seconds, 4),
        "events": [
            {
                "number": event.number,
                "call": request_text(header.surface, event.function, event.request),
                "kind": event.kind,
                "raised": event.raised,
                "clock": event.clock,
                "line": event.line,
                "stage": event.stage,
            }
            for event in tape.events
        ],
        "output": tape.end.output if tape.end else "",
    }


def _print(tape: Tape) -> None:
    header = tape.header
    ending = tape.end.outcome.text if tape.end else "truncated: the recording was cut before its end"
    facts = table("", "")
    facts.show_header = False
    for name, value in {
        "tape": tape.id or "no id",
        "task": f"{header.task} (tier {header.tier}), seed {header.scene.seed}",
        "protocol": header.protocol,
        "scene": header.scene.digest,
        "program": header.program_name,
        "ended": ending,
        "took": f"{tape.seconds:.2f} s, {tape.end.steps if tape.end else '?'} environment steps",
        "platform": f"{header.platform.get('blas')}, NumPy {header.platform.get('numpy')}, {header.platform.get('libm')}",
        "revision": header.revision,
    }.items():
        facts.add_row(name, value)
    out.print(facts)
    rows = table("event#", "clock s#", "line#", "stage", "call")
    for event in tape.events:
        call = request_text(header.surface, event.function, event.request) + (" raised" if event.raised else "")
        rows.add_row(str(event.number), f"{event.clock:.2f}", str(event.line), event.stage, call)
    out.print(rows, markup=False)
    if tape.end and tape.end.output:
        out.print("output:\n" + tape.end.output.rstrip("\n"), markup=False)
