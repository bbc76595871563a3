"""Many worlds, in one process or several; the same results whatever the number of workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

T = TypeVar("T")
CHUNK = 5


def each_world(measure: Callable[[int], T], seeds: Sequence[int], workers: int = 1) -> Iterator[T]:
    """`measure` of each seed, in the order of the seeds."""
    if workers <= 1 or len(seeds) <= 1:
        yield from map(measure, seeds)
        return
    # spawned, not forked: the caller may hold threads
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(measure, seeds, chunksize=min(CHUNK, -(-len(seeds) // workers)))
