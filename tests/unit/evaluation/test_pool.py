"""Episodes in parallel: the same table with one worker and with two; a dead worker costs one episode."""

from __future__ import annotations

import dataclasses
import os
import signal

import pytest

from surefoot.boundary.outcome import Infrastructure, is_success
from surefoot.errors import RunError
from surefoot.evaluation import pool
from surefoot.evaluation.local import LocalWorker
from surefoot.evaluation.pool import Episode, Evaluation, Job, run_episodes


@pytest.fixture
def jobs(naive) -> list[Job]:
    return [Job(naive.source, "naive", seed) for seed in range(101, 107)]


def table(episodes: dict[int, Episode]) -> list[tuple]:
    return [(item.seed, item.outcome, item.scene, item.steps) for _, item in sorted(episodes.items())]


def test_one_worker_and_two_give_the_same_table(desk, jobs):
    single = list(run_episodes(desk, jobs, 1))
    assert [index for index, _ in single] == list(range(6))
    assert table(dict(single)) == table(dict(run_episodes(desk, jobs, 2)))
    assert sum(is_success(item.outcome) for _, item in single) == 4


@pytest.fixture
def started(monkeypatch) -> list[LocalWorker]:
    """Workers in the order in which they are hired."""
    hired = []
    monkeypatch.setattr(pool, "LocalWorker", lambda: hired.append(LocalWorker()) or hired[-1])
    return hired


def processes(worker: LocalWorker):
    return list(worker._pool._processes.values())


def test_a_killed_worker_s_episode_is_run_again_by_another(desk, jobs, started):
    expected = table(dict(run_episodes(desk, jobs, 1)))
    episodes = {}
    for index, episode in run_episodes(desk, jobs, 2):
        if not episodes:  # the other worker is at work now, or idle: in both cases it dies
            (process,) = processes(started[1])
            os.kill(process.pid, signal.SIGKILL)
            process.join()
        episodes[index] = episode
    assert table(episodes) == expected
    assert len(started) == 3


def test_an_episode_that_is_given_up_is_an_infrastructure_failure(desk, jobs):
    lost = Evaluation(desk.name, desk.revision(), jobs[0]).given_up()
    assert lost.outcome == Infrastructure("the worker process died 3 times at this episode")
    assert (lost.seed, lost.scene) == (101, None)


def test_abandoning_the_episodes_ends_the_workers(desk, jobs, started):
    episodes = run_episodes(desk, jobs, 2)
    next(episodes)
    alive = [process for worker in started for process in processes(worker)]
    episodes.close()
    assert len(alive) == 2
    assert not any(process.is_alive() for process in alive)


def test_a_worker_whose_environment_has_another_revision_runs_nothing(desk, jobs):
    with pytest.raises(RunError) as fault:
        Evaluation(desk.name, "another", jobs[0]).perform()
    assert str(fault.value) == (
        f"A worker's environment of desk/place has revision {desk.revision()[:12]}, not another. "
        "Give all workers the same one, then go on."
    )


@pytest.mark.parametrize(("faults", "lost"), [(2, False), (3, True)])
def test_an_episode_is_lost_only_if_the_environment_fails_it_three_times(desk, jobs, faults, lost):
    left = [RuntimeError("no light")] * faults

    def make():
        environment = desk.make()
        reset = environment.reset

        def failing(seed: int):
            if left:
                raise left.pop()
            return reset(seed)

        environment.reset = failing
        return environment

    ((_, episode),) = run_episodes(dataclasses.replace(desk, make=make), jobs[:1], 1)
    assert isinstance(episode.outcome, Infrastructure) is lost
    assert not left
