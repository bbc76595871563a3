"""Controls at equal executions: skills against random edits, enumeration without frontier, and the best demonstration.

    python benchmarks/controls.py TASK [--seeds 1-100] [--run-seeds 0-2] [--budgets 10,20] [--out DIR]
    python benchmarks/controls.py TASK --leave-one-out      `skills` with each demonstration removed in turn

Each control gets as many search episodes as `skills` used in the run with the same run seed, or, with
--budgets, all of them the same fixed number. Programs are compared paired on the same held-out scenes
(exact McNemar, pooled over run seeds).
"""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path

import msgspec

from surefoot.boundary.outcome import Infrastructure, is_success
from surefoot.cli.arguments import parse_seeds
from surefoot.environments.registry import find_task
from surefoot.evaluation.learning import Report, new_manifest, run_learning
from surefoot.evaluation.pool import Job, run_episodes
from surefoot.evaluation.statistics import paired_exact
from surefoot.program.source import Program
from surefoot.search.folder import RunFolder
from surefoot.search.settings import Settings

PROPOSERS = ("skills", "skills-no-frontier", "random")


def learned(task, proposer, held_out, run_seed, episodes, out, without=()) -> tuple[Report, Program]:
    """One learning run, or the report of one that was finished earlier in the same folder."""
    path = out / "-".join([proposer, str(run_seed), str(episodes or "free"), *without])
    settings = Settings(executions=episodes, without=tuple(without))
    manifest = new_manifest(task, proposer, task.development, held_out[:1], run_seed, settings)
    begun = RunFolder.is_at(path)
    if begun and not RunFolder.read_manifest(path).same_search(manifest):
        raise SystemExit(f"{path} was made with other code or options; name another folder with --out.")
    if (path / "report.json").exists():
        report = msgspec.json.decode((path / "report.json").read_bytes(), type=Report)
    else:
        folder = RunFolder.open(path) if begun else RunFolder.create(path, manifest)
        with folder:
            report = run_learning(folder, 1, lambda line: None, lambda *progress: None)
    return report, Program.read(path / "final.py")


def solved(task, program, seeds, workers=2) -> list[bool]:
    """Whether a program succeeds, per configuration; what the environment lost ends the benchmark."""
    jobs = [Job(program.source, program.name, seed) for seed in seeds]
    episodes = dict(run_episodes(task, jobs, workers))
    for episode in episodes.values():
        if isinstance(episode.outcome, Infrastructure):
            raise SystemExit(f"{task.name} seed {episode.seed}: {episode.outcome.text}; run it again.")
    return [is_success(episodes[index].outcome) for index in range(len(jobs))]


def best_demonstration(task) -> Program:
    """The demonstration with most successes on the development configurations; the task's own if it has any."""
    own = [item for item in task.demonstrations if item.task == task.name]
    programs = [Program(item.source, item.name) for item in own or task.demonstrations]
    return max(programs, key=lambda program: sum(solved(task, program, task.development)))


def leave_one_out(task, seeds, run_seeds, out, outcome) -> None:
    """Print how `skills` does with each demonstration removed; runs whose results are equal share their episodes."""
    print(f"{task.name}, tier {task.tier}, held-out seeds {seeds[0]}-{seeds[-1]}, run seeds {run_seeds}")
    print("| without | first | final | only final | only first | exact p |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in ["", *(item.name for item in task.demonstrations)]:
        first: list[bool] = []
        final: list[bool] = []
        for run_seed in run_seeds:
            _, program = learned(task, "skills", seeds, run_seed, None, out, [name] if name else [])
            path = out / "-".join(["skills", str(run_seed), "free", *([name] if name else [])])
            final += outcome(program)
            first += outcome(Program.read(path / "first.py"))
        paired = paired_exact(first, final)
        print(
            f"| {name or '(none)'} | {sum(first)}/{len(first)} | {sum(final)}/{len(final)} "
            f"| {paired.only_second} | {paired.only_first} | {paired.p_value:.2g} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task")
    parser.add_argument("--seeds", default="1-100")
    parser.add_argument("--run-seeds", default="0-2")
    parser.add_argument("--budgets", default="")
    parser.add_argument("--out", type=Path, default=Path("runs/controls"))
    parser.add_argument("--leave-one-out", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    task, seeds = find_task(arguments.task), parse_seeds(arguments.seeds)
    run_seeds = parse_seeds(arguments.run_seeds)
    out = arguments.out / task.name.replace("/", "-")
    out.mkdir(parents=True, exist_ok=True)
    known: dict[str, list[bool]] = {}

    def outcome(program: Program) -> list[bool]:
        if program.digest not in known:
            known[program.digest] = solved(task, program, seeds)
        return known[program.digest]

    if arguments.leave_one_out:
        leave_one_out(task, seeds, run_seeds, out, outcome)
        return
    demonstration = outcome(best_demonstration(task))
    budgets = [int(item) for item in arguments.budgets.split(",") if item] or [None]
    rows = []
    for budget in budgets:
        results: dict[str, list[bool]] = {name: [] for name in (*PROPOSERS, "best demonstration")}
        used: dict[str, list[int]] = {name: [] for name in PROPOSERS}
        for run_seed in run_seeds:
            allowed = budget
            for name in PROPOSERS:
                report, program = learned(task, name, seeds, run_seed, allowed, out)
                allowed = allowed or report.episodes["search"]
                used[name].append(report.episodes["search"])
                results[name] += outcome(program)
                print(f"{name} run seed {run_seed}: {used[name][-1]} episodes", file=sys.stderr)
            results["best demonstration"] += demonstration
        for name, values in results.items():
            paired = paired_exact(results["skills"], values)
            rows.append(
                {
                    "budget": budget or "as skills",
                    "method": name,
                    "episodes": used.get(name),
                    "successes": sum(values),
                    "of": len(values),
                    "skills_only": paired.only_first,
                    "other_only": paired.only_second,
                    "p": paired.p_value,
                }
            )
    if arguments.json:
        print(msgspec.json.encode(rows).decode())
        return
    print(
        f"{task.name}, tier {task.tier}, held-out {arguments.seeds}, run seeds {arguments.run_seeds}, {platform.machine()}"
    )
    print("| budget | method | search episodes | held-out | skills only | other only | exact p |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        text = "" if row["method"] == "skills" else f"{row['p']:.2g}"
        print(
            f"| {row['budget']} | {row['method']} | {row['episodes'] or '-'} | {row['successes']}/{row['of']} "
            f"| {row['skills_only']} | {row['other_only']} | {text} |"
        )


if __name__ == "__main__":
    main()
