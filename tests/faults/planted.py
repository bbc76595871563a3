"""Planted faults: surefoot with one text replaced, run apart from this process, on both sides of the boundary.

    python -m tests.faults.planted --long [--programs 400]    each fault against generated programs
    python -m tests.faults.planted --collect                  find again which case catches which fault

A fault is a replacement in one source file. The patched package lies in a small virtual environment of its own,
whose interpreter starts the host and the process of programs, so both import it.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "surefoot"
CASES = Path(__file__).with_name("cases.json")
CAUGHT = Path(__file__).with_name("caught.json")


class Fault(NamedTuple):
    """A text of a source file that occurs once, and what stands there instead.

    `shows` are statements of a program that sees the difference, on the surface with all methods; empty where a
    soundness check does.
    """

    name: str
    file: str
    old: str
    new: str
    shows: str = ""


class Result(NamedTuple):
    """What a run with a fault found: the case or check that caught it and how, both empty where nothing did."""

    by: str
    how: str


def patched_text(fault: Fault) -> str:
    """The source file with the fault in it; AssertionError unless the text occurs exactly once."""
    text = (PACKAGE / fault.file).read_text(encoding="utf-8")
    assert text.count(fault.old) == 1, f"{fault.name}: its text occurs {text.count(fault.old)} times in {fault.file}"
    assert fault.old != fault.new
    return text.replace(fault.old, fault.new)


def install(fault: Fault | None, folder: Path) -> Path:
    """A virtual environment whose surefoot has the fault; returns its interpreter."""
    packages = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    shutil.copytree(PACKAGE, packages / "surefoot", ignore=shutil.ignore_patterns("robosuite"))
    if fault is not None:
        (packages / "surefoot" / fault.file).write_text(patched_text(fault), encoding="utf-8")
    (packages / "rest.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    (folder / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\n")
    (folder / "bin").mkdir()
    python = folder / "bin" / "python"
    python.symlink_to(Path(sys.executable).resolve())
    return python


def run(fault: Fault | None, order: dict[str, Any], seconds: float = 120.0) -> Result:
    """Run the checks of `order` (see `tests.faults.checks`) with the fault until one of them catches it."""
    with tempfile.TemporaryDirectory(prefix="fault-") as folder:
        python = install(fault, Path(folder))
        try:
            done = subprocess.run(
                [python, "-m", "tests.faults.checks"], input=json.dumps(order), capture_output=True, text=True, cwd=ROOT,
                timeout=seconds, env={"PATH": os.defpath, "HOME": folder}, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Result("timeout", f"no end within {seconds:g} s")
    if done.returncode:
        raise AssertionError(f"{fault and fault.name}: the checks themselves failed:\n{done.stderr[-2_000:]}")
    return Result(*json.loads(done.stdout.splitlines()[-1]))


def run_all(orders: dict[Fault, dict[str, Any]], processes: int = 2, seconds: float = 120.0) -> dict[str, Result]:
    """All faults with their orders, some at a time."""
    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        found = pool.map(lambda item: run(*item, seconds), orders.items())
        return dict(zip([fault.name for fault in orders], found, strict=True))


def _order(fault: Fault, options: argparse.Namespace, known: dict[str, Any]) -> dict[str, Any]:
    tried = {"programs": options.programs, "seed": options.seed, "checks": not fault.shows}
    return tried if options.long else {**tried, "cases": dict(known), "shows": fault.shows}


def _collect(fault: Fault, result: Result, known: dict[str, Any], caught: dict[str, str]) -> None:
    """Keep what caught a fault, for the default run."""
    name = result.by
    if name.startswith("{"):
        name = fault.name
        known[name] = json.loads(result.by)
    caught[fault.name] = name
    CASES.write_text(json.dumps(known, indent=1) + "\n")
    CAUGHT.write_text(json.dumps(caught, indent=1, sort_keys=True) + "\n")


def main() -> int:
    """Run every fault against generated programs, or collect the cases that catch them."""
    from tests.faults.faults import FAULTS

    parser = argparse.ArgumentParser(description="Plant faults and see whether the oracle catches them.")
    parser.add_argument("--long", action="store_true", help="each fault against generated programs and all checks")
    parser.add_argument("--collect", action="store_true", help="write cases.json and caught.json anew")
    parser.add_argument("--programs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", default="", help="faults whose name has this in it")
    parser.add_argument("--missing", action="store_true", help="faults that caught.json does not name")
    options = parser.parse_args()
    known: dict[str, Any] = json.loads(CASES.read_text()) if CASES.exists() else {}
    caught: dict[str, str] = json.loads(CAUGHT.read_text()) if CAUGHT.exists() else {}
    chosen = [
        fault for fault in FAULTS if options.only in fault.name and not (options.missing and fault.name in caught)
    ]
    if not options.long and not options.collect:
        parser.error("choose --long or --collect")
    started, count = time.perf_counter(), 0
    with concurrent.futures.ThreadPoolExecutor(options.processes) as pool:
        for fault, result in zip(
            chosen, pool.map(lambda fault: run(fault, _order(fault, options, known), 900.0), chosen), strict=True
        ):
            count += bool(result.by)
            by = "a generated program" if result.by.startswith("{") else result.by or "NOT CAUGHT"
            print(f"{fault.name}: {by}: {' '.join(result.how.split())[:100]}", flush=True)
            if options.collect and result.by:
                _collect(fault, result, known, caught)
    print(f"{count} caught of {len(chosen)}, {time.perf_counter() - started:.1f} s")
    return 0 if count == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
