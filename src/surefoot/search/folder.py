"""A run's folder: manifest, journal, programs, tapes, report, and a lock for its one writer."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import msgspec

import surefoot
from surefoot.errors import RunError, UsageError
from surefoot.memory.journal import Journal
from surefoot.memory.tapes import TapeStore
from surefoot.program.source import Program
from surefoot.search.settings import Settings

FORMAT = 1
LIBRARY = "library.json"
_LOCK = "lock"


class Manifest(msgspec.Struct, frozen=True):
    """What a run is of; written once, before the first effect. `library` is the skill library's file."""

    id: str
    format: int
    code: str
    task: str
    tier: str
    protocol: str
    revision: str
    proposer: str
    development: tuple[int, ...]
    held_out: tuple[int, ...]
    run_seed: int
    settings: Settings
    library: str | None = None


class _Version(msgspec.Struct):
    format: int


class RunFolder:
    """An open run; a context manager that holds the run's lock."""

    def __init__(self, path: Path, manifest: Manifest, lock: IO[str]):
        self.path = path
        self.manifest = manifest
        self._lock = lock
        self.journal = Journal(path / "run.sqlite", code_version())
        self.tapes = TapeStore(path / "tapes")

    @classmethod
    def create(cls, path: Path, manifest: Manifest) -> RunFolder:
        """Start a run in a new or empty folder. UsageError if there is something in it already."""
        try:
            path.mkdir(parents=True, exist_ok=True)
            _refuse_used(path)
            lock = _locked(path)
        except OSError as error:
            raise UsageError(f"No run can be made at {path}: {error.strerror}.") from None
        with _released_on_error(lock):
            _refuse_used(path)  # another process may have been first
            if manifest.library is not None:
                _write_whole(path / LIBRARY, read_library(Path(manifest.library)))
            _write_whole(path / "manifest.json", msgspec.json.format(msgspec.json.encode(manifest), indent=2))
            return cls(path, manifest, lock)

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Open an existing run for going on. RunError if another process writes it or other code wrote it."""
        manifest = read_manifest(path)
        try:
            lock = _locked(path)
        except OSError as error:
            raise UsageError(f"The run {path} can't be continued: {error.strerror}.") from None
        with _released_on_error(lock):
            if manifest.code != code_version():
                raise RunError(
                    f"The run {path} was made by surefoot code {manifest.code}; this is {code_version()}. "
                    "Resume it with that code, or start a new run."
                )
            return cls(path, manifest, lock)

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.journal.close()
        self._lock.close()

    @property
    def library(self) -> bytes:
        """The skill library as it was when the run began; empty without one."""
        return read_library(self.path / LIBRARY)

    def save_bytes(self, name: str, data: bytes) -> None:
        """Write a file of the run, whole or not at all."""
        _write_whole(self.path / name, data)

    def save_program(self, program: Program) -> None:
        """Keep a program's text under its identity."""
        _write_whole(self.path / "programs" / f"{program.digest}.py", program.source.encode())

    def save(self, name: str, data: Any) -> None:
        """Write a JSON file of the run, whole or not at all."""
        _write_whole(self.path / name, msgspec.json.format(msgspec.json.encode(data), indent=2) + b"\n")


def read_library(path: Path) -> bytes:
    """A skill library's bytes; empty where there is no such file yet. UsageError if it can't be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise UsageError(f"The skill library {path} can't be read: {error.strerror}.") from None


def merge_library(path: Path, merge: Callable[[bytes], bytes]) -> None:
    """Change a skill library that other runs may change at the same time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_name(f".{path.name}.lock").open("w")
    except OSError as error:
        raise RunError(f"The skill library {path} can't be written: {error.strerror}. Resume the run then.") from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _write_whole(path, merge(read_library(path)))


def read_manifest(path: Path) -> Manifest:
    """The manifest of a run. UsageError if there is no run at `path`."""
    try:
        data = (path / "manifest.json").read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"There is no run at {path}. Runs are made by 'surefoot learn … --out DIR'.") from None
    except OSError as error:
        raise UsageError(f"The run {path} can't be read: {error.strerror}.") from None
    try:
        written = msgspec.json.decode(data, type=_Version).format
        if written > FORMAT:
            raise RunError(f"The run {path} has format {written}; this surefoot knows {FORMAT}. Use a newer surefoot.")
        return msgspec.json.decode(data, type=Manifest)
    except msgspec.DecodeError as error:
        raise RunError(f"The manifest of {path} can't be read ({error}). The run can't be resumed.") from None


@cache
def code_version() -> str:
    """surefoot's version and a hash of its code: a journal is resumed by the code that wrote it."""
    folder = Path(surefoot.__file__).parent
    digest = hashlib.blake2b(digest_size=6)
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return f"{surefoot.__version__}+{digest.hexdigest()}"


def _locked(path: Path) -> IO[str]:
    lock = (path / _LOCK).open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise RunError(f"Another process works on the run {path}. Wait for it, or stop it first.") from None
    return lock


def _refuse_used(path: Path) -> None:
    """UsageError if the folder holds anything but what a start that was cut leaves."""
    names = {item.name for item in path.iterdir()}
    if "manifest.json" in names:
        raise UsageError(f"{path} holds a run already. Continue it with 'surefoot resume {path}', or name another.")
    if any(name not in (_LOCK, LIBRARY) and not name.startswith((".manifest.json.", f".{LIBRARY}.")) for name in names):
        raise UsageError(f"{path} is not empty. Name a new folder for the run.")


@contextlib.contextmanager
def _released_on_error(lock: IO[str]) -> Iterator[None]:
    try:
        yield
    except BaseException:  # whatever it was goes on; only the lock is given back
        lock.close()
        raise


def _write_whole(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(exist_ok=True)
        part.write_bytes(data)
        part.rename(path)
    except OSError as error:
        raise RunError(
            f"{path} can't be written: {error.strerror}. See to the disk; the run can be resumed then."
        ) from None
