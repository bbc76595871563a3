"""A run's tapes: one file per distinct execution, named by its id."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from surefoot.errors import RunError
from surefoot.tape.file import Tape, load_tape

_UNFINISHED = ".recording"
_KEPT_IN_MEMORY = 256


class TapeStore:
    """A folder of tapes. What an interrupted run left unfinished is set aside, never deleted."""

    def __init__(self, folder: Path):
        self.folder = folder
        with _disk(folder):
            folder.mkdir(parents=True, exist_ok=True)
        for path in folder.glob(f"{_UNFINISHED}-*.mcap"):
            recorder = path.stem.removeprefix(f"{_UNFINISHED}-")
            if not recorder.isdigit() or int(recorder) == os.getpid() or not is_running(int(recorder)):
                self.set_aside(path)
        self.load = lru_cache(maxsize=_KEPT_IN_MEMORY)(self._load)

    def path(self, identity: str) -> Path:
        """Where the tape with this id lies."""
        return self.folder / f"{identity}.mcap"

    def unfinished_path(self) -> Path:
        """Where to record the next tape."""
        return self.folder / f"{_UNFINISHED}-{os.getpid()}.mcap"

    def keep(self, recorded: Path, tape: Tape) -> str:
        """Name a finished tape by its id; an equal execution that is there already stays."""
        target = self.path(tape.id)
        with _disk(target):
            if target.exists():
                recorded.unlink()
            else:
                recorded.rename(target)
        return tape.id

    def set_aside(self, recorded: Path) -> None:
        """Keep a recording that was cut, or that an environment's fault ended, out of the way."""
        if not recorded.exists():
            return
        folder = self.folder / "unfinished"
        with _disk(folder):
            folder.mkdir(exist_ok=True)
            places = (folder / f"{number:04d}.mcap" for number in itertools.count())
            recorded.rename(next(place for place in places if not place.exists()))

    def _load(self, identity: str) -> Tape:
        return load_tape(self.path(identity))


def is_running(process: int) -> bool:
    """Whether there is a process of that number, whoever's it is."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # another user's
        return True
    return True


@contextlib.contextmanager
def _disk(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunError(
            f"The run's tapes can't be kept at {place}: {error.strerror}. See to the disk; the run can be resumed then."
        ) from None
