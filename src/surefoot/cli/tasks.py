"""`surefoot tasks`: the tasks that are installed."""

from __future__ import annotations

from typing import Annotated

import typer

from surefoot.cli.arguments import AsJson
from surefoot.cli.console import out, print_json, say, table
from surefoot.environments.base import Task
from surefoot.environments.registry import all_tasks, find_task
from surefoot.report.words import span


def tasks(
    task: Annotated[str | None, typer.Argument(metavar="[TASK]", help="Show this task in full.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the tasks that programs can be run on, or show one with the functions its programs call."""
    if task is not None:
        _show(find_task(task), as_json)
        return
    found = sorted(all_tasks().values(), key=lambda task: task.name)
    if as_json:
        print_json([_as_data(task) for task in found])
        return
    rows = table("task", "tier", "development", "held-out", "what it asks for")
    for listed in found:
        rows.add_row(listed.name, listed.tier, span(listed.development), span(listed.held_out), listed.description)
    out.print(rows)


def _show(task: Task, as_json: bool) -> None:
    checks = [f"{check.effect}{' (throughout)' if check.invariant else ''}" for check in task.graph]
    if as_json:
        print_json(_as_data(task) | {"roles": task.roles, "checks": checks, "api": task.surface.page()})
        return
    say(f"{task.name}  (tier {task.tier})\n\n{task.description}\n")
    say(f"Protocol: {task.protocol}")
    say(f"Objects:  {', '.join(f'{name!r} ({role})' for role, name in task.roles.items())}")
    say(f"Checks:   {', '.join(checks)}")
    say(f"Seeds:    {span(task.development)} for development, {span(task.held_out)} held out")
    say(f"Demonstrations: {', '.join(_demonstrations(task)) or 'none'}\n\nFunctions that a program may call:\n")
    say(task.surface.page().rstrip())


def _demonstrations(task: Task) -> list[str]:
    """Their names, with the task that they are of where it is another."""
    return [shown.name if shown.task == task.name else f"{shown.name} ({shown.task})" for shown in task.demonstrations]


def _as_data(task: Task) -> dict[str, object]:
    return {
        "name": task.name,
        "tier": task.tier,
        "development": list(task.development),
        "held_out": list(task.held_out),
        "description": task.description,
        "protocol": task.protocol,
    }
