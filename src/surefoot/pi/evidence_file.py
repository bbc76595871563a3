"""What a learner knows, as a JSON file: written whole or not at all, and refused where it is not what was written."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
from pathlib import Path
from typing import Annotated, Any

import msgspec

from surefoot.errors import UsageError

KIND = "surefoot pipeline evidence"
FORMAT = 1
Count = Annotated[int, msgspec.Meta(ge=0)]


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """E(c, a) = (s, f, R, U) of one action of a stage, under one revision and goal."""

    revision: str
    stage: str
    goal: Any
    action: str
    successes: Count
    failures: Count
    incentive: float
    confirmed: tuple[str, ...]


class Remembered(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A complete program kept for one revision and request (`trajectory` alone keeps them)."""

    revision: str
    request: tuple[Any, ...]
    program: tuple[str, ...]


class Contents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that a learner knows, by names, in the order in which it was learned."""

    composition: str
    evidence: tuple[Entry, ...]
    programs: tuple[Remembered, ...]


def write(path: Path, contents: Contents) -> None:
    """Replace the file, at once. UsageError where the disk does not allow it; an older file then stays as it was."""
    known = msgspec.to_builtins(contents)
    text = json.dumps({"kind": KIND, "format": FORMAT, "digest": _digest(known), "known": known}, indent=1)
    whole = path.resolve()
    unfinished = whole.with_name(f".{whole.name}.{os.getpid()}")
    try:
        with unfinished.open("w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(whole)
    except OSError as error:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise UsageError(f"The evidence can't be written to {path}: {error.strerror}. Name another file.") from None


def read(path: Path) -> Contents:
    """What a file holds. UsageError where there is none, or it is damaged, foreign or newer."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(
            f"The evidence can't be read from {path}: {error.strerror}. Name the file of an earlier save, or start "
            "with a new Learner."
        ) from None
    except (ValueError, RecursionError):
        raise _damaged(path, "it is not JSON") from None
    if not isinstance(found, dict) or found.get("kind") != KIND:
        raise UsageError(f"{path} holds something else than evidence of a pipeline. Name the file of an earlier save.")
    version = found.get("format")
    if isinstance(version, int) and version > FORMAT:
        raise UsageError(
            f"{path} is of format {version}, and this surefoot reads format {FORMAT}. Use the newer surefoot that wrote it."
        )
    if version != FORMAT or found.get("digest") != _digest(found.get("known")):
        raise _damaged(path, "its digest does not fit what it holds")
    try:
        contents = msgspec.convert(found["known"], Contents)
    except msgspec.ValidationError as error:
        raise _damaged(path, str(error)) from None
    keys = [(entry.revision, entry.stage, repr(entry.goal), entry.action) for entry in contents.evidence]
    if len(set(keys)) < len(keys) or not all(math.isfinite(entry.incentive) for entry in contents.evidence):
        raise _damaged(path, "an entry stands twice, or is no number")
    return contents


def tupled(value: Any) -> Any:
    """A goal as it was before JSON made lists of its tuples."""
    return tuple(map(tupled, value)) if isinstance(value, list) else value


def _digest(known: Any) -> str:
    text = json.dumps(known, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _damaged(path: Path, why: str) -> UsageError:
    return UsageError(
        f"{path} is damaged ({why}), and nothing of it was used. Put a copy of it back, or start with a new Learner."
    )
