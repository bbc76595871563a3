"""Kill -9 and resume: a killed run must end with the same programs and tables as one that was left alone.

    python benchmarks/resume.py desk        every journal write, before and after it
    python benchmarks/resume.py robosuite   20 kills at random times during one run on robosuite/cube-stack

Compared are final, best and first program and the whole report but its times and its folder.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SUREFOOT = [sys.executable, "-m", "surefoot.cli.main"]
FAULT = """
import os, signal, sys
from surefoot.memory.journal import Journal
from surefoot.cli.main import main
position, moment = int(sys.argv[1]), sys.argv[2]
def at_write(journal, here, now):
    if (here, now) == (position, moment):
        os.kill(os.getpid(), signal.SIGKILL)
Journal.at_write = at_write
sys.argv = ["surefoot", *sys.argv[3:]]
main()
"""


def result(run: Path) -> dict[str, Any]:
    """A finished run's programs and report without what may differ."""
    report = json.loads((run / "report.json").read_text())
    del report["run"], report["spent"]
    for name in [name for name in report["certification"] if name.endswith("_seconds")]:
        del report["certification"][name]
    return report | {name: (run / f"{name}.py").read_text() for name in ("first", "final", "best")}


def call(arguments: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run a command quietly; learn exits 0 or 1."""
    done = subprocess.run(arguments, capture_output=True, check=False, **options)
    if done.returncode not in (0, 1, -signal.SIGKILL):
        raise SystemExit(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr.decode()[-2000:]}")
    return done


def desk(folder: Path) -> tuple[int, int]:
    """Kill at every fault point of one small run; returns (equal, all)."""
    learn = ["learn", "desk/place", "--dev", "101-104", "--held-out", "1-3", "--workers", "1"]
    whole = folder / "whole"
    call([*SUREFOOT, *learn, "--out", str(whole)])
    expected = result(whole)
    import sqlite3

    writes = sqlite3.connect(whole / "run.sqlite").execute("SELECT COUNT(*) FROM effects").fetchone()[0]
    equal = total = 0
    for position in range(writes):
        for moment in ("before", "after"):
            run = folder / f"{position}-{moment}"
            done = call([sys.executable, "-c", FAULT, str(position), moment, *learn, "--out", str(run)])
            assert done.returncode == -signal.SIGKILL, (position, moment)
            call([*SUREFOOT, "resume", str(run), "--workers", "1"])
            total += 1
            equal += result(run) == expected
            print(f"\r{total}/{2 * writes} fault points", end="", file=sys.stderr)
    print(file=sys.stderr)
    return equal, total


def robosuite(folder: Path, kills: int) -> tuple[int, int]:
    """Kill one run again and again at random times; returns (1 or 0 equal, kills)."""
    learn = ["learn", "robosuite/cube-stack", "--held-out", "1-20"]
    whole, run = folder / "whole", folder / "killed"
    call([*SUREFOOT, *learn, "--out", str(whole)])
    expected = result(whole)
    draw = random.Random(0)
    command = [*SUREFOOT, *learn, "--out", str(run)]
    done = 0
    while done < kills:
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            process.wait(timeout=draw.uniform(1.0, 8.0))
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            done += 1
            print(f"\r{done}/{kills} kills", end="", file=sys.stderr)
        else:
            if (run / "report.json").exists():
                print(f"\nfinished after {done} kills; once more from the start", file=sys.stderr)
                assert result(run) == expected
                run = folder / f"killed-{done}"
                command = [*SUREFOOT, *learn, "--out", str(run)]
                continue
        command = (
            [*SUREFOOT, "resume", str(run)]
            if (run / "manifest.json").exists()
            else [*SUREFOOT, *learn, "--out", str(run)]
        )
    call([*SUREFOOT, "resume", str(run)])
    return int(result(run) == expected), kills


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("where", choices=("desk", "robosuite"))
    parser.add_argument("--kills", type=int, default=20)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if arguments.where == "desk":
            equal, total = desk(Path(name))
            print(f"desk: {equal}/{total} killed runs ended like the run left alone")
            sys.exit(equal != total)
        equal, kills = robosuite(Path(name), arguments.kills)
        print(f"robosuite: after {kills} kills the run {'ended like' if equal else 'DIFFERS from'} the one left alone")
        sys.exit(not equal)


if __name__ == "__main__":
    main()
