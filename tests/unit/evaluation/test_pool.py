"""Episodes in parallel: the same table with one worker and with two; a dead worker costs one episode."""

from __future__ import annotations

import os
import signal

import pytest

from surefoot.boundary.outcome import Infrastructure, is_success
from surefoot.evaluation import pool
from surefoot.evaluation.pool import Episode, Job, run_episodes


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


def test_a_killed_worker_costs_its_episode_and_no_other(desk, jobs, monkeypatch):
    expected = table(dict(run_episodes(desk, jobs, 1)))
    started = []

    def worker(task):
        started.append(made(task))
        return started[-1]

    made = pool._worker
    monkeypatch.setattr(pool, "_worker", worker)
    episodes = {}
    for index, episode in run_episodes(desk, jobs, 2):
        if not episodes:  # the other worker is at work now, or idle: in both cases it dies
            (process,) = started[1]._processes.values()
            os.kill(process.pid, signal.SIGKILL)
            process.join()
        episodes[index] = episode
    found = table(episodes)
    lost = [row for row in found if isinstance(row[1], Infrastructure)]
    assert [row[1].detail for row in lost] == ["the worker process died"] * len(lost)
    assert len(lost) <= 1
    assert [row for row in found if row not in lost] == [
        row for row in expected if row[0] not in [row[0] for row in lost]
    ]
    assert len(started) == 3


def test_abandoning_the_episodes_ends_the_workers(desk, jobs, monkeypatch):
    started = []
    made = pool._worker
    monkeypatch.setattr(pool, "_worker", lambda task: started.append(made(task)) or started[-1])
    episodes = run_episodes(desk, jobs, 2)
    next(episodes)
    processes = [process for item in started for process in item._processes.values()]
    episodes.close()
    assert len(processes) == 2
    assert not any(process.is_alive() for process in processes)
