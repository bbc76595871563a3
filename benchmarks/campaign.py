"""One table whatever happens: a campaign with one worker, with two, on Ray, and with kill -9 on the way.

    python benchmarks/campaign.py desk --runs 2 --dev 101-110 --held-out 1-30 [--kills 3] [--engines local ray]

Every variant is the same `surefoot campaign …` in a folder of its own. Compared are table.md and the final programs, to
the byte. Killed is the whole process group at random times; and, in the variant before, single workers.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

SUREFOOT = [sys.executable, "-m", "surefoot.cli.main"]
Disturb = Callable[[subprocess.Popen[bytes], float], int]
"""Disturbs a process, each time after so many seconds, until it has ended; returns how many kills there were."""


def contents(folder: Path) -> dict[str, bytes]:
    """What must be equal."""
    return {path.name: path.read_bytes() for path in [folder / "table.md", *sorted((folder / "programs").iterdir())]}


def children(process: int) -> list[int]:
    """Process ids of a process's worker processes."""
    listed = subprocess.run(["ps", "-ewwo", "pid,ppid,args"], check=True, capture_output=True, text=True).stdout
    found = [line.split(maxsplit=2) for line in listed.splitlines()[1:]]
    return [int(item[0]) for item in found if item[1] == str(process) and "spawn_main" in item[2]]


def kill_group(process: subprocess.Popen[bytes], after: float) -> int:
    """SIGKILL to everything."""
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return 1
    return 0


def kill_worker(process: subprocess.Popen[bytes], after: float) -> int:
    """SIGKILL to one worker, again and again."""
    kills = 0
    while process.poll() is None:
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            for worker in children(process.pid)[:1]:
                with suppress(ProcessLookupError):  # it may have been replaced meanwhile
                    os.kill(worker, signal.SIGKILL)
                    kills += 1
    return kills


def run(arguments: list[str], disturb: Disturb | None = None, after: float = 0.0) -> int:
    """One call of the command, to its end or its death; how many kills there were on the way."""
    with tempfile.TemporaryFile() as errors:  # a pipe that nobody reads while the process is disturbed would fill
        with subprocess.Popen(
            [*SUREFOOT, *arguments], stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
        ) as process:
            kills = disturb(process, after) if disturb is not None else 0
        errors.seek(0)
        told = errors.read().decode()
    if process.returncode not in (0, -signal.SIGKILL):
        raise SystemExit(f"{' '.join(arguments)} ended with {process.returncode}: {told[-2000:]}")
    return kills


def main() -> None:
    """Run all variants and print one line each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--engines", nargs="+", default=["local", "ray"])
    options, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as place:

        def begin(name: str) -> list[str]:
            return ["campaign", *rest, "--out", str(Path(place) / name)]

        def report(name: str, started: float, remark: str = "") -> None:
            equal = contents(Path(place) / name) == contents(Path(place) / "one")
            print(
                f"{name}: {time.monotonic() - started:.0f} s, {'equal' if equal else 'DIFFERENT'}{remark}", flush=True
            )

        started = time.monotonic()
        run([*begin("one"), "--workers", "1"])
        alone = time.monotonic() - started
        report("one", started)
        for engine in options.engines:
            started = time.monotonic()
            run([*begin(engine), "--workers", "2", "--engine", engine])
            report(engine, started)
        started = time.monotonic()
        kills = run([*begin("workers"), "--workers", "2"], kill_worker, alone / 8)
        report("workers", started, f"; {kills} times a worker killed, every eighth of the first time")
        started, chance, kills = time.monotonic(), random.Random(0), 0
        command = begin("kills")
        for _ in range(options.kills):
            kills += run(command, kill_group, chance.uniform(0.2, 0.9) * alone / options.kills)
            if (Path(place) / "kills" / "campaign.json").exists():
                command = ["resume", str(Path(place) / "kills")]
        run(command)
        report("kills", started, f"; killed {kills} times")


if __name__ == "__main__":
    main()
