"""Episodes in parallel: one simulator process per worker; a worker that dies costs one episode."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

import msgspec

from surefoot.boundary.environment import Scene
from surefoot.boundary.outcome import Infrastructure, Outcome
from surefoot.environments.base import Task
from surefoot.environments.host import TaskHost
from surefoot.environments.registry import find_task
from surefoot.program.source import Program

_POLL = 0.2
"""How long a Ctrl-C may have to wait for its turn [s]."""


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


def run_episodes(task: Task, jobs: Sequence[Job], workers: int) -> Iterator[tuple[int, Episode]]:
    """Run jobs and yield (index, episode) as they finish; in order with one worker, in this process."""
    if workers == 1 or len(jobs) < 2:
        with TaskHost(task) as host:
            for index, job in enumerate(jobs):
                yield index, _episode(host, job)
        return
    yield from _in_parallel(task, jobs, min(workers, len(jobs)))


def _in_parallel(task: Task, jobs: Sequence[Job], workers: int) -> Iterator[tuple[int, Episode]]:
    waiting = list(enumerate(jobs))[::-1]
    pools = [_worker(task) for _ in range(workers)]
    running: dict[Future[Episode], tuple[int, int]] = {}

    def renew(place: int) -> None:
        pools[place].shutdown(wait=False)
        pools[place] = _worker(task)

    def start(place: int) -> None:
        index, job = waiting.pop()
        try:
            future = pools[place].submit(_run, job)
        except BrokenProcessPool:  # it died between two episodes, which costs none
            renew(place)
            future = pools[place].submit(_run, job)
        running[future] = (place, index)

    try:
        with _uninterrupted():
            for place in range(workers):
                start(place)
        while running:
            with _uninterrupted():
                done, _ = wait(running, timeout=_POLL, return_when=FIRST_COMPLETED)
            for future in done:
                with _uninterrupted():
                    place, index = running.pop(future)
                    try:
                        episode = future.result()
                    except BrokenProcessPool:
                        episode = _lost(jobs[index])
                        renew(place)
                    if waiting:
                        start(place)
                yield index, episode
    finally:
        with _uninterrupted():
            for pool in pools:
                pool.shutdown(wait=True, cancel_futures=True)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C comes before or after: within, it would leave a pool's locks taken, and everything would wait for ever.

    Threads and workers that are started within never take it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _worker(task: Task) -> ProcessPoolExecutor:
    # spawn: a simulator that was started in this process must not be forked into another
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, context, initializer=_start, initargs=(task.name,))


_host: TaskHost | None = None


def _start(name: str) -> None:
    global _host
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when an interrupted run ends
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _host = TaskHost(find_task(name))


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for its next job for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _run(job: Job) -> Episode:
    assert _host is not None
    return _episode(_host, job)


def _episode(host: TaskHost, job: Job) -> Episode:
    execution = host.execute(Program(job.program, job.name), job.seed, run_seed=job.run_seed)
    return Episode(job.seed, execution.outcome, execution.scene, execution.steps, execution.seconds)


def _lost(job: Job) -> Episode:
    return Episode(job.seed, Infrastructure("the worker process died"), None, 0, 0.0)
