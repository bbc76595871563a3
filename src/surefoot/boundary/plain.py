"""Immutable values of the standard library that cross as a kind and the arguments that make them anew."""

from __future__ import annotations

import datetime
import decimal
import fractions
import pathlib
import types
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple


class Plain(NamedTuple):
    """One kind: its class, what it is made of, and how it is made from that."""

    kind: type
    parts: Callable[[Any], tuple[Any, ...]]
    make: Callable[..., Any]


def _wall(value: Any) -> tuple[Any, ...]:
    return value.hour, value.minute, value.second, value.microsecond, value.tzinfo, value.fold


def _day(value: Any) -> tuple[Any, ...]:
    return value.year, value.month, value.day


def _time(hour: int, minute: int, second: int, microsecond: int, zone: Any, fold: int) -> datetime.time:
    return datetime.time(hour, minute, second, microsecond, zone, fold=fold)


def _datetime(*parts: Any) -> datetime.datetime:
    return datetime.datetime(*parts[:-1], fold=parts[-1])


def _zone(value: datetime.timezone) -> tuple[Any, ...]:
    return value.__getinitargs__()  # type: ignore[attr-defined, no-any-return]  # its offset, and its name if it has one


PLAIN: dict[str, Plain] = {
    "range": Plain(range, lambda value: (value.start, value.stop, value.step), range),
    "slice": Plain(slice, lambda value: (value.start, value.stop, value.step), slice),
    "ellipsis": Plain(types.EllipsisType, lambda _: (), lambda: ...),
    "decimal": Plain(decimal.Decimal, lambda value: tuple(value.as_tuple()), lambda *parts: decimal.Decimal(parts)),
    "fraction": Plain(
        fractions.Fraction,
        lambda value: (value.numerator, value.denominator),
        lambda *parts: fractions.Fraction(*parts),
    ),
    "date": Plain(datetime.date, _day, datetime.date),
    "time": Plain(datetime.time, _wall, _time),
    "datetime": Plain(datetime.datetime, lambda value: (*_day(value), *_wall(value)), _datetime),
    "timedelta": Plain(
        datetime.timedelta, lambda value: (value.days, value.seconds, value.microseconds), datetime.timedelta
    ),
    "timezone": Plain(datetime.timezone, _zone, datetime.timezone),
    "uuid": Plain(uuid.UUID, lambda value: (value.int,), lambda number: uuid.UUID(int=number)),
    "path": Plain(pathlib.PosixPath, lambda value: (str(value),), pathlib.PosixPath),
}
"""Kinds by the name that messages carry. `parts` are crossing values themselves; `make(*parts)` is equal by bits."""
KIND_NAMES = {plain.kind: name for name, plain in PLAIN.items()}
