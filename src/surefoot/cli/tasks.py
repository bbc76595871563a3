"""`surefoot tasks`: the tasks that are installed."""

from __future__ import annotations

from surefoot.cli.arguments import AsJson
from surefoot.cli.console import out, print_json, table
from surefoot.environments.base import Task
from surefoot.environments.registry import all_tasks


def tasks(as_json: AsJson = False) -> None:
    """List the tasks that programs can be run on."""
    found = sorted(all_tasks().values(), key=lambda task: task.name)
    if as_json:
        print_json([_as_data(task) for task in found])
        return
    rows = table("task", "tier", "development", "held-out", "what it asks for")
    for task in found:
        rows.add_row(task.name, task.tier, span(task.development), span(task.held_out), task.description)
    out.print(rows)


def span(seeds: tuple[int, ...]) -> str:
    """Configurations as text: `101-125` where they are consecutive."""
    if len(seeds) > 2 and seeds == tuple(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]}-{seeds[-1]}"
    return ",".join(map(str, seeds))


def _as_data(task: Task) -> dict[str, object]:
    return {
        "name": task.name,
        "tier": task.tier,
        "development": list(task.development),
        "held_out": list(task.held_out),
        "description": task.description,
        "protocol": task.protocol,
    }
