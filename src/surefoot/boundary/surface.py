"""The functions a program may call: declared with `@api`, described to proposers, hashed for tapes."""

from __future__ import annotations

import ast
import hashlib
import inspect
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import msgspec

from surefoot.errors import UsageError, unknown_name

Kind = Literal["query", "effect"]
F = TypeVar("F", bound=Callable[..., Any])
_MARK = "__surefoot_api__"


class ApiMark(msgspec.Struct, frozen=True):
    """What `@api` notes on a method."""

    kind: Kind
    raises: tuple[type[BaseException], ...]


def api(kind: Kind, raises: tuple[type[BaseException], ...] = ()) -> Callable[[F], F]:
    """Declare a method as callable by programs.

    A `query` leaves the environment's state bit-unchanged; an `effect` may change it. `raises` lists the
    exceptions that a program may see; anything else that escapes is a fault of the environment. The
    method's docstring becomes its entry on the API page.
    """
    if kind not in ("query", "effect"):
        raise UsageError(f"@api takes kind 'query' or 'effect', not {kind!r}.")

    def mark(method: F) -> F:
        setattr(method, _MARK, ApiMark(kind, raises))
        return method

    return mark


class ExceptionSpec(msgspec.Struct, frozen=True):
    """A declared exception as the program process rebuilds it: `lineage` names its bases, nearest first."""

    module: str
    name: str
    lineage: tuple[str, ...]

    @classmethod
    def of(cls, kind: type[BaseException]) -> ExceptionSpec:
        """Describe `kind` by names only, so that its module need not be imported elsewhere."""
        lineage = tuple(f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__[1:-1])
        return cls(kind.__module__, kind.__qualname__, lineage)


class FunctionSpec(msgspec.Struct, frozen=True):
    """One function of a surface."""

    name: str
    kind: Kind
    signature: str
    doc: str
    raises: tuple[ExceptionSpec, ...]

    @property
    def digest(self) -> str:
        """Hash of what a program can rely on; the docstring is not part of it."""
        text = repr((self.name, self.kind, self.signature, tuple(self.raises)))
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


class Surface(msgspec.Struct, frozen=True):
    """All functions that a program may call, in order of declaration."""

    functions: tuple[FunctionSpec, ...]

    @classmethod
    def of(cls, api_class: type) -> Surface:
        """Collect the `@api` methods of a class; base classes first, in order of declaration."""
        found: dict[str, FunctionSpec] = {}
        for owner in reversed(api_class.__mro__):
            for name in vars(owner):
                method = getattr(api_class, name, None)
                mark: ApiMark | None = getattr(method, _MARK, None)
                if mark is None or method is None:
                    continue
                raises = tuple(ExceptionSpec.of(kind) for kind in mark.raises)
                found[name] = FunctionSpec(
                    name, mark.kind, _signature_text(method), inspect.getdoc(method) or "", raises
                )
        if not found:
            raise UsageError(f"{api_class.__qualname__} declares no function; mark its methods with @api.")
        return cls(tuple(found.values()))

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
    def exceptions(self) -> tuple[ExceptionSpec, ...]:
        """Every declared exception once, in order of declaration."""
        return tuple(dict.fromkeys(spec for function in self.functions for spec in function.raises))

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


def declared_exceptions(method: Callable[..., Any]) -> tuple[type[BaseException], ...]:
    """The exceptions that `method` may send to a program."""
    mark: ApiMark = getattr(method, _MARK)
    return mark.raises


def exceptions_of(api: object, surface: Surface) -> dict[str, type[BaseException]]:
    """The exception classes that the functions of a surface declare, by qualified name."""
    kinds = [kind for function in surface.functions for kind in declared_exceptions(getattr(api, function.name))]
    return {f"{kind.__module__}.{kind.__qualname__}": kind for kind in kinds}


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


def _signature_text(method: Callable[..., Any]) -> str:
    """The signature without `self`; UsageError for a default that is not a literal."""
    signature = inspect.signature(method)
    parameters = list(signature.parameters.values())[1:]
    for parameter in parameters:
        if parameter.default is not parameter.empty and not _is_literal(parameter.default):
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
    return _Unquoted(annotation) if isinstance(annotation, str) else annotation


def _is_literal(value: object) -> bool:
    try:
        return bool(ast.literal_eval(repr(value)) == value)
    except (ValueError, SyntaxError):
        return False
