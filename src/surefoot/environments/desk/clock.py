"""Environment steps: every effect spends some, and the episode has only so many."""

from __future__ import annotations

from collections.abc import Callable

from surefoot.boundary.environment import StepLimitReachedError
from surefoot.environments.desk.world import World


def spend(world: World, steps: int, change: Callable[[int], None] | None = None) -> None:
    """Let `steps` steps pass, and have `change` make what happens in each: it is called with 1, 2, 3 …

    StepLimitReachedError when the episode has fewer left; it then has none.
    """
    left = world.step_limit - world.steps
    for number in range(1, min(steps, left) + 1):
        world.steps += 1
        if change is not None:
            change(number)
        for watcher in world.watchers:
            watcher()
    if steps > left:
        raise StepLimitReachedError(f"The episode's {world.step_limit} environment steps are used up.")
