"""Environment episodes to equal held-out success, for several ways to check a changed program.

    python benchmarks/episodes_to_success.py --out DIR [--tasks desk/place,robosuite/cube-stack] [--ways certify,none]
        [--run-seeds 0-4] [--held-out 1-20] [--development 101-125] [--budget N] [--proposer skills] [--workers 2]

certify          surefoot's default, SCOPE's loop: replay a sample of older successes, run at most three of the
                 uncertified; the change stays accepted, what it lost is repaired in a follow-up
certify-refuse   the same, but a change that loses an older success is refused
rerun-all        run every older success again; the change stays accepted, what it lost is repaired in a follow-up
rerun-all-refuse run every older success again, until one is lost: then the change is refused
minibatch        accept a change only if it beats its parent on a paired minibatch of three development configurations
none             accept what succeeds, check nothing

Of one task and run seed, all ways get the same proposer, demonstrations and development configurations, in the
same order (the run seed shuffles it; without that, run seeds hardly differ). All episodes of a search count,
gates and diagnostics included; demonstrations are equal for all and stand apart, and so does the freeze, which
finds out which accepted program holds on most of the bank; it takes earlier results at no cost. Where a program would be run again on a configuration, rerun-all and minibatch take the earlier
result at no cost. Each program that was ever the accepted one is tested once per held-out configuration, so success
is a step function of episodes. Time is of learning up to the freeze, demonstrations included.

Two levels per task say what "equal success" is, by rule: `common`, the lowest of the ways' mean final
success, and `high`, nine tenths of the highest. `reached` is the first episode count at a level, `settled` the
first from which success stays there. A run that never gets there, or only after the budget, is counted at the
budget: it says the same of all ways, whatever the dearest of them spends (100: 25 entries with three repairs each). Intervals: bootstrap over run seeds of paired differences.

A killed run goes on where it stopped when the same command is given again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import platform
import random
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import matplotlib as mpl
import msgspec

mpl.use("agg")  # before pyplot: no display is needed
import matplotlib.pyplot as plt

from surefoot.boundary.outcome import Infrastructure, is_success
from surefoot.cli.arguments import parse_seeds
from surefoot.environments.base import Task
from surefoot.environments.registry import find_task
from surefoot.evaluation.learning import new_manifest, search
from surefoot.evaluation.pool import Job, run_episodes
from surefoot.evaluation.progress import Progress
from surefoot.evaluation.statistics import Difference, paired_difference
from surefoot.memory.folder import code_version
from surefoot.program.source import Program
from surefoot.search.folder import RunFolder
from surefoot.search.loop import Acceptance
from surefoot.search.settings import Settings

WAYS = {
    "certify": Settings(checking="certify"),
    "certify-refuse": Settings(checking="certify", regressions="refuse"),
    "rerun-all": Settings(checking="rerun-all"),
    "rerun-all-refuse": Settings(checking="rerun-all", regressions="refuse"),
    "minibatch": Settings(checking="minibatch"),
    "none": Settings(checking="none"),
}
BASELINE = "certify"
HIGH = 0.9


class Spec(msgspec.Struct, frozen=True):
    """One learning run that is to be made."""

    task: str
    way: str
    run_seed: int
    development: tuple[int, ...]
    held_out: tuple[int, ...]
    proposer: str
    budget: int

    @property
    def name(self) -> str:
        return f"{self.task.replace('/', '-')}-{self.run_seed}-{self.way}"


class Run(msgspec.Struct, frozen=True):
    """What one learning run did. `seconds` are all learning up to the freeze, demonstrations too, as first computed.

    `best` is the accepted program that holds on most of the bank, which took `freeze` more episodes to find out.
    """

    task: str
    way: str
    run_seed: int
    history: list[Acceptance]
    best: str
    episodes: int
    freeze: int
    roles: dict[str, int]
    failed_diagnostics: int
    checks: int
    certified: int
    seconds: float


def learn(spec: Spec, out: Path) -> Run:
    """Make one run, go on with it, or read the finished one."""
    path = out / "runs" / spec.name
    task = find_task(spec.task)
    settings = msgspec.structs.replace(WAYS[spec.way], executions=spec.budget)
    order = random.Random(f"development {spec.run_seed}").sample(spec.development, len(spec.development))
    manifest = new_manifest(task, spec.proposer, order, spec.held_out, spec.run_seed, settings)
    begun = RunFolder.is_at(path)
    if begun and not RunFolder.read_manifest(path).same_search(manifest):
        raise SystemExit(f"{path} was made with other code or options; name another folder with --out.")
    if (path / "run.json").exists():
        return msgspec.json.decode((path / "run.json").read_bytes(), type=Run)
    with RunFolder.open(path) if begun else RunFolder.create(path, manifest) as folder:
        searched = search(folder, lambda line: None)
        run = Run(
            spec.task,
            spec.way,
            spec.run_seed,
            [Acceptance(searched.programs["first"], 0), *searched.history],
            searched.programs["best"],
            searched.episodes["search"],
            searched.episodes["freeze"],
            {role: count for role, count in searched.roles.items() if role not in ("demonstration", "freeze")},
            searched.diagnostics["failed"],
            searched.certification.checks,
            searched.certification.certified,
            searched.spent.learning,
        )
        folder.save("run.json", run)
    return run


def learn_all(specs: Sequence[Spec], out: Path, workers: int) -> list[Run]:
    """All runs, several at a time."""
    context = multiprocessing.get_context("spawn")  # a simulator must not be forked
    with ProcessPoolExecutor(workers, context) as pool:
        waiting = {pool.submit(learn, spec, out): spec for spec in specs}
        for done, future in enumerate(as_completed(waiting), 1):
            run = future.result()
            print(f"learned {done}/{len(specs)}: {waiting[future].name}, {run.episodes} episodes", file=sys.stderr)
        return [future.result() for future in waiting]


class Tests:
    """Held-out results of one task's programs; kept in a file, so that no episode is run twice."""

    def __init__(self, task: Task, folder: Path):
        self._task = task
        self._path = folder / f"{task.name.replace('/', '-')}-{task.revision()[:12]}.jsonl"
        self._known: dict[tuple[str, int], bool] = {}
        folder.mkdir(parents=True, exist_ok=True)
        if self._path.exists():
            for line in self._path.read_text().splitlines():
                try:
                    program, seed, success = msgspec.json.decode(line, type=tuple[str, int, bool])
                except msgspec.DecodeError:
                    continue  # the line at which a kill came; its episode is run again
                self._known[program, seed] = success

    def run(self, programs: Iterable[Program], seeds: Sequence[int], workers: int) -> None:
        """Test programs on the configurations that are missing."""
        jobs = [
            Job(program.source, program.digest, seed)
            for program in programs
            for seed in seeds
            if (program.digest, seed) not in self._known
        ]
        with self._path.open("a") as file:
            file.write("\n")
            for done, (index, episode) in enumerate(run_episodes(self._task, jobs, workers), 1):
                if isinstance(episode.outcome, Infrastructure):
                    raise SystemExit(f"{self._task.name} seed {episode.seed}: {episode.outcome.text}; run it again.")
                row = (jobs[index].name, episode.seed, is_success(episode.outcome))
                self._known[row[:2]] = row[2]
                file.write(msgspec.json.encode(row).decode() + "\n")
                file.flush()
                if done % 100 == 0 or done == len(jobs):
                    print(f"{self._task.name}: tested {done}/{len(jobs)}", file=sys.stderr)

    def progress(self, run: Run, seeds: Sequence[int]) -> Progress:
        """Held-out success of a run's accepted programs against its episodes."""
        return Progress.of(
            [(item.episodes, [self._known[item.program, seed] for seed in seeds]) for item in run.history]
        )


