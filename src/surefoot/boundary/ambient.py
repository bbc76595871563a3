"""Ambient nondeterminism, closed inside the program process: clock, chance, and what the machine says of itself.

`close` replaces what Python reads from outside, once, in the interpreter that programs are forked from; a
run then sets a clock and seeds. Each replacement is a method named like the function that it stands for:
bound methods, like builtins, don't bind again when a program keeps one in a class. What Python can't
replace (`np.datetime64('now')`) is refused in the source, see `surefoot.program.refusals`; files are in
`surefoot.boundary.files`, what a program may not do at all in `surefoot.boundary.guard`.
"""

from __future__ import annotations

import ctypes
import datetime
import gc
import hashlib
import os
import platform
import pwd
import random
import resource
import signal
import sys
import tempfile
import threading
import time
import types
import uuid
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy as np
import numpy.random  # loaded lazily otherwise, in every program process anew

StructTime = time.struct_time
EPOCH = 1_600_000_000.0
"""Unix time [s] at which every episode starts."""
PROCESS_ID = 2
HOST_NAME = "localhost"


class VirtualClock:
    """Environment time; `now` is set by the client at each answer, in seconds since the reset."""

    def __init__(self, now: float, sleep: Callable[[float], Any]):
        self.now = now
        self.sleep = sleep

    def install(self) -> None:
        """Let all readings of time show this clock, and `time.sleep` call its `sleep`."""
        _time.clock = self


class _Time:
    """Functions of module `time`, by the clock of the run."""

    def __init__(self) -> None:
        self.clock = VirtualClock(0.0, time.sleep)
        self._local, self._utc, self._text = time.localtime, time.gmtime, time.ctime
        self._format, self._as_text = time.strftime, time.asctime

    def time(self) -> float:
        return EPOCH + self.clock.now

    def time_ns(self) -> int:
        return round(self.time() * 1e9)

    def monotonic(self) -> float:
        return self.clock.now

    def monotonic_ns(self) -> int:
        return round(self.clock.now * 1e9)

    def clock_gettime(self, clock: int) -> float:
        return self.time() if clock in _WALL_CLOCKS else self.clock.now

    def clock_gettime_ns(self, clock: int) -> int:
        return round(self.clock_gettime(clock) * 1e9)

    def sleep(self, seconds: float) -> None:
        self.clock.sleep(seconds)

    def clock_settime(self, clock: int, seconds: float) -> NoReturn:
        raise PermissionError("programs set no clock")

    def pthread_getcpuclockid(self, thread: int) -> int:
        return time.CLOCK_THREAD_CPUTIME_ID

    def localtime(self, seconds: float | None = None) -> StructTime:
        return self._local(self.time() if seconds is None else seconds)

    def gmtime(self, seconds: float | None = None) -> StructTime:
        return self._utc(self.time() if seconds is None else seconds)

    def ctime(self, seconds: float | None = None) -> str:
        return self._text(self.time() if seconds is None else seconds)

    def strftime(self, text: str, t: Any = None) -> str:
        return self._format(text, self.localtime() if t is None else t)

    def asctime(self, t: Any = None) -> str:
        return self._as_text(self.localtime() if t is None else t)


_WALL_CLOCKS = {getattr(time, name) for name in ("CLOCK_REALTIME", "CLOCK_TAI") if hasattr(time, name)}
_time = _Time()


