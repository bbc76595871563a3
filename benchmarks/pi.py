"""Seconds of `surefoot pi paper`, and of N worlds for growing N: how linear the cost is, with one worker and with two.

    python benchmarks/pi.py [--json] [--worlds 25,50,100,200] [--workers 1,2]

Each N is measured from the start of its workers on, so the intercept is what starting them costs and the slope the
seconds per world. The fit is ordinary least squares over the Ns; `off` is the largest distance of a measurement
from its line, in per cent of the line. Single times depend on the machine, and on what else runs on it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from surefoot.cli.pi import FIRST_CHECKED
from surefoot.pi.experiment import run_world
from surefoot.pi.worlds import each_world


def paper_seconds(workers: int) -> float:
    """Wall clock of the command, from its start to its end."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "surefoot.cli.main", "pi", "paper", "--out", folder, "--workers", str(workers)]
        started = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - started


def world_seconds(count: int, workers: int) -> float:
    """Wall clock of the paper's experiments on so many worlds."""
    started = time.perf_counter()
    measured = sum(1 for _ in each_world(run_world, range(FIRST_CHECKED, FIRST_CHECKED + count), workers))
    assert measured == count
    return time.perf_counter() - started


def line(seconds: Mapping[int, float]) -> dict[str, float]:
    """Slope [s per world], intercept [s], R^2, and the largest distance from the line [%]."""
    counts, values = np.array(list(seconds), dtype=float), np.array(list(seconds.values()))
    slope, intercept = np.polyfit(counts, values, 1)
    fitted = slope * counts + intercept
    spread = float(((values - values.mean()) ** 2).sum())
    return {
        "slope": float(slope),
        "intercept": float(intercept),
        "r2": 1 - float(((values - fitted) ** 2).sum()) / spread,
        "off": float(100 * np.abs(values / fitted - 1).max()),
    }


def measured(counts: list[int], workers: list[int]) -> dict[str, Any]:
    """Everything, by number of workers."""
    results: dict[str, Any] = {}
    for number in workers:
        seconds = {count: world_seconds(count, number) for count in counts}
        results[str(number)] = {"paper": paper_seconds(number), "worlds": seconds} | line(seconds)
    return results


def numbers(text: str) -> list[int]:
    """Increasing positive numbers from `1,2`."""
    found = sorted({int(part) for part in text.split(",")})
    if not found or found[0] < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of positive numbers such as 25,50")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--worlds", type=numbers, default="25,50,100,200", metavar="N,N")
    parser.add_argument("--workers", type=numbers, default="1,2", metavar="N,N")
    arguments = parser.parse_args()
    if len(arguments.worlds) < 3:
        parser.error("a line needs at least three numbers of worlds to be off it; name them with --worlds")
    results = measured(arguments.worlds, arguments.workers)
    if arguments.json:
        print(json.dumps(results, indent=2))
        return
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}, {os.cpu_count()} cores")
    for number, found in results.items():
        print(f"{number} worker{'s' if number != '1' else ''}")
        print(f"{found['paper']:10.2f}  s for the whole of `surefoot pi paper`")
        for count, seconds in found["worlds"].items():
            print(f"{seconds:10.2f}  s for {count} worlds")
        print(
            f"{found['slope']:10.4f}  s per world, and {found['intercept']:.2f} s to start; "
            f"R2 = {found['r2']:.5f}, at most {found['off']:.1f} % off the line"
        )


if __name__ == "__main__":
    main()
