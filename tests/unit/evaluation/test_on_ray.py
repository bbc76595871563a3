"""What a Ray worker takes for a death; whole campaigns on Ray are in tests/unit/cli/test_campaign.py."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace

import pytest

from surefoot.evaluation.crew import Crew, Done
from surefoot.evaluation.on_ray import RayWorker


class Counting:
    """Work that is done at once."""

    most_deaths = 3

    def perform(self) -> int:
        return 1

    def given_up(self) -> int:
        return -1

    def episodes(self, result: int) -> int:
        return 1


def ray_that_ends_with(errors: list[BaseException], exceptions) -> SimpleNamespace:
    """A Ray whose actors' work ends with these errors, one after another, then well."""

    def attempt(work) -> SimpleNamespace:
        future: Future = Future()
        if errors:
            future.set_exception(errors.pop(0))
        else:
            future.set_result(Done(result=work.perform()))
        return SimpleNamespace(future=lambda: future)

    actor = SimpleNamespace(attempt=SimpleNamespace(remote=attempt))
    remote = lambda **_: lambda _: SimpleNamespace(remote=lambda: actor)  # noqa: E731
    return SimpleNamespace(exceptions=exceptions, remote=remote, kill=lambda actor: None)


@pytest.mark.parametrize("name", ["RayActorError", "ActorDiedError", "ActorUnavailableError", "OutOfMemoryError"])
def test_work_of_an_actor_that_died_or_that_the_memory_monitor_killed_is_done_again(name):
    exceptions = pytest.importorskip("ray.exceptions")
    kind = getattr(exceptions, name)
    error = kind.__new__(kind)  # their constructors take what only Ray has
    ray = ray_that_ends_with([error], exceptions)
    with Crew(lambda: RayWorker(ray), 1) as crew:
        assert list(crew.run([Counting()])) == [(0, 1)]
        assert crew.lost == 1
