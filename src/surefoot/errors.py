"""What surefoot raises.

    SurefootError                   exit 2
    ├── UsageError                  exit 2   wrong name, option or input file
    │   └── InvalidProgramError     exit 2   the program cannot be run as written
    ├── TapeError                   exit 3   a tape that is broken, truncated, foreign or newer
    │   └── NoTapeError             exit 3   a file that is no tape of a program at all
    ├── RunError                    exit 2   a run folder that is in use, foreign or from other code
    └── EnvironmentFaultError       exit 4   the environment failed; never the program's fault

A program's failure is a value (`surefoot.boundary.outcome`), never one of these.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import ClassVar


class SurefootError(Exception):
    """Base of everything surefoot raises on purpose; its text is a sentence with a remedy."""

    exit_code: ClassVar[int] = 2


class UsageError(SurefootError):
    """What was asked for does not exist or does not fit."""


class InvalidProgramError(UsageError):
    """A program that cannot be run as written; the text names file, line and remedy."""


class TapeError(SurefootError):
    """A tape that cannot be read as a whole; the text names the file and the place."""

    exit_code = 3


class NoTapeError(TapeError):
    """A file that is no tape: empty, foreign, or a folder."""


class RunError(SurefootError):
    """A run folder that cannot be used: held by another process, foreign, or of other code."""


class EnvironmentFaultError(SurefootError):
    """The environment (simulator, service) failed; counted as infrastructure, never as the program's."""

    exit_code = 4


def shown(value: object) -> str:
    """A value as messages show it: its repr, at most 60 characters of it."""
    try:
        text = repr(value)
    except ValueError:  # an int with more digits than Python prints
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def unknown_name(kind: str, asked: str, available: Iterable[str]) -> UsageError:
    """The error for a name that does not exist: nearest match first, then all that do."""
    names = sorted(available)
    near = difflib.get_close_matches(asked, names, n=1, cutoff=0.5)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    return UsageError(f"There is no {kind} '{asked}'.{hint} Available: {', '.join(names) or 'none'}.")
