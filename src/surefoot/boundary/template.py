"""The template: an interpreter made ready once, which forks program processes and does nothing else."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import resource
import signal
import socket
import sys
from typing import Any, NoReturn

PR_SET_PDEATHSIG = 1
KEPT = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables that libraries read which a program loads itself; all others are fixed or gone."""
CLONE_PARENT = 0x8000
PROGRAM_SOCKET = 3
_CLONE = {"x86_64": 56, "aarch64": 220}
MODULES = (
    "surefoot.boundary.client", "datetime", "gc", "glob", "grp", "logging", "pathlib", "platform", "pwd", "random",
    "secrets", "shutil", "tempfile", "uuid", "zoneinfo",
)  # fmt: skip
"""What every program process holds from its start: what reads the outside is closed in it once."""


class Template:
    """Prepared by its constructor; `serve` forks a process ahead of each request."""

    def __init__(self, inner: socket.socket, wait: int, supervisor: int, preload: tuple[str, ...], sandbox: str):
        self._inner, self._wait, self._supervisor = inner, wait, supervisor
        self._home = os.environ["HOME"]
        for name in (*MODULES, *preload):
            # A module that can't be imported here fails again, with its own error, where the program imports it;
            # one that is a script ends.
            with contextlib.suppress(Exception, SystemExit):
                importlib.import_module(name)
        from surefoot.boundary import ambient, files
        from surefoot.boundary import sandbox as layers
        from surefoot.boundary.platform import addresses_fixed, numeric_platform

        self._libc, python = ctypes.CDLL(None), ctypes.pythonapi
        self._around_fork = python.PyOS_BeforeFork, python.PyOS_AfterFork_Child, python.PyOS_AfterFork_Parent
        self._syscall = ctypes.PyDLL(None).syscall
        self._files = files.Files(files.installation())
        self._layers = layers.Sandbox(sandbox, files.installation())
        state = {
            "ready": os.getpid(),
            "platform": numeric_platform(),
            "python": sys.version.split()[0],
            "sandbox": self._layers.level,
            "missing": self._layers.missing,
            "addresses": addresses_fixed(),
        }
        ambient.close()
        files.close(self._files)
        for name in {*os.environ} - set(KEPT):
            del os.environ[name]
        os.environ.update(HOME=files.FOLDER, TMPDIR=files.FOLDER, LC_ALL="C.UTF-8", TZ="UTC")
        os.umask(0o022)  # it shows in the modes of files
        sys.orig_argv[:] = []
        self._rehearse()
        gc.disable()  # collections come where the client asks for them: the same in recording and replay
        gc.collect()
        gc.freeze()
        inner.send(json.dumps(state).encode())

    def serve(self) -> NoReturn:
        """Fork a process, wait for the bell, fork the next."""
        while True:
            if not self._fork_sibling():
                self._be_program()
            if not os.read(self._wait, 1):
                os._exit(0)

    def _rehearse(self) -> None:
        """Do what goes round a fork, without one: or the first process would hold other objects than all later ones."""
        before, _, in_parent = self._around_fork
        read, write = os.pipe()
        for _ in range(3):
            before()
            in_parent()
            os.write(write, b"\0")
            os.read(read, 1)
        os.close(read)
        os.close(write)

    def _fork_sibling(self) -> int:
        """Fork a process whose parent is the supervisor: it learns how it ends. 0 in that process."""
        before, in_child, in_parent = self._around_fork
        before()
        pid: int = self._syscall(_CLONE[os.uname().machine], CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
        if pid == 0:
            in_child()
        else:
            in_parent()
        if pid < 0:
            os._exit(1)
        return pid

    def _be_program(self) -> NoReturn:
        code = 1
        try:
            _run(self._prepare())
            code = 0
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
        except BaseException:  # noqa: BLE001 - a fault of the client itself: shown, never swallowed
            sys.excepthook(*sys.exc_info())
        finally:
            with contextlib.suppress(OSError):
                sys.stderr.flush()
            os._exit(code)

    def _prepare(self) -> socket.socket:
        """Announce this process, take a request, and keep only what it gives; die with the supervisor."""
        import posix  # its functions are the real ones

        from surefoot.boundary import files

        os.close(self._wait)
        posix.setsid()
        self._libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if _parent() != self._supervisor:
            os._exit(1)
        folder = f"{self._home}/{_own_pid():010d}"
        os.mkdir(folder)  # noqa: PTH102 - os is what was closed, and what is real here
        os.chdir(folder)
        self._inner.send(json.dumps([_own_pid(), folder]).encode())
        data, descriptors, _, _ = socket.recv_fds(self._inner, 65_536, 3)
        if not data:
            os._exit(0)
        request = json.loads(data)
        self._inner.send(b"taken")
        self._inner.close()
        _keep_only(descriptors, folder, files.FOLDER_DESCRIPTOR)
        _limit(request)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the host decides when an interrupted run ends
        connection = socket.socket(fileno=PROGRAM_SOCKET)
        self._files.begin(folder)
        self._layers.enter(folder, request["readable"])
        from surefoot.boundary import guard

        guard.install(self._files)
        return connection


_own_pid, _parent = os.getpid, os.getppid  # as they were before they were closed


def _run(connection: socket.socket) -> None:
    from surefoot.boundary.client import run_program
    from surefoot.boundary.wire import Connection

    run_program(Connection(connection))


def _keep_only(descriptors: list[int], folder: str, folder_descriptor: int) -> None:
    """The program's socket, its output and its folder, under fixed numbers; nothing else stays open."""
    program, output, errors = descriptors
    null = os.open(os.devnull, os.O_RDONLY)
    place = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    moved = [os.dup(descriptor) for descriptor in (null, output, errors, program, place)]
    for target, descriptor in enumerate(moved):
        os.dup2(descriptor, target)
    os.closerange(folder_descriptor + 1, 4_096)
    for stream, descriptor in (("stdout", 1), ("stderr", 2)):
        setattr(sys, stream, open(descriptor, "w", buffering=1, encoding="utf-8", errors="backslashreplace"))  # noqa: SIM115, PTH123


def _limit(request: dict[str, Any]) -> None:
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
