"""Episodes of frozen programs, alone or in parallel; a worker that dies costs its episode's time and no result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import msgspec

from surefoot.boundary.environment import Scene
from surefoot.boundary.outcome import Infrastructure, Outcome
from surefoot.environments.base import Task
from surefoot.environments.host import TaskHost
from surefoot.environments.registry import find_task
from surefoot.errors import RunError
from surefoot.evaluation.crew import Crew
from surefoot.evaluation.local import LocalWorker
from surefoot.program.source import Program

_TRIES = 3
"""How often an episode is begun that the environment fails, anew each time; a search does the same."""


class Job(msgspec.Struct, frozen=True):
    """One episode to run: a program's text on one configuration."""

    program: str
    name: str
    seed: int
    run_seed: int = 0


class Episode(msgspec.Struct, frozen=True):
    """One episode's result; `scene` is None where the environment could not be reset."""

    seed: int
    outcome: Outcome
    scene: Scene | None
    steps: int
    seconds: float


class Evaluation(msgspec.Struct, frozen=True):
    """A job on a task of a known revision, as work for a crew.

    `most_deaths`: a scene at which workers die again and again is to blame.
    """

    most_deaths: ClassVar[int] = 3

    task: str
    revision: str
    job: Job

    def perform(self) -> Episode:
        """Run the episode in this process's environment of the task. RunError if that has another revision."""
        host = _serving(self.task)
        if host.revision != self.revision:  # another machine's, or changed since: workers are hired again and again
            raise RunError(
                f"A worker's environment of {self.task} has revision {host.revision[:12]}, not {self.revision[:12]}. "
                "Give all workers the same one, then go on."
            )
        return _episode(host, self.job)

    def given_up(self) -> Episode:
        """An infrastructure failure."""
        detail = f"the worker process died {self.most_deaths} times at this episode"
        return Episode(self.job.seed, Infrastructure(detail), None, 0, 0.0)

    def episodes(self, result: Episode) -> int:
        """One."""
        return 1


def run_episodes(task: Task, jobs: Sequence[Job], workers: int) -> Iterator[tuple[int, Episode]]:
    """Run jobs and yield (index, episode) as they finish; in order with one worker, in this process."""
    if workers == 1 or len(jobs) < 2:
        with TaskHost(task) as host:
            for index, job in enumerate(jobs):
                yield index, _episode(host, job)
        return
    with Crew(LocalWorker, min(workers, len(jobs))) as crew:
        revision = task.revision()
        yield from crew.run([Evaluation(task.name, revision, job) for job in jobs])


_host: TaskHost | None = None


def _serving(name: str) -> TaskHost:
    """This worker's host; one at a time, as a simulator takes memory."""
    global _host
    if _host is None or _host.task.name != name:
        if _host is not None:
            _host.close()
        _host = TaskHost(find_task(name))
    return _host


def _episode(host: TaskHost, job: Job) -> Episode:
    for _ in range(_TRIES):
        execution = host.execute(Program(job.program, job.name), job.seed, run_seed=job.run_seed)
        if not isinstance(execution.outcome, Infrastructure):
            break
    return Episode(job.seed, execution.outcome, execution.scene, execution.steps, execution.seconds)
