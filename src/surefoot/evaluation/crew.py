"""Work spread over worker processes; what a worker that died had in hand is done again by another.

Two engines hire workers: `surefoot.evaluation.local` on this machine, `surefoot.evaluation.on_ray` wherever Ray runs.
"""

from __future__ import annotations

import contextlib
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from surefoot.environments.host import EPISODES_PER_PROCESS
from surefoot.errors import EnvironmentFaultError, RunError, SurefootError

_POLL = 0.2
"""How long a Ctrl-C may have to wait for its turn [s]."""
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Work(Protocol[T_co]):
    """A piece of work: a value that can be sent to another process and done there, again if need be."""

    @property
    def most_deaths(self) -> int:
        """How many workers may die at it before it is given up."""

    def perform(self) -> T_co:
        """Do it, in a worker. A SurefootError ends the whole crew's work."""

    def given_up(self) -> T_co:
        """What stands for its result when too many workers died at it."""

    def episodes(self, result: Any) -> int:
        """How many environment episodes it took, at most."""


class Done(msgspec.Struct, Generic[T]):
    """What a worker gives back: a result, or the error that it ended with."""

    result: T | None = None
    error: SurefootError | None = None


class Worker(Protocol):
    """One process that does one piece of work at a time."""

    @property
    def died(self) -> tuple[type[BaseException], ...]:
        """What `submit` or its future raise when the process has died."""

    def submit(self, work: Work[T]) -> Future[Done[T]]:
        """Begin a piece of work."""

    def close(self, now: bool) -> None:
        """End the process: now, whatever it is at, or after its work."""


Hire = Callable[[], Worker]
"""An engine: starts one more worker."""


def attempt(work: Work[T]) -> Done[T]:
    """What a worker does with a piece of work."""
    try:
        return Done(result=work.perform())
    except SurefootError as error:
        return Done(error=error)
    except OSError as error:  # the command would take it for its own output's
        return Done(error=RunError(f"A worker met {type(error).__name__}: {error}. See to it, then go on."))


class Crew:
    """Up to `size` workers, hired when first needed and kept between pieces of work; a context manager.

    `lost` counts the workers that died.
    """

    def __init__(self, hire: Hire, size: int):
        self.lost = 0
        self._hire = hire
        self._workers: list[Worker | None] = [None] * size
        self._episodes = [0] * size

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with uninterrupted():
            for place in range(len(self._workers)):
                self._dismiss(place, now=error is not None)

    def run(self, works: Sequence[Work[T]]) -> Iterator[tuple[int, T]]:
        """Do all pieces of work and yield (index, result) as they are finished."""
        waiting = deque(range(len(works)))
        running: dict[Future[Done[T]], tuple[int, int]] = {}
        deaths: Counter[int] = Counter()

        def start(place: int) -> None:
            index = waiting.popleft()
            running[self._submit(place, works[index])] = (place, index)

        with uninterrupted():
            for place in range(min(len(self._workers), len(works))):
                start(place)
        while running:
            with uninterrupted():
                done, _ = wait(running, timeout=_POLL, return_when=FIRST_COMPLETED)
            for future in done:
                with uninterrupted():
                    place, index = running.pop(future)
                    finished = self._finished(place, future)
                    if finished is None:
                        deaths[index] += 1
                        if deaths[index] < works[index].most_deaths:
                            waiting.appendleft(index)
                        else:
                            finished = Done(result=works[index].given_up())
                    elif finished.error is None:
                        self._count(place, works[index].episodes(finished.result))
                    if waiting:
                        start(place)
                if finished is not None:
                    yield index, _result(finished)

    def _submit(self, place: int, work: Work[T]) -> Future[Done[T]]:
        """Begin a piece of work. EnvironmentFaultError where no worker can be started."""
        try:
            return self._begun(place, work)
        except OSError as error:  # the command would take it for its own output's
            raise EnvironmentFaultError(
                f"No worker process can be started: {error.strerror or error}. "
                "See to the machine, or ask for fewer with --workers; then go on."
            ) from error

    def _begun(self, place: int, work: Work[T]) -> Future[Done[T]]:
        worker = self._workers[place] = self._workers[place] or self._hire()
        try:
            return worker.submit(work)
        except worker.died:  # between two pieces of work, which costs none
            self.lost += 1
            self._dismiss(place, now=True)
            worker = self._workers[place] = self._hire()
            return worker.submit(work)

    def _finished(self, place: int, future: Future[Done[T]]) -> Done[T] | None:
        """What came of a piece of work; None if its worker died."""
        worker = self._workers[place]
        assert worker is not None
        try:
            return future.result()
        except worker.died:
            self.lost += 1
            self._dismiss(place, now=True)
            return None

    def _count(self, place: int, episodes: int) -> None:
        self._episodes[place] += episodes
        if self._episodes[place] >= EPISODES_PER_PROCESS:
            self._dismiss(place, now=False)

    def _dismiss(self, place: int, now: bool) -> None:
        worker, self._workers[place], self._episodes[place] = self._workers[place], None, 0
        if worker is not None:
            worker.close(now)


def _result(outcome: Done[T]) -> T:
    if outcome.error is not None:
        raise outcome.error
    return outcome.result  # type: ignore[return-value]  # a result may be None


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C comes before or after: within, it would leave a pool's locks taken, and everything would wait for ever.

    Threads and workers that are started within never take it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