Curves = dict[str, dict[int, Progress]]
"""By way and run seed."""


class Timing(msgspec.Struct, frozen=True):
    """Episodes to a level, one way against surefoot's; a run that never got there stands at the horizon."""

    mean: float
    censored: int
    against_certify: Difference


class Level(msgspec.Struct, frozen=True):
    """A level of success, and when each way first reached it and settled above it."""

    success: float
    reached: dict[str, Timing]
    settled: dict[str, Timing]


class WaySummary(msgspec.Struct, frozen=True):
    """One way on one task: sums over its runs, or means where the name says so."""

    solved: int
    best_success: float
    tested: int
    final_against_certify: Difference
    mean_success: float
    losses: int
    lost: int
    episodes: int
    freeze: int
    roles: dict[str, int]
    changes: int
    failed_diagnostics: int
    checks: int
    certified: int
    seconds_ratio: float


class Comparison(msgspec.Struct, frozen=True):
    """One task's results."""

    task: str
    run_seeds: list[int]
    held_out: list[int]
    first_success: float
    horizon: int
    levels: dict[str, Level]
    ways: dict[str, WaySummary]


def levels_of(curves: Curves) -> dict[str, float]:
    """What equal success is, from the ways' mean final success."""
    finals = [mean([curve.final for curve in by_seed.values()]) for by_seed in curves.values()]
    return {"common": min(finals), "high": HIGH * max(finals)}


