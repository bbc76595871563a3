"""Handles: objects that stay with the host and cross as numbers."""

from __future__ import annotations

from typing import Any

from surefoot.boundary.table import MalformedMessageError, UnsupportedValueError


class Handles:
    """The handles that both sides know, by number.

    The host issues a number to each new object; the program knows them by stand-ins, made on arrival.
    """

    def __init__(self, issuing: bool):
        self._issuing = issuing
        self._objects: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._objects)

    def number(self, value: Any) -> int:
        """The number of an object. On the program's side UnsupportedValueError for one that the host did not send."""
        number = self._numbers.get(id(value))
        if number is None:
            if not self._issuing:
                raise UnsupportedValueError(value, "the host knows only the objects that it sent, no copies of them")
            number = self._add(len(self._objects), value)
        return number

    def object(self, number: int, kind: type) -> Any:
        """The object with that number; MalformedMessageError where the host knows none of that type."""
        if number not in self._objects and not self._issuing:
            self._add(number, object.__new__(kind))
        value = self._objects.get(number)
        if type(value) is not kind:
            raise MalformedMessageError(f"There is no {kind.__qualname__} with number {number}.")
        return value

    def _add(self, number: int, value: Any) -> int:
        self._objects[number] = value
        self._numbers[id(value)] = number
        return number
