"""`surefoot.replay`: an edited script against the tapes of recorded runs, without the object that it calls."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

from surefoot.boundary.surface import Surface
from surefoot.errors import UsageError
from surefoot.program.source import Program
from surefoot.scripts.environment import TIER, revision_of, task_name
from surefoot.scripts.imports import refuse_given_imports
from surefoot.scripts.methods import described
from surefoot.tape.certificate import Certificate, Reason
from surefoot.tape.file import Tape, load_tape
from surefoot.tape.replay import Interpreters, certify

REMEDIES: dict[Reason, str] = {
    "not a success": "Record a run that succeeds.",
    "surface changed": "Record it anew with the object as it is now.",
    "numeric platform": "Record on the machine that checks, or check where it was recorded.",
    "not self-matching": "Find what the recorded script reads besides its calls (a file, say), and call a method for it.",
    "timeout": "See where the script waits without a call.",
}
"""What to do about a tape that can decide nothing, by reason, where the certificate itself does not say it."""


def replay(
    program: str | os.PathLike[str],
    tape: str | os.PathLike[str],
    obj: object | type | None = None,
    *,
    revision: str | None = None,
    modulo: bool = False,
) -> Certificate:
    """Run the Python file `program` with `tape` in the object's place; nothing is called.

    With `obj`, the object or its class, the tape is `Unavailable` once a recorded method or the class's source has
    changed; without, both are taken as unchanged. `revision` is the text that `record` takes; by default the tape's
    own is taken as unchanged. With `modulo` a script that makes pure queries otherwise than recorded may still be
    certified, modulo queries. Raises UsageError or InvalidProgramError for a program that can't be run, TapeError for a broken tape.
    """
    with Replayer() as replayer:
        return replayer.replay(
            Program.read(Path(program), "trusted"), load_tape(Path(tape)), obj, revision=revision, modulo=modulo
        )


class Replayer:
    """Replays scripts in processes forked from interpreters that are started when first needed; a context manager."""

    def __init__(self) -> None:
        self._interpreters = Interpreters()

    def __enter__(self) -> Replayer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def replay(
        self,
        program: Program,
        tape: Tape,
        obj: object | type | None = None,
        *,
        revision: str | None = None,
        modulo: bool = False,
    ) -> Certificate:
        """The certificate of `program` on `tape`, checked against `obj` where given.

        UsageError for another class, InvalidProgramError for a program that imports what the host gives it.
        """
        if is_own_api(tape):
            refuse_given_imports(
                program, tape.header.surface.types, tape.header.surface.functions[0].name.partition(".")[0]
            )
        zygote = self._interpreters.of(program)
        if obj is None:
            return certify(program, tape, zygote, modulo=modulo)
        surface, now = present(tape, obj, revision)
        return certify(program, tape, zygote, surface=surface, revision=now, modulo=modulo)

    def close(self) -> None:
        """Stop the program processes."""
        self._interpreters.close()


class ObjectHost(Replayer):
    """Certifies programs on tapes of one user's object, as a `TaskHost` does on those of a task."""

    def __init__(self, obj: object | type | None):
        super().__init__()
        self._obj = obj

    def __enter__(self) -> ObjectHost:
        return self

    def certify(self, program: Program, tape: Tape, *, modulo: bool = False) -> Certificate:
        """Replay `program` on a tape of the object."""
        return self.replay(program, tape, self._obj, modulo=modulo)


def present(tape: Tape, obj: object | type, revision: str | None = None) -> tuple[Surface, str]:
    """The surface and revision that `obj`, an object or its class, has now. UsageError for another class's tape."""
    header = tape.header
    kind = obj if isinstance(obj, type) else type(obj)
    if header.tier != TIER or header.task != task_name(kind):
        raise UsageError(
            f"{tape.path or 'The tape'} was recorded on {header.task}, not on {task_name(kind)}. Give the object or "
            "class that it was recorded with."
        )
    text = _version(tape) if revision is None else revision
    return described(obj, header.surface), revision_of(obj, text)


def _version(tape: Tape) -> str:
    """The text that `record` was given beside the source's hash."""
    return tape.header.revision.partition(" ")[2]


def is_own_api(tape: Tape) -> bool:
    """Whether a tape was recorded on a user's own object, and not on an installed task."""
    return tape.header.tier == TIER