def timing(curves: Curves, way: str, level: float, horizon: int, settled: bool) -> Timing:
    """When a way's runs got to a level, paired with surefoot's runs of the same seeds."""

    def times(of: str) -> list[int | None]:
        return [
            curve.settled(level - 1e-9) if settled else curve.reached(level - 1e-9) for curve in curves[of].values()
        ]

    own = times(way)
    counted = [[horizon if time is None else min(time, horizon) for time in found] for found in (own, times(BASELINE))]
    pairs = list(zip(*counted, strict=True))
    return Timing(mean(counted[0]), own.count(None), paired_difference([pairs]))


def compare(task: str, runs: Sequence[Run], curves: Curves, held_out: list[int], horizon: int) -> Comparison:
    """Everything that is said of one task."""
    levels = {
        name: Level(
            level,
            {way: timing(curves, way, level, horizon, False) for way in curves},
            {way: timing(curves, way, level, horizon, True) for way in curves},
        )
        for name, level in levels_of(curves).items()
    }
    seeds = sorted(curves[BASELINE])
    first = mean([curve.rates[0] for curve in curves[BASELINE].values()])
    ways = {way: summary(way, runs, curves, horizon) for way in curves}
    return Comparison(task, seeds, held_out, first, horizon, levels, ways)


def summary(way: str, runs: Sequence[Run], curves: Curves, horizon: int) -> WaySummary:
    """One way's sums."""
    own = {run.run_seed: run for run in runs if run.way == way}
    certify = {run.run_seed: run for run in runs if run.way == BASELINE}
    found = list(curves[way].values())
    bests = [curve.at(_accepted_after(own[seed].best, own[seed])) for seed, curve in curves[way].items()]
    roles: Counter[str] = Counter()
    for run in own.values():
        roles.update(run.roles)
    return WaySummary(
        sum(sum(curve.solved[-1]) for curve in found),
        mean(bests),
        sum(len(curve.solved[-1]) for curve in found),
        paired_difference([[(curve.final, curves[BASELINE][seed].final) for seed, curve in curves[way].items()]]),
        mean([curve.mean(horizon) for curve in found]),
        sum(curve.losses for curve in found),
        sum(curve.lost for curve in found),
        sum(run.episodes for run in own.values()),
        sum(run.freeze for run in own.values()),
        dict(roles),
        sum(len({item.program for item in run.history}) - 1 for run in own.values()),
        sum(run.failed_diagnostics for run in own.values()),
        sum(run.checks for run in own.values()),
        sum(run.certified for run in own.values()),
        mean([run.seconds / certify[seed].seconds for seed, run in own.items()]),
    )


