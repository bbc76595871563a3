"""Engines by name: where a crew's workers come from."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from surefoot.errors import unknown_name
from surefoot.evaluation.crew import Hire
from surefoot.evaluation.local import LocalWorker

ENGINES = ("local", "ray")


def engine(name: str, size: int) -> AbstractContextManager[Hire]:
    """The engine called `name` for `size` workers, at work within the context. UsageError if it can't be had."""
    if name not in ENGINES:
        raise unknown_name("engine", name, ENGINES)
    if name == "local":
        return nullcontext(LocalWorker)
    from surefoot.evaluation.on_ray import ray_engine  # Ray takes seconds to import, and need not be installed

    return ray_engine(size)
