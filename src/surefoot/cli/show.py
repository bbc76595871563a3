"""`surefoot show`: what a tape or a run holds."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
import typer

from surefoot.cli.arguments import AsJson
from surefoot.cli.campaign import print_campaign
from surefoot.cli.console import out, print_json, say, table
from surefoot.cli.learn import print_report
from surefoot.errors import RunError, UsageError
from surefoot.evaluation.campaign import CampaignReport
from surefoot.evaluation.campaign_folder import CampaignFolder
from surefoot.evaluation.learning import REPORT, Report
from surefoot.memory.bank import Bank, Witness
from surefoot.report.run import change
from surefoot.search.folder import RunFolder
from surefoot.tape.file import Tape, load_tape
from surefoot.tape.records import Event
from surefoot.tape.text import raised_in, request_text, result_of, value_text

R = TypeVar("R", Report, CampaignReport)
_TRUNCATED = "truncated: the recording was cut before its end"
_WIDE, _ANSWER = 120, 40
"""From which width of the output answers are shown, and how long they may be."""


def show(
    path: Annotated[
        Path, typer.Argument(metavar="TAPE|BANK|RUN", help="A tape, a bank, or the folder of a run or campaign.")
    ],
    as_json: AsJson = False,
) -> None:
    """Show what a tape holds (header, events, end), which tapes a bank holds, or how a run or a campaign ended."""
    if path.is_dir() and not (path / "manifest.json").exists() and any(path.glob("*.mcap")):
        _show_bank(path, as_json)
        return
    if CampaignFolder.is_at(path):
        _show_campaign(path, as_json)
        return
    if RunFolder.is_at(path):
        _show_run(path, as_json)
        return
    if path.is_dir():
        raise UsageError(f"{path} holds no run, no campaign and no tapes. Name the folder of one, or a tape.")
    tape = load_tape(path)
    if as_json:
        print_json(as_data(tape))
    else:
        _print(tape)


def _show_bank(path: Path, as_json: bool) -> None:
    rows = [_bank_row(witness) for witness in Bank(path).witnesses()]
    if as_json:
        print_json({"bank": str(path), "tapes": rows})
        return
    shown = table("scene", "events#", "written", "outcome")
    for row in rows:
        shown.add_row(*(str(row[key]) for key in ("scene", "events", "written", "outcome")))
    out.print(shown)


def _bank_row(witness: Witness) -> dict[str, object]:
    tape = witness.tape
    ending = tape.end.outcome.text if tape and tape.end else _TRUNCATED
    return {
        "scene": witness.path.stem,
        "events": len(tape.events) if tape else 0,
        "written": datetime.fromtimestamp(witness.path.stat().st_mtime).astimezone().isoformat(" ", "seconds"),
        "outcome": ending if tape else witness.problem,
    }


def _show_campaign(path: Path, as_json: bool) -> None:
    CampaignFolder.read_manifest(path)
    report = _report_at(path, CampaignFolder.noun, CampaignReport)
    if as_json:
        print_json(report)
    else:
        print_campaign(report, path)


def _report_at(path: Path, noun: str, kind: type[R]) -> R:
    try:
        return msgspec.json.decode((path / REPORT).read_bytes(), type=kind)
    except FileNotFoundError:
        raise RunError(f"The {noun} {path} is not finished. Go on with 'surefoot resume {path}'.") from None
    except (OSError, msgspec.DecodeError) as error:
        raise RunError(
            f"The report of {path} can't be read ({error}). Write it again with 'surefoot resume {path}'."
        ) from None


def _show_run(path: Path, as_json: bool) -> None:
    manifest = RunFolder.read_manifest(path)
    report = _report_at(path, RunFolder.noun, Report)
    if as_json:
        print_json(report)
        return
    out.print(f"{manifest.task}, proposer {manifest.proposer}, run seed {manifest.run_seed}", markup=False)
    print_report(report, path)
    say(change(path))


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


def _answer(event: Event) -> str:
    """A call's answer in few words; empty for None."""
    if event.raised:
        return f"raised {raised_in(event.request, event.answer).name.rpartition('.')[2]}"
    cell, nodes = result_of(event.answer)
    return "" if cell is None else value_text(nodes, cell, _ANSWER)


def _print(tape: Tape) -> None:
    header = tape.header
    ending = tape.end.outcome.text if tape.end else _TRUNCATED
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
    wide = out.width >= _WIDE
    rows = table("event#", "clock s#", "line#", "stage", "call", *(["answer"] if wide else []))
    for event in tape.events:
        call = request_text(header.surface, event.function, event.request)
        cells = [call, _answer(event)] if wide else [f"{call} {_answer(event)}" if event.raised else call]
        rows.add_row(str(event.number), f"{event.clock:.2f}", str(event.line), event.stage, *cells)
    out.print(rows)
    if tape.end and tape.end.output:
        say("output:\n" + tape.end.output.rstrip("\n"))