def _accepted_after(program: str, run: Run) -> int:
    """After how many episodes a run last accepted a program."""
    return [item.episodes for item in run.history if item.program == program][-1]


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def markdown(comparisons: Sequence[Comparison], arguments: argparse.Namespace) -> str:
    """The tables."""
    lines = [
        f"Proposer `{arguments.proposer}`, development {arguments.development}, held-out {arguments.held_out}, "
        f"run seeds {arguments.run_seeds}, {platform.machine()}, surefoot {code_version()}. "
        "Differences are less certify, over pairs of the same run seed, with a bootstrap 95 % interval; "
        "(a/b of n): a of n pairs smaller than certify's, b larger.",
    ]
    for item in comparisons:
        lines += ["", f"## {item.task}", "", *task_tables(item)]
    if len(comparisons) > 1:
        lines += ["", "## All tasks, mean of their means", "", *pooled_table(comparisons)]
    return "\n".join(lines) + "\n"


def task_tables(item: Comparison) -> list[str]:
    """One task: what the ways did, then when they got to each level."""
    count = len(item.run_seeds)
    lines = [
        f"First program {100 * item.first_success:.0f} %; horizon {item.horizon} episodes; {count} runs a way. Means per run:",
        "",
        "| way | search episodes | of them gates, diagnostics, follow-ups | diagnostics failed | changes accepted "
        "| final held-out | less certify [points] | best held-out, and episodes of the freeze to find it | mean over episodes | won, then lost (at the end) | time, certify = 1 |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for way, found in item.ways.items():
        follow_ups = sum(number for role, number in found.roles.items() if role.startswith("follow-up"))
        extra = [found.roles.get("gate", 0), found.roles.get("diagnostic", 0), follow_ups]
        lines.append(
            f"| {way} | {found.episodes / count:.1f} | {', '.join(f'{number / count:.1f}' for number in extra)} "
            f"| {found.failed_diagnostics / count:.1f} | {found.changes / count:.1f} "
            f"| {found.solved}/{found.tested} ({100 * found.solved / found.tested:.1f} %) "
            f"| {'' if way == BASELINE else spread(found.final_against_certify, 100)} "
            f"| {100 * found.best_success:.1f} %, {found.freeze / count:.1f} "
            f"| {100 * found.mean_success:.1f} % | {found.losses / count:.1f} ({found.lost / count:.1f}) "
            f"| {found.seconds_ratio:.2f} |"
        )
    certified = item.ways[BASELINE]
    lines += [
        "",
        f"certify replayed {certified.checks / count:.1f} older successes a run and certified {certified.certified / count:.1f}.",
        "",
        "| level | way | reached after | never | less certify | settled after | never | less certify |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, level in item.levels.items():
        for way in level.reached:
            cells = [
                f"{found.mean:.1f} | {found.censored}/{count} | {'' if way == BASELINE else spread(found.against_certify)}"
                for found in (level.reached[way], level.settled[way])
            ]
            lines.append(f"| {name}, {100 * level.success:.1f} % | {way} | {' | '.join(cells)} |")
    return lines


def spread(difference: Difference, scale: float = 1.0) -> str:
    low, high = (scale * bound for bound in difference.interval)
    counts = f"{difference.first_smaller}/{difference.second_smaller} of {difference.pairs}"
    return f"{scale * difference.mean:+.1f} [{low:+.1f}, {high:+.1f}] ({counts})"


def pooled_table(comparisons: Sequence[Comparison]) -> list[str]:
    """Ratios of mean episodes to certify's, per level: geometric means would hide a task that starts at its level."""
    lines = [
        "| level | way | episodes, reached | of certify's | episodes, settled | of certify's |",
        "| --- " * 6 + "|",
    ]
    for name in comparisons[0].levels:
        for way in comparisons[0].ways:
            cells = []
            for kind in ("reached", "settled"):
                found = [getattr(item.levels[name], kind) for item in comparisons]
                own, certify = (mean([timings[of].mean for timings in found]) for of in (way, BASELINE))
                cells.append(f"{own:.1f} | {own / certify:.2f}" if certify else f"{own:.1f} | -")
            lines.append(f"| {name} | {way} | {' | '.join(cells)} |")
    return lines


def draw(comparisons: Sequence[Comparison], curves: dict[str, Curves], path: Path) -> None:
    """Success against episodes, a panel per task: the mean over run seeds, thin lines for single runs."""
    with mpl.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        count = len(comparisons)
        figure, panels = plt.subplots(
            1, count, figsize=(3.6 * count + 0.4, 3.2), layout="constrained", squeeze=False, sharey=True
        )
        colours = dict(zip(WAYS, plt.get_cmap("tab10").colors, strict=False))
        for axes, item in zip(panels[0], comparisons, strict=True):
            for way, by_seed in curves[item.task].items():
                steps = range(item.horizon + 1)
                for curve in by_seed.values():
                    axes.step(steps, [100 * curve.at(step) for step in steps], where="post", color=colours[way], lw=0.3)
                means = [100 * mean([curve.at(step) for curve in by_seed.values()]) for step in steps]
                axes.step(steps, means, where="post", color=colours[way], lw=1.8, label=way)
            axes.set(title=item.task, xlabel="environment episodes of the search", ylim=(-3, 103))
        panels[0][0].set_ylabel("held-out success of the accepted program [%]")
        panels[0][0].legend(frameon=False, loc="lower right")
        figure.savefig(path, dpi=150, metadata={"Software": None})
        plt.close(figure)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default="desk/place")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--run-seeds", default="0-4")
    parser.add_argument("--held-out", default="1-20")
    parser.add_argument("--development", default="101-125")
    parser.add_argument("--budget", type=int, default=100)
    parser.add_argument("--proposer", default="skills")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.ways = arguments.ways.split(",")
    if not {BASELINE} <= set(arguments.ways) <= set(WAYS):
        parser.error(f"--ways: {BASELINE}, which all are compared with, and any of {', '.join(WAYS)}.")
    return arguments


def main() -> None:
    arguments = parse()
    run_seeds, held_out, development = (
        parse_seeds(text) for text in (arguments.run_seeds, arguments.held_out, arguments.development)
    )
    comparisons: list[Comparison] = []
    curves: dict[str, Curves] = {}
    every: list[Run] = []
    for name in arguments.tasks.split(","):
        specs = [
            Spec(name, way, seed, tuple(development), tuple(held_out), arguments.proposer, arguments.budget)
            for seed in run_seeds
            for way in arguments.ways
        ]
        runs = learn_all(specs, arguments.out, arguments.workers)
        tests = Tests(find_task(name), arguments.out / "tests")
        paths = {
            item.program: arguments.out / "runs" / spec.name / "programs" / f"{item.program}.py"
            for spec, run in zip(specs, runs, strict=True)
            for item in run.history
        }
        tests.run([Program.read(path) for path in paths.values()], held_out, arguments.workers)
        curves[name] = {
            way: {run.run_seed: tests.progress(run, held_out) for run in runs if run.way == way}
            for way in arguments.ways
        }
        comparisons.append(compare(name, runs, curves[name], held_out, arguments.budget))
        every += runs
    text = markdown(comparisons, arguments)
    (arguments.out / "episodes-to-success.md").write_text(text)
    data: dict[str, Any] = {"comparisons": comparisons, "runs": every, "curves": curves}
    (arguments.out / "episodes-to-success.json").write_bytes(
        msgspec.json.format(msgspec.json.encode(data), indent=1) + b"\n"
    )
    draw(comparisons, curves, arguments.out / "episodes-to-success.png")
    print(text, end="")


if __name__ == "__main__":
    main()
