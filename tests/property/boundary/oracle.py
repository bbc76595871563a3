"""The oracle: a program must see the same on the API itself, live across the boundary, and from the tape.

    python -m tests.property.boundary.oracle --programs 20000 --seed 0 [--processes 2] [--json] [--state FILE]

Each program is generated with a surface of its own (see `surfaces` and `programs`) and run three times: in-process,
live (recorded to a file), and replayed from the file; then once more with an edit, which must be certified where it
keeps all requests and must diverge at exactly the event that it changes. One program is one of these groups.

Compared: everything printed (values by bits, types, identities, shared memory with offsets and strides, writeable
flags, axis order, exceptions with args, attributes, cause, notes), how the program ends and where; between live and
replayed also set order, entropy and every refusal word by word.

Not kept by the boundary, so not compared with the run in-process:
- identity of numbers, strings, bytes and other immutable values that hold no others (dates, decimals, ranges), and
  `id()` of anything;
- identity of an object across calls where neither the public state reaches it nor a function declares it shared: each
  time it crosses, the receiver has a new copy (within one message, and for what the caller passed in, it is kept); so
  it is with the memory of an array that the public state let go of, though a view of it may still be there;
- strides of an array that shares memory with nothing else in its message (its axis order is kept);
- memory that an array shares with a bytearray, a memoryview or another buffer that is no array;
- context and traceback of an exception, and the constructor, methods and properties of declared classes: a program's
  stand-ins have fields and attributes only;
- the iteration order of sets (it is the same live and replayed);
- a value refused at the boundary: the program gets a sentence instead, so the comparison in-process ends there.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import multiprocessing
import random
import re
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tests.property.boundary import preamble

from surefoot.boundary.environment import Environment, Scene
from surefoot.boundary.outcome import Failure, Infrastructure, Outcome, is_success
from surefoot.boundary.process import Zygote
from surefoot.boundary.session import Died, Ended, converse
from surefoot.boundary.surface import Surface, types_of
from surefoot.boundary.wire import Begin, Limits
from surefoot.program.source import Program
from surefoot.tape.certificate import Certified, Diverged
from surefoot.tape.file import Tape, load_tape
from surefoot.tape.recording import Execution, Origin, execute
from surefoot.tape.replay import TapeHost, certify

LIMITS = Limits(calls=400, cpu_seconds=10, memory_mb=2_048, output_mb=4, program_seconds=30.0)
EPOCH = 1_600_000_000.0
MODULE = "oracle_surface"
REFUSALS = (
    "a view across the edge or the gaps of an array that the other side already has",
    "can't cross the boundary: its type is not declared on the surface",
    "can't cross the boundary: of exceptions only Python's own and those declared",
    "can't cross the boundary: an exception is among its own args",
    "can't cross the boundary: an iterator would run on one side only",
)
"""Why the host may end a run of a generated program; anything else is a disagreement."""


class Case(NamedTuple):
    """A surface and a program as text, without their preambles, and an edit of the program.

    `lines` is empty for an edit that must be certified; else the first event from that line on (for the kind
    `repeat` the one after it) is where it must diverge.
    """

    surface: str
    program: str
    edited: str = ""
    kind: str = ""
    lines: tuple[int, ...] = ()


class Seen(NamedTuple):
    """What one run shows."""

    output: str
    order: str
    ending: str


class Disagreement(AssertionError):
    """Two runs of one program differ; `check` names which."""

    def __init__(self, check: str, detail: str):
        super().__init__(f"{check}: {detail}")
        self.check = check


class OracleEnvironment(Environment):
    """Holds a generated API; each program that ends normally succeeds."""

    def __init__(self, module: types.ModuleType):
        self._module = module

    def reset(self, seed: int) -> Scene:
        self.seed, self.now = seed, 0.0
        self.api = self._module.Api(self)
        self.public_state = self.api.s
        return Scene(seed, f"oracle-{seed}", {})

    def succeeded(self) -> bool:
        return True

    def telemetry(self) -> dict[str, Any]:
        return {"now": self.now}

    @property
    def clock(self) -> float:
        return self.now

    @property
    def steps(self) -> int:
        return 0

    def sleep(self, seconds: float) -> None:
        if not 0.0 <= seconds < 1e9:
            raise ValueError(f"can't sleep for {seconds!r}")
        self.now += seconds
        if self.public_state is not None:
            self.public_state["slept"] = [seconds]

    def state_digest(self) -> str:
        return repr(self.now)


def surface_module(text: str) -> types.ModuleType:
    """The module of a generated surface."""
    module = types.ModuleType(MODULE)
    sys.modules[MODULE] = module
    exec(preamble.LOOK, vars(module))
    exec(compile(preamble.SURFACE + text, "<surface>", "exec"), vars(module))
    return module


def in_process(case: Case, module: types.ModuleType, surface: Surface) -> Seen:
    """Run a program on the API itself, with clock and draws as a program process has them."""
    environment = OracleEnvironment(module)
    environment.reset(1)
    scope: dict[str, Any] = {"__name__": "__main__", "stage": lambda function: function}
    scope |= {
        function.name: getattr(environment.api, function.name)
        for function in surface.functions
        if "." not in function.name
    }
    scope |= {kind.__name__: kind for kind in types_of(module.Api).values()}
    if environment.public_state is not None:
        scope["state"] = environment.public_state
    printed, ending = io.StringIO(), ""
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()), ambient(environment):
        try:
            exec(compile(preamble.PROGRAM + case.program, "<program>", "exec", dont_inherit=True), scope)
        except SystemExit as stop:
            ending = "" if stop.code in (None, 0) else _ending(stop)
        except Exception as error:  # noqa: BLE001 - whatever the program raises is its end
            ending = _ending(error)
    return Seen(printed.getvalue(), "", ending)


@contextlib.contextmanager
def ambient(environment: OracleEnvironment) -> Iterator[None]:
    """The clock of the environment and the seeds of run 0, told anew here rather than taken from the client."""
    kept = {name: getattr(time, name) for name in dir(time) if callable(getattr(time, name))}
    states = random.getstate(), np.random.get_state()
    random.seed("surefoot random 0")
    words = hashlib.blake2b(b"surefoot numpy 0", digest_size=16).digest()
    np.random.seed(np.frombuffer(words, np.uint32))
    time.time = lambda: EPOCH + environment.now
    time.monotonic = time.perf_counter = lambda: environment.now
    time.perf_counter_ns = lambda: round(environment.now * 1e9)
    time.ctime = lambda: kept["asctime"](kept["gmtime"](EPOCH + environment.now))
    time.strftime = lambda text: kept["strftime"](text, kept["gmtime"](EPOCH + environment.now))
    time.localtime = lambda: kept["gmtime"](EPOCH + environment.now)
    time.sleep = lambda seconds: environment.sleep(float(seconds))
    try:
        yield
    finally:
        for name, function in kept.items():
            setattr(time, name, function)
        random.setstate(states[0])
        np.random.set_state(states[1])


def _ending(error: BaseException) -> str:
    line, trace = 0, error.__traceback__
    while trace is not None:
        line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == "<program>" else line
        trace = trace.tb_next
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    first = next(iter(str(error).splitlines()), "")
    return f"{name}: {first} at {line}" if first else f"{name} at {line}"


class Oracle:
    """Runs cases; a context manager that holds the process of programs and a folder for tapes."""

    def __init__(self) -> None:
        self.programs = self.calls = self.refused = self.edits = 0
        self.zygote = Zygote()
        self._folder = tempfile.TemporaryDirectory(prefix="oracle-")

    def __enter__(self) -> Oracle:
        self.zygote.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.zygote.close()
        self._folder.cleanup()

    def check(self, case: Case) -> Tape | None:
        """Run a case in all ways; raises Disagreement. The tape, or None where the run could not begin."""
        self.programs += 1
        module = surface_module(case.surface)
        surface = Surface.of(module.Api)
        own = in_process(case, module, surface)
        execution = self._record(case, module, surface)
        tape = execution.tape
        if tape is None:
            if any(text in execution.outcome.text for text in REFUSALS):
                self.refused += 1
                return None
            raise Disagreement("beginning", execution.outcome.text)
        self.calls += len(tape.events)
        live = self._live(tape)
        self._compare_own(own, live, tape)
        replayed = self._replay(case, tape)
        _same("replayed output", live.output, replayed.output)
        _same("replayed order", live.order, replayed.order)
        if not _stopped(tape.end.outcome):  # type: ignore[union-attr]
            _same("replayed ending", live.ending, replayed.ending)
        if case.edited and is_success(tape.end.outcome):  # type: ignore[union-attr]
            self._check_edit(case, tape)
        return tape

    def _record(self, case: Case, module: types.ModuleType, surface: Surface) -> Execution:
        path = Path(self._folder.name) / "tape.mcap"
        path.unlink(missing_ok=True)
        origin = Origin("oracle", "state", "oracle-1", surface, "r1")
        environment = OracleEnvironment(module)
        execution = execute(
            Program(preamble.PROGRAM + case.program), environment, origin, 1, self.zygote, path=path, limits=LIMITS
        )
        if execution.tape is None:
            return execution
        loaded = load_tape(path)
        if (loaded.header, loaded.events, loaded.end) != (
            execution.tape.header,
            execution.tape.events,
            execution.tape.end,
        ):
            raise Disagreement("tape file", "what was loaded is not what was recorded")
        return Execution(execution.seed, execution.outcome, execution.seconds, execution.steps, execution.scene, loaded)

    def _live(self, tape: Tape) -> Seen:
        end = tape.end
        assert end is not None
        outcome = end.outcome
        ending = f"{outcome.detail} at {outcome.line}" if isinstance(outcome, Failure) else ""
        return Seen(end.output, end.errors, ending)

    def _compare_own(self, own: Seen, live: Seen, tape: Tape) -> None:
        outcome = tape.end.outcome  # type: ignore[union-attr]
        stopped = _stopped(outcome)
        if stopped and not _allowed(outcome.text, tape.header.surface):
            raise Disagreement("ending", outcome.text)
        refused = live.output.partition("REFUSED")
        if refused[1] or stopped or "UnsupportedValueError: " in live.ending:
            self.refused += 1
            _same("output", own.output[: len(refused[0])], refused[0])
            return
        _same("output", own.output, live.output)
        _same("ending", own.ending, live.ending)

    def _replay(self, case: Case, tape: Tape) -> Seen:
        header = tape.header
        program = Program(preamble.PROGRAM + case.program)
        host = TapeHost(tape, program, header.surface)
        begin = Begin(
            program.source,
            header.surface.functions,
            header.surface.types,
            header.opening,
            header.run_seed,
            header.clock,
            False,
        )
        process = self.zygote.run(begin, header.limits)
        ending = converse(process, host)
        certificate = host.conclude(ending)
        text, errors = "", process.errors
        if isinstance(ending, Ended):
            errors += ending.traceback
            text = f"{ending.error} at {ending.line}" if ending.error else ""
        elif isinstance(ending, Died):
            text = f"{ending.reason} at 0"
        if is_success(tape.end.outcome) and not isinstance(certificate, Certified):  # type: ignore[union-attr]
            raise Disagreement("self-match", certificate.text)
        if not is_success(tape.end.outcome) and isinstance(certificate, Diverged):  # type: ignore[union-attr]
            _same("event where a failed run ends", len(tape.events), certificate.event)
        return Seen(process.output, errors, text)

    def _check_edit(self, case: Case, tape: Tape) -> None:
        self.edits += 1
        certificate = certify(
            Program(preamble.PROGRAM + case.edited), tape, self.zygote, surface=tape.header.surface, revision="r1"
        )
        if not case.lines:
            if not isinstance(certificate, Certified):
                raise Disagreement(f"edit {case.kind}", certificate.text)
            return
        event = _target(case, tape)
        if not isinstance(certificate, Diverged) or certificate.event != event:
            raise Disagreement(f"edit {case.kind}", f"expected to diverge at event {event}: {certificate.text}")


def _stopped(outcome: Outcome) -> bool:
    """Whether the host ended the run."""
    return isinstance(outcome, Infrastructure) or " was sent what can't cross: " in outcome.text


def _allowed(text: str, surface: Surface) -> bool:
    """Whether the host may have ended the run: for a value that can't cross, or for an exception not declared."""
    name = text.partition(" raised ")[0].removeprefix("infrastructure: ")
    undeclared = any(function.name == name and not function.raises for function in surface.functions)
    return undeclared or "rooted raised Root" in text or any(reason in text for reason in REFUSALS)


