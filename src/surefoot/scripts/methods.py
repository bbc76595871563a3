"""The public methods of a user's object as the functions that a script may call."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import enum
import fnmatch
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from surefoot.boundary.declared import MARK, HandleSpec, is_handle, is_literal, is_named_tuple, qualified
from surefoot.boundary.surface import VIEWS, ApiMark, Kind, Shared, Surface, api
from surefoot.errors import EnvironmentFaultError, UsageError, unknown_name

Raises = tuple[type[BaseException], ...]
Subject = object
_PYTHONS_OWN = frozenset(item for item in vars(builtins).values() if isinstance(item, type))


def methods_of(subject: Subject | type) -> dict[str, inspect.Signature]:
    """Public methods by name, base classes first, each with its signature without `self`.

    Left out are names with an underscore, properties, nested classes, coroutines and whatever has no readable
    signature. `subject` is an object or its class; of an object, callable attributes of its own count, too.
    """
    kind = subject if isinstance(subject, type) else type(subject)
    names = [name for base in reversed(kind.__mro__) if base is not object for name in vars(base)]
    found = {name: _method_signature(kind, name) for name in names if not name.startswith("_")}
    if not isinstance(subject, type):
        own = {name: item for name, item in getattr(subject, "__dict__", {}).items() if not name.startswith("_")}
        found |= {name: _signature(item) for name, item in own.items()}
    return {name: signature for name, signature in found.items() if signature is not None}


def _method_signature(kind: type, name: str) -> inspect.Signature | None:
    signature = _signature(getattr(kind, name, None))
    if signature is None or isinstance(inspect.getattr_static(kind, name), staticmethod | classmethod):
        return signature
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def _signature(item: Any) -> inspect.Signature | None:
    if not callable(item) or isinstance(item, type) or inspect.iscoroutinefunction(item):
        return None
    try:
        signature = inspect.signature(item)
    except (ValueError, TypeError):
        return None
    parameters = [
        parameter.replace(annotation=_shown(parameter.annotation)) for parameter in signature.parameters.values()
    ]
    return signature.replace(parameters=parameters, return_annotation=_shown(signature.return_annotation))


def _shown(annotation: Any) -> Any:
    """An annotation as text, where it is Python's own text for it: others may hold addresses."""
    if annotation is inspect.Parameter.empty:
        return annotation
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return inspect.Parameter.empty
    return text


def wrapper_of(
    subject: Subject,
    name: str | None,
    *,
    queries: Sequence[str] = (),
    raises: Sequence[type[BaseException]] = (),
    types: Sequence[type] = (),
    shared: Shared = (),
) -> type[Any]:
    """A class whose `@api` methods forward to `subject`; its constructor takes a function to call after each effect.

    With a `name`, each is called `name.method`. Classes in `types` that are no dataclass, enum or named tuple are
    handles: their public methods are there as `Class.method`. `queries` are names of methods or patterns (`get_*`,
    `Session.read`); methods that `@api` marks keep their marks, to which `raises` and `types` add. UsageError for a
    name or pattern that fits no method, for exceptions or types that are none, and for an object without methods.
    """
    _check_several(queries=queries, raises=raises, types=types)
    methods = methods_of(subject)
    if not methods:
        raise UsageError(
            f"An object of type {type(subject).__qualname__} has no public methods that a script could call. Pass the "
            "client object itself."
        )
    handles = _handle_classes(subject, methods, types)
    full: dict[str, tuple[Any, str, inspect.Signature]]
    full = {method: (subject, method, signature) for method, signature in methods.items()}
    for handle in handles:
        theirs = methods_of(handle).items()
        full |= {f"{handle.__name__}.{method}": (handle, method, signature) for method, signature in theirs}
    chosen = _queries(list(full), queries)
    seen, after_effect = _with_subclasses(raises), _AfterEffect()
    scopes: dict[Any, dict[str, Any]] = {kind: {} for kind in handles}
    own: dict[str, Any] = {}
    for key, (owner, method, signature) in full.items():
        item = getattr(owner, method)
        kind: Kind = "query" if key in chosen else "effect"
        mark: ApiMark = getattr(item, MARK, ApiMark(kind, shared=_shared(shared)))
        visible = tuple(dict.fromkeys((*mark.raises, *seen)))
        declared = tuple(dict.fromkeys((*mark.types, *types)))
        on_handle = owner is not subject
        shown = key if on_handle or not name else f"{name}.{method}"
        forward = _forward(
            None if on_handle else subject, method, shown, signature, visible,
            after_effect if mark.kind == "effect" else None,
        )  # fmt: skip
        forward.__doc__ = inspect.getdoc(item)
        marked = api(mark.kind, (*visible, Exception), types=declared, shared=mark.shared)(forward)
        if on_handle:
            scopes[owner][method] = marked
        else:
            own[shown] = marked
    own["__init__"] = lambda self, function: setattr(after_effect, "function", function)
    own[VIEWS] = {kind: type(kind.__name__, (), scope) for kind, scope in scopes.items()}
    return type(type(subject).__name__, (), own)


