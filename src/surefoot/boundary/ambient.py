"""Ambient nondeterminism, closed inside the program process: clock, entropy, global random streams.

The clock is virtual: it shows the environment's time, arrives with each answer and is read locally, so a
timing print changes no request. Entropy comes from a stream of its own, so one more draw here shifts no
other stream. What Python can't patch (`datetime.now`, `np.datetime64('now')`) is refused in the source,
see `surefoot.program.source`.
"""

from __future__ import annotations

import hashlib
import os
import random
import time
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.random  # loaded lazily otherwise, in every program process anew

EPOCH = 1_600_000_000.0
"""Unix time [s] at which every episode starts."""


class VirtualClock:
    """Environment time; `now` is set by the client at each answer, in seconds since the reset."""

    def __init__(self, now: float, sleep: Callable[[float], Any]):
        self.now = now
        self._sleep = sleep

    def install(self) -> None:
        """Replace the readings of module `time`, and `sleep` by a call to the environment."""
        since_epoch, since_reset = self._since_epoch, self._since_reset
        for name, read in {
            "time": since_epoch,
            "monotonic": since_reset,
            "perf_counter": since_reset,
            "process_time": since_reset,
            "thread_time": since_reset,
        }.items():
            setattr(time, name, read)
            setattr(time, name + "_ns", lambda read=read: round(read() * 1e9))
        time.clock_gettime = lambda clock: since_epoch() if clock == time.CLOCK_REALTIME else since_reset()
        time.clock_gettime_ns = lambda clock: round(time.clock_gettime(clock) * 1e9)
        for name in ("localtime", "gmtime", "ctime"):
            setattr(time, name, _at_virtual_time(getattr(time, name), since_epoch))
        strftime = time.strftime
        time.strftime = lambda text, t=None: strftime(text, time.gmtime() if t is None else t)
        asctime = time.asctime
        time.asctime = lambda t=None: asctime(time.gmtime() if t is None else t)
        time.sleep = self._sleep  # type: ignore[assignment]

    def _since_epoch(self) -> float:
        return EPOCH + self.now

    def _since_reset(self) -> float:
        return self.now


def _at_virtual_time(read: Callable[..., Any], now: Callable[[], float]) -> Callable[..., Any]:
    return lambda seconds=None: read(now() if seconds is None else seconds)


def seed_streams(seed: int) -> None:
    """Seed `random`, `numpy.random` and the entropy source, each with a stream of its own."""
    random.seed(f"surefoot random {seed}")
    words = hashlib.blake2b(f"surefoot numpy {seed}".encode(), digest_size=16).digest()
    np.random.seed(np.frombuffer(words, np.uint32))
    entropy = _Entropy(seed)
    os.urandom = entropy.draw
    os.getrandom = lambda size, flags=0: entropy.draw(size)
    random._urandom = entropy.draw  # type: ignore[attr-defined]  # read by SystemRandom, secrets and default_rng
    seeded = random.Random.seed

    def seed_from_stream(stream: random.Random, a: Any = None, version: int = 2) -> None:
        seeded(stream, int.from_bytes(entropy.draw(32)) if a is None else a, version)

    random.Random.seed = seed_from_stream  # type: ignore[assignment,method-assign]  # its C part would ask the kernel
    random.seed = types.MethodType(seed_from_stream, random._inst)


class _Entropy:
    def __init__(self, seed: int):
        self._key = f"surefoot entropy {seed}".encode()
        self._drawn = 0

    def draw(self, size: int) -> bytes:
        """`size` bytes of the stream, in the place of the operating system's."""
        self._drawn += 1
        return hashlib.shake_128(self._key + b"%d" % self._drawn).digest(size)
