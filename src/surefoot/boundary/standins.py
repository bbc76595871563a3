"""Stand-ins for declared types, built in the program process from their descriptions."""

from __future__ import annotations

import ast
import collections
import dataclasses
import enum
import types
from collections.abc import Iterable
from typing import Any

from surefoot.boundary.declared import (
    FACTORIES,
    DataclassSpec,
    EnumSpec,
    ExceptionSpec,
    FieldSpec,
    HandleSpec,
    NamedTupleSpec,
    TypeSpec,
)
from surefoot.boundary.table import BUILTIN_EXCEPTIONS


def build_standins(specs: Iterable[TypeSpec]) -> dict[str, type]:
    """Classes by qualified name, undeclared bases of exceptions included; no module of theirs is imported."""
    built: dict[str, type] = {}
    for spec in specs:
        name = f"{spec.module}.{spec.name}"
        if isinstance(spec, ExceptionSpec):
            built[name] = _exception(name, spec.lineage, built)
            continue
        if isinstance(spec, DataclassSpec):
            kind = _dataclass(spec)
        elif isinstance(spec, NamedTupleSpec):
            kind = _named_tuple(spec)
        elif isinstance(spec, EnumSpec):
            kind = _enum(spec)
        else:
            kind = _handle(spec)
        kind.__module__, kind.__qualname__ = spec.module, spec.name
        built[name] = kind
    return built


def short_name(spec: TypeSpec) -> str:
    """The name under which programs know a declared type."""
    return spec.name.rpartition(".")[2]


def _exception(name: str, lineage: tuple[str, ...], built: dict[str, type]) -> type:
    if name in BUILTIN_EXCEPTIONS:
        return BUILTIN_EXCEPTIONS[name]
    if name not in built:
        base = _exception(lineage[0], lineage[1:], built)
        module, _, short = name.rpartition(".")
        built[name] = types.new_class(short, (base,), exec_body=lambda scope: scope.update(__module__=module))
    return built[name]


def _dataclass(spec: DataclassSpec) -> type:
    fields = [(field.name, Any, _dataclass_field(field)) for field in spec.fields]
    return dataclasses.make_dataclass(
        short_name(spec), fields, frozen=spec.frozen, eq=spec.eq, order=spec.order, unsafe_hash=spec.unsafe_hash,
        slots=spec.slots,
    )  # fmt: skip


def _dataclass_field(field: FieldSpec) -> Any:
    given: dict[str, Any] = {"kw_only": field.keyword, "compare": field.compare, "repr": field.shown}
    if field.factory:
        given["default_factory"] = FACTORIES[field.factory]
    elif field.default:
        given["default"] = ast.literal_eval(field.default)
    return dataclasses.field(**given)


def _named_tuple(spec: NamedTupleSpec) -> type:
    defaults = [ast.literal_eval(field.default) for field in spec.fields if field.default]
    return collections.namedtuple(short_name(spec), [field.name for field in spec.fields], defaults=defaults)


def _enum(spec: EnumSpec) -> type:
    base: Any = getattr(enum, spec.base)
    members = [(name, ast.literal_eval(value)) for name, value in spec.members]
    mixin = {"type": {"int": int, "float": float, "str": str}[spec.mixin]} if spec.mixin else {}
    return base(short_name(spec), members, module=spec.module, qualname=spec.name, **mixin)  # type: ignore[no-any-return]


def _handle(spec: HandleSpec) -> type:
    return type(short_name(spec), (), {"__slots__": ("__weakref__",), "__doc__": "An object on the host's side."})
