"""The public methods of a user's object as the functions that a script may call."""

from __future__ import annotations

import ast
import builtins
import fnmatch
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from surefoot.boundary.declared import MARK, HandleSpec, is_literal, qualified
from surefoot.boundary.surface import ApiMark, Kind, Shared, Surface, api
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

    With a `name`, each is called `name.method`. `queries` are names of methods or patterns (`get_*`); methods
    that `@api` marks keep their marks, to which `raises` and `types` add. UsageError for a name or pattern that
    fits no method, for exceptions that are none, and for an object without methods.
    """
    for option, several in {"queries": queries, "raises": raises, "types": types}.items():
        if isinstance(several, str | type):
            shown = repr(several) if isinstance(several, str) else several.__qualname__
            raise UsageError(f"{option} takes several: {option}=({shown},).")
    methods = methods_of(subject)
    if not methods:
        raise UsageError(
            f"An object of type {type(subject).__qualname__} has no public methods that a script could call. Pass the "
            "client object itself."
        )
    chosen = _queries(methods, queries)
    seen = _with_subclasses(raises)
    scope: dict[str, Any] = {}
    for method, signature in methods.items():
        kind: Kind = "query" if method in chosen else "effect"
        mark: ApiMark = getattr(
            getattr(subject, method), MARK, ApiMark(kind, shared="all" if shared == "all" else tuple(shared))
        )
        visible = tuple(dict.fromkeys((*mark.raises, *seen)))
        declared = tuple(dict.fromkeys((*mark.types, *types)))
        forward = _forward(subject, method, f"{name}.{method}" if name else method, signature, mark.kind, visible)
        forward.__doc__ = inspect.getdoc(getattr(subject, method))
        scope[forward.__name__] = api(mark.kind, (*visible, Exception), types=declared, shared=mark.shared)(forward)
    scope["__init__"] = lambda self, after_effect: setattr(self, "_after_effect", after_effect)
    return type(type(subject).__name__, (), scope)


def _queries(methods: Iterable[str], asked: Sequence[str]) -> set[str]:
    chosen: set[str] = set()
    for pattern in asked:
        fitting = fnmatch.filter(methods, pattern)
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
    subject: Subject | type, method: str, name: str, signature: inspect.Signature, kind: Kind, visible: Raises
) -> Callable[..., Any]:
    """A method that calls that of the subject; what it raises beyond `visible` is a fault with its remedy."""
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
            return getattr(subject, method)(*values, **named)
        except Exception as error:
            if type(error) in seen:
                raise
            raise EnvironmentFaultError(
                f"{qualified(type(error))} ({error}), which the script is not meant to see; if it is, "
                f"record with raises=({type(error).__qualname__},)"
            ) from error
        finally:
            if kind == "effect":
                self._after_effect()

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
        forward = _forward(subject, method, function.name, now[method], mark.kind, ())
        fresh = Surface.of(type("Now", (), {function.name: api(mark.kind)(forward)})).functions[0]
        functions.append(msgspec.structs.replace(function, kind=fresh.kind, signature=fresh.signature))
    return Surface(tuple(functions))
