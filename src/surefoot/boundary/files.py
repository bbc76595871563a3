# ruff: noqa: D102, PTH - methods are named like the functions that they stand for
"""Files as a program sees them: its own empty folder, Python's installation, and nothing that tells runs apart.

The folder has the same name in every run, an alias that the kernel itself resolves. Listings are sorted;
sizes and kinds are real, times, owners and inode numbers are not. What lies outside is refused with a
sentence, by a guard that programs can get around: what holds in earnest is the sandbox.
"""

from __future__ import annotations

import errno
import os
import posixpath
import stat
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from surefoot.boundary.ambient import EPOCH, replace

FOLDER_DESCRIPTOR = 4
FOLDER = f"/proc/self/fd/{FOLDER_DESCRIPTOR}"
"""The working folder's name in every program process."""
_DEVICES = ("/dev/null", "/dev/zero")
_MOST_LINKS = 40
_NOT_FOUND = (
    "No such file in the program's own folder, which is empty at the start; pass data through the task's functions"
)
_scan, _list, _stat, _fstat = os.scandir, os.listdir, os.stat, os.fstat
_getcwd, _access, _readlink = os.getcwd, os.access, os.readlink


def installation() -> tuple[str, ...]:
    """Folders that Python imports from, resolved, and its time zones."""
    import zoneinfo  # takes its time to load

    paths = sysconfig.get_paths()
    found = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")} | {*sys.path, *zoneinfo.TZPATH}
    return tuple(sorted({_resolve(path) for path in found if path.startswith("/") and Path(path).exists()}))


