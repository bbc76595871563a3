"""The run's journal: every effect of the search, in order, so that a killed run resumes where it stopped.

On resume the search runs again from the start. An effect whose result is in the journal is not repeated;
where the journal ends, the search goes live. Keyed by (position, kind, digest of the input): an effect that
comes out of order means that the code differs from the code that wrote the journal.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from surefoot.errors import RunError

T = TypeVar("T")
Moment = str
_SCHEMA = """
CREATE TABLE IF NOT EXISTS effects (
    position INTEGER PRIMARY KEY, kind TEXT NOT NULL, input TEXT NOT NULL, output BLOB NOT NULL,
    seconds REAL NOT NULL
)
"""


class Journal:
    """Effects of one run in SQLite. `code` names the code that runs; it appears in the mismatch error."""

    def __init__(self, path: Path, code: str):
        self._path = path
        self._code = code
        self._position = 0
        with self._disk():
            self._rows = sqlite3.connect(path, isolation_level=None)
            self._execute("PRAGMA journal_mode=WAL")
            self._execute("PRAGMA synchronous=NORMAL")  # survives a killed process; fsync costs 3 ms a row
            self._execute(_SCHEMA)

    def step(self, kind: str, inputs: Any, result: type[T], compute: Callable[[], T]) -> T:
        """The result of one effect: from the journal if it is there, else computed and written."""
        position = self._position
        self._position += 1
        digest = _digest(inputs)
        found = self._recorded(position, kind, digest, result)
        if found is not None:
            return found
        started = time.perf_counter()
        value = compute()
        self._write(position, kind, digest, value, time.perf_counter() - started)
        return value

    def batch(
        self,
        kind: str,
        inputs: Sequence[Any],
        result: type[T],
        compute: Callable[[list[int]], Iterator[tuple[int, T]]],
    ) -> list[T]:
        """Results of independent effects; `compute` gets the indices still missing, in any order back."""
        first = self._position
        self._position += len(inputs)
        digests = [_digest(item) for item in inputs]
        results: dict[int, T] = {}
        for index, digest in enumerate(digests):
            found = self._recorded(first + index, kind, digest, result)
            if found is not None:
                results[index] = found
        missing = [index for index in range(len(inputs)) if index not in results]
        for index, value in compute(missing) if missing else ():
            self._write(first + index, kind, digests[index], value, 0.0)  # they may run side by side
            results[index] = value
        return [results[index] for index in range(len(inputs))]

    @property
    def length(self) -> int:
        """Number of effects written."""
        return int(self._execute("SELECT COUNT(*) FROM effects")[0][0])

    @property
    def replaying(self) -> bool:
        """Whether the next effect is already in the journal."""
        return bool(self._execute("SELECT 1 FROM effects WHERE position = ?", (self._position,)))

    def kinds(self) -> dict[str, int]:
        """Number of effects by kind."""
        return dict(self._execute("SELECT kind, COUNT(*) FROM effects GROUP BY kind ORDER BY kind"))

    def seconds(self) -> dict[str, float]:
        """What the effects took by kind [s], as first computed; 0 for those of batches."""
        return dict(self._execute("SELECT kind, SUM(seconds) FROM effects GROUP BY kind ORDER BY kind"))

    def close(self) -> None:
        """Close the database."""
        self._rows.close()

    def at_write(self, position: int, moment: Moment) -> None:
        """Called `before` and `after` each write; tests of resuming put their faults here."""

    def _recorded(self, position: int, kind: str, digest: str, result: type[T]) -> T | None:
        rows = self._execute("SELECT kind, input, output FROM effects WHERE position = ?", (position,))
        if not rows:
            return None
        found, inputs, output = rows[0]
        if found != kind:
            raise self._mismatch(f"has '{found}' at position {position} where this code ({self._code}) does '{kind}'")
        if inputs != digest:
            raise self._mismatch(
                f"has '{kind}' at position {position}, but not of what this code ({self._code}) gives it"
            )
        try:
            return msgspec.msgpack.decode(output, type=result)
        except (msgspec.DecodeError, TypeError):
            raise self._mismatch(f"has a result of '{kind}' at position {position} that can't be read") from None

    def _mismatch(self, what: str) -> RunError:
        return RunError(
            f"The journal {self._path} {what}: it was written by other code, or is broken. "
            "Resume with that code, or start a new run."
        )

    def _write(self, position: int, kind: str, digest: str, value: Any, seconds: float) -> None:
        self.at_write(position, "before")
        row = (position, kind, digest, msgspec.msgpack.encode(value), seconds)
        self._execute("INSERT INTO effects VALUES (?, ?, ?, ?, ?)", row)
        self.at_write(position, "after")

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._disk():
            return self._rows.execute(statement, values).fetchall()

    @contextlib.contextmanager
    def _disk(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise RunError(
                f"The journal {self._path} can't be read or written ({error}). "
                "See to the disk and the folder's permissions; the run can be resumed then."
            ) from None
        except sqlite3.DatabaseError as error:
            raise RunError(
                f"{self._path} is not a journal of a run ({error}). Start a new run in another folder."
            ) from None


def _digest(inputs: Any) -> str:
    data = msgspec.msgpack.encode(inputs, order="deterministic")
    return hashlib.blake2b(data, digest_size=16).hexdigest()
