"""The clean process that program processes are forked from.

It is a fresh interpreter that never held an environment, an evaluator or a tape: a forked program finds
none of them in its memory. It preloads NumPy (and what else the host names), then waits on its control
socket. A request carries three descriptors (program socket, standard output, standard error); the answer
is the child's process id, and later its exit status. Protocol: JSON lines.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import resource
import selectors
import shutil
import signal
import socket
import sys
from pathlib import Path
from typing import Any, NamedTuple

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
CONTROL = 3
"""The control socket's descriptor number in the zygote."""


class Child(NamedTuple):
    """A program process. Its working folder is its own, empty, and of the same name in every run alone."""

    pid: int
    slot: int

    @property
    def folder(self) -> Path:
        """The working folder, within the zygote's."""
        return Path(os.environ["HOME"]) / f"run-{self.slot}"


def main() -> None:
    """Serve fork requests until the host closes the control socket."""
    preload = json.loads(sys.argv[1])
    for name in ("surefoot.boundary.client", *preload):
        # A module that can't be imported here fails again, with its own error, where the program imports it;
        # one that is a script ends.
        with contextlib.suppress(Exception, SystemExit):
            importlib.import_module(name)
    from surefoot.boundary.platform import numeric_platform

    gc.collect()
    gc.freeze()
    control = socket.socket(fileno=CONTROL)
    try:
        _tell(control, {"ready": os.getpid(), "platform": numeric_platform(), "python": sys.version.split()[0]})
        _serve(control)
    except (BrokenPipeError, ConnectionResetError):
        pass  # the host is gone
    finally:
        _kill_all_but(set())
        shutil.rmtree(os.environ["HOME"], ignore_errors=True)  # a host that was killed can't


def _serve(control: socket.socket) -> None:
    children: dict[int, Child] = {}
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)  # what a program leaves behind comes here
    waiting = selectors.DefaultSelector()
    waiting.register(control, selectors.EVENT_READ)
    while True:
        for key, _ in waiting.select():
            if key.fileobj is control:
                request, descriptors = _hear(control)
                if request is None:
                    return
                slot = min(set(range(len(children) + 1)) - {child.slot for child in children.values()})
                child = Child(_fork(control, request, descriptors, slot), slot)
                watch = os.pidfd_open(child.pid)
                children[watch] = child
                waiting.register(watch, selectors.EVENT_READ)
                _tell(control, {"child": child.pid})
            else:
                watch = key.fd
                waiting.unregister(watch)
                child = children.pop(watch)
                _, status, usage = os.wait4(child.pid, 0)
                _kill_all_but({other.pid for other in children.values()})
                shutil.rmtree(child.folder, ignore_errors=True)
                _tell(control, {"ended": child.pid, "status": status, "cpu": usage.ru_utime + usage.ru_stime})
                os.close(watch)


def _kill_all_but(kept: set[int]) -> None:
    """Kill what a program forked and left behind; its own children come here in turn."""
    listing = Path(f"/proc/self/task/{os.getpid()}/children")
    while listing.exists() and (left := set(map(int, listing.read_text().split())) - kept):
        for pid in left:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _fork(control: socket.socket, request: dict[str, Any], descriptors: list[int], slot: int) -> int:
    pid = os.fork()
    if pid:
        for descriptor in descriptors:
            os.close(descriptor)
        return pid
    code = 1
    try:
        control.close()
        folder = Child(0, slot).folder
        folder.mkdir()
        os.chdir(folder)
        _confine(request, descriptors)
        _run(socket.socket(fileno=CONTROL))
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    except BaseException:  # noqa: BLE001 - a fault of the client itself: shown, never swallowed
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(OSError):
            sys.stderr.flush()
        os._exit(code)


def _run(stream: socket.socket) -> None:
    from surefoot.boundary.client import run_program
    from surefoot.boundary.wire import Connection

    run_program(Connection(stream))


def _confine(request: dict[str, Any], descriptors: list[int]) -> None:
    """Keep only the program's socket and its output; set limits; die with the zygote."""
    os.setsid()
    program, output, errors = descriptors
    null = os.open(os.devnull, os.O_RDONLY)
    moved = [os.dup(descriptor) for descriptor in (null, output, errors, program)]
    for target, descriptor in enumerate(moved):
        os.dup2(descriptor, target)
    os.closerange(4, 65_536 if resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 65_536 else 4_096)
    for stream, descriptor in (("stdout", 1), ("stderr", 2)):
        setattr(sys, stream, open(descriptor, "w", buffering=1, encoding="utf-8", errors="backslashreplace"))  # noqa: SIM115, PTH123
    os.environ.clear()
    limits = {
        resource.RLIMIT_CPU: (request["cpu_seconds"], request["cpu_seconds"] + 1),
        resource.RLIMIT_AS: (request["memory_mb"] << 20,) * 2,
        resource.RLIMIT_FSIZE: (request["output_mb"] << 20,) * 2,
        resource.RLIMIT_NOFILE: (64, 64),
        resource.RLIMIT_CORE: (0, 0),
    }
    for kind, values in limits.items():
        most = resource.getrlimit(kind)[1]
        resource.setrlimit(
            kind, tuple(value if most == resource.RLIM_INFINITY else min(value, most) for value in values)
        )
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the host decides when an interrupted run ends
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == 1:
        os._exit(1)


def _tell(control: socket.socket, message: dict[str, Any]) -> None:
    control.sendall(json.dumps(message).encode() + b"\n")


def _hear(control: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    data, descriptors, _, _ = socket.recv_fds(control, 65_536, 3)
    return (json.loads(data), descriptors) if data else (None, [])


if __name__ == "__main__":
    main()
