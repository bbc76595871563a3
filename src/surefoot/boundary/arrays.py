"""Arrays and dtypes as data: their text, their memory, and windows into memory that exists."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from surefoot.boundary.table import MalformedMessageError, UnsupportedValueError

_DTYPE_KINDS = frozenset("biufcSUMmV")
MAX_VIEW = 256 << 20
"""Largest array that a view may span [bytes]; no message is larger."""
MAX_VIEWS = 4 * MAX_VIEW
"""What all views of a message may span together [bytes]: with strides of 0 each costs its sender nothing."""
_LARGE = 1 << 14


def dtype_text(value: Any) -> Any:
    """The dtype of an array or scalar as data: its text, or its field list where it has fields."""
    dtype = value.dtype
    if dtype.hasobject:
        raise UnsupportedValueError(value, f"its dtype {dtype} holds Python objects")
    if dtype.metadata is not None or (dtype.names is not None and dtype.type is not np.void):
        raise UnsupportedValueError(value, f"its dtype {dtype} has metadata or a class of its own")
    if dtype.names is not None or dtype.subdtype is not None:
        try:
            return np.lib.format.dtype_to_descr(dtype)
        except ValueError:
            raise UnsupportedValueError(value, f"its dtype {dtype} has overlapping or unordered fields") from None
    # `str` of a long long is that of a long
    return dtype.str[0] + dtype.char if dtype.char in "qQ" else dtype.str


def dtype_of(text: Any) -> Any:
    """The dtype behind `dtype_text`; MalformedMessageError for one that no encoder writes."""
    try:
        dtype = np.dtype(text) if isinstance(text, str) else np.lib.format.descr_to_dtype(_as_descr(text))
    except (TypeError, ValueError) as error:
        raise MalformedMessageError(f"No dtype: {text!r}.") from error
    if dtype.kind not in _DTYPE_KINDS or dtype.hasobject:
        raise MalformedMessageError(f"A dtype that may not cross the boundary: {text!r}.")
    return dtype


def _as_descr(text: Any) -> Any:
    """msgpack turns tuples into lists; NumPy wants field descriptions as tuples."""
    if isinstance(text, str):
        return text
    fields = []
    for name, kind, *shape in text:
        title = tuple(name) if isinstance(name, list) else name
        fields.append((title, _as_descr(kind), *(tuple(item) for item in shape)))
    return fields


def address(array: Any) -> int:
    """Address of the first element."""
    return int(array.__array_interface__["data"][0])


def span(array: Any) -> tuple[int, int]:
    """First and one past last byte address that the array's elements touch."""
    return extent(address(array), array.shape, array.strides, array.itemsize)


def extent(start: int, shape: Sequence[int], strides: Sequence[int], itemsize: int) -> tuple[int, int]:
    """First and one past last byte that elements from `start` touch."""
    end = start
    if 0 in shape:
        return start, start
    for size, stride in zip(shape, strides, strict=True):
        if stride < 0:
            start += (size - 1) * stride
        else:
            end += (size - 1) * stride
    return start, end + itemsize


def is_gapless(array: Any) -> bool:
    """Whether the elements fill their memory, without gaps and backward strides."""
    start, end = span(array)
    return end - start == array.nbytes and min(array.strides, default=0) >= 0


def window(array: Any, dtype: Any, shape: Sequence[int], strides: Sequence[int], offset: int, writeable: bool) -> Any:
    """A view into the memory of a gapless array, `offset` bytes from its start."""
    with unlocked(array):
        memory = np.lib.stride_tricks.as_strided(array, (array.size,), (array.itemsize,)).view(np.uint8)
        view = np.ndarray(shape, dtype, memory, offset, strides)
        view.flags.writeable = writeable
    return view


@contextlib.contextmanager
def unlocked(array: Any) -> Iterator[None]:
    """Let an array be written to for a while, whatever it and the arrays that it is a view of allow."""
    closed = []
    while type(array) is np.ndarray:
        if not array.flags.writeable:
            closed.append(array)
        array = array.base
    for item in reversed(closed):  # an array may be opened only when its owner is
        item.flags.writeable = True
    try:
        yield
    finally:
        for item in closed:
            item.flags.writeable = False


def set_writeable(array: Any, writeable: bool) -> None:
    """Set an array's flag, though the array that it is a view of may be read-only."""
    if array.flags.writeable != writeable:
        with unlocked(array.base):
            array.flags.writeable = writeable


def memory(array: Any) -> bytes:
    """The bytes of a gapless array in memory order."""
    start, end = span(array)
    flat = np.lib.stride_tricks.as_strided(array.view(), (array.size,), (array.itemsize,))
    assert end - start == array.nbytes
    return bytes(flat.tobytes())


def contents(array: Any) -> bytes | memoryview:
    """The bytes of a contiguous array in memory order; those of a large one are not copied: pack them at once."""
    if array.nbytes < _LARGE or array.dtype.kind in "Mm" or array.dtype.names is not None:
        return bytes(array.tobytes("A"))
    return memoryview(array.reshape(-1, order="A").view(np.uint8))