class _AfterEffect:
    """What to call after each effect, known only once the wrapper is made."""

    def __init__(self) -> None:
        self.function: Callable[[], None] = lambda: None


def _check_several(**options: Sequence[Any]) -> None:
    """Raise UsageError for options that are one thing where several are taken, and for types that are no classes."""
    for option, several in options.items():
        if isinstance(several, str | type):
            shown = repr(several) if isinstance(several, str) else several.__qualname__
            raise UsageError(f"{option} takes several: {option}=({shown},).")
    for kind in options["types"]:
        if not isinstance(kind, type):
            raise UsageError(f"types takes classes, not {kind!r}.")


def _shared(shared: Any) -> Shared:
    if shared == "all":
        return "all"
    if isinstance(shared, type):
        raise UsageError(f"shared takes several: shared=({shared.__qualname__},).")
    if not isinstance(shared, tuple | list) or not all(isinstance(kind, type) for kind in shared):
        raise UsageError(f"shared takes 'all' or several classes, not {shared!r}.")
    return tuple(shared)


def _handle_classes(subject: Subject, methods: Iterable[str], types: Sequence[type]) -> list[type]:
    """The handles among `types` and among those that `@api` declares on methods of the object and of handles."""
    found: dict[type, None] = {}
    waiting = [*types, *_marked_types(subject, methods)]
    while waiting:
        kind = waiting.pop(0)
        if kind in found or _is_value(kind):
            continue
        theirs = methods_of(kind)
        if not is_handle(kind) and (not theirs or any(base in _PYTHONS_OWN for base in kind.__mro__[:-1])):
            raise UsageError(
                f"{qualified(kind)} can't be declared: types=(...) takes dataclasses, enums, named tuples, and classes with "
                "public methods, whose objects stay with you (handles); exceptions go into raises=(...)."
            )
        found[kind] = None
        waiting += _marked_types(kind, theirs)
    return list(found)


def _marked_types(owner: Any, methods: Iterable[str]) -> list[type]:
    marks = [getattr(getattr(owner, method), MARK, None) for method in methods]
    return [kind for mark in marks if mark is not None for kind in mark.types]


def _is_value(kind: type) -> bool:
    """Whether objects of a declared type cross as values."""
    return issubclass(kind, enum.Enum | BaseException) or dataclasses.is_dataclass(kind) or is_named_tuple(kind)


def _queries(methods: Sequence[str], asked: Sequence[str]) -> set[str]:
    """The methods (`left`, or `Session.read` of a handle) that the patterns fit; one without a dot fits last names."""
    chosen: set[str] = set()
    for pattern in asked:
        fitting = [
            method
            for method in methods
            if fnmatch.fnmatchcase(method if "." in pattern else method.rpartition(".")[2], pattern)
        ]
        if not fitting:
            raise unknown_name("method", pattern, methods)
        chosen.update(fitting)
    return chosen


