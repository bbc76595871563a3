"""`surefoot certify`: an edited program against a whole bank of recorded successes."""

from __future__ import annotations

import enum
import time
from typing import Annotated

import typer
from rich.text import Text

from surefoot.boundary.outcome import Failure, Success, is_success
from surefoot.cli.arguments import ApiObject, AsJson, BankFolder, ProgramPath, Trusted, find_object, profile_of
from surefoot.cli.console import err, out, print_json, progress, say, table
from surefoot.cli.replay import as_data
from surefoot.environments.host import TaskHost
from surefoot.environments.registry import find_task
from surefoot.errors import TapeError, UsageError
from surefoot.memory.bank import Bank, Witness
from surefoot.program.source import Program
from surefoot.scripts.replaying import ObjectHost, is_own_api
from surefoot.tape.certificate import Certificate, Diverged, Unavailable, verdict
from surefoot.tape.fork import Forked

MODULO = "certified modulo queries"
_OWN_OBJECT = Unavailable("own object", "record it anew")
"""Why nothing is run on tapes of a user's object: surefoot can't make one."""
_STYLES = {"certified": "green", MODULO: "green", "diverged": "yellow", "unavailable": "red"}


class Modulo(enum.StrEnum):
    """What `--modulo` may leave out of account."""

    QUERIES = "queries"


class _Scene:
    """One row: a witness, what replaying it showed, and how a fork and a re-run on its configuration ended."""

    def __init__(self, witness: Witness):
        self.witness = witness
        self.certificate: Certificate = Unavailable("unreadable", witness.problem)
        self.seconds = 0.0
        self.fork: Forked | Unavailable | None = None
        self.fork_wall_seconds = 0.0
        self.rerun = ""
        self.rerun_success: bool | None = None

    @property
    def name(self) -> str:
        return self.witness.path.stem

    @property
    def verdict(self) -> str:
        return verdict(self.certificate)

    @property
    def certified(self) -> bool:
        return self.verdict in ("certified", MODULO)

    @property
    def forked(self) -> bool | None:
        """Whether a fork succeeded; None where there is none, or it decides nothing."""
        outcome = self.fork.outcome if isinstance(self.fork, Forked) else None
        return is_success(outcome) if isinstance(outcome, Success | Failure) else None

    @property
    def fork_seconds(self) -> float:
        """Wall-clock time of the fork, from its beginning to the verdict; without the simulator's start, as in tapes."""
        return self.fork.seconds if isinstance(self.fork, Forked) else 0.0

    @property
    def undecided(self) -> bool:
        """Whether a fork was asked for in vain."""
        return self.fork is not None and self.forked is None

    @property
    def holds(self) -> bool:
        return self.certified or self.forked is True or self.rerun_success is True


def certify(
    program: ProgramPath,
    bank: BankFolder,
    modulo: Annotated[
        Modulo | None,
        typer.Option(
            "--modulo", help="Certify, as a grade apart, edits that make pure queries otherwise than recorded."
        ),
    ] = None,
    fork: Annotated[
        bool,
        typer.Option("--fork", help="Restore each scene that diverges at its first differing call and run the rest."),
    ] = False,
    run_uncertified: Annotated[
        bool, typer.Option("--run-uncertified", help="Run the program live on the scenes that are undecided then.")
    ] = False,
    api: ApiObject = None,
    trusted: Trusted = False,
    as_json: AsJson = False,
) -> int:
    """Check an edited PROGRAM against every recorded success in a bank, without the environment.

    A certified scene would succeed again under the assumptions in docs/certificates.md. A divergence is
    not a failure: what happens from there on is unknown, until --fork or --run-uncertified tells. Exit 0 if
    every scene is certified, or forked or re-run with success; 1 if one diverged, or failed when it was run; 3 if
    none did, but a tape can't be used.
    """
    text = Program.read(program, profile_of(trusted))
    place = Bank(bank)
    scenes = [_Scene(witness) for witness in place.witnesses()]
    if any(scene.witness.tape is not None and is_own_api(scene.witness.tape) for scene in scenes):
        text = Program.read(program, "trusted")
    text.check()
    with progress("certifying", len(scenes)) as advance:
        for host, group in _by_task(scenes, find_object(api)):
            with host:
                endless = ""
                for scene in group:
                    _replay(scene, host, text, endless, modulo is not None)
                    endless = endless or (scene.name if _used_up_its_time(scene) else "")
                    advance(scene.verdict)
                for scene in group:
                    _decide(scene, host, text, fork, run_uncertified)
    for path in place.unfinished():
        say(
            f"Ignored: {path} is no finished recording. Where its process has gone, the next 'surefoot record' moves it "
            f"to {bank / 'unfinished'}.",
            err,
        )
    if as_json:
        print_json(_summary(scenes))
    else:
        _print(scenes, program.name, fork)
    return _exit_code(scenes)


