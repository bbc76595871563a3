"""The functions a program may call: declared with `@api`, described to proposers, hashed for tapes."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec

from surefoot.boundary.declared import (
    MARK,
    ExceptionSpec,
    HandleSpec,
    TypeSpec,
    describe,
    is_handle,
    is_literal,
    qualified,
)
from surefoot.errors import UsageError, unknown_name

Kind = Literal["query", "effect"]
Shared = tuple[type, ...] | Literal["all"]
F = TypeVar("F", bound=Callable[..., Any])
VIEWS = "__surefoot_views__"
"""Attribute of an API class: by handle class, a class whose `@api` methods stand for the handle's own."""


class ApiMark(msgspec.Struct, frozen=True):
    """What `@api` notes on a method."""

    kind: Kind
    raises: tuple[type[BaseException], ...] = ()
    types: tuple[type, ...] = ()
    shared: Shared = ()


def api(
    kind: Kind, raises: tuple[type[BaseException], ...] = (), *, types: tuple[type, ...] = (), shared: Shared = ()
) -> Callable[[F], F]:
    """Declare a method as callable by programs.

    A `query` leaves the environment's state bit-unchanged; an `effect` may change it. `raises` lists the
    exceptions that a program may see; anything else that escapes is a fault of the environment. `types` lists
    what arguments and results may hold besides Python's and NumPy's own values: dataclasses, enums, named
    tuples, and handles (classes with `@api` methods, whose objects stay with the environment). Objects of the
    types in `shared` that this method takes or returns keep their identity from then on, for both sides, and
    with them all that they hold; `"all"` means every object. The method's docstring becomes its entry on the
    API page.
    """
    if kind not in ("query", "effect"):
        raise UsageError(f"@api takes kind 'query' or 'effect', not {kind!r}.")
    if shared != "all" and not (isinstance(shared, tuple) and all(isinstance(item, type) for item in shared)):
        raise UsageError(f"@api takes shared='all' or a tuple of types, not {shared!r}.")

    def mark(method: F) -> F:
        setattr(method, MARK, ApiMark(kind, raises, types, shared))
        return method

    return mark


class FunctionSpec(msgspec.Struct, frozen=True):
    """One function of a surface; `types` and `raises` describe what may cross with it, `shared` what stays one."""

    name: str
    kind: Kind
    signature: str
    doc: str
    raises: tuple[ExceptionSpec, ...] = ()
    types: tuple[TypeSpec, ...] = ()
    shared: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Hash of what a program can rely on; the docstring is not part of it."""
        text = repr((self.name, self.kind, self.signature, self.raises, self.types, self.shared))
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


class Surface(msgspec.Struct, frozen=True):
    """All functions that a program may call, in order of declaration."""

    functions: tuple[FunctionSpec, ...]

    @classmethod
    def of(cls, api_class: type) -> Surface:
        """Collect the `@api` methods of a class (base classes first, in order of declaration), then its handles'."""
        handles = _handles(api_class)
        found = [_function(name, method, mark, handles) for name, method, mark in _marked(api_class)]
        if not found:
            raise UsageError(f"{api_class.__qualname__} declares no function; mark its methods with @api.")
        for handle, owner in handles.items():
            found += [
                _function(f"{handle.__name__}.{name}", method, mark, handles, True)
                for name, method, mark in _marked(owner)
            ]
        names = [function.name for function in found]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            raise UsageError(f"{api_class.__qualname__} declares two functions {twice}; rename one of the two classes.")
        return cls(tuple(found))

    def __getitem__(self, name: str) -> FunctionSpec:
        """The function called `name`; UsageError with the nearest match where there is none."""
        for function in self.functions:
            if function.name == name:
                return function
        raise unknown_name("function", name, [function.name for function in self.functions])

    @property
    def digests(self) -> dict[str, str]:
        """Hash per function, as a tape's header keeps them."""
        return {function.name: function.digest for function in self.functions}

    @property
    def types(self) -> tuple[TypeSpec, ...]:
        """Every declared type once, exceptions with the others, in order of declaration."""
        return tuple(dict.fromkeys(spec for function in self.functions for spec in (*function.raises, *function.types)))

    def page(self) -> str:
        """The API page that a proposer reads: signature, kind, docstring and exceptions of each function."""
        entries = []
        for function in self.functions:
            lines = [f"{function.name}{function.signature}    # {function.kind}"]
            lines += ["    " + line if line else "" for line in function.doc.splitlines()]
            if function.raises:
                lines.append("    Raises: " + ", ".join(spec.name for spec in function.raises))
            entries.append("\n".join(lines))
        return "\n\n".join(entries) + "\n"


class Function(NamedTuple):
    """A function of a surface on the host's side: `call` takes one value per parameter, as requests carry them.

    `fits` says whether values are what a client sends: as many as there are parameters, and a handle of the right
    class for a handle's method.
    """

    kind: Kind
    call: Callable[[tuple[Any, ...]], Any]
    raises: tuple[type[BaseException], ...]
    shared: Shared
    fits: Callable[[tuple[Any, ...]], bool] = lambda _: True


