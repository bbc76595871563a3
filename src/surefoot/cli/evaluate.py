"""`surefoot evaluate`: a frozen program on many configurations."""

from __future__ import annotations

from typing import Annotated

import typer

from surefoot.boundary.outcome import is_success
from surefoot.cli.arguments import AsJson, ProgramPath, RunSeed, TaskName, Workers, parse_seeds
from surefoot.cli.console import err, out, print_json, progress, table
from surefoot.environments.registry import find_task
from surefoot.errors import EnvironmentFaultError
from surefoot.evaluation.frozen import Score, score
from surefoot.evaluation.pool import Episode, Job, run_episodes
from surefoot.program.source import Program


def evaluate(
    task: TaskName,
    program: ProgramPath,
    seeds: Annotated[str | None, typer.Option("--seeds", metavar="SEEDS", help="Default: the held-out ones.")] = None,
    workers: Workers = 1,
    run_seed: RunSeed = 0,
    as_json: AsJson = False,
) -> int:
    """Run PROGRAM once on each configuration and report k/n with a Wilson 95 % interval.

    Exit 0 when the evaluation is complete, 4 if the environment failed on some configuration.
    """
    chosen, text = find_task(task), Program.read(program)
    text.check()
    configurations = list(chosen.held_out) if seeds is None else parse_seeds(seeds)
    seen = sorted(set(configurations) & set(chosen.development))
    if seen:
        err.print(f"Remark: {len(seen)} of these are development configurations, not held-out ones.", markup=False)
    jobs = [Job(text.source, program.name, seed, run_seed) for seed in configurations]
    episodes: dict[int, Episode] = {}
    with progress(f"evaluating {task}", len(jobs)) as advance:
        for index, episode in run_episodes(chosen, jobs, workers):
            episodes[index] = episode
            advance(f"seed {episode.seed}: {episode.outcome.text}")
    ordered = [episodes[index] for index in range(len(jobs))]
    result = score(ordered)
    if as_json:
        print_json(as_data(task, chosen.tier, chosen.protocol, result, ordered))
    else:
        _print(ordered, result, f"{program} on {task} (tier {chosen.tier})")
    return EnvironmentFaultError.exit_code if result.infrastructure_failures else 0


def as_data(task: str, tier: str, protocol: str, result: Score, episodes: list[Episode]) -> dict[str, object]:
    """An evaluation as JSON data."""
    return {
        "task": task,
        "tier": tier,
        "protocol": protocol,
        "successes": result.successes,
        "episodes": result.episodes,
        "interval": list(result.interval),
        "infrastructure_failures": result.infrastructure_failures,
        "scenes": [
            {
                "seed": episode.seed,
                "scene": episode.scene.digest if episode.scene else None,
                "outcome": episode.outcome,
                "steps": episode.steps,
            }
            for episode in episodes
        ],
    }


def _print(episodes: list[Episode], result: Score, title: str) -> None:
    failures = [episode for episode in episodes if not is_success(episode.outcome)]
    if failures:
        rows = table("seed#", "outcome", "steps#")
        for episode in failures:
            rows.add_row(str(episode.seed), episode.outcome.text, str(episode.steps))
        out.print(rows)
    out.print(f"{title}: {result.text}", markup=False)
