"""A user's object as an environment: it has no reset, its clock is the host's, its state is not ours to see."""

from __future__ import annotations

import hashlib
import inspect
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from surefoot.boundary.environment import Environment, Scene, checked_duration
from surefoot.errors import UsageError

PROTOCOL = "own-api-1"
TIER = "own API"


class ObjectEnvironment(Environment):
    """`api` is made with a function to call after each effect; `check` decides success after a normal end.

    The clock is the host's, read after effects alone: between two of them queries take no time, so that an edit may
    make others.
    """

    def __init__(self, task: str, make_api: Callable[[Callable[[], None]], object], check: Callable[[], object] | None):
        self.api = make_api(self._read_clock)
        self._task = task
        self._check = check
        self._started = time.monotonic()
        self._clock = 0.0

    def reset(self, seed: int) -> Scene:
        """Note the time. What the object stands for is left as it is, so each recording is a scene of its own."""
        self._started, self._clock = time.monotonic(), 0.0
        name = f"{self._task} {seed} {time.time_ns()}"
        return Scene(seed, hashlib.blake2b(name.encode(), digest_size=16).hexdigest(), {})

    def succeeded(self) -> bool:
        """What `check` says; without one, a normal end is a success."""
        return self._check is None or bool(self._check())

    def telemetry(self) -> dict[str, Any]:
        """Nothing is observed."""
        return {}

    @property
    def clock(self) -> float:
        """Seconds of the host's clock from the reset to the latest effect."""
        return self._clock

    @property
    def steps(self) -> int:
        """Always 0: only a simulator counts steps."""
        return 0

    def sleep(self, seconds: float) -> None:
        """Sleep on the host."""
        time.sleep(checked_duration(seconds))
        self._read_clock()

    def _read_clock(self) -> None:
        self._clock = time.monotonic() - self._started

    def state_digest(self) -> str:
        """UsageError: the state behind a user's object can't be read."""
        raise UsageError(f"The state behind {self._task} can't be read.")


def task_name(kind: type) -> str:
    """Under which name tapes of a class are kept: `module:Class`."""
    return f"{kind.__module__}:{kind.__qualname__}"


def revision_of(subject: object | type, text: str = "") -> str:
    """Hash of the source files of a class and of its bases outside the standard library; then `text`.

    `subject` is an object or its class. Where all of the class is Python's own, as of a SimpleNamespace, the files of
    the object's functions count. UsageError for what has no file, unless there is a text to go by.
    """
    kind = subject if isinstance(subject, type) else type(subject)
    parts = [(base.__qualname__, base.__module__) for base in inspect.getmro(kind) if not _is_pythons(base.__module__)]
    if not parts:
        own = getattr(subject, "__dict__", {}) if subject is not kind else {}
        parts = [(name, str(getattr(item, "__module__", None))) for name, item in own.items() if callable(item)]
    digest = hashlib.blake2b(digest_size=16)
    for name, module in parts:
        path = getattr(sys.modules.get(module), "__file__", None)
        if path is not None and Path(path).is_file() and not _is_pythons(module):
            digest.update(f"{name}\0".encode() + Path(path).read_bytes() + b"\0")
        elif not text:
            raise UsageError(
                f"The source of {module}:{name} can't be found, so a change of it would go unnoticed. Put it into a file, "
                "or name its version: revision='1'."
            )
    return f"{digest.hexdigest()} {text}".strip()


def _is_pythons(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names and module != "__main__"