def functions_of(api: object, surface: Surface) -> dict[str, Function]:
    """The functions of a surface, by name, bound to the object that has them."""
    handles = _handles(type(api))
    owners: dict[str, Any] = {handle.__name__: owner for handle, owner in handles.items()}
    classes = {handle.__name__: handle for handle in handles}
    found = {}
    for function in surface.functions:
        owner, _, name = function.name.rpartition(".")
        method = getattr(owners[owner], name) if owner in owners else getattr(api, function.name)
        mark: ApiMark = getattr(method, MARK)
        fits = _fitting(method, classes.get(owner, object))
        found[function.name] = Function(mark.kind, called_in_order(method), mark.raises, mark.shared, fits)
    return found


def types_of(api_class: type) -> dict[str, type]:
    """The classes that a surface declares, exceptions included, by qualified name."""
    owners = (api_class, *_handles(api_class).values())
    marks = [mark for owner in owners for _, _, mark in _marked(owner)]
    return {qualified(kind): kind for mark in marks for kind in (*mark.raises, *mark.types)}


def _marked(owner: type) -> Iterator[tuple[str, Callable[..., Any], ApiMark]]:
    """Name, function and mark of each `@api` method; base classes first, in order of declaration."""
    names = dict.fromkeys(name for base in reversed(owner.__mro__) for name in vars(base))
    for name in names:
        method = getattr(owner, name, None)
        mark = getattr(method, MARK, None)
        if method is not None and mark is not None:
            yield name, method, mark


def _handles(api_class: type) -> dict[type, type]:
    """The handle classes that a surface declares, directly or through the methods of other handles.

    Each with the class whose `@api` methods are the handle's: itself, or its view.
    """
    views: dict[type, type] = getattr(api_class, VIEWS, {})
    found: dict[type, type] = {}
    owners = [api_class]
    for owner in owners:
        declared = [kind for _, _, mark in _marked(owner) for kind in mark.types if kind not in found]
        fresh = {kind: views.get(kind, kind) for kind in declared if kind in views or is_handle(kind)}
        found.update(fresh)
        owners += fresh.values()
    return found


def _function(
    name: str, method: Callable[..., Any], mark: ApiMark, handles: Mapping[type, type], on_handle: bool = False
) -> FunctionSpec:
    raises = tuple(describe(kind) for kind in mark.raises)
    shared = ("all",) if mark.shared == "all" else tuple(qualified(kind) for kind in mark.shared)
    types = tuple(_described(kind, handles) for kind in mark.types)
    text = _signature_text(method, on_handle)
    return FunctionSpec(name, mark.kind, text, inspect.getdoc(method) or "", raises, types, shared)  # type: ignore[arg-type]


def _described(kind: type, handles: Mapping[type, type]) -> TypeSpec:
    viewed = handles.get(kind, kind) is not kind
    return HandleSpec(kind.__module__, kind.__qualname__) if viewed else describe(kind)


def called_in_order(method: Callable[..., Any]) -> Callable[[tuple[Any, ...]], Any]:
    """A bound method as a function of one value per parameter, in order of declaration, as requests carry them."""
    parameters = tuple(inspect.signature(method).parameters.values())
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if all(parameter.kind in plain for parameter in parameters):
        return lambda values: method(*values)

    def call(values: tuple[Any, ...]) -> Any:
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for parameter, value in zip(parameters, values, strict=True):
            if parameter.kind is parameter.VAR_POSITIONAL:
                positional.extend(value)
            elif parameter.kind is parameter.VAR_KEYWORD:
                named.update(value)
            elif parameter.kind is parameter.KEYWORD_ONLY:
                named[parameter.name] = value
            else:
                positional.append(value)
        return method(*positional, **named)

    return call


def _fitting(method: Callable[..., Any], owner: type) -> Callable[[tuple[Any, ...]], bool]:
    several: dict[Any, type] = {inspect.Parameter.VAR_POSITIONAL: tuple, inspect.Parameter.VAR_KEYWORD: dict}
    kinds = [several.get(parameter.kind, object) for parameter in inspect.signature(method).parameters.values()]
    if owner is not object:
        kinds[0] = owner
    return lambda values: len(values) == len(kinds) and all(map(isinstance, values, kinds))


def _signature_text(method: Callable[..., Any], with_self: bool) -> str:
    """The signature, with `self` or without; UsageError for a default that is not a literal."""
    signature = inspect.signature(method)
    parameters = list(signature.parameters.values())[0 if with_self else 1 :]
    for parameter in parameters:
        if parameter.default is not parameter.empty and not is_literal(parameter.default):
            raise UsageError(
                f"{method.__qualname__}: the default of '{parameter.name}' must be a Python literal, "
                "because the program process rebuilds the function from its signature's text."
            )
    plain = [parameter.replace(annotation=_shown(parameter.annotation)) for parameter in parameters]
    return str(signature.replace(parameters=plain, return_annotation=_shown(signature.return_annotation)))


class _Unquoted:
    """An annotation whose text shows as it was written."""

    def __init__(self, text: str):
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _shown(annotation: Any) -> Any:
    if annotation is inspect.Parameter.empty:
        return annotation
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return _Unquoted(re.sub(r"[\w.]*<locals>\.", "", text))
