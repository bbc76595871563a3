"""A crew's bookkeeping with workers that do their work at once, or die at it as scripted."""

from __future__ import annotations

from concurrent.futures import Future
from typing import NamedTuple

import pytest

from surefoot.errors import EnvironmentFaultError, RunError
from surefoot.evaluation import crew
from surefoot.evaluation.crew import Crew, attempt


class DiedError(Exception):
    """A scripted death."""


class Doubling(NamedTuple):
    """Twice a number; workers die at it `deaths` times."""

    number: int
    weight: int = 1
    most_deaths: int = 3

    def perform(self) -> int:
        if self.number == -2:
            raise FileNotFoundError(2, "No such file", "map.txt")
        if self.number < 0:
            raise RunError("negative")
        return 2 * self.number

    def given_up(self) -> int:
        return -1

    def episodes(self, result: int) -> int:
        return self.weight


class Scripted:
    """Hires workers that die as often as `deaths` says at a number, or between two pieces of work."""

    died = (DiedError,)

    def __init__(self, deaths: dict[int, int] | None = None, idle_deaths: int = 0):
        self.deaths = deaths or {}
        self.idle_deaths = idle_deaths
        self.log: list[str] = []

    def __call__(self):
        self.log.append("hired")
        return self

    def submit(self, work):
        if self.idle_deaths and self.log[-1] != "hired":
            self.idle_deaths -= 1
            raise DiedError
        self.log.append(str(work.number))
        future = Future()
        if self.deaths.get(work.number):
            self.deaths[work.number] -= 1
            future.set_exception(DiedError())
        else:
            future.set_result(attempt(work))
        return future

    def close(self, now: bool) -> None:
        self.log.append("ended" if now else "let go")


def done(scripted: Scripted, size: int, *works: Doubling) -> dict[int, int]:
    with Crew(scripted, size) as made:
        return dict(made.run(works))


def test_every_piece_of_work_is_done_once_and_workers_are_kept():
    scripted = Scripted()
    with Crew(scripted, 2) as made:
        for _ in range(2):
            assert dict(made.run([Doubling(number) for number in range(5)])) == {0: 0, 1: 2, 2: 4, 3: 6, 4: 8}
    assert scripted.log.count("hired") == 2
    assert scripted.log[-2:] == ["let go", "let go"]


def test_more_workers_than_work_are_not_hired():
    scripted = Scripted()
    assert done(scripted, 8, Doubling(1)) == {0: 2}
    assert scripted.log == ["hired", "1", "let go"]


def test_no_work_hires_nobody():
    scripted = Scripted()
    assert done(scripted, 2) == {}
    assert scripted.log == []


def test_what_a_worker_had_in_hand_when_it_died_is_done_by_another():
    scripted = Scripted({7: 2})
    with Crew(scripted, 1) as made:
        assert dict(made.run([Doubling(7), Doubling(8)])) == {0: 14, 1: 16}
        assert made.lost == 2
    assert scripted.log == ["hired", "7", "ended", "hired", "7", "ended", "hired", "7", "8", "let go"]


def test_work_at_which_too_many_workers_died_is_given_up_and_the_rest_is_done():
    assert done(Scripted({7: 99}), 1, Doubling(7), Doubling(8)) == {0: -1, 1: 16}


def test_a_worker_that_died_between_two_pieces_of_work_costs_none():
    scripted = Scripted(idle_deaths=1)
    assert done(scripted, 1, Doubling(1), Doubling(2)) == {0: 2, 1: 4}
    assert scripted.log == ["hired", "1", "ended", "hired", "2", "let go"]


def test_a_worker_is_replaced_after_its_number_of_episodes(monkeypatch):
    monkeypatch.setattr(crew, "EPISODES_PER_PROCESS", 5)
    scripted = Scripted()
    done(scripted, 1, *(Doubling(number, weight=2) for number in range(4)))
    assert scripted.log == ["hired", "0", "1", "2", "let go", "hired", "3", "let go"]


def test_an_error_of_surefoot_s_ends_all_work_at_once():
    scripted = Scripted()
    with pytest.raises(RunError, match="negative"):
        done(scripted, 1, Doubling(-1), Doubling(1))
    assert scripted.log[-1] == "ended"


def test_a_file_that_a_worker_misses_is_no_fault_of_the_output():
    with pytest.raises(RunError, match=r"A worker met FileNotFoundError: .*'map.txt'"):
        done(Scripted(), 1, Doubling(-2))


def test_a_machine_on_which_no_worker_can_be_started_is_said():
    def hire():
        raise OSError(24, "Too many open files")

    with pytest.raises(EnvironmentFaultError) as fault, Crew(hire, 2) as made:
        list(made.run([Doubling(1)]))
    assert str(fault.value) == (
        "No worker process can be started: Too many open files. "
        "See to the machine, or ask for fewer with --workers; then go on."
    )
