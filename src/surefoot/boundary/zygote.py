"""The clean process that program processes come from, and its two halves.

The supervisor talks with the host: it hands each request to a program process, watches it, reports its
exit status and clears up. The template preloads NumPy (and what else the host names), closes what tells
runs apart, and forks program processes, one ahead of need. It does nothing else, so that each starts from
the same memory: sets of objects iterate in the order of addresses. Neither ever held an environment, an
evaluator or a tape: a program finds none of them in its memory.

A request carries three descriptors (program socket, standard output, standard error); the answer is the
program's process id, and later its exit status. Protocol with the host: JSON lines.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import selectors
import shutil
import signal
import socket
import sys
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from surefoot.boundary.room import MOST_BYTES, MOST_ENTRIES, room_taken

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
CONTROL = 3
"""The control socket's descriptor number in the zygote."""
_LOOK_EVERY = 0.2
"""Seconds between two looks at how much the programs have written."""

_PATIENCE = 60.0
"""Seconds after which a template that says nothing is given up."""


class Child(NamedTuple):
    """A program process, and the folder that is its own."""

    pid: int
    watch: int
    folder: Path


class LostError(Exception):
    """The template, or a program process that had not begun, is gone; the host starts anew."""


def main() -> None:
    """Serve fork requests until the host closes the control socket."""
    _forget_signals()
    control = socket.socket(fileno=CONTROL)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)  # program processes, and what they leave behind, come here
    door, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    wait, bell = os.pipe()
    supervisor = os.getpid()
    template = os.fork()
    if template == 0:
        control.close()
        door.close()
        os.close(bell)
        _be_template(inner, wait, supervisor)
    inner.close()
    os.close(wait)
    try:
        Supervisor(control, door, bell, template).serve()
    except (BrokenPipeError, ConnectionResetError, LostError):
        pass  # the host is gone, or will notice
    finally:
        _kill_all_but(set())
        shutil.rmtree(os.environ["HOME"], ignore_errors=True)  # a host that was killed can't


def _forget_signals() -> None:
    """Neither block nor ignore what the host does: under nohup, or in a worker, programs see the same."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_DFL)


def _be_template(inner: socket.socket, wait: int, supervisor: int) -> NoReturn:
    from surefoot.boundary.template import Template

    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        order = json.loads(sys.argv[1])
        Template(inner, wait, supervisor, tuple(order["preload"]), order["sandbox"]).serve()
    except BaseException:  # noqa: BLE001 - shown, and then this process must not go on as a second supervisor
        sys.excepthook(*sys.exc_info())
    os._exit(1)


class Supervisor:
    """Hands requests to program processes and reports how they end."""

    def __init__(self, control: socket.socket, door: socket.socket, bell: int, template: int):
        self._control, self._door, self._bell = control, door, bell
        self._template = template
        self._template_watch = os.pidfd_open(template)
        self._children: dict[int, Child] = {}
        self._next: Child | None = None
        self._confined = False

    def serve(self) -> None:
        """Until the host closes the control socket; LostError when the template is gone."""
        ready = self._hear_inside(self._template_watch)
        self._confined = "seccomp" in json.loads(ready).get("sandbox", "")
        self._control.sendall(ready + b"\n")
        waiting = selectors.DefaultSelector()
        waiting.register(self._control, selectors.EVENT_READ)
        waiting.register(self._template_watch, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select(_LOOK_EVERY if self._children else None):
                if key.fileobj is self._control:
                    data, descriptors, _, _ = socket.recv_fds(self._control, 65_536, 3)
                    if not data:
                        return
                    child = self._start(data, descriptors)
                    self._children[child.watch] = child
                    waiting.register(child.watch, selectors.EVENT_READ)
                    self._tell({"child": child.pid})
                elif key.fd == self._template_watch:
                    raise LostError
                else:
                    waiting.unregister(key.fd)
                    self._collect(self._children.pop(key.fd))
            for child in self._children.values():
                self._limit_room(child)

    def _start(self, request: bytes, descriptors: list[int]) -> Child:
        child = self._upcoming()
        self._next = None
        socket.send_fds(self._door, [request], descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        self._hear_inside(child.watch)  # it has taken the request: the next one can't
        os.write(self._bell, b"\0")
        return child

    def _upcoming(self) -> Child:
        """The program process that waits for a request."""
        if self._next is None:
            pid, folder = json.loads(self._hear_inside(self._template_watch))
            self._next = Child(pid, os.pidfd_open(pid), Path(folder))
        return self._next

    def _collect(self, child: Child) -> None:
        _, status, usage = os.wait4(child.pid, 0)
        if not self._confined:
            kept = {self._template, self._upcoming().pid, *(other.pid for other in self._children.values())}
            _kill_all_but(kept)
        shutil.rmtree(child.folder, ignore_errors=True)
        self._tell({"ended": child.pid, "status": status, "cpu": usage.ru_utime + usage.ru_stime})
        os.close(child.watch)

    def _limit_room(self, child: Child) -> None:
        written, entries = room_taken(child.folder)
        if written > MOST_BYTES or entries > MOST_ENTRIES:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGKILL)

    def _hear_inside(self, watch: int) -> bytes:
        """The next message from within; LostError if its sender is gone instead."""
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._door, selectors.EVENT_READ, True)
            waiting.register(watch, selectors.EVENT_READ, False)
            if not any(key.data for key, _ in waiting.select(_PATIENCE)):
                raise LostError
        return self._door.recv(65_536)

    def _tell(self, message: dict[str, Any]) -> None:
        self._control.sendall(json.dumps(message).encode() + b"\n")


def _kill_all_but(kept: set[int]) -> None:
    """Kill what a program forked and left behind; its own children come here in turn."""
    listing = Path(f"/proc/self/task/{os.getpid()}/children")
    while listing.exists() and (left := set(map(int, listing.read_text().split())) - kept):
        for pid in left:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
