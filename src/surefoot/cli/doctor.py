"""`surefoot doctor`: what works on this machine, and what to do where it does not."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from importlib import metadata

import msgspec
from rich.text import Text

from surefoot import __version__
from surefoot.boundary.exchange import Callee
from surefoot.boundary.process import Zygote
from surefoot.boundary.sandbox import LOST
from surefoot.boundary.session import RunStoppedError, converse
from surefoot.boundary.wire import Answer, Begin, Call, Ended, Limits, Watched
from surefoot.cli.arguments import AsJson
from surefoot.cli.console import out, print_json, table
from surefoot.environments.host import TaskHost
from surefoot.environments.registry import all_tasks
from surefoot.errors import SurefootError
from surefoot.program.source import Program
from surefoot.report.video import require_encoder
from surefoot.tape.certificate import Certified


class Probe(msgspec.Struct):
    """One thing that was tried: whether it works, and what was found or what to do. An `extra` need not work."""

    name: str
    works: bool
    detail: str
    extra: bool = False

    @property
    def mark(self) -> Text:
        """How a table shows it."""
        if self.works:
            return Text("ok", "green")
        return Text("--", "yellow") if self.extra else Text("no", "red")


def doctor(as_json: AsJson = False) -> int:
    """Probe program processes, replay, every installed task family and videos. Exit 0 if all but videos work, else 1."""
    probes = [_machine(), _attempt("program process", _zygote), _attempt("record and replay", _round_trip)]
    families = sorted({name.partition("/")[0] for name in all_tasks()})
    probes += [_attempt(f"tasks {family}/…", lambda family=family: _family(family)) for family in families]  # type: ignore[misc]
    probes.append(_confinement())
    probes.append(msgspec.structs.replace(_attempt("run --video", _video), extra=True))
    if as_json:
        print_json({"version": __version__, "probes": probes})
    else:
        rows = table("", "probe", "finding")
        for probe in probes:
            rows.add_row(probe.mark, probe.name, probe.detail)
        out.print(rows)
    return 0 if all(probe.works or probe.extra for probe in probes) else 1


def _machine() -> Probe:
    works = sys.platform == "linux" and hasattr(os, "memfd_create")
    detail = f"Python {platform.python_version()}, {platform.system()} {platform.release()}, {os.cpu_count()} cores"
    return Probe("machine", works, detail if works else f"{detail}; program processes need Linux")


def _attempt(name: str, probe: Callable[[], str]) -> Probe:
    try:
        return Probe(name, True, probe())
    except SurefootError as error:
        return Probe(name, False, str(error))
    except Exception as error:  # noqa: BLE001 - a probe reports whatever goes wrong
        return Probe(name, False, f"{type(error).__name__}: {error}")


def _video() -> str:
    require_encoder()
    filmed = []
    for family, task in {name.partition("/")[0]: task for name, task in sorted(all_tasks().items())}.items():
        environment = task.make()
        try:
            environment.reset(task.development[0])
            if environment.frame() is not None:
                filmed.append(family)
        finally:
            environment.close()
    return f"PyAV {metadata.version('av')}, pictures of {', '.join(filmed)}"


def _zygote() -> str:
    with Zygote() as zygote:
        if not zygote.addresses_fixed:
            return "addresses are NOT fixed here: sets of classes and objects iterate in another order in each run"
        return f"NumPy {zygote.platform['numpy']}, {zygote.platform['blas']}, {zygote.platform['libm']}"


def _round_trip() -> str:
    task = all_tasks()["desk/place"]
    program = Program(task.demonstrations[0].source, task.demonstrations[0].name)
    with TaskHost(task) as host:
        for seed in task.development:
            execution = host.execute(program, seed)
            if execution.tape is not None and isinstance(host.certify(program, execution.tape), Certified):
                return f"desk/place seed {seed}: certified, {len(execution.tape.events)} events"
    raise SurefootError("no run on desk/place replayed as recorded; the installation is damaged. Reinstall surefoot.")


def _family(family: str) -> str:
    names = [name for name in sorted(all_tasks()) if name.startswith(f"{family}/")]
    environment = all_tasks()[names[0]].make()
    try:
        scene = environment.reset(all_tasks()[names[0]].development[0])
    finally:
        environment.close()
    versions = {"robosuite": ("robosuite", "mujoco")}.get(family, ())
    installed = ", ".join(f"{name} {metadata.version(name)}" for name in versions)
    return f"{len(names)} tasks, reset gave scene {scene.digest[:12]}" + (f" ({installed})" if installed else "")


def _confinement() -> Probe:
    """The layers that a program process of this machine really reached, and what is lost without the others."""
    limits = Limits()
    counted = f"{limits.cpu_seconds} s of processor time, {limits.memory_mb} MB"
    try:
        with Zygote() as zygote:
            level, missing = zygote.sandbox, zygote.missing
            held = not _reaches_outside(zygote)
    except SurefootError as error:
        return Probe("sandbox", False, str(error))
    if missing:
        lost = "; ".join(f"{layer} is missing ({why}): {LOST[layer]}" for layer, why in missing.items())
        return Probe("sandbox", True, f"{level}; {counted}. Not a sandbox: {lost}")
    return Probe("sandbox", held, f"{level}; {counted}" + ("" if held else ". Not a sandbox: a file outside was read"))


def _reaches_outside(zygote: Zygote) -> bool:
    """Whether a program that goes round Python's own refusals reads a file of this machine."""
    source = "real = __import__('po' + 'six')\nreal.open('/etc/passwd', 0)\n"
    begin = Begin(
        f"from surefoot.boundary import files\nfiles._within = lambda *_: True\n{source}",
        (),
        (),
        Callee(None).opening,
        0,
        0.0,
        False,
    )
    ending = converse(zygote.run(begin, Limits()), _NoHost())
    return not (isinstance(ending, Ended) and ending.error.startswith("PermissionError: [Errno 13]"))


class _NoHost:
    """Answers nothing: the probe calls nothing."""

    def answer(self, call: Call) -> Answer:
        """No program of a probe calls."""
        raise RunStoppedError

    def settle(self) -> None:
        """Nothing is called."""

    def note(self, watched: Watched) -> None:
        """No program of a probe is watched."""