class Files:
    """Functions of `os` and `os.path`, named alike. `begin` says where the run's folder is and what it may read."""

    def __init__(self, readable: tuple[str, ...]):
        self._folder = "/nonexistent"
        self._readable = readable
        self._inodes: dict[tuple[int, int], int] = {}

    def begin(self, folder: str, readable: tuple[str, ...] = ()) -> None:
        """Start a run in `folder`."""
        self._folder = _resolve(folder)
        self._readable = (*self._readable, *readable)
        self._inodes = {}

    def check(self, path: Any, writes: bool = False) -> None:
        """PermissionError for what a program may not read or write; a descriptor is always its own."""
        if isinstance(path, int) or path is None:
            return
        real = _resolve(os.fsdecode(path))
        if _within(real, self._folder) or real in _DEVICES:
            return
        if not writes and any(_within(real, root) for root in self._readable):
            return
        raise _refusal(self._shown(os.fsdecode(path)), writes)

    def check_found(self, path: Any) -> None:
        """FileNotFoundError for a relative path at which a program has written nothing, with the remedy."""
        if isinstance(path, int) or path is None or os.fsdecode(path).startswith("/"):
            return
        try:
            _stat(path)
        except FileNotFoundError:
            raise FileNotFoundError(errno.ENOENT, _NOT_FOUND, path) from None
        except OSError:
            return  # what is asked for then says it

    def getcwd(self) -> str:
        return self._shown(_getcwd())

    def getcwdb(self) -> bytes:
        return os.fsencode(self.getcwd())

    def realpath(self, filename: Any, *, strict: bool = False) -> Any:
        real = self._shown(_resolve(os.fsdecode(filename)))
        if strict:
            self.stat(real)
        return os.fsencode(real) if isinstance(os.fspath(filename), bytes) else real

    def listdir(self, path: Any = ".") -> list[Any]:
        self.check(path)
        return sorted(_list(path))

    def scandir(self, path: Any = ".") -> _Scan:
        self.check(path)
        with _scan(path) as entries:
            return _Scan([_Entry(entry, self._without_traces) for entry in sorted(entries, key=lambda item: item.name)])

    def stat(self, path: Any, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> os.stat_result:
        self.check(path)
        return self._without_traces(_stat(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks))

    def lstat(self, path: Any, *, dir_fd: int | None = None) -> os.stat_result:
        return self.stat(path, dir_fd=dir_fd, follow_symlinks=False)

    def fstat(self, fd: int) -> os.stat_result:
        return self._without_traces(_fstat(fd))

    def access(self, path: Any, mode: int, **options: Any) -> bool:
        try:
            self.check(path, bool(mode & os.W_OK))
        except PermissionError:
            return False
        return _access(path, mode, **options)

    def readlink(self, path: Any, **options: Any) -> Any:
        self.check(path)
        return _readlink(path, **options)

    def statvfs(self, path: Any) -> NoReturn:
        raise PermissionError("programs don't ask how full a disk is")

    def fstatvfs(self, fd: int) -> NoReturn:
        self.statvfs(fd)

    def chmod(self, path: Any, mode: int, **options: Any) -> None:
        self.check(path, True)  # and that is all: modes, owners and times are the same for all files

    def utime(self, path: Any, times: Any = None, **options: Any) -> None:
        self.check(path, True)

    def fchmod(self, fd: int, mode: int) -> None:
        pass

    def _shown(self, path: str) -> str:
        return FOLDER + path[len(self._folder) :] if _within(path, self._folder) else path

    def _without_traces(self, real: os.stat_result) -> os.stat_result:
        number = self._inodes.setdefault((real.st_dev, real.st_ino), len(self._inodes) + 1)
        links = real.st_nlink if stat.S_ISREG(real.st_mode) else 1
        times = (int(EPOCH),) * 3
        return os.stat_result((real.st_mode, number, 1, links, 1000, 1000, real.st_size, *times))


class _Entry:
    """One entry of a listing, as `os.DirEntry`."""

    def __init__(self, entry: os.DirEntry[Any], without_traces: Callable[[os.stat_result], os.stat_result]):
        self.name, self.path = entry.name, entry.path
        self.is_dir, self.is_file, self.is_symlink = entry.is_dir, entry.is_file, entry.is_symlink
        self._stat, self._without_traces = entry.stat, without_traces

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        return self._without_traces(self._stat(follow_symlinks=follow_symlinks))

    def inode(self) -> int:
        return self.stat(follow_symlinks=False).st_ino

    def __fspath__(self) -> Any:
        return self.path

    def __repr__(self) -> str:
        return f"<DirEntry {self.name!r}>"


class _Scan:
    """An iterator over entries that may be closed."""

    def __init__(self, entries: list[_Entry]):
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[_Entry]:
        return self

    def __next__(self) -> _Entry:
        return next(self._entries)

    def __enter__(self) -> _Scan:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._entries = iter(())


def close(files: Files) -> None:
    """Replace functions of `os` and `os.path`; Python's own importing keeps the real ones."""
    names = [name for name in vars(Files) if name[0] != "_" and hasattr(os, name)]
    pairs = [(getattr(os, name), getattr(files, name)) for name in names]
    replace([*pairs, (posixpath.realpath, files.realpath)], but=("posix",))


def _resolve(path: str) -> str:
    """The absolute path without links, `.` and `..`; by real functions, wherever they are replaced."""
    waiting = posixpath.join(_getcwd(), path).split("/")[::-1]
    real, links = "", 0
    while waiting:
        part = waiting.pop()
        if part == "..":
            real = real.rpartition("/")[0]
        elif part not in ("", "."):
            step = f"{real}/{part}"
            try:
                target = _readlink(step)
            except (OSError, ValueError):
                real = step
                continue
            links += 1
            if links > _MOST_LINKS:
                return step
            real = "" if target.startswith("/") else real
            waiting += target.split("/")[::-1]
    return real or "/"


def _within(path: str, root: str) -> bool:
    return path == root or path.startswith(root + "/")


def _refusal(path: str, writes: bool) -> PermissionError:
    if writes:
        text = f"programs write only in their own folder, not to {path}"
    else:
        text = f"programs read no files: {path} lies outside their own folder; pass data through the task's functions"
    error = PermissionError(text)
    error.errno = errno.EACCES
    return error
