"""Workers on this machine: one spawned process each, which ends when its parent does."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from typing import TypeVar

from surefoot.evaluation.crew import Done, Work, attempt

T = TypeVar("T")


class LocalWorker:
    """A process that lives as long as the far end of its lifeline is open: not after its parent, even if killed."""

    died = (BrokenProcessPool,)

    def __init__(self) -> None:
        # spawn: a simulator that was started in this process must not be forked into another
        context = multiprocessing.get_context("spawn")
        reader, self._lifeline = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(1, context, initializer=_start, initargs=(reader,))

    def submit(self, work: Work[T]) -> Future[Done[T]]:
        """Begin a piece of work; it or its future raise BrokenProcessPool when the process has died."""
        return self._pool.submit(attempt, work)

    def close(self, now: bool) -> None:
        """End the process and wait for it: now, whatever it is at, or after its work."""
        if now:
            self._lifeline.close()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._lifeline.close()


def _start(lifeline: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when an interrupted run ends
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: Connection) -> None:
    """Nothing is ever sent: the far end closes, or its process is gone."""
    lifeline.poll(None)
    os._exit(1)