def _with_subclasses(raises: Sequence[type[BaseException]]) -> Raises:
    """The exceptions that a script may see: those named and every subclass that is loaded."""
    found: dict[type[BaseException], None] = {}
    waiting = list(raises)
    while waiting:
        kind = waiting.pop(0)
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            raise UsageError(f"raises takes exception classes, not {kind!r}.")
        if kind is Exception:
            raise UsageError(
                "raises=(Exception,) would declare every exception there is; name those that scripts handle."
            )
        if kind not in found:
            found[kind] = None
            waiting += kind.__subclasses__()
    return tuple(kind for kind in found if kind not in _PYTHONS_OWN)  # a script sees Python's own in any case


def _forward(
    subject: Subject | None,
    method: str,
    name: str,
    signature: inspect.Signature,
    visible: Raises,
    after: _AfterEffect | None = None,
) -> Callable[..., Any]:
    """A method that calls that of the subject; what it raises beyond `visible` is a fault with its remedy.

    With None for the subject it calls that of its first argument, a handle.
    """
    defaults = {
        place: parameter.default
        for place, parameter in signature.parameters.items()
        if parameter.default is not parameter.empty and not is_literal(parameter.default)
    }
    seen = {*visible, *_PYTHONS_OWN}

    def forward(self: Any, /, *values: Any, **named: Any) -> Any:
        if defaults:
            values, named = _with_defaults(signature, values, named, defaults)
        try:
            return getattr(self if subject is None else subject, method)(*values, **named)
        except Exception as error:  # of what the user's object raises the script sees only what it is meant to
            if type(error) in seen:
                raise
            raise EnvironmentFaultError(
                f"{qualified(type(error))} ({error}), which the script is not meant to see; if it is, "
                f"record with raises=({type(error).__qualname__},)"
            ) from error
        finally:
            if after is not None:
                after.function()

    parameters = [
        parameter.replace(default=_stand_in(place)) if place in defaults else parameter
        for place, parameter in signature.parameters.items()
    ]
    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    forward.__signature__ = signature.replace(parameters=[this, *parameters])  # type: ignore[attr-defined]
    forward.__name__ = name
    forward.__qualname__ = name
    return forward


def _with_defaults(
    signature: inspect.Signature, values: tuple[Any, ...], named: dict[str, Any], defaults: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A call's arguments with the real defaults in place of what stands for them."""
    bound = signature.bind(*values, **named)
    for place, value in bound.arguments.items():
        if place in defaults and isinstance(value, str) and value == _stand_in(place):
            bound.arguments[place] = defaults[place]
    return bound.args, bound.kwargs


def _stand_in(parameter: str) -> str:
    """What a request carries for a default that is no literal, such as a sentinel object."""
    return f"<default of {parameter}>"


def described(subject: Subject | type, surface: Surface) -> Surface:
    """A tape's surface as an object or class offers it now, for finding what has changed.

    Kinds and exceptions are the tape's, except where `@api` marks a method now: how the script was recorded is
    no property of the object. Methods that are gone are left out. Handles are other classes: theirs are the tape's.
    """
    now = methods_of(subject)
    handles = {spec.name.rpartition(".")[2] for spec in surface.types if isinstance(spec, HandleSpec)}
    functions = []
    for function in surface.functions:
        owner, _, method = function.name.rpartition(".")
        if owner in handles:
            functions.append(function)
            continue
        if method not in now:
            continue
        mark: ApiMark = getattr(getattr(subject, method), MARK, ApiMark(function.kind))
        forward = _forward(subject, method, function.name, now[method], ())
        fresh = Surface.of(type("Now", (), {function.name: api(mark.kind)(forward)})).functions[0]
        functions.append(msgspec.structs.replace(function, kind=fresh.kind, signature=fresh.signature))
    return Surface(tuple(functions))
