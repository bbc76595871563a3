"""Environment steps: every effect spends some, and the episode has only so many."""

from __future__ import annotations

from surefoot.boundary.environment import StepLimitReachedError
from surefoot.environments.desk.world import World


def spend(world: World, steps: int) -> None:
    """Let `steps` steps pass. StepLimitReachedError when the episode has fewer left; it then has none."""
    left = world.step_limit - world.steps
    world.steps += min(steps, left)
    if steps > left:
        raise StepLimitReachedError(f"The episode's {world.step_limit} environment steps are used up.")