def _target(case: Case, tape: Tape) -> int:
    """The event at which an edit must diverge: the first from the line on, or the one after it."""
    line = case.lines[0] + preamble.PROGRAM.count("\n")
    first = next(event.number for event in tape.events if event.line >= line)
    return first + (case.kind == "repeat")


def _same(check: str, expected: Any, got: Any) -> None:
    if expected == got:
        return
    if not isinstance(expected, str):
        raise Disagreement(check, f"expected {expected!r}, got {got!r}")
    one, two = expected.split("\n"), got.split("\n")
    number = next(
        (index for index, pair in enumerate(zip(one, two, strict=False)) if pair[0] != pair[1]), min(len(one), len(two))
    )
    lines = [(" ".join(text[number : number + 1]))[:2_000] for text in (one, two)]
    raise Disagreement(check, f"line {number}\n  expected {lines[0]}\n  got      {lines[1]}")


def case_of(program: Any, edit: Any) -> Case:
    """The case of a generated program and its edit."""
    lines: tuple[int, ...] = ()
    if edit.target >= 0:
        lines = program.places(edit)
    return Case(program.surface.text, program.text(), program.text(edit), edit.kind, lines)


def search(oracle: Oracle, programs: int, seed: int) -> tuple[Case, Disagreement] | None:
    """Check that many generated programs; the first case that fails, shrunken, or None."""
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded
    from tests.property.boundary.programs import programs as generated

    failing: list[Case] = []

    @seeded(seed)
    @settings(
        max_examples=programs, database=None, deadline=None, derandomize=False, report_multiple_bugs=False,
        phases=(Phase.generate,), suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(generated())
    def run(pair: Any) -> None:
        if failing:
            return
        case = case_of(*pair)
        if disagreement(oracle, case) is not None:
            failing.append(case)

    run()
    if not failing:
        return None
    case = shrunken(oracle, failing[0])
    found = disagreement(oracle, case)
    return None if found is None else (case, found)


def disagreement(oracle: Oracle, case: Case) -> Disagreement | None:
    """What `check` finds, as a value."""
    try:
        oracle.check(case)
    except Disagreement as error:
        return error
    return None


def shrunken(oracle: Oracle, case: Case) -> Case:
    """The case without the edit, the statements and the methods that its disagreement does not need."""
    first = disagreement(oracle, case)
    assert first is not None, "a disagreement must come back"

    def fails(other: Case) -> bool:
        try:
            found = disagreement(oracle, other)
        except Exception:  # noqa: BLE001 - a case torn apart may fail in any way
            return False
        return found is not None and found.check == first.check

    if not first.check.startswith("edit "):
        case = case._replace(edited="", kind="", lines=())
        case = _without(case, "program", r"(?m)^(?=try:$)|(?<=True, 1\)\)\n)", "try:\n", fails)
    return _without(case, "surface", r"(?m)^(?=    @api\(|class )", "    @api(", fails)


def _without(case: Case, field: str, where: str, start: str, fails: Callable[[Case], bool]) -> Case:
    """Leave out pieces of one text as long as the case fails, the last ones first."""
    pieces = re.split(where, getattr(case, field))
    for place in reversed(range(len(pieces))):
        other = case._replace(**{field: "".join(pieces[:place] + pieces[place + 1 :])})
        if pieces[place].startswith(start) and fails(other):
            case = other
            del pieces[place]
    return case


CHUNK = 250


def _chunk(order: tuple[int, int]) -> dict[str, Any]:
    """One chunk of programs in a worker; its numbers and its failure, as generated."""
    seed, count = order
    with Oracle() as oracle:
        found = search(oracle, count, seed)
        failures = [] if found is None else [{"seed": seed, "error": str(found[1]), "case": found[0]._asdict()}]
        return {"seed": seed, "programs": oracle.programs, "calls": oracle.calls, "refused": oracle.refused,
                "edits": oracle.edits, "failures": failures}  # fmt: skip


def main() -> int:
    """Run the long mode; 1 where any program disagrees."""
    parser = argparse.ArgumentParser(description="Check generated programs in-process, live and from the tape.")
    parser.add_argument("--programs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0, help="the first chunk's; the next have the next ones")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--state", type=Path, help="keep finished chunks in this file, and leave out those in it")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    started = time.perf_counter()
    results = json.loads(options.state.read_text()) if options.state and options.state.exists() else []
    done = {result["seed"] for result in results}
    orders = [
        (options.seed + place, min(CHUNK, options.programs - place * CHUNK))
        for place in range(-(-options.programs // CHUNK))
    ]
    with multiprocessing.get_context("spawn").Pool(options.processes, maxtasksperchild=8) as pool:
        for result in pool.imap_unordered(_chunk, [order for order in orders if order[0] not in done]):
            results.append(result)
            if options.state:
                options.state.write_text(json.dumps(results))
            if not options.json:
                print(_line(results, time.perf_counter() - started), file=sys.stderr, flush=True)
    total = _total(results, time.perf_counter() - started)
    print(json.dumps(total) if options.json else _line(results, total["seconds"]))
    for failure in total["failures"]:
        if not options.json:
            print(f"\nseed {failure['seed']}: {failure['error']}\n{failure['case']['program']}")
    return 1 if total["failures"] else 0


def _total(results: list[dict[str, Any]], seconds: float) -> dict[str, Any]:
    names = ("programs", "calls", "refused", "edits")
    sums = {name: sum(result[name] for result in results) for name in names}
    return {
        **sums,
        "seconds": round(seconds, 1),
        "failures": [item for result in results for item in result["failures"]],
    }


def _line(results: list[dict[str, Any]], seconds: float) -> str:
    total = _total(results, seconds)
    return (
        f"{total['programs']} programs, {total['calls']} calls, {total['edits']} edits, {total['refused']} with a refusal, "
        f"{len(total['failures'])} disagreements, {total['seconds']} s"
    )


if __name__ == "__main__":
    sys.exit(main())
