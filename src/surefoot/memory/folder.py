"""A folder that is written by one process at a time: its manifest, its lock, and files that are whole or absent."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import IO, Any, ClassVar, Generic, Protocol, Self, TypeVar

import msgspec

import surefoot
from surefoot.errors import RunError, UsageError
from surefoot.memory.journal import Journal

FORMAT = 1
_LOCK = "lock"
_POLL = 0.1
"""How often a lock is tried again [s]."""


class Described(Protocol):
    """What every manifest says."""

    @property
    def format(self) -> int:
        """Version of the folder's layout."""

    @property
    def code(self) -> str:
        """The code that began it."""


M = TypeVar("M", bound=Described)


class _Version(msgspec.Struct):
    format: int


class Folder(Generic[M]):
    """An open folder with a journal; a context manager that holds its lock.

    A subclass names what it holds (`noun`), its manifest's file and type, its journal's file, the command that
    makes it, and the files that a start may leave before the manifest (`early`).
    """

    noun: ClassVar[str]
    manifest_name: ClassVar[str]
    manifest_type: ClassVar[type[Any]]
    journal_name: ClassVar[str]
    made_by: ClassVar[str]
    early: ClassVar[tuple[str, ...]] = ()

    def __init__(self, path: Path, manifest: M, lock: IO[str]):
        self.path = path
        self.manifest = manifest
        self._lock = lock
        self.journal = Journal(path / self.journal_name, code_version())

    @classmethod
    def create(cls, path: Path, manifest: M) -> Self:
        """Begin in a new or empty folder. UsageError if there is something in it already."""
        try:
            path.mkdir(parents=True, exist_ok=True)
            cls._refuse_used(path)
            lock = cls._locked(path, 0.0)
        except OSError as error:
            raise UsageError(f"No {cls.noun} can be made at {path}: {error.strerror}.") from None
        with _released_on_error(lock):
            cls._refuse_used(path)  # another process may have been first
            cls._prepare(path, manifest)
            write_whole(path / cls.manifest_name, msgspec.json.format(msgspec.json.encode(manifest), indent=2))
            return cls(path, manifest, lock)

    @classmethod
    def open(cls, path: Path, patience: float = 0.0) -> Self:
        """Open for going on; waits up to `patience` [s] for a process that is ending to give up the lock.

        RunError if another process writes the folder or other code wrote it.
        """
        manifest = cls.read_manifest(path)
        try:
            lock = cls._locked(path, patience)
        except OSError as error:
            raise UsageError(f"The {cls.noun} {path} can't be continued: {error.strerror}.") from None
        with _released_on_error(lock):
            if manifest.code != code_version():
                raise RunError(
                    f"The {cls.noun} {path} was made by surefoot code {manifest.code}; this is {code_version()}. "
                    f"Resume it with that code, or start a new {cls.noun}."
                )
            return cls(path, manifest, lock)

    @classmethod
    def read_manifest(cls, path: Path) -> M:
        """The manifest of what is at `path`. UsageError if there is none."""
        try:
            data = (path / cls.manifest_name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            raise UsageError(f"There is no {cls.noun} at {path}. {cls.made_by}") from None
        except OSError as error:
            raise UsageError(f"The {cls.noun} {path} can't be read: {error.strerror}.") from None
        try:
            written = msgspec.json.decode(data, type=_Version).format
            if written > FORMAT:
                raise RunError(
                    f"The {cls.noun} {path} has format {written}; this surefoot knows {FORMAT}. Use a newer surefoot."
                )
            manifest: M = msgspec.json.decode(data, type=cls.manifest_type)
        except msgspec.DecodeError as error:
            raise RunError(
                f"The manifest of {path} can't be read ({error}). The {cls.noun} can't be resumed."
            ) from None
        return manifest

    @classmethod
    def is_at(cls, path: Path) -> bool:
        """Whether one was begun at `path`."""
        return (path / cls.manifest_name).is_file()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.journal.close()
        self._lock.close()

    def save_bytes(self, name: str, data: bytes) -> None:
        """Write a file, whole or not at all."""
        write_whole(self.path / name, data)

    def save(self, name: str, data: Any) -> None:
        """Write a JSON file, whole or not at all."""
        write_whole(self.path / name, msgspec.json.format(msgspec.json.encode(data), indent=2) + b"\n")

    @classmethod
    def _prepare(cls, path: Path, manifest: M) -> None:
        """Write what must be there before the manifest."""

    @classmethod
    def _locked(cls, path: Path, patience: float) -> IO[str]:
        lock = (path / _LOCK).open("w")
        deadline = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return lock
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    lock.close()
                    raise RunError(
                        f"Another process works on the {cls.noun} {path}. Wait for it, or stop it first."
                    ) from None
                time.sleep(_POLL)

    @classmethod
    def _refuse_used(cls, path: Path) -> None:
        """UsageError if the folder holds anything but what a start that was cut leaves."""
        names = {item.name for item in path.iterdir()}
        if cls.manifest_name in names:
            raise UsageError(
                f"{path} holds a {cls.noun} already. Continue it with 'surefoot resume {path}', or name another."
            )
        parts = tuple(f".{name}." for name in (cls.manifest_name, *cls.early))
        if any(name not in (_LOCK, *cls.early) and not name.startswith(parts) for name in names):
            raise UsageError(f"{path} is not empty. Name a new folder for the {cls.noun}.")


@cache
def code_version() -> str:
    """surefoot's version and a hash of its code: a journal is resumed by the code that wrote it."""
    folder = Path(surefoot.__file__).parent
    digest = hashlib.blake2b(digest_size=6)
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return f"{surefoot.__version__}+{digest.hexdigest()}"


def write_whole(path: Path, data: bytes) -> None:
    """Write a file, whole or not at all. RunError where the disk refuses."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(exist_ok=True)
        part.write_bytes(data)
        part.rename(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)  # on a full disk it would hold the room that is missing
        raise RunError(
            f"{path} can't be written: {error.strerror}. See to the disk; the run can be resumed then."
        ) from None


@contextlib.contextmanager
def _released_on_error(lock: IO[str]) -> Iterator[None]:
    try:
        yield
    except BaseException:  # whatever it was goes on; only the lock is given back
        lock.close()
        raise
