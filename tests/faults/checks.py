"""What runs with a planted fault: cases of the oracle, soundness checks of certificates, generated programs.

Reads an order from standard input, `{"cases": {name: case}, "checks": [names] | true, "programs": n, "seed": k}`, and
prints which of them caught the fault and how, as JSON; two empty texts where none did.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from tests.property.boundary.oracle import (
    LIMITS,
    Case,
    Disagreement,
    Oracle,
    OracleEnvironment,
    case_of,
    disagreement,
    search,
    shrunken,
    surface_module,
)

from surefoot.boundary.process import Zygote
from surefoot.boundary.surface import Surface
from surefoot.errors import TapeError
from surefoot.program.source import Program
from surefoot.tape.certificate import Certificate, Certified, Diverged, Unavailable
from surefoot.tape.file import Tape, TapeWriter, load_tape
from surefoot.tape.recording import Origin, execute
from surefoot.tape.replay import certify

SURFACE = """
from surefoot.boundary.surface import api

class Api:
    def __init__(self, environment):
        self.s = {"a": [1]}

    @api("query", raises=(ValueError,))
    def ask(self, value=0):
        if value is None: raise ValueError("none")
        return [value]

    @api("effect")
    def act(self, value=0): self.s["a"].append(value)

    @api("effect")
    def turn(self): return None
"""
PROGRAM = "ask(1)\nact(2.0)\nask(3)\nact(4.0)\nask(1)\n"


class Bench:
    """A tape of a small program, and what certifies others on it."""

    def __init__(self, oracle: Oracle, folder: Path):
        self.zygote = oracle.zygote
        self.module = surface_module(SURFACE)
        self.surface = Surface.of(self.module.Api)
        self.folder = folder
        self.tape = self.record(PROGRAM, folder / "tape.mcap")

    def record(self, source: str, path: Path | None = None) -> Tape:
        origin = Origin("checks", "state", "checks-1", self.surface, "r1")
        environment = OracleEnvironment(self.module)
        tape = execute(Program(source), environment, origin, 1, self.zygote, path=path, limits=LIMITS).tape
        assert tape is not None
        return tape

    def certify(self, source: str = PROGRAM, tape: Tape | None = None, **options: Any) -> Certificate:
        return certify(
            Program(source), tape or self.tape, self.zygote, **{"surface": self.surface, "revision": "r1", **options}
        )

    def with_header(self, **changes: Any) -> Tape:
        return msgspec.structs.replace(self.tape, header=msgspec.structs.replace(self.tape.header, **changes))


def _diverged(found: Certificate, event: int, kind: str) -> bool:
    return isinstance(found, Diverged) and (found.event, found.kind) == (event, kind)


def _unavailable(found: Certificate, reason: str) -> bool:
    return isinstance(found, Unavailable) and found.reason == reason


def _self_match(bench: Bench) -> bool:
    return bench.certify() == Certified(5)


def _missing_calls(bench: Bench) -> bool:
    return _diverged(bench.certify(PROGRAM.removesuffix("ask(1)\n")), 4, "missing calls")


def _extra_call(bench: Bench) -> bool:
    return _diverged(bench.certify(PROGRAM + "ask(1)\n"), 5, "extra call")


def _order(bench: Bench) -> bool:
    return _diverged(bench.certify("act(2.0)\nask(1)\nask(3)\nact(4.0)\nask(1)\n"), 0, "other call")


def _repeated_position(bench: Bench) -> bool:
    return _diverged(bench.certify("ask(1)\nact(2.0)\nask(1)\nact(4.0)\nask(3)\n"), 2, "argument")


def _types_of_numbers(bench: Bench) -> bool:
    edited = [PROGRAM.replace("ask(1)", text, 1) for text in ("ask(1.0)", "ask(True)")]
    return all(_diverged(bench.certify(text), 0, "argument") for text in edited)


def _shared_state(bench: Bench) -> bool:
    return _diverged(bench.certify(PROGRAM.replace("act(4.0)", "state['a'].append(2.0); act(4.0)")), 3, "shared state")


def _abnormal_end(bench: Bench) -> bool:
    return _diverged(bench.certify(PROGRAM + "raise ValueError\n"), 5, "exception") and _diverged(
        bench.certify(PROGRAM + "import sys; sys.exit(2)\n"), 5, "abnormal end"
    )


def _killed(bench: Bench) -> bool:
    return _diverged(bench.certify(PROGRAM + "import os, signal; os.kill(os.getpid(), 9)\n"), 5, "abnormal end")


def _revision(bench: Bench) -> bool:
    return _unavailable(bench.certify(revision="r2"), "environment changed")


def _surface(bench: Bench) -> bool:
    functions = [msgspec.structs.replace(item, kind="effect") for item in bench.surface.functions]
    return _unavailable(bench.certify(surface=Surface(tuple(functions))), "surface changed")


def _surface_types(bench: Bench) -> bool:
    functions = [msgspec.structs.replace(item, raises=()) for item in bench.surface.functions]
    shared = [msgspec.structs.replace(item, shared=("builtins.list",)) for item in bench.surface.functions]
    return all(
        _unavailable(bench.certify(surface=Surface(tuple(item))), "surface changed") for item in (functions, shared)
    )


def _platform(bench: Bench) -> bool:
    source = "import numpy as np\nask(float(np.sin(1.0)))\n"
    tape = bench.record(source)
    header = msgspec.structs.replace(tape.header, platform={**tape.header.platform, "blas": "another kernel"})
    return _unavailable(bench.certify(source, msgspec.structs.replace(tape, header=header)), "numeric platform")


def _python(bench: Bench) -> bool:
    return _unavailable(bench.certify(tape=bench.with_header(python="3.1.0")), "numeric platform")


def _truncated(bench: Bench) -> bool:
    cut = msgspec.structs.replace(bench.tape, end=None)
    return _unavailable(bench.certify(tape=cut), "truncated")


def _truncated_file(bench: Bench) -> bool:
    path = bench.folder / "cut.mcap"
    path.write_bytes((bench.folder / "tape.mcap").read_bytes()[:-40])
    return load_tape(path).truncated


def _failure(bench: Bench) -> bool:
    source = PROGRAM + "raise ValueError('end')\n"
    return _unavailable(bench.certify(source, bench.record(source)), "not a success") and _unavailable(
        bench.certify(PROGRAM, bench.record(source)), "not a success"
    )


def _not_self_matching(bench: Bench) -> bool:
    own = "import os\nask(1)\nask(7)\n"
    tape = bench.with_header(program=own)
    return _unavailable(bench.certify(PROGRAM.replace("ask(3)", "ask(8)"), tape), "not self-matching")


def _flips(bench: Bench) -> bool:
    """A flipped bit anywhere must be noticed."""
    path, whole = bench.folder / "flipped.mcap", (bench.folder / "tape.mcap").read_bytes()
    for place in range(120, len(whole) - 60, max(1, len(whole) // 60)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        try:
            loaded = load_tape(path)
        except TapeError:
            continue
        if not loaded.truncated:
            return False
    return True


def _overwritten(bench: Bench) -> bool:
    path = bench.folder / "kept.mcap"
    path.write_bytes(b"kept")
    try:
        TapeWriter(path, bench.tape.header).close()
    except TapeError:
        return path.read_bytes() == b"kept"
    return False


def _another_zygote(bench: Bench) -> bool:
    tape = bench.record("ask(list(set('abcdefghijkl')))\n")
    with Zygote() as other:
        return certify(Program(tape.header.program), tape, other) == Certified(1)


def _grade(bench: Bench) -> bool:
    """A repeated query is certified modulo queries only, and no effect may be dropped or repeated."""
    repeated, dropped, twice = (
        bench.certify(PROGRAM.replace(old, new), modulo=True)
        for old, new in (("ask(3)\n", "ask(3)\nask(3)\n"), ("act(4.0)\n", ""), ("act(4.0)\n", "act(4.0)\nact(4.0)\n"))
    )
    graded = isinstance(repeated, Certified) and repeated != Certified(5) and repeated.modulo == "queries"
    return graded and isinstance(dropped, Diverged) and isinstance(twice, Diverged)


def _query_of_another_epoch(bench: Bench) -> bool:
    tape = bench.record("ask(3)\nturn()\nask(1)\n")
    return isinstance(bench.certify("ask(3)\nturn()\nask(3)\nask(1)\n", tape, modulo=True), Diverged)


def _calls_limit(bench: Bench) -> bool:
    tape = bench.record("while True: ask(1)\n")
    return len(tape.events) == LIMITS.calls and _unavailable(bench.certify(tape.header.program, tape), "not a success")


CHECKS: dict[str, Callable[[Bench], bool]] = {
    check.__name__.removeprefix("_"): check
    for check in (
        _self_match, _missing_calls, _extra_call, _order, _repeated_position, _types_of_numbers, _shared_state, _abnormal_end,
        _killed, _revision, _surface, _surface_types, _platform, _python, _truncated, _truncated_file, _failure,
        _not_self_matching, _flips, _overwritten, _calls_limit, _another_zygote, _grade,
        _query_of_another_epoch,
    )
}  # fmt: skip


def caught_by_checks(oracle: Oracle, names: list[str]) -> tuple[str, str]:
    """The first soundness check that fails."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            bench = Bench(oracle, Path(folder))
        except (AssertionError, TapeError) as error:
            return "recording", str(error)
        for name in names:
            if not CHECKS[name](bench):
                return name, "a certificate is not what it must be"
    return "", ""