def _exit_code(scenes: list[_Scene]) -> int:
    """0 if all hold; 1 if one of the others diverged or failed; 3 if nothing is known against them."""
    others = [scene for scene in scenes if not scene.holds]
    if any(scene.verdict == "diverged" or scene.rerun_success is False for scene in others):
        return 1
    return TapeError.exit_code if others else 0


def _by_task(scenes: list[_Scene], obj: object | None) -> list[tuple[TaskHost | ObjectHost, list[_Scene]]]:
    """The readable scenes, by task; those of a task that is not installed stay unavailable."""
    groups: dict[str, list[_Scene]] = {}
    for scene in scenes:
        if scene.witness.tape is not None:
            groups.setdefault(scene.witness.tape.header.task, []).append(scene)
    hosts: list[tuple[TaskHost | ObjectHost, list[_Scene]]] = []
    for name, group in groups.items():
        if any(scene.witness.tape is not None and is_own_api(scene.witness.tape) for scene in group):
            hosts.append((ObjectHost(obj), group))
            if obj is None:
                say(f"{name} is taken as unchanged since the recording; --api {name} checks that.", err)
            continue
        try:
            hosts.append((TaskHost(find_task(name)), group))
        except UsageError as error:
            for scene in group:
                scene.certificate = Unavailable("environment changed", str(error))
    return hosts


def _replay(scene: _Scene, host: TaskHost | ObjectHost, program: Program, endless: str, modulo: bool) -> None:
    """Replay one scene, unless the program ran without end on an earlier one, named `endless`."""
    tape = scene.witness.tape
    assert tape is not None
    if endless:
        scene.certificate = Unavailable("timeout", f"not tried: the program used up its time on {endless}")
        return
    started = time.perf_counter()
    scene.certificate = host.certify(program, tape, modulo=modulo)
    scene.seconds = time.perf_counter() - started


def _used_up_its_time(scene: _Scene) -> bool:
    certificate = scene.certificate
    if isinstance(certificate, Unavailable):
        return certificate.reason == "timeout"
    return isinstance(certificate, Diverged) and certificate.kind == "limit"


def _decide(scene: _Scene, host: TaskHost | ObjectHost, program: Program, fork: bool, rerun: bool) -> None:
    """Run what replay could not decide, as far as was asked for."""
    if isinstance(host, ObjectHost):
        if fork and isinstance(scene.certificate, Diverged):
            scene.fork = _OWN_OBJECT
        if rerun and not scene.certified:
            scene.rerun = _OWN_OBJECT.text
        return
    if fork and isinstance(scene.certificate, Diverged):
        _fork(scene, host, program)
    if rerun and not scene.certified and scene.forked is None:
        _rerun(scene, host, program)


def _fork(scene: _Scene, host: TaskHost, program: Program) -> None:
    assert scene.witness.tape is not None
    started = time.perf_counter()
    scene.fork = host.fork(program, scene.witness.tape)
    scene.fork_wall_seconds = time.perf_counter() - started


def _rerun(scene: _Scene, host: TaskHost, program: Program) -> None:
    tape = scene.witness.tape
    if tape is None:
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
            | {"fork": _fork_data(scene)}
            | ({"digest": tape.header.scene.digest} if tape else {})
        )
    return {
        "scenes": rows,
        "certified": _count(scenes, "certified"),
        "certified_modulo_queries": _count(scenes, MODULO),
        "diverged": _count(scenes, "diverged"),
        "unavailable": _count(scenes, "unavailable"),
        "foreign_files": sum(scene.witness.foreign for scene in scenes),
        "fork_successes": sum(scene.forked is True for scene in scenes),
        "fork_failures": sum(scene.forked is False for scene in scenes),
        "forks_unavailable": sum(scene.undecided for scene in scenes),
        "rerun_successes": sum(scene.rerun_success is True for scene in scenes),
        "replay_seconds": round(sum(scene.seconds for scene in scenes), 4),
        "fork_seconds": round(sum(scene.fork_seconds for scene in scenes), 4),
        "fork_wall_seconds": round(sum(scene.fork_wall_seconds for scene in scenes), 4),
        "execution_seconds": round(sum(scene.witness.tape.seconds for scene in scenes if scene.witness.tape), 4),
    }


