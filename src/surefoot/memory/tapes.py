"""A run's tapes: one file per distinct execution, named by its id."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from surefoot.tape.file import Tape, load_tape

_UNFINISHED = ".recording"
_KEPT_IN_MEMORY = 256


class TapeStore:
    """A folder of tapes. What an interrupted run left unfinished is set aside, never deleted."""

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.glob(f"{_UNFINISHED}*.mcap"):
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
        folder.mkdir(exist_ok=True)
        number = sum(1 for _ in folder.iterdir())
        recorded.rename(folder / f"{number:04d}.mcap")

    def _load(self, identity: str) -> Tape:
        return load_tape(self.path(identity))
