"""Costs of the boundary and the tape; everything as measured in this one run.

    python benchmarks/boundary.py [--json] [--without-robosuite] [--peers [PYTHON]]

Small event: a pose query and a motion with arrays of 3 and 4 floats. Image event: 640x480 RGB (uint8) and
depth (float32). Ratios between rows of one run mean something; single times depend on the machine. With
`--peers` other recorders take the same small event (benchmarks/peers.py), under the Python that has them.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.boundary.environment import Environment, Scene
from surefoot.boundary.process import Zygote
from surefoot.boundary.surface import Surface, api
from surefoot.boundary.wire import Limits
from surefoot.program.source import Program
from surefoot.tape.certificate import Certified
from surefoot.tape.file import load_tape
from surefoot.tape.recording import Origin, execute
from surefoot.tape.replay import certify

EVENTS = 2_000
IMAGES = 20
TRIES = 5
SMALL = f"""
import numpy as np
for _ in range({EVENTS // 2}):
    position, quaternion = pose("cube")
    goto(position, quaternion)
"""
LARGE = f"""
for _ in range({IMAGES}):
    image, depth = look()
"""
EMPTY = 'pose("cube")\n'


class ToyApi:
    """An API that costs nothing itself."""

    def __init__(self) -> None:
        self._image = np.arange(640 * 480 * 3, dtype=np.uint8).reshape(480, 640, 3)
        self._depth = np.linspace(0, 1, 640 * 480, dtype=np.float32).reshape(480, 640)

    @api("query")
    def pose(self, name: str) -> Any:
        return np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.0, 1.0, 0.0])

    @api("effect")
    def goto(self, position: Any, quaternion: Any, z_approach: float = 0.0) -> bool:
        return True

    @api("query")
    def look(self) -> Any:
        return self._image, self._depth


class Toy(Environment):
    clock = 0.0
    steps = 0

    def __init__(self) -> None:
        self.api = ToyApi()

    def reset(self, seed: int) -> Scene:
        return Scene(seed, f"toy {seed}", {})

    def succeeded(self) -> bool:
        return True

    def telemetry(self) -> dict[str, Any]:
        return {}

    def sleep(self, seconds: float) -> None:
        pass

    def state_digest(self) -> str:
        return ""


def boundary_costs() -> dict[str, float]:
    surface = Surface.of(ToyApi)
    origin = Origin("toy", "state", "toy", surface, "toy")
    limits = Limits(calls=100_000)
    costs: dict[str, float] = {}
    with Zygote() as zygote, tempfile.TemporaryDirectory() as folder:

        def run(source: str, name: str | None) -> tuple[float, Any]:
            path = Path(folder) / f"{name}-{time.monotonic_ns()}.mcap" if name else None
            execution = execute(Program(source), Toy(), origin, 0, zygote, path=path, limits=limits)
            return execution.seconds, execution.tape

        def replayed(source: str, tape: Any) -> float:
            started = time.perf_counter()
            verdict = certify(Program(source), tape, zygote)
            assert isinstance(verdict, Certified), verdict
            return time.perf_counter() - started

        run(EMPTY, None)
        fixed_live = statistics.median(run(EMPTY, "empty")[0] for _ in range(20))
        one = run(EMPTY, "empty")[1]
        fixed_replay = statistics.median(replayed(EMPTY, one) for _ in range(20))
        costs["fixed ms per recorded run"] = 1e3 * fixed_live
        costs["fixed ms per replay"] = 1e3 * fixed_replay
        for name, source, count, label in (("small", SMALL, EVENTS, "us"), ("image", LARGE, IMAGES, "ms")):
            unit = 1e6 if label == "us" else 1e3
            best = dict.fromkeys(("live without tape", "recorded", "loaded", "replayed"), math.inf)
            for _ in range(TRIES):  # in turn, so that what else the machine does falls on all alike
                live, _ = run(source, None)
                recorded, tape = run(source, name)
                started = time.perf_counter()
                loaded = load_tape(tape.path)
                load = time.perf_counter() - started
                replay = replayed(source, loaded) - fixed_replay
                seconds = (live - fixed_live, recorded - fixed_live, load, replay)
                best = {key: min(old, new) for (key, old), new in zip(best.items(), seconds, strict=True)}
                tape.path.unlink()
            for key, value in best.items():
                costs[f"{label} per {name} event, {key}"] = unit * value / count
    return costs


def certify_costs(scenes: int = 20) -> dict[str, float]:
    """`surefoot certify` as a person calls it, after an edit, on a bank of cube-lift scenes."""
    from surefoot.environments.registry import find_task

    task = find_task("robosuite/cube-lift")
    source = (Path(__file__).parents[1] / "examples" / "lift.py").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        program, bank = Path(folder) / "lift.py", Path(folder) / "bank"
        program.write_text(source)
        command = [sys.executable, "-m", "surefoot.cli.main"]
        seeds = f"101-{100 + scenes}"
        subprocess.run(
            [*command, "record", task.name, str(program), "--seeds", seeds, "--bank", str(bank)],
            check=True, capture_output=True,
        )  # fmt: skip
        program.write_text(re.sub(r"\bposition\b", "place", source))
        started = time.perf_counter()
        done = subprocess.run(
            [*command, "certify", str(program), "--bank", str(bank), "--json"], capture_output=True, check=True
        )
        seconds = time.perf_counter() - started
    summary = json.loads(done.stdout)
    assert summary["certified"] == scenes, summary
    return {
        f"s for 'surefoot certify' on {scenes} cube-lift scenes after a rename": seconds,
        "of that s replaying": summary["replay_seconds"],
        "s that running them took": summary["execution_seconds"],
        "replay / execution": summary["replay_seconds"] / summary["execution_seconds"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--without-robosuite", action="store_true")
    parser.add_argument("--peers", nargs="?", const=sys.executable, metavar="PYTHON")
    arguments = parser.parse_args()
    costs = boundary_costs()
    if arguments.peers:
        command = [arguments.peers, str(Path(__file__).with_name("peers.py"))]
        costs |= json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    if not arguments.without_robosuite and importlib.util.find_spec("robosuite") is not None:
        costs |= certify_costs()
    if arguments.json:
        print(json.dumps(costs, indent=2))
        return
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}, {os.cpu_count()} cores")
    for name, value in costs.items():
        print(f"{value:10.2f}  {name}")


if __name__ == "__main__":
    main()