def _fork_data(scene: _Scene) -> dict[str, object] | None:
    if isinstance(scene.fork, Unavailable):
        return {"reason": scene.fork.reason, "text": scene.fork.text}
    if scene.fork is None:
        return None
    return {
        "success": scene.forked,
        "text": scene.fork.outcome.text,
        "event": scene.fork.event,
        "steps": scene.fork.steps,
        "live_steps": scene.fork.live_steps,
        "seconds": round(scene.fork_seconds, 4),
    }


def _unreadable(certificate: Certificate) -> dict[str, object]:
    reason = certificate.reason if isinstance(certificate, Unavailable) else None
    return {"reason": reason, "text": certificate.text}


def _count(scenes: list[_Scene], verdict: str) -> int:
    return sum(scene.verdict == verdict for scene in scenes)


def _print(scenes: list[_Scene], program: str, fork: bool) -> None:
    rerun = any(scene.rerun for scene in scenes)
    forked = "forked" if any(_forked_before(scene) for scene in scenes) else "forked there"
    rows = table("scene", "verdict", "where", *([forked] if fork else []), *(["re-run"] if rerun else []))
    for scene in scenes:
        cells = [_where(scene), *([_forked_text(scene)] if fork else []), *([scene.rerun] if rerun else [])]
        rows.add_row(scene.name, Text(scene.verdict, _STYLES[scene.verdict]), *cells)
    out.print(rows)
    diverged = [(scene, scene.certificate) for scene in scenes if isinstance(scene.certificate, Diverged)]
    if diverged:
        first, certificate = diverged[0]
        say(f"\n{first.name}\n{certificate.page()}")
    if len(diverged) > 1:
        say(f"({len(diverged) - 1} more diverged; 'surefoot replay TAPE PROGRAM' shows one in full.)")
    say("")
    _print_counts(scenes, program, fork)
    others = [scene.witness.tape for scene in scenes if not scene.holds and scene.forked is None]
    tapes = [tape for tape in others if tape is not None]
    if any(is_own_api(tape) for tape in tapes):
        say("If the others are meant to differ, record them anew with surefoot.record (see docs/own-api.md).")
    elif tapes and not rerun:
        say(f"Add {'' if fork else '--fork or '}--run-uncertified to run the program on the others.")


def _print_counts(scenes: list[_Scene], program: str, fork: bool) -> None:
    modulo = _count(scenes, MODULO)
    recorded = sum(scene.witness.tape.seconds for scene in scenes if scene.witness.tape)
    foreign = sum(scene.witness.foreign for scene in scenes)
    say(
        f"{program}: {_count(scenes, 'certified')} of {len(scenes) - foreign} recorded scenes certified"
        f"{f' and {modulo} certified modulo queries' if modulo else ''} in "
        f"{sum(scene.seconds for scene in scenes):.2f} s; running them took {recorded:.1f} s"
    )
    if foreign:
        say(f"{foreign} {'files are no tapes' if foreign > 1 else 'file is no tape'} of a program.")
    if fork:
        forked = [scene.fork for scene in scenes if isinstance(scene.fork, Forked)]
        say(
            f"Forked: {sum(scene.forked is True for scene in scenes)} to success, "
            f"{sum(scene.forked is False for scene in scenes)} to failure, "
            f"{sum(scene.undecided for scene in scenes)} unavailable, in "
            f"{sum(scene.fork_wall_seconds for scene in scenes):.2f} s with the simulator's start "
            f"({sum(scene.fork_seconds for scene in scenes):.2f} s without); "
            f"{sum(item.live_steps for item in forked)} of {sum(item.steps for item in forked)} environment steps run"
        )


def _forked_text(scene: _Scene) -> str:
    if isinstance(scene.fork, Unavailable):
        return scene.fork.text
    if scene.fork is None:
        return ""
    start = f"from event {scene.fork.event}, " if _forked_before(scene) else ""
    return f"{start}{scene.fork.live_steps} of {scene.fork.steps} steps: {scene.fork.outcome.text}"


def _forked_before(scene: _Scene) -> bool:
    """Whether a fork began elsewhere than at the divergence shown: modulo queries that one comes later."""
    certificate, fork = scene.certificate, scene.fork
    return isinstance(fork, Forked) and isinstance(certificate, Diverged) and fork.event != certificate.event


def _where(scene: _Scene) -> str:
    certificate = scene.certificate
    if isinstance(certificate, Diverged):
        line = f"line {certificate.line}, " if certificate.line else ""
        field = f"{certificate.field}: " if certificate.field else ""
        return f"{line}event {certificate.event}: {field}{certificate.expected} → {certificate.got}"
    if isinstance(certificate, Unavailable):
        return f"{certificate.reason}: {certificate.detail}" if certificate.detail else certificate.reason
    return certificate.detail
