"""`surefoot.record`: run a script against a user's own object and tape it."""

from __future__ import annotations

import keyword
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from surefoot.boundary.outcome import is_success
from surefoot.boundary.process import Zygote
from surefoot.boundary.surface import Shared, Surface
from surefoot.boundary.wire import Limits
from surefoot.errors import TapeError, UsageError
from surefoot.program.source import Program
from surefoot.scripts.environment import PROTOCOL, TIER, ObjectEnvironment, revision_of, task_name
from surefoot.scripts.imports import refuse_given_imports
from surefoot.scripts.methods import wrapper_of
from surefoot.tape.file import Tape
from surefoot.tape.recording import Execution, Origin, execute
from surefoot.tape.replay import preload_for

_TAKEN = frozenset({"stage", "state", "time", "vary"})
"""Names that programs know already."""


def record(
    obj: object,
    program: str | os.PathLike[str],
    tape: str | os.PathLike[str],
    *,
    name: str | None = "client",
    queries: Sequence[str] = (),
    raises: Sequence[type[BaseException]] = (),
    types: Sequence[type] = (),
    shared: Shared = (),
    check: Callable[[Any], object] | None = None,
    revision: str = "",
    limits: Limits | None = None,
    run_seed: int = 0,
) -> Execution:
    """Run the Python file `program` with the public methods of `obj`, and tape every call and answer to `tape`.

    The script runs in a process of its own, where `name` is a namespace of the methods (`client.order("x")`);
    with `name=None` they are functions (`order("x")`). Methods are effects, except those that `queries` names
    (`"get_*"` is a pattern) and those that `@api` marks otherwise. A script sees Python's own exceptions as they
    are raised, and those of `raises` with their subclasses; any other ends the run as `Infrastructure`.

    `types` are what arguments and results may hold besides Python's and NumPy's own values: dataclasses, enums,
    named tuples, and handles: other classes, whose objects stay here and whose public methods the script calls as
    it does those of `obj` (`"read"` or `"Session.read"` in `queries` names one). `shared` says which objects stay one and the same over
    several calls: types, or `"all"`.

    A run succeeds if it ends normally and `check(obj)` is true, where given. The tape of a run that does not
    is kept in `failures/` beside `tape`. `revision` adds to the hash of the source files of `obj`'s class; a
    replay that is given the class is `Unavailable` once that has changed.

    Raises UsageError for arguments that do not fit, InvalidProgramError for a script that can't be run faithfully,
    TapeError where there is a file at `tape` already.
    """
    text, path = Program.read(Path(program), "trusted"), Path(tape)
    if isinstance(obj, type):
        raise UsageError(f"record takes the object that the script calls, not its class: {obj.__qualname__}(…).")
    if isinstance(obj, ModuleType):
        raise UsageError(
            f"record takes an object with methods, not the module {obj.__name__}. Put the functions that the script calls "
            "on one: types.SimpleNamespace(order=shop.order)."
        )
    wrapper = wrapper_of(obj, name, queries=queries, raises=raises, types=types, shared=shared)
    _check_name(name, (*types, *raises))
    task = task_name(type(obj))
    origin = Origin(task, TIER, PROTOCOL, Surface.of(wrapper), revision_of(obj, revision))
    text.check()
    refuse_given_imports(text, origin.surface.types, name or origin.surface.functions[0].name)
    environment = ObjectEnvironment(task, wrapper, (lambda: check(obj)) if check else None)
    unfinished = _unfinished(path)
    with Zygote(preload_for(text)) as zygote:
        execution = execute(text, environment, origin, 0, zygote, path=unfinished, limits=limits, run_seed=run_seed)
    if execution.tape is None:
        return execution
    kept = _keep(unfinished, path, execution.tape)
    return msgspec.structs.replace(execution, tape=msgspec.structs.replace(execution.tape, path=kept))


def _check_name(name: str | None, declared: Sequence[type]) -> None:
    """Raise UsageError for a name that a script can't have for the object."""
    if name is None:
        return
    if not name.isidentifier() or keyword.iskeyword(name):
        raise UsageError(f"name is what the script calls the object, such as 'client'; {name!r} is no Python name.")
    if name in _TAKEN or any(name == getattr(kind, "__name__", "") for kind in declared):
        raise UsageError(f"A script knows something else as '{name}' already; give the object another name.")


def _unfinished(path: Path) -> Path:
    """Where to record; what a killed recording leaves there is no tape of the folder. TapeError where `path` is taken."""
    _refuse_taken(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TapeError(f"No tape can be written at {path}: {error.strerror}.") from None
    return path.with_name(f".recording-{os.getpid()}-{path.name}")


def _refuse_taken(path: Path) -> None:
    if path.exists():
        what = "folder" if path.is_dir() else "file"
        raise TapeError(f"There is already a {what} at {path}. Tapes are never overwritten; name another.")


def _keep(unfinished: Path, path: Path, tape: Tape) -> Path:
    """Give a finished tape its place: that asked for, or one in `failures/` if it records no success."""
    place = path
    if tape.end is None or not is_success(tape.end.outcome):
        place = path.parent / "failures" / f"{path.stem}.{tape.id[:12]}{path.suffix}"
    try:
        place.parent.mkdir(exist_ok=True)
        _refuse_taken(place)  # by a recording that ended while this one ran
        unfinished.rename(place)
    except OSError as error:
        raise TapeError(f"The tape {unfinished} can't be given its place at {place}: {error.strerror}.") from None
    return place
