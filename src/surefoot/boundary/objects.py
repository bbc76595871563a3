"""Attributes of dataclass instances, read and written without their constructors and setters."""

from __future__ import annotations

import dataclasses
import types
from typing import Any


def attributes_of(value: Any) -> dict[str, Any]:
    """All attributes that a dataclass instance has of its own, by name; those in slots first, in order of fields."""
    kind = type(value)
    found = {name: getattr(value, name) for name in _slots(kind) if hasattr(value, name)}
    return {**found, **getattr(value, "__dict__", {})}


def set_attributes(value: Any, attributes: dict[str, Any]) -> None:
    """Give a dataclass instance exactly these attributes; AttributeError for one that it has no place for."""
    own = getattr(value, "__dict__", None)
    if own is not None:
        own.clear()
    for name in _slots(type(value)):
        if name in attributes:
            object.__setattr__(value, name, attributes[name])
        elif hasattr(value, name):
            object.__delattr__(value, name)
    others = {name: item for name, item in attributes.items() if name not in _slots(type(value))}
    if others and own is None:
        raise AttributeError(f"{type(value).__qualname__} has no place for {', '.join(others)}")
    if own is not None:
        own.update(others)


def _slots(kind: type) -> list[str]:
    """Names of the fields that live in slots; no other slot is ever written."""
    return [
        field.name
        for field in dataclasses.fields(kind)
        if isinstance(getattr(kind, field.name, None), types.MemberDescriptorType)
    ]
