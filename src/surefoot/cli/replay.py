"""`surefoot replay`: one tape, against its own program or another."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from surefoot.boundary.process import Zygote
from surefoot.cli.arguments import ApiObject, AsJson, Trusted, find_object, profile_of
from surefoot.cli.console import print_json, say
from surefoot.environments.registry import find_task
from surefoot.errors import TapeError, UsageError
from surefoot.program.source import Program
from surefoot.scripts.imports import refuse_given_imports
from surefoot.scripts.replaying import is_own_api, present
from surefoot.tape.certificate import Certificate, Certified, Diverged, Unavailable, verdict
from surefoot.tape.file import Tape, load_tape
from surefoot.tape.replay import certify, preload_for, program_of


def replay(
    tape: Annotated[Path, typer.Argument(metavar="TAPE", help="A tape made by 'run --tape' or 'record'.")],
    program: Annotated[
        Path | None, typer.Argument(metavar="PROGRAM", help="The edited program; default: the tape's own.")
    ] = None,
    trusted: Trusted = False,
    api: ApiObject = None,
    as_json: AsJson = False,
) -> int:
    """Run a program with TAPE in the environment's place. Exit 0 certified, 1 diverged, 3 unavailable."""
    loaded, obj = load_tape(tape), find_object(api)
    trusted = trusted or is_own_api(loaded)
    text = Program.read(program, profile_of(trusted)) if program is not None else program_of(loaded)
    if is_own_api(loaded):
        refuse_given_imports(
            text, loaded.header.surface.types, loaded.header.surface.functions[0].name.partition(".")[0]
        )
    with Zygote(preload_for(text)) as zygote:
        started = time.perf_counter()
        certificate = _certify(text, loaded, zygote, obj)
        seconds = time.perf_counter() - started
    if as_json:
        print_json(as_data(certificate, loaded, seconds))
    elif isinstance(certificate, Diverged):
        say(certificate.page())
    elif isinstance(certificate, Unavailable):
        say(certificate.text)
    else:
        say(f"{certificate.text} in {seconds * 1000:.0f} ms; the recording took {loaded.seconds:.2f} s")
    return exit_code(certificate)


def _certify(program: Program, tape: Tape, zygote: Zygote, obj: object | None) -> Certificate:
    if obj is not None:
        surface, revision = present(tape, obj)
        return certify(program, tape, zygote, surface=surface, revision=revision)
    try:
        task = find_task(tape.header.task)
    except UsageError:
        return certify(program, tape, zygote)  # the task is not installed: the tape's own surface stands
    return certify(program, tape, zygote, surface=task.surface, revision=task.revision())


def exit_code(certificate: Certificate) -> int:
    """0 certified, 1 diverged, 3 unavailable."""
    if isinstance(certificate, Certified):
        return 0
    return 1 if isinstance(certificate, Diverged) else TapeError.exit_code


def as_data(certificate: Certificate, tape: Tape, seconds: float) -> dict[str, object]:
    """A certificate as JSON data."""
    data: dict[str, object] = {
        "verdict": verdict(certificate),
        "events": len(tape.events),
        "task": tape.header.task,
        "seed": tape.header.scene.seed,
        "scene": tape.header.scene.digest,
        "tape": tape.id,
        "replay_seconds": round(seconds, 4),
        "execution_seconds": round(tape.seconds, 4),
        "text": certificate.text,
    }
    if isinstance(certificate, Diverged):
        data |= {
            "event": certificate.event,
            "kind": certificate.kind,
            "field": certificate.field,
            "expected": certificate.expected,
            "got": certificate.got,
            "line": certificate.line,
            "source": certificate.source,
            "stage": certificate.stage,
            "excerpt": certificate.excerpt,
            "called": certificate.called,
            "last": certificate.last,
            "nearest": certificate.nearest,
        }
    elif isinstance(certificate, Unavailable):
        data["reason"] = certificate.reason
    elif certificate.modulo:
        data |= {"dropped": certificate.dropped, "added": certificate.added}
    return data
