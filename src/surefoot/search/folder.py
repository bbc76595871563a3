"""A learning run's folder: manifest, journal, programs, tapes, report, and the skill library it began with."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path
from typing import IO

import msgspec

from surefoot.errors import RunError, UsageError
from surefoot.memory.folder import Folder, write_whole
from surefoot.memory.tapes import TapeStore
from surefoot.program.source import Program
from surefoot.search.settings import Settings

LIBRARY = "library.json"


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

    def same_search(self, other: Manifest) -> bool:
        """Whether a search would do the same: all is equal but names and held-out configurations, which it never sees."""
        one, two = (msgspec.structs.replace(item, id="", held_out=()) for item in (self, other))
        return one == two


class RunFolder(Folder[Manifest]):
    """An open run; a context manager that holds the run's lock."""

    noun = "run"
    manifest_name = "manifest.json"
    manifest_type = Manifest
    journal_name = "run.sqlite"
    made_by = "Runs are made by 'surefoot learn … --out DIR'."
    early = (LIBRARY,)

    def __init__(self, path: Path, manifest: Manifest, lock: IO[str]):
        super().__init__(path, manifest, lock)
        self.tapes = TapeStore(path / "tapes")

    @property
    def library(self) -> bytes:
        """The skill library as it was when the run began; empty without one."""
        return read_library(self.path / LIBRARY)

    def save_program(self, program: Program) -> None:
        """Keep a program's text under its identity."""
        write_whole(self.path / "programs" / f"{program.digest}.py", program.source.encode())

    @classmethod
    def _prepare(cls, path: Path, manifest: Manifest) -> None:
        if manifest.library is not None:
            write_whole(path / LIBRARY, read_library(Path(manifest.library)))


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
        write_whole(path, merge(read_library(path)))
