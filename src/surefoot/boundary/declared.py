"""Types that cross the boundary because a surface declares them, described by names and plain text.

The program process never imports their modules (they may import simulators): it builds stand-ins from these
descriptions, see `surefoot.boundary.standins`.
"""

from __future__ import annotations

import ast
import collections
import dataclasses
import enum
from collections.abc import Callable
from typing import Any

import msgspec

from surefoot.errors import UsageError

MARK = "__surefoot_api__"
"""Attribute under which `@api` notes its declaration on a method."""
FACTORIES: dict[str, Callable[[], Any]] = {
    kind.__name__: kind
    for kind in (list, dict, set, tuple, frozenset, str, bytes, bytearray, int, float, bool, collections.Counter,
                 collections.OrderedDict, collections.deque)
}  # fmt: skip
"""Default factories that both sides have, by name."""
_ENUMS = (enum.IntFlag, enum.Flag, enum.StrEnum, enum.IntEnum, enum.Enum)
_MIXINS = (int, float, str)


class ExceptionSpec(msgspec.Struct, frozen=True, tag="exception"):
    """An exception; `lineage` names its bases, nearest first."""

    module: str
    name: str
    lineage: tuple[str, ...]


class FieldSpec(msgspec.Struct, frozen=True):
    """A field: its default as a Python literal or as the name of a factory; both empty where it has none."""

    name: str
    default: str = ""
    factory: str = ""
    keyword: bool = False
    compare: bool = True
    shown: bool = True


class DataclassSpec(msgspec.Struct, frozen=True, tag="dataclass"):
    """A dataclass: its fields and the methods that `@dataclass` writes. Its own methods stay on the host."""

    module: str
    name: str
    fields: tuple[FieldSpec, ...]
    frozen: bool
    eq: bool
    order: bool
    unsafe_hash: bool
    slots: bool


class NamedTupleSpec(msgspec.Struct, frozen=True, tag="namedtuple"):
    """A named tuple."""

    module: str
    name: str
    fields: tuple[FieldSpec, ...]


class EnumSpec(msgspec.Struct, frozen=True, tag="enum"):
    """An enumeration: the class of `enum` it derives from, a mixed-in type, and its members as literals."""

    module: str
    name: str
    base: str
    mixin: str
    members: tuple[tuple[str, str], ...]


class HandleSpec(msgspec.Struct, frozen=True, tag="handle"):
    """A class whose objects stay on the host; the program calls their `@api` methods."""

    module: str
    name: str


TypeSpec = ExceptionSpec | DataclassSpec | NamedTupleSpec | EnumSpec | HandleSpec


def qualified(kind: type) -> str:
    """Name of a type, as messages and descriptions carry it."""
    return f"{kind.__module__}.{kind.__qualname__}"


def is_handle(kind: type) -> bool:
    """Whether objects of `kind` cross as handles: it has `@api` methods."""
    return any(hasattr(getattr(kind, name, None), MARK) for name in dir(kind))


def is_named_tuple(kind: type) -> bool:
    """Whether `kind` is a class made by `namedtuple` or `NamedTuple`."""
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def describe(kind: type) -> TypeSpec:
    """The description of a declared type; UsageError for one that has no exact stand-in."""
    where = (kind.__module__, kind.__qualname__)
    if issubclass(kind, BaseException):
        return ExceptionSpec(*where, tuple(qualified(base) for base in kind.__mro__[1:-1]))
    if issubclass(kind, enum.Enum):
        return _enum_spec(kind)
    if dataclasses.is_dataclass(kind):
        return _dataclass_spec(kind)
    if is_named_tuple(kind):
        defaults: dict[str, Any] = kind._field_defaults  # type: ignore[attr-defined]
        fields = [(name, *_default(defaults, name)) for name in kind._fields]  # type: ignore[attr-defined]
        return NamedTupleSpec(*where, _fields([FieldSpec(name, text) for name, text, _ in fields], fields))
    if is_handle(kind):
        return HandleSpec(*where)
    raise UsageError(
        f"{qualified(kind)} can't be declared: types=(...) takes dataclasses, enums, named tuples, and classes whose "
        "methods are marked with @api (handles); exceptions go into raises=(...)."
    )


def _enum_spec(kind: type[enum.Enum]) -> EnumSpec:
    base = next(base for base in _ENUMS if issubclass(kind, base))
    mixin = next((mixin.__name__ for mixin in _MIXINS if issubclass(kind, mixin) and not issubclass(base, mixin)), "")
    members = []
    for name, member in kind.__members__.items():
        if not is_literal(member.value):
            raise UsageError(f"{qualified(kind)}.{name}: only members whose value is a Python literal can be declared.")
        members.append((name, repr(member.value)))
    return EnumSpec(kind.__module__, kind.__qualname__, base.__name__, mixin, tuple(members))


def _dataclass_spec(kind: type) -> DataclassSpec:
    parameters = kind.__dataclass_params__  # type: ignore[attr-defined]
    found: list[tuple[str, str, bool]] = []
    specs: list[FieldSpec] = []
    for item in dataclasses.fields(kind):
        factory = "" if item.default_factory is dataclasses.MISSING else _factory_name(item.default_factory)
        text, known = _default({} if item.default is dataclasses.MISSING else {"": item.default}, "")
        found.append((item.name, text or factory or "", known and factory is not None))
        specs.append(FieldSpec(item.name, text, factory or "", bool(item.kw_only), item.compare, item.repr))
    return DataclassSpec(
        kind.__module__, kind.__qualname__, _fields(specs, found), parameters.frozen, parameters.eq, parameters.order,
        parameters.unsafe_hash, "__slots__" in vars(kind),
    )  # fmt: skip


def _fields(specs: list[FieldSpec], found: list[tuple[str, str, bool]]) -> tuple[FieldSpec, ...]:
    """Fields up to the last whose default has no text lose theirs: the program passes them by hand."""
    last = max((index for index, (*_, known) in enumerate(found) if not known), default=-1)
    bare = {"default": "", "factory": ""}
    return tuple(msgspec.structs.replace(spec, **bare) if index <= last else spec for index, spec in enumerate(specs))


def _default(defaults: dict[str, Any], name: str) -> tuple[str, bool]:
    """The text of a default (empty where there is none), and whether it is told whole."""
    if name not in defaults:
        return "", True
    return (repr(defaults[name]), True) if is_literal(defaults[name]) else ("", False)


def _factory_name(factory: Any) -> str | None:
    return next((name for name, known in FACTORIES.items() if known is factory), None)


def is_literal(value: object) -> bool:
    """Whether a value's `repr` is a Python literal that reads back as the value."""
    try:
        return bool(ast.literal_eval(repr(value)) == value)
    except (ValueError, SyntaxError, TypeError):
        return False