class _Stream:
    """One named stream of bytes: a draw from one shifts no other."""

    def __init__(self, name: str):
        self._name = name
        self.restart(0)

    def restart(self, seed: int) -> None:
        self._key = f"surefoot {self._name} {seed}".encode()
        self._drawn = 0

    def draw(self, size: int, flags: int = 0) -> bytes:
        """`size` bytes, in the place of the operating system's."""
        self._drawn += 1
        return hashlib.shake_128(self._key + b"%d" % self._drawn).digest(size)

    def bits(self, count: int) -> int:
        """A number of `count` bits."""
        return int.from_bytes(self.draw((count + 7) // 8)) >> (-count % 8)


_STREAMS = {
    name: _Stream(name) for name in ("entropy", "secrets", "generators", "numpy generators", "uuid", "temporary names")
}
"""`secrets` feeds SystemRandom, too; `generators` seeds each `random.Random()` that has no seed."""


def seed_streams(seed: int) -> None:
    """Start a run: seed `random`, `numpy.random` and every named stream, each on its own."""
    for stream in _STREAMS.values():
        stream.restart(seed)
    random.seed(f"surefoot random {seed}")
    words = hashlib.blake2b(f"surefoot numpy {seed}".encode(), digest_size=16).digest()
    np.random.seed(np.frombuffer(words, np.uint32))


class _Identifiers:
    """Functions of module `uuid`."""

    def __init__(self) -> None:
        self._by_time = uuid.uuid1
        self._node = int.from_bytes(hashlib.blake2b(b"surefoot node", digest_size=6).digest()) | 1 << 40

    def getnode(self) -> int:
        return self._node

    def uuid1(self, node: int | None = None, clock_seq: int | None = None) -> uuid.UUID:
        sequence = _STREAMS["uuid"].bits(14) if clock_seq is None else clock_seq
        return self._by_time(self._node if node is None else node, sequence)

    def uuid4(self) -> uuid.UUID:
        return uuid.UUID(bytes=_STREAMS["uuid"].draw(16), version=4)

    def generate_time_safe(self) -> tuple[bytes, None]:
        return self.uuid1().bytes, None


class _Machine:
    """Functions of module `os` and its like that tell processes, loads and machines apart."""

    def getpid(self) -> int:
        return PROCESS_ID

    def getppid(self) -> int:
        return 1

    def getpgrp(self) -> int:
        return PROCESS_ID

    def getpgid(self, pid: int) -> int:
        return PROCESS_ID

    def getsid(self, pid: int) -> int:
        return PROCESS_ID

    def get_native_id(self) -> int:
        return PROCESS_ID

    def getuid(self) -> int:
        return 1000

    def getgroups(self) -> list[int]:
        return []

    def getlogin(self) -> str:
        return "program"

    def times(self) -> os.times_result:
        return os.times_result((0.0, 0.0, 0.0, 0.0, _time.monotonic()))

    def getallocatedblocks(self) -> int:
        return 0

    def getrusage(self, who: int) -> resource.struct_rusage:
        return resource.struct_rusage((0.0, 0.0, *[0] * 14))

    def cpu_count(self) -> int:
        return 1

    def sched_getaffinity(self, pid: int) -> set[int]:
        return {0}

    def getloadavg(self) -> tuple[float, float, float]:
        return 0.0, 0.0, 0.0

    def uname(self) -> os.uname_result:
        return os.uname_result(("Linux", HOST_NAME, "", "", _MACHINE))

    def sysconf(self, name: str | int) -> int:
        number = os.sysconf_names.get(name, -1) if isinstance(name, str) else name
        if number in _COUNTS:
            return _COUNTS[number]
        return _sysconf(name)

    def gethostname(self) -> str:
        return HOST_NAME

    def getpwuid(self, uid: int) -> NoReturn:
        raise KeyError(f"getpwuid(): uid not found: {uid}")

    def getpwnam(self, name: str) -> NoReturn:
        raise KeyError(f"getpwnam(): name not found: {name!r}")

    def getpwall(self) -> list[Any]:
        return []

    def kill(self, pid: int, number: int) -> None:
        if pid != PROCESS_ID:
            raise PermissionError("programs send signals to nobody but themselves")
        signal.raise_signal(number)

    def refuse_thread(self, *_: Any, **options: Any) -> NoReturn:
        raise PermissionError("programs start no threads: they run in an order that a replay can't repeat")

    def refuse_timer(self, *_: Any) -> NoReturn:
        raise PermissionError("programs set no timers: a signal comes at no point that a replay can repeat")


_MACHINE = os.uname().machine
_sysconf = os.sysconf
_COUNTS = {
    os.sysconf_names[name]: count
    for name, count in (
        ("SC_NPROCESSORS_CONF", 1),
        ("SC_NPROCESSORS_ONLN", 1),
        ("SC_PHYS_PAGES", 1 << 20),
        ("SC_AVPHYS_PAGES", 1 << 20),
    )
    if name in os.sysconf_names
}
_OWN = ("surefoot.boundary.", "importlib.", "_frozen_importlib")
"""Modules that keep the real functions: they serve the process, not the program."""


def close() -> None:
    """Replace what reads the outside, in every module that is loaded; can't be undone."""
    replace(_replacements())
    _close_random()
    _close_datetime()
    _close_names()


def replace(pairs: Iterable[tuple[Any, Any]], but: tuple[str, ...] = ()) -> None:
    """Put each pair's second in the place of its first, under whatever name a loaded module holds it."""
    by_identity = {id(old): new for old, new in pairs}
    for name, module in list(sys.modules.items()):
        if name.startswith(_OWN) or name in ("__main__", *but) or not isinstance(module, types.ModuleType):
            continue
        names = vars(module)
        for key in [key for key, value in names.items() if id(value) in by_identity]:
            names[key] = by_identity[id(names[key])]


def _replacements() -> list[tuple[Any, Any]]:
    machine, identifiers, entropy = _Machine(), _Identifiers(), _STREAMS["entropy"]
    since_reset = ("perf_counter", "process_time", "thread_time")
    pairs = list(_by_name(time, _time))
    pairs += [(getattr(time, name), _time.monotonic) for name in since_reset]
    pairs += [(getattr(time, name + "_ns"), _time.monotonic_ns) for name in since_reset]
    pairs += [*_by_name(uuid, identifiers), *_by_name(os, machine), *_by_name(pwd, machine)]
    pairs += [(os.urandom, entropy.draw), (os.getrandom, entropy.draw), (resource.getrusage, machine.getrusage)]
    pairs += [(sys.getallocatedblocks, machine.getallocatedblocks)]
    pairs += [(getattr(os, name), machine.getuid) for name in ("geteuid", "getgid", "getegid")]
    for module, names in (
        ("_uuid", ("generate_time_safe",)),
        ("_socket", ("gethostname",)),
        ("_thread", ("get_native_id",)),
    ):
        loaded = sys.modules.get(module)
        pairs += [(getattr(loaded, name), getattr(identifiers if module == "_uuid" else machine, name))
                  for name in names if hasattr(loaded, name)]  # fmt: skip
    starts = ("_start_new_thread", "_start_joinable_thread")
    pairs += [(getattr(threading, name), machine.refuse_thread) for name in starts if hasattr(threading, name)]
    timers = ("alarm", "setitimer", "pthread_kill", "set_wakeup_fd")
    pairs += [(getattr(signal, name), machine.refuse_timer) for name in timers if hasattr(signal, name)]
    return pairs


def _by_name(module: Any, instead: Any) -> Iterable[tuple[Any, Any]]:
    """Pairs of a module's function and the method of the same name."""
    for name, value in vars(type(instead)).items():
        if callable(value) and name[0] != "_" and hasattr(module, name):
            yield getattr(module, name), getattr(instead, name)


def _close_random() -> None:
    random._urandom = _STREAMS["secrets"].draw  # type: ignore[attr-defined]  # read by SystemRandom and secrets
    numpy.random.bit_generator.randbits = _STREAMS["numpy generators"].bits  # type: ignore[attr-defined]
    seeded = random.Random.seed

    def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
        seeded(self, int.from_bytes(_STREAMS["generators"].draw(32)) if a is None else a, version)

    random.Random.seed = seed  # type: ignore[method-assign]  # its C part would ask the kernel
    random.seed = types.MethodType(seed, random._inst)


def _close_datetime() -> None:
    """`now`, `utcnow` and `today`, in the types themselves: static types, but their dictionaries are like any other."""

    def now(cls: type[datetime.datetime], tz: datetime.tzinfo | None = None) -> datetime.datetime:
        return cls.fromtimestamp(_time.time(), tz)

    def utcnow(cls: type[datetime.datetime]) -> datetime.datetime:
        return cls.fromtimestamp(_time.time(), datetime.UTC).replace(tzinfo=None)

    def today(cls: type[datetime.date]) -> datetime.date:  # `datetime` has it from `date`
        return cls.fromtimestamp(_time.time())

    _replace_in_type(datetime.datetime, now=now, utcnow=utcnow)
    _replace_in_type(datetime.date, today=today)
    start = datetime.datetime.fromtimestamp(_time.time())
    assert start == datetime.datetime.now() == datetime.datetime.today()
    assert start.date() == datetime.date.today()


def _replace_in_type(kind: type, **methods: Callable[..., Any]) -> None:
    names = next(item for item in gc.get_referents(kind.__dict__) if isinstance(item, dict))
    names.update({name: classmethod(method) for name, method in methods.items()})
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


def _close_names() -> None:
    """Values rather than functions that tell one run from another."""
    uuid._generate_time_safe = None  # type: ignore[attr-defined]  # uuid1 then reads time.time_ns
    names = tempfile._RandomNameSequence()  # type: ignore[attr-defined]
    tempfile._name_sequence = names  # type: ignore[attr-defined]
    type(names).rng = property(lambda _: _TEMPORARY_NAMES)
    gc.callbacks = ()  # type: ignore[assignment]  # collections come at no point that a replay can repeat
    platform._uname_cache = None  # type: ignore[attr-defined]
    if "logging" in sys.modules:
        vars(sys.modules["logging"])["_startTime"] = EPOCH


class _TemporaryNames(random.Random):
    """What `tempfile` draws names from."""

    def random(self) -> float:
        return _STREAMS["temporary names"].bits(53) / (1 << 53)

    def getrandbits(self, count: int) -> int:
        return _STREAMS["temporary names"].bits(count)


_TEMPORARY_NAMES = _TemporaryNames(0)
