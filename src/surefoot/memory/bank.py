"""The success bank: a folder with at most one witness per configuration (SCOPE section 3.3)."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from surefoot.boundary.outcome import is_success
from surefoot.errors import NoTapeError, SurefootError, TapeError, UsageError
from surefoot.memory.tapes import is_running
from surefoot.tape.file import Tape, load_tape

_UNFINISHED = ".recording-"


class Witness(msgspec.Struct, frozen=True):
    """One entry of a bank: a tape, or why its file can't be read. A `foreign` file never was a tape of a program."""

    path: Path
    tape: Tape | None
    problem: str = ""
    foreign: bool = False


class Bank:
    """A folder of tapes. Failures and replaced witnesses are kept beside them, never deleted."""

    def __init__(self, folder: Path):
        self.folder = folder

    def create(self) -> None:
        """Make the folder. UsageError if that can't be done."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise UsageError(f"{self.folder} is not a folder. Name a folder for the bank.") from None
        except OSError as error:
            raise UsageError(f"No bank can be made at {self.folder}: {error.strerror}.") from None

    def unfinished_path(self, seed: int) -> Path:
        """Where to record a configuration's next tape; `keep` gives it its place."""
        # A process that was killed may have had this one's id and have left its recording.
        return _free(self.folder / f"{_UNFINISHED}{os.getpid()}-{seed}.mcap")

    def keep(self, recorded: Path, tape: Tape) -> Path:
        """Give a finished tape its place: a success becomes its configuration's witness.

        UsageError where the disk does not allow it; the recording then stays where it is.
        """
        try:
            with self._alone():
                return self._keep(recorded, tape)
        except OSError as error:
            raise UsageError(
                f"The tape {recorded} can't be given its place in {self.folder}: {error.strerror}. It stays there."
            ) from None

    def _keep(self, recorded: Path, tape: Tape) -> Path:
        name = f"{tape.header.task.replace('/', '-')}.seed-{tape.header.scene.seed}"
        if tape.end is None or not is_success(tape.end.outcome):
            return _move(recorded, self.folder / "failures" / f"{name}.{tape.id[:12]}.mcap")
        place = self.folder / f"{name}.mcap"
        if place.exists():
            _move(place, self.folder / "replaced" / f"{name}.{_identity_of(place)}.mcap")
        return _move(recorded, place)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the folder against other processes that keep tapes in it."""
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def witnesses(self) -> list[Witness]:
        """All witnesses, by file name. UsageError if there is no such folder or nothing in it."""
        if self.folder.is_file():
            raise UsageError(
                f"{self.folder} is a file; a bank is a folder. For one tape: 'surefoot replay {self.folder} PROGRAM'."
            )
        if not self.folder.is_dir():
            raise UsageError(
                f"There is no bank at {self.folder}. Make one with 'surefoot record … --bank {self.folder}'."
            )
        paths = sorted(
            (path for path in self.folder.glob("*.mcap") if not path.name.startswith(_UNFINISHED)), key=_natural
        )
        if not paths:
            raise UsageError(
                f"The bank {self.folder} holds no tapes. Fill it with 'surefoot record … --bank {self.folder}'."
            )
        return [_read(path) for path in paths]

    def replaced(self) -> list[Path]:
        """Witnesses that later ones took the place of."""
        return sorted((self.folder / "replaced").glob("*.mcap"))

    def unfinished(self) -> list[Path]:
        """Recordings that were cut before they had their place."""
        return sorted(self.folder.glob(f"{_UNFINISHED}*.mcap"))

    def set_aside(self, path: Path) -> None:
        """Move a recording that will not be finished to `unfinished/`; one that was never begun is none."""
        with contextlib.suppress(OSError), self._alone():
            _move(path, self.folder / "unfinished" / path.name.lstrip("."))

    def set_aside_abandoned(self) -> None:
        """Set aside the unfinished recordings whose process is gone; for a process that records none yet."""
        for path in self.unfinished():
            found = re.match(rf"{re.escape(_UNFINISHED)}(\d+)-", path.name)
            if found and (int(found[1]) == os.getpid() or not is_running(int(found[1]))):
                self.set_aside(path)


def _read(path: Path) -> Witness:
    try:
        return Witness(path, load_tape(path))
    except SurefootError as error:
        return Witness(path, None, str(error), isinstance(error, NoTapeError))


def _identity_of(path: Path) -> str:
    try:
        return load_tape(path).id[:12] or "truncated"
    except TapeError:
        return "unreadable"


def _move(source: Path, target: Path) -> Path:
    """Rename, without ever taking the place of an existing file; for a holder of the folder alone."""
    target.parent.mkdir(parents=True, exist_ok=True)
    return source.rename(_free(target))


def _free(path: Path) -> Path:
    """The path itself, or the first `…-2`, `…-3` that is not taken."""
    number = 1
    place = path
    while place.exists():
        number += 1
        place = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return place


def _natural(path: Path) -> tuple[str, int, str]:
    head, _, tail = path.stem.rpartition("-")
    return (head, int(tail), path.name) if tail.isdecimal() else (path.stem, -1, path.name)