def caught_by_cases(oracle: Oracle, cases: dict[str, Any]) -> tuple[str, str]:
    """The first case on which the runs disagree."""
    for name, fields in cases.items():
        try:
            oracle.check(Case(**fields))
        except Disagreement as error:
            return name, str(error)
    return "", ""


def caught_by_program(oracle: Oracle, shows: str) -> tuple[str, str]:
    """A program of these statements on the surface with all methods, shrunken, if it catches the fault."""
    from tests.property.boundary import programs, surfaces

    surface = surfaces.Surface(surfaces.full_surface(), (), True)
    edit = programs.Edit("regrow" if "{1, 9, 17}" in shows else "silent")
    case = case_of(programs.Program(surface, tuple(shows.split("; ")), ""), edit)
    if disagreement(oracle, case) is None:
        return "", ""
    case = shrunken(oracle, case)
    return json.dumps(case._asdict()), str(disagreement(oracle, case))


def main() -> None:
    """Read an order, run it, print what caught."""
    order = json.load(sys.stdin)
    names = list(CHECKS) if order.get("checks") is True else order.get("checks", [])
    with Oracle() as oracle:
        found = caught_by_cases(oracle, order.get("cases", {}))
        if not found[0] and names:
            found = caught_by_checks(oracle, names)
        if not found[0] and order.get("shows"):
            found = caught_by_program(oracle, order["shows"])
        if not found[0] and order.get("programs"):
            failing = search(oracle, order["programs"], order.get("seed", 0))
            if failing is not None:
                found = json.dumps(failing[0]._asdict()), str(failing[1])
    print(json.dumps(found))


if __name__ == "__main__":
    main()
