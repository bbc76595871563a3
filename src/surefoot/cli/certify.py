"""`surefoot certify`: an edited program against a whole bank of recorded successes."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.text import Text

from surefoot.boundary.outcome import is_success
from surefoot.cli.arguments import AsJson, BankFolder, ProgramPath, Trusted, profile_of
from surefoot.cli.console import err, out, print_json, progress, say, table
from surefoot.cli.replay import as_data
from surefoot.environments.host import TaskHost
from surefoot.environments.registry import find_task
from surefoot.errors import UsageError
from surefoot.memory.bank import Bank, Witness
from surefoot.program.source import Program
from surefoot.tape.certificate import Certificate, Diverged, Unavailable


class _Scene:
    """One row: a witness, what replaying it showed, and how a re-run on its configuration ended."""

    def __init__(self, witness: Witness):
        self.witness = witness
        self.certificate: Certificate = Unavailable("unreadable", witness.problem)
        self.seconds = 0.0
        self.rerun = ""
        self.rerun_success: bool | None = None

    @property
    def name(self) -> str:
        return self.witness.path.stem

    @property
    def holds(self) -> bool:
        return self.verdict == "certified" or self.rerun_success is True

    @property
    def verdict(self) -> str:
        if isinstance(self.certificate, Diverged):
            return "diverged"
        return "unavailable" if isinstance(self.certificate, Unavailable) else "certified"


def certify(
    program: ProgramPath,
    bank: BankFolder,
    run_uncertified: Annotated[
        bool, typer.Option("--run-uncertified", help="Run the program live on the scenes that are not certified.")
    ] = False,
    trusted: Trusted = False,
    as_json: AsJson = False,
) -> int:
    """Check an edited PROGRAM against every recorded success in a bank, without the environment.

    A certified scene would succeed again under the assumptions in docs/certificates.md. A divergence is
    not a failure: what happens from there on is unknown. Exit 0 if every scene is certified (or re-run
    with success), else 1.
    """
    text = Program.read(program, profile_of(trusted))
    text.check()
    place = Bank(bank)
    scenes = [_Scene(witness) for witness in place.witnesses()]
    with progress("certifying", len(scenes)) as advance:
        for host, group in _by_task(scenes):
            with host:
                endless = ""
                for scene in group:
                    _replay(scene, host, text, endless)
                    endless = endless or (scene.name if _used_up_its_time(scene) else "")
                    advance(scene.verdict)
                if run_uncertified:
                    for scene in group:
                        _rerun(scene, host, text)
    for path in place.unfinished():
        say(f"Ignored: {path} is a recording that was cut before its end.", err)
    if as_json:
        print_json(_summary(scenes))
    else:
        _print(scenes, program.name)
    return 0 if all(scene.holds for scene in scenes) else 1


def _by_task(scenes: list[_Scene]) -> list[tuple[TaskHost, list[_Scene]]]:
    """The readable scenes, by task; those of a task that is not installed stay unavailable."""
    groups: dict[str, list[_Scene]] = {}
    for scene in scenes:
        if scene.witness.tape is not None:
            groups.setdefault(scene.witness.tape.header.task, []).append(scene)
    hosts = []
    for name, group in groups.items():
        try:
            hosts.append((TaskHost(find_task(name)), group))
        except UsageError as error:
            for scene in group:
                scene.certificate = Unavailable("environment changed", str(error))
    return hosts


def _replay(scene: _Scene, host: TaskHost, program: Program, endless: str) -> None:
    """Replay one scene, unless the program ran without end on an earlier one, named `endless`."""
    tape = scene.witness.tape
    assert tape is not None
    if endless:
        scene.certificate = Unavailable("timeout", f"not tried: the program used up its time on {endless}")
        return
    started = time.perf_counter()
    scene.certificate = host.certify(program, tape)
    scene.seconds = time.perf_counter() - started


def _used_up_its_time(scene: _Scene) -> bool:
    certificate = scene.certificate
    if isinstance(certificate, Unavailable):
        return certificate.reason == "timeout"
    return isinstance(certificate, Diverged) and certificate.kind == "limit"


def _rerun(scene: _Scene, host: TaskHost, program: Program) -> None:
    tape = scene.witness.tape
    if scene.verdict == "certified" or tape is None:
        return
    execution = host.execute(program, tape.header.scene.seed)
    scene.rerun = execution.outcome.text
    scene.rerun_success = is_success(execution.outcome)
    if execution.scene is not None and execution.scene.digest != tape.header.scene.digest:
        scene.rerun += " (another scene: this configuration's resets differ)"


def _summary(scenes: list[_Scene]) -> dict[str, object]:
    rows = []
    for scene in scenes:
        tape = scene.witness.tape
        shared = as_data(scene.certificate, tape, scene.seconds) if tape else _unreadable(scene.certificate)
        rows.append(
            shared
            | {"scene": scene.name, "verdict": scene.verdict, "holds": scene.holds, "rerun": scene.rerun or None}
            | ({"digest": tape.header.scene.digest} if tape else {})
        )
    return {
        "scenes": rows,
        "certified": _count(scenes, "certified"),
        "diverged": _count(scenes, "diverged"),
        "unavailable": _count(scenes, "unavailable"),
        "rerun_successes": sum(scene.rerun_success is True for scene in scenes),
        "replay_seconds": round(sum(scene.seconds for scene in scenes), 4),
        "execution_seconds": round(sum(scene.witness.tape.seconds for scene in scenes if scene.witness.tape), 4),
    }


def _unreadable(certificate: Certificate) -> dict[str, object]:
    reason = certificate.reason if isinstance(certificate, Unavailable) else None
    return {"reason": reason, "text": certificate.text}


def _count(scenes: list[_Scene], verdict: str) -> int:
    return sum(scene.verdict == verdict for scene in scenes)


def _print(scenes: list[_Scene], program: str) -> None:
    rerun = any(scene.rerun for scene in scenes)
    rows = table("scene", "verdict", "where", *(["re-run"] if rerun else []))
    for scene in scenes:
        style = {"certified": "green", "diverged": "yellow", "unavailable": "red"}[scene.verdict]
        rows.add_row(scene.name, Text(scene.verdict, style), _where(scene), *([scene.rerun] if rerun else []))
    out.print(rows)
    diverged = [(scene, scene.certificate) for scene in scenes if isinstance(scene.certificate, Diverged)]
    if diverged:
        first, certificate = diverged[0]
        say(f"\n{first.name}\n{certificate.page()}")
    if len(diverged) > 1:
        say(f"({len(diverged) - 1} more diverged; 'surefoot replay TAPE PROGRAM' shows one in full.)")
    replayed = sum(scene.seconds for scene in scenes)
    recorded = sum(scene.witness.tape.seconds for scene in scenes if scene.witness.tape)
    say(
        f"\n{program}: {_count(scenes, 'certified')} of {len(scenes)} recorded scenes certified in {replayed:.2f} s; "
        f"running them took {recorded:.1f} s"
    )
    if not rerun and any(scene.witness.tape is not None and not scene.holds for scene in scenes):
        say("Add --run-uncertified to run the program on the others.")


def _where(scene: _Scene) -> str:
    certificate = scene.certificate
    if isinstance(certificate, Diverged):
        line = f"line {certificate.line}, " if certificate.line else ""
        field = f"{certificate.field}: " if certificate.field else ""
        return f"{line}event {certificate.event}: {field}{certificate.expected} → {certificate.got}"
    if isinstance(certificate, Unavailable):
        return f"{certificate.reason}: {certificate.detail}" if certificate.detail else certificate.reason
    return f"{certificate.events} events"
