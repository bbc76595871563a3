"""One readable episode: what failed, what was tried and why, what it earned (PI, section 5.6)."""

from __future__ import annotations

from typing import Any, NamedTuple

from surefoot.environments.tables.contracts import diagnostics
from surefoot.environments.tables.effects import ACTIONS, EFFECTS, STAGES
from surefoot.environments.tables.interpreter import names, run
from surefoot.environments.tables.table import total_text
from surefoot.environments.tables.worlds import DOMAIN, TableTask
from surefoot.pi.compositions import PI
from surefoot.pi.controller import Controller, Episode
from surefoot.pi.experiment import COLD_BUDGET
from surefoot.pi.streams import Streams


class Told(NamedTuple):
    """An episode as lines for people and as data."""

    lines: tuple[str, ...]
    data: dict[str, Any]


def tell(seed: int, budget: int = COLD_BUDGET) -> Told:
    """The cold episode of the world of `seed` that has the most to repair, told step by step."""
    streams = Streams.of(seed)
    controller = Controller(PI, DOMAIN, streams.templates())
    episodes = [(task, controller.run(task, budget, learn=False)) for task in streams.final["composition"]]
    task, episode = max(episodes, key=lambda pair: (pair[1].accepted, len(pair[1].trials)))
    return Told(tuple(_lines(task, episode, controller.initial(task))), _data(seed, task, episode))


def _lines(task: TableTask, episode: Episode, program: tuple[int, ...]) -> list[str]:
    goals = ", ".join(f"{stage}: {EFFECTS[number][goal]}" for number, (stage, goal) in enumerate(zip(STAGES, task.request, strict=True)))  # fmt: skip
    lines = [
        f"Task {task.id}, tools of revision {task.revision}, {len(task.rows)} rows ({task.trial_rows} in the micro-task)",
        f"  asked for   {goals}",
        f"  columns     {', '.join(f'{column} is {role}' for column, role in task.roles.items())}",
        f"  submits     {_shown(program)}: {_verdict(task, program)}",
        *[f"    {each.path}: {each.text}" for each in diagnostics(task.trace(program), task.request)],
    ]
    for number, trial in enumerate(episode.trials, start=1):
        verb = "kept" if trial.committed else "rejected"
        action = ACTIONS[trial.stage][trial.program[trial.stage]]
        failed = sum(not bit for bit in trial.bits)
        lines.append(
            f"  trial {number}     {action} for {STAGES[trial.stage]} on the micro-task: {verb}; "
            f"{failed} contract{'s' if failed != 1 else ''} left, incentive {trial.incentive:.2f}"
        )
        if not trial.committed:
            micro = run(task.tools, trial.program, task.micro)
            lines += [f"    {each.path}: {each.text}" for each in diagnostics(micro, task.request)[:1]]
    if not episode.first_accepted:
        lines.append(f"  submits     {_shown(episode.program)}: {_verdict(task, episode.program)}")
    lines.append(f"  work        {episode.visits} row-stage visits")
    return lines


def _verdict(task: TableTask, program: tuple[int, ...]) -> str:
    trace = task.trace(program)
    word = "accepted" if task.full(program).accepted else "rejected"
    return f"{word}, total {total_text(trace.total):f} from {len(trace.supporting)} rows"


def _shown(program: tuple[int, ...]) -> str:
    return "(" + ", ".join(names(program)) + ")"


def _data(seed: int, task: TableTask, episode: Episode) -> dict[str, Any]:
    return {
        "seed": seed,
        "task": task.id,
        "revision": task.revision,
        "request": [EFFECTS[stage][goal] for stage, goal in enumerate(task.request)],
        "trials": [
            {
                "stage": STAGES[trial.stage],
                "program": names(trial.program),
                "committed": trial.committed,
                "incentive": round(trial.incentive, 6),
            }
            for trial in episode.trials
        ],
        "program": names(episode.program),
        "accepted": episode.accepted,
        "visits": episode.visits,
    }
