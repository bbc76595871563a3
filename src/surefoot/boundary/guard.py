"""What a program may not do, said in a sentence where it tries: a hook on Python's own audit events.

The hook is there for its words and so that runs agree; a program can get around it. What holds in earnest
is the sandbox.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from surefoot.boundary.files import Files

_PROCESSES = "programs start no processes: what they do is not on the tape; use the task's functions"
_SOCKETS = "programs open no sockets: what they reach is not on the tape; use the task's functions"
_FOREIGN = "programs load no foreign code: what it does is not on the tape"
_REFUSED = {
    **dict.fromkeys(
        (
            "subprocess.Popen",
            "os.system",
            "os.exec",
            "os.posix_spawn",
            "os.spawn",
            "os.fork",
            "os.forkpty",
            "pty.spawn",
        ),
        _PROCESSES,
    ),
    **dict.fromkeys(("ctypes.dlopen", "ctypes.dlsym", "ctypes.dlsym/handle", "ctypes.call_function"), _FOREIGN),
    **dict.fromkeys(("sqlite3.connect", "syslog.openlog", "syslog.syslog"), _SOCKETS),
    **dict.fromkeys(("os.killpg",), "programs send signals to nobody but themselves"),
}
_WRITES = {
    "os.mkdir": 1, "os.remove": 1, "os.rmdir": 1, "os.truncate": 1, "os.utime": 1, "os.chmod": 1, "os.chown": 1,
    "os.rename": 2, "os.link": 2, "os.symlink": 2, "os.setxattr": 1, "os.removexattr": 1,
}  # fmt: skip
"""Events whose first so many arguments are paths that would be changed."""
_READS = ("os.listdir", "os.scandir", "os.chdir", "os.getxattr", "os.listxattr")
_OWN_SOCKET = ("socket.gethostname", "socket.sendmsg", "socket.sendto")
_OPENED_TO_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
PERMITTED = frozenset(sys.stdlib_module_names) | {"numpy", "scipy", "surefoot"}
"""Modules that a strict program may import."""


def install(files: Files) -> None:
    """Refuse from now on, in this process."""
    sys.addaudithook(_hook(files))


def _hook(files: Files) -> Callable[[str, tuple[Any, ...]], None]:
    refused, writes, check = _REFUSED, _WRITES, files.check

    def hook(event: str, values: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = values
            writes_it = bool(flags & _OPENED_TO_WRITE) or bool(mode and set(mode) & set("wax+"))
            check(path, writes_it)
            if not writes_it:
                files.check_found(path)
        elif event in refused:
            raise PermissionError(refused[event])
        elif event in writes:
            for path in values[: writes[event]]:
                check(path, True)
        elif event in _READS:
            check(values[0])
        elif event.startswith("socket.") and event not in _OWN_SOCKET:
            raise PermissionError(_SOCKETS)

    return hook


class Importer(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Serves the program's own modules from memory; of others, a strict program finds only the permitted ones."""

    def __init__(self, modules: Mapping[str, str], strict: bool):
        self._modules = modules
        self._permitted = PERMITTED if strict else None

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The module's spec; None leaves it to Python; ModuleNotFoundError for what is not permitted."""
        package = f"{fullname}.__init__" in self._modules
        if package or fullname in self._modules:
            return importlib.util.spec_from_loader(fullname, self, is_package=package)
        top = fullname.partition(".")[0]
        if self._permitted is not None and path is None and top not in self._permitted:
            raise ModuleNotFoundError(
                f"No module named {fullname!r}: strict programs import Python's own modules, NumPy and SciPy; "
                "run your own script with --trusted",
                name=fullname,
            )
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Python's own kind of module."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's text under its own file name."""
        name = module.__name__
        source = self._modules[f"{name}.__init__" if hasattr(module, "__path__") else name]
        file = module_file(name)
        linecache.cache[file] = (len(source), None, [line + "\n" for line in source.split("\n")], file)
        exec(compile(source, file, "exec", dont_inherit=True), vars(module))


def module_file(name: str) -> str:
    """The file name under which a module of the program runs."""
    return f"<{name}>"
