"""The host's handle on program processes: start the zygote, fork a run, watch it, kill its group."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from types import TracebackType
from typing import Any

import msgspec

from surefoot.boundary.files import FOLDER
from surefoot.boundary.platform import ADDR_NO_RANDOMIZE
from surefoot.boundary.sandbox import LOST, MODES
from surefoot.boundary.wire import (
    Begin,
    Connection,
    ConnectionClosedError,
    FromProgram,
    Limits,
    ToProgram,
    decode_from_program,
)
from surefoot.errors import EnvironmentFaultError, UsageError

_LOST = "The process that starts programs ended unexpectedly. Run 'surefoot doctor' to see why."
_CONTROL = 3
_OUTPUT_SHOWN = 1 << 20
_PASSED_ON = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "LD_LIBRARY_PATH")
"""Variables that decide which numeric kernels load; everything else is fixed or dropped."""


class ProgramStalledError(Exception):
    """The program neither called nor ended within its wall-clock budget."""


class ProgramDiedError(Exception):
    """The program process ended without saying how."""


class ExitStatus(msgspec.Struct, frozen=True):
    """How the process ended: `signal` is 0 unless one killed it."""

    code: int
    signal: int
    cpu_seconds: float


class Zygote:
    """A clean interpreter that forks program processes; a context manager. One per host process.

    `preload` names modules to import once, before any fork (scipy.spatial.transform takes 0.3 s).
    `sandbox` is `require`, `best-effort` or `off`; by default what SUREFOOT_SANDBOX says, or best-effort.
    Once started, `sandbox` names the layers reached and `missing` says why others are not there.
    """

    def __init__(self, preload: tuple[str, ...] = (), sandbox: str | None = None):
        self._preload = preload
        self._mode = sandbox or os.environ.get("SUREFOOT_SANDBOX") or "best-effort"
        if self._mode not in MODES:
            raise UsageError(f"There is no sandbox mode '{self._mode}'. Available: {', '.join(MODES)}.")
        self._ended: dict[int, ExitStatus] = {}
        self._pending = b""
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self.platform: dict[str, str] = {}
        self.python = ""
        self.sandbox = ""
        self.missing: dict[str, str] = {}
        self.addresses_fixed = False

    def __enter__(self) -> Zygote:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start the interpreter and wait until it is ready (about 0.2 s)."""
        try:
            self._start()
        except BaseException:  # an interrupt as well: nothing half started stays behind
            self.close()
            raise

    def _start(self) -> None:
        self._pending, self._ended = b"", {}
        mine, theirs = socket.socketpair()
        self._control = mine
        self._scratch = tempfile.TemporaryDirectory(prefix="surefoot-")
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        environment |= {
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PATH": os.defpath,
            "TZ": "UTC",
        }
        environment |= {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
        environment |= {"LC_ALL": "C.UTF-8", "HOME": self._scratch.name}
        environment |= {"PYTHONUSERBASE": f"{FOLDER}/.local"}  # kept by `site` and `sysconfig`; by default below HOME
        libc = ctypes.CDLL(None)
        order = json.dumps({"preload": self._preload, "sandbox": self._mode})

        def confine() -> None:
            libc.personality(ADDR_NO_RANDOMIZE)  # sets of classes iterate in address order
            os.dup2(theirs.fileno(), _CONTROL)

        self._process = subprocess.Popen(
            [sys.executable, "-s", "-P", "-m", "surefoot.boundary.zygote", order],
            env=environment,
            cwd=self._scratch.name,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(_CONTROL, theirs.fileno()),
            preexec_fn=confine,
            start_new_session=True,
        )
        theirs.close()
        ready = self._hear("ready")
        self.platform, self.python = ready["platform"], ready["python"]
        self.sandbox, self.missing, self.addresses_fixed = ready["sandbox"], ready["missing"], ready["addresses"]
        if self._mode == "require" and self.missing:
            lost = "; ".join(f"{layer} is missing ({why}): {LOST[layer]}" for layer, why in self.missing.items())
            raise EnvironmentFaultError(
                f"Not a sandbox: {lost}. Without SUREFOOT_SANDBOX=require it runs all the same."
            )

    def run(self, begin: Begin, limits: Limits) -> ProgramProcess:
        """Fork a program process, to be started with `begin`.

        An interpreter that was lost is started anew. EnvironmentFaultError where that fails.
        """
        if self._process is None or self._process.poll() is not None:
            self.close()
            self.start()
        mine, theirs = socket.socketpair()
        output, errors = os.memfd_create("stdout"), os.memfd_create("stderr")
        order = {
            "cpu_seconds": limits.cpu_seconds,
            "memory_mb": limits.memory_mb,
            "output_mb": limits.output_mb,
            "readable": [],
        }
        try:
            socket.send_fds(self._channel, [json.dumps(order).encode()], [theirs.fileno(), output, errors])
            child = int(self._hear("child")["child"])
            self._ended.pop(child, None)  # an earlier child of the same number
        except BaseException as error:  # its answer may still be on the way: nothing more can be asked of it
            mine.close()
            os.close(output)
            os.close(errors)
            self.close()
            if isinstance(error, OSError):
                raise EnvironmentFaultError(_LOST) from None
            raise
        finally:
            theirs.close()
        return ProgramProcess(self, child, Connection(mine), output, errors, limits, begin)

    def wait(self, child: int) -> ExitStatus:
        """The exit status of a child, once it has ended; may be asked again.

        An interrupt may swallow the news that a child has ended: then the interpreter is given up, so that
        nobody waits for it a second time.
        """
        try:
            while child not in self._ended:
                if self._control is None:
                    raise EnvironmentFaultError(_LOST)
                self._note(self._next())
        except KeyboardInterrupt:
            self.close()
            raise
        return self._ended[child]

    def close(self) -> None:
        """End the interpreter and everything it forked."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=2)
            if self._process.poll() is None:
                self._process.kill()
                self._process.wait()
            self._process = None
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = None

    @property
    def _channel(self) -> socket.socket:
        if self._control is None:
            raise EnvironmentFaultError(_LOST)
        return self._control

    def _hear(self, key: str) -> dict[str, Any]:
        while True:
            message = self._next()
            if key in message:
                return message
            self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        status = message["status"]
        killed = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1
        self._ended[message["ended"]] = ExitStatus(code, killed, message["cpu"])

    def _next(self) -> dict[str, Any]:
        while b"\n" not in self._pending:
            try:
                data = self._channel.recv(65_536)
            except ConnectionResetError:
                data = b""
            if not data:
                raise EnvironmentFaultError(_LOST)
            self._pending += data
        line, _, self._pending = self._pending.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message


class ProgramProcess:
    """One running program, to be sent `begin` first. `close` kills its process group and collects what it left."""

    def __init__(
        self,
        zygote: Zygote,
        pid: int,
        connection: Connection,
        output: int,
        errors: int,
        limits: Limits,
        begin: Begin,
    ):
        self.pid = pid
        self.limits = limits
        self.output = ""
        self.errors = ""
        self._zygote = zygote
        self._connection = connection
        self._descriptors = (output, errors)
        self._left = limits.program_seconds
        self._status: ExitStatus | None = None
        self._begin = begin

    @property
    def watched(self) -> tuple[str, ...]:
        """Places whose values the program was asked to report."""
        return self._begin.watch

    def begin(self) -> None:
        """Start the program."""
        self.send(self._begin)

    def send(self, message: ToProgram) -> None:
        """Send one message; a program that is gone is noticed at the next `receive`.

        Raises ProgramStalledError for a program that does not read, after what was left at the last `receive`.
        """
        try:
            self._connection.send(message)
        except TimeoutError:
            raise ProgramStalledError from None
        except ConnectionClosedError:
            pass

    def receive(self) -> FromProgram:
        """The program's next message.

        Raises ProgramStalledError when its wall-clock budget is used up, ProgramDiedError when the process
        ended without a word, and FrameTooLargeError or msgspec.DecodeError for what no client sends.
        """
        started = time.monotonic()
        self._connection.allow(max(self._left, 0.001))
        try:
            data = self._connection.receive()
        except TimeoutError:
            raise ProgramStalledError from None
        except ConnectionClosedError:
            raise ProgramDiedError from None
        self._left -= time.monotonic() - started
        return decode_from_program(data)

    def close(self) -> ExitStatus:
        """Kill what still runs of the program, then return how it ended; may be called again."""
        if self._status is None:
            self._kill()
            # a lost interpreter is reported by whoever uses it next; here it may be that an interrupt closed it
            with contextlib.suppress(EnvironmentFaultError):
                self._collect()
        assert self._status is not None
        return self._status

    def ended_by_itself(self) -> ExitStatus:
        """Wait for a process that has closed its connection, then collect it."""
        if self._status is None:
            watchdog = threading.Timer(2.0, self._kill)
            watchdog.start()
            try:
                self._collect()
            finally:
                watchdog.cancel()
        assert self._status is not None
        return self._status

    def _collect(self) -> None:
        """Wait for the process; then it is gone, and its connection and its output with it."""
        try:
            self._status = self._zygote.wait(self.pid)
        except EnvironmentFaultError:
            self._status = ExitStatus(-1, 0, 0.0)
            self._kill()
            raise
        finally:
            self._connection.close()
            if self._status is not None:
                self.output, self.errors = (_read(descriptor) for descriptor in self._descriptors)

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except ProcessLookupError:  # just forked: it has no group of its own yet
                os.kill(self.pid, signal.SIGKILL)


def _read(descriptor: int) -> str:
    data, size = os.pread(descriptor, _OUTPUT_SHOWN, 0), os.fstat(descriptor).st_size
    os.close(descriptor)
    cut = f"\n… {size - len(data)} bytes more\n" if size > len(data) else ""
    return data.decode("utf-8", "replace") + cut
