"""Soundness, measured: every certificate of many edits is run again in the environment.

    python benchmarks/soundness.py [--edits 40] [--scenes 3] [--workers 2] [--out FILE] [--json]

Real programs of desk and robosuite (some with clocks, draws, sets, views and retries) are recorded on development
configurations. Each is edited by chance (`mutations.py`), and each edit meets each tape:

- certified: the edit runs on a fresh reset. The certificate is false unless the run succeeds and its tape holds
  the recorded one's events and observations, bit by bit.
- certified modulo queries: likewise; the effects, the last observation and the last snapshot must be the recorded ones.
- diverged: the scene is forked at the divergence and run in full; the two tapes must have one id.

Finished parts are kept in FILE, one JSON line each, and not run again. State tier, no rendering. Exit code 1 if
anything was false.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from mutations import edits
from surefoot.boundary.outcome import Failure, Success, is_success
from surefoot.environments.host import TaskHost
from surefoot.environments.registry import find_task
from surefoot.program.source import Program
from surefoot.tape.certificate import Certified, Diverged
from surefoot.tape.file import Tape
from surefoot.tape.fork import Forked
from surefoot.tape.recording import Execution

HERE = Path(__file__).parent
DESK_QUERIES = (
    "list_objects()",
    "get_hand()",
    "describe('item')",
    "recall('bin')",
    "free_heights([0.0, 0.0], [0.1, 0.1])",
)
ROBOT_QUERIES = ("get_observation()",)
EDITS_PER_PART = 10


class Subject(NamedTuple):
    """A program on a task: a demonstration by name, or a file beside this one; and queries to insert."""

    task: str
    program: str
    queries: tuple[str, ...]

    @property
    def source(self) -> str:
        beside = HERE / "programs" / f"{self.program}.py"
        if beside.exists():
            return beside.read_text(encoding="utf-8")
        return next(item for item in find_task(self.task).demonstrations if item.name == self.program).source


SUBJECTS = (
    Subject("desk/place", "desk_board", DESK_QUERIES),
    Subject("desk/place", "place_high", DESK_QUERIES),
    Subject("desk/place", "place_naive", DESK_QUERIES),
    Subject("desk/occlusion", "occlusion_cached", DESK_QUERIES),
    Subject("robosuite/cube-lift", "robosuite_lift", ROBOT_QUERIES),
    Subject(
        "robosuite/cube-stack", "robosuite_stack", (*ROBOT_QUERIES, "get_object_pose('cubeA', return_bbox_extent=True)")
    ),
    Subject("robosuite/two-arm-lift", "robosuite_two_arm_lift", ("get_arm0_gripper_pose()", "get_handle0_pos()")),
)


class Part(NamedTuple):
    """Some edits of one subject, each on `scenes` recorded scenes."""

    subject: int
    seed: int
    scenes: int

    @property
    def name(self) -> str:
        subject = SUBJECTS[self.subject]
        return f"{subject.task} {subject.program} {self.seed} {self.scenes}"


def measure(part: Part) -> dict[str, Any]:
    """Record, edit, certify, run again and fork; what came out, counted, and the seconds it took."""
    subject = SUBJECTS[part.subject]
    task = find_task(subject.task)
    counts: Counter[str] = Counter()
    false: list[dict[str, Any]] = []
    with TaskHost(task) as host:
        tapes = _successes(host, Program(subject.source, subject.program), task.development, part.scenes)
        for edit in edits(subject.source, subject.queries, part.seed, EDITS_PER_PART):
            program = Program(edit.source, "edit")
            for tape in tapes:
                for fault in _judge(host, program, tape, counts):
                    false.append(
                        {"what": fault, "mutations": edit.names, "scene": tape.header.scene.seed, "source": edit.source}
                    )
    return {"part": part.name, "task": subject.task, "counts": dict(counts), "false": false}


def _successes(host: TaskHost, program: Program, seeds: tuple[int, ...], count: int) -> list[Tape]:
    tapes: list[Tape] = []
    for seed in seeds:
        if len(tapes) == count:
            break
        execution = host.execute(program, seed)
        if is_success(execution.outcome) and execution.tape is not None:
            tapes.append(execution.tape)
    return tapes


def _judge(host: TaskHost, program: Program, tape: Tape, counts: Counter[str]) -> list[str]:
    """Certify one edit on one tape and check what that says; the statements that proved false."""
    counts["pairs"] += 1
    started = time.perf_counter()
    certificate = host.certify(program, tape)
    replayed = time.perf_counter() - started
    counts["replay microseconds"] += round(1e6 * replayed)
    full = host.execute(program, tape.header.scene.seed, run_seed=tape.header.run_seed)
    microseconds = round(1e6 * full.seconds)
    counts["execution microseconds"] += microseconds
    if isinstance(certificate, Certified):
        counts["certified"] += 1
        counts["execution microseconds of the certified"] += microseconds
        return [] if _same_run(full, tape) else ["certified"]
    if not isinstance(certificate, Diverged):
        counts[f"unavailable: {certificate.reason}"] += 1
        return []
    counts[f"diverged {_third(certificate.event, len(tape.events))}"] += 1
    return _judge_modulo(host, program, tape, full, counts) + _judge_fork(host, program, tape, full, counts)


def _judge_modulo(host: TaskHost, program: Program, tape: Tape, full: Execution, counts: Counter[str]) -> list[str]:
    if not isinstance(host.certify(program, tape, modulo=True), Certified):
        return []
    counts["certified modulo queries"] += 1
    return [] if _same_effects(full, tape) else ["certified modulo queries"]


def _judge_fork(host: TaskHost, program: Program, tape: Tape, full: Execution, counts: Counter[str]) -> list[str]:
    started = time.perf_counter()
    forked = host.fork(program, tape)
    if not isinstance(forked, Forked):
        counts[f"not forked: {forked.reason}"] += 1
        return []
    counts["forked"] += 1
    counts["forked to success" if is_success(forked.outcome) else "forked to failure"] += 1
    counts["fork microseconds"] += round(1e6 * (time.perf_counter() - started))
    counts["execution microseconds of the forked"] += round(1e6 * full.seconds)
    counts["steps of forks"] += forked.live_steps
    counts["steps of their full runs"] += full.steps
    return [] if _one_id(forked, full) else ["fork"]


def _same_run(full: Execution, tape: Tape) -> bool:
    """Whether a run succeeded with exactly the recorded exchanges and observations."""
    found = full.tape
    if not is_success(full.outcome) or found is None:
        return False
    exchanges = [[(e.function, e.request, e.answer, e.raised, e.clock) for e in each.events] for each in (found, tape)]
    return exchanges[0] == exchanges[1] and found.telemetry == tape.telemetry


def _same_effects(full: Execution, tape: Tape) -> bool:
    found = full.tape
    if not is_success(full.outcome) or found is None:
        return False
    effects = [[(e.function, e.request, e.answer) for e in each.events if e.kind == "effect"] for each in (found, tape)]
    snapshots = [[item.snapshot for item in each.telemetry if item.snapshot] for each in (found, tape)]
    ends = [each.telemetry[-1].values for each in (found, tape)]
    return effects[0] == effects[1] and snapshots[0] == snapshots[1] and ends[0] == ends[1]


def _one_id(forked: Execution, full: Execution) -> bool:
    if not isinstance(full.outcome, Success | Failure) or forked.tape is None or full.tape is None:
        return False
    ours, theirs = forked.tape, full.tape
    return (forked.outcome, ours.events, ours.telemetry, ours.end) == (
        full.outcome,
        theirs.events,
        theirs.telemetry,
        theirs.end,
    )


def _third(event: int, events: int) -> str:
    return ("early", "midway", "late")[min(3 * event // max(events, 1), 2)]


def summary(results: list[dict[str, Any]], seconds: float) -> dict[str, Any]:
    """Everything added up, whole and by task."""
    by_task: dict[str, Counter[str]] = {}
    for result in results:
        by_task.setdefault(result["task"], Counter()).update(result["counts"])
    total: Counter[str] = Counter()
    for counts in by_task.values():
        total.update(counts)
    false = [fault for result in results for fault in result["false"]]
    return {
        "machine": f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores",
        "tier": "state",
        "seconds": seconds,
        "false": len(false),
        "false_certificates": sum(fault["what"].startswith("certified") for fault in false),
        "total": dict(total),
        "by_task": {task: dict(counts) for task, counts in by_task.items()},
        "faults": false,
    }


def shown(found: dict[str, Any]) -> str:
    """The summary as a Markdown table, one column per task."""
    tasks = list(found["by_task"])
    columns = [found["total"], *(found["by_task"][task] for task in tasks)]
    rows = sorted({name for name in found["total"] if "microseconds" not in name})
    lines = [f"{found['machine']}; tier {found['tier']}; {found['seconds']:.0f} s", ""]
    lines += [f"| | all | {' | '.join(tasks)} |", "| --- " * (len(tasks) + 2) + "|"]
    lines += [f"| {row} | {' | '.join(str(column.get(row, 0)) for column in columns)} |" for row in rows]
    pairs = (
        ("replay / execution, all pairs", "replay microseconds", "execution microseconds"),
        ("fork / full run, forked pairs", "fork microseconds", "execution microseconds of the forked"),
        ("environment steps of forks / of full runs", "steps of forks", "steps of their full runs"),
    )
    for label, above, below in pairs:
        cells = [f"{column.get(above, 0) / column[below]:.3f}" if column.get(below) else "-" for column in columns]
        lines.append(f"| {label} | {' | '.join(cells)} |")
    certified = found["total"].get("certified", 0) + found["total"].get("certified modulo queries", 0)
    lines += ["", f"{certified} certificates run again, {found['false_certificates']} false; "
                  f"{found['total'].get('forked', 0)} forks compared with full runs, "
                  f"{found['false'] - found['false_certificates']} unequal."]  # fmt: skip
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edits", type=int, default=40, help="edits of each program, in tens")
    parser.add_argument("--scenes", type=int, default=3, help="recorded scenes that each edit meets")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, help="keep finished parts here and go on from them")
    parser.add_argument("--only", default="", help="only subjects whose task or program contains this")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    kept: list[dict[str, Any]] = []
    if arguments.out and arguments.out.exists():
        kept = [json.loads(line) for line in arguments.out.read_text(encoding="utf-8").splitlines()]
    wanted = [index for index, subject in enumerate(SUBJECTS) if arguments.only in f"{subject.task} {subject.program}"]
    parts = [
        Part(index, seed, arguments.scenes) for seed in range(arguments.edits // EDITS_PER_PART) for index in wanted
    ]
    names = {part.name for part in parts}
    results = [result for result in kept if result["part"] in names]
    todo = [part for part in parts if part.name not in {result["part"] for result in results}]
    started = time.perf_counter()
    with ProcessPoolExecutor(arguments.workers, mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(measure, part) for part in todo]):
            results.append(done.result())
            if arguments.out:
                with arguments.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(results[-1]) + "\n")
            print(f"{len(results)}/{len(parts)} parts", file=sys.stderr)
    found = summary(results, time.perf_counter() - started)
    print(json.dumps(found, indent=2) if arguments.json else shown(found))
    return 1 if found["false"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
