"""Workers on Ray: one actor each, on the cluster at RAY_ADDRESS or on a small Ray of this machine.

Learning runs write into the campaign's folder, so all machines of a cluster must see it under one path.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import socket
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

from surefoot.errors import EnvironmentFaultError, UsageError
from surefoot.evaluation.crew import Done, Hire, Work, attempt

T = TypeVar("T")
_GREETING = 5.0
"""How long a cluster may take to answer [s]."""
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing leaves the machine
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # its future default; spares a warning per process
}
_LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Makes Ray stay on the loopback interface, as it does on those systems; otherwise it takes the machine's address."""


class _Actor:
    """What runs in a Ray process."""

    def attempt(self, work: Work[T]) -> Done[T]:
        """Do a piece of work."""
        return attempt(work)


class RayWorker:
    """A Ray actor with a CPU of its own; Ray starts none anew, so that a death is seen here."""

    def __init__(self, ray: Any):
        # Ray's memory monitor kills actors, too, and reports that by an error of its own
        self.died: tuple[type[BaseException], ...] = (ray.exceptions.RayActorError, ray.exceptions.OutOfMemoryError)
        self._ray = ray
        self._actor = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(_Actor).remote()

    def submit(self, work: Work[T]) -> Future[Done[T]]:
        """Begin a piece of work; its future raises one of `died` when the process has died."""
        future: Future[Done[T]] = self._actor.attempt.remote(work).future()
        return future

    def close(self, now: bool) -> None:
        """End the process; it has no work left unless it is to end now."""
        self._ray.kill(self._actor)


@contextlib.contextmanager
def ray_engine(size: int) -> Iterator[Hire]:
    """Ray with room for `size` workers. UsageError where Ray is not installed, EnvironmentFaultError if it won't start."""
    address = os.environ.get("RAY_ADDRESS")
    os.environ.update({**_QUIET, **({} if address else _LOOPBACK), **os.environ})  # read when it is imported
    try:
        ray = importlib.import_module("ray")
    except ImportError:
        raise UsageError(
            "The engine 'ray' needs Ray, which is not installed. Install it with: pip install \".[ray]\" in the checkout "
            "of surefoot"
        ) from None
    where: dict[str, Any] = (
        {"address": address}
        if address
        else {"address": "local", "num_cpus": size, "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    )
    try:
        if address:
            _greet(address)
        ray.init(**where, log_to_driver=False, configure_logging=False)
    except Exception as error:  # whatever Ray raises where it can't be reached or started
        raise EnvironmentFaultError(
            f"Ray can't be {'reached at ' + address if address else 'started'}: {type(error).__name__}: {error}. "
            "See to RAY_ADDRESS and RAY_AUTH_MODE, or use '--engine local'."
        ) from error
    try:
        _check_room(int(ray.cluster_resources().get("CPU", 0)), size)
        yield lambda: RayWorker(ray)
    finally:
        ray.shutdown()


def _check_room(cpus: int, size: int) -> None:
    """UsageError where workers would wait for a CPU for ever."""
    if cpus < size:
        raise UsageError(f"The Ray cluster has {cpus} CPUs, fewer than {size} workers. Ask for fewer with --workers.")


def _greet(address: str) -> None:
    """OSError where nobody answers at a `host:port`; Ray itself would try for minutes."""
    found = re.fullmatch(r"(?P<host>[^:/]+):(?P<port>[0-9]+)", address)
    if found:
        socket.create_connection((found["host"], int(found["port"])), timeout=_GREETING).close()
