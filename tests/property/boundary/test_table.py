"""The codec over random values: equal by bits, by identity structure and by shared memory."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from surefoot.boundary.decoding import decode_value
from surefoot.boundary.encoding import encode_value
from surefoot.boundary.exchange import Callee
from surefoot.boundary.table import MalformedMessageError, pack_table, unpack_table

pytestmark = pytest.mark.property

FLOATS = st.builds(lambda bits: struct.unpack("<d", struct.pack("<Q", bits))[0], st.integers(0, 2**64 - 1))
STRUCTURED = np.dtype([("x", "<f4"), ("at", ">i2", (2,)), ("name", "<U3")])
DTYPES = st.sampled_from(
    ["<f8", "<f4", ">f8", "<f2", "|b1", "<i8", ">i2", "|u1", "<c16", "<U3", "|S2", "<M8[us]", "<m8[s]", "|V3", "<q"]
)
ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    FLOATS,
    st.integers(),
    st.integers(-(2**200), 2**200),
    st.text(st.characters()),
    st.sampled_from(["\ud800", "a\udfff", "\U0001f916", ""]),
    st.binary(max_size=8),
    st.builds(complex, FLOATS, FLOATS),
    st.sampled_from([np.float32(0.1), np.float64(-0.0), np.int8(-3), np.bool_(True), np.str_("a\0"), np.bytes_(b"\0")]),
    st.sampled_from(
        [np.datetime64("NaT"), np.timedelta64(5, "s"), np.complex64(1j), np.longlong(7), np.float16("nan")]
    ),
    st.builds(lambda data: np.frombuffer(data, "<f4")[0], st.binary(min_size=4, max_size=4)),
)
HASHABLE = st.one_of(ATOMS, st.tuples(ATOMS, ATOMS), st.frozensets(st.integers(0, 99), max_size=4))


@st.composite
def arrays(draw: st.DrawFn) -> list[np.ndarray]:
    """Some arrays, several of them views of one memory."""
    dtype = np.dtype(draw(DTYPES)) if draw(st.booleans()) else STRUCTURED
    shape = draw(npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    size = int(np.prod(shape)) * dtype.itemsize
    base = np.frombuffer(bytearray(draw(st.binary(min_size=size, max_size=size))), dtype)
    if dtype.names or dtype.kind in "US":
        base = np.zeros(int(np.prod(shape)), dtype)
    if dtype.kind == "b":
        base = (base.view(np.uint8) % 2).astype(bool)
    base = base.reshape(shape, order=draw(st.sampled_from("CF")))
    found = [base]
    for _ in range(draw(st.integers(0, 3))):
        source = draw(st.sampled_from(found))
        view = source.T if source.ndim == 0 else source[draw(npst.basic_indices(source.shape, allow_newaxis=True))]
        if isinstance(view, np.ndarray):
            view = view.T if draw(st.booleans()) else view
            if draw(st.booleans()) and draw(st.booleans()):
                view = view.view()
                view.flags.writeable = False
            found.append(view)
    return draw(st.permutations(found))


@st.composite
def values(draw: st.DrawFn) -> Any:
    """A list of objects that hold each other: aliases, cycles and shared memory included."""
    pool: list[Any] = [[], {}, set(draw(st.lists(HASHABLE, max_size=3))), bytearray(draw(st.binary(max_size=4)))]
    pool += [[], {}]
    pool += [draw(ATOMS) for _ in range(draw(st.integers(0, 4)))]
    for _ in range(draw(st.integers(0, 2))):
        pool += draw(arrays())
    members = st.sampled_from(range(len(pool)))
    for index in range(draw(st.integers(0, 3))):
        pool.append(tuple(pool[draw(members)] for _ in range(index)))
    holders = [item for item in pool if type(item) in (list, dict)]
    for holder in holders:
        for _ in range(draw(st.integers(0, 4))):
            item = pool[draw(members)]
            if type(holder) is list:
                holder.append(item)
            else:
                holder[draw(HASHABLE)] = item
    return [pool[draw(members)] for _ in range(6)] + holders


def assert_same(first: Any, second: Any) -> None:
    """Both are the same graph of objects: types, order, bits, aliases, and which arrays share which bytes."""
    partner: dict[int, Any] = {}
    taken: dict[int, Any] = {}
    pairs: list[tuple[Any, Any]] = []
    stack = [(first, second)]
    while stack:
        one, two = stack.pop()
        assert type(one) is type(two)
        if isinstance(one, list | dict | set | bytearray | np.ndarray):
            assert (id(one) in partner) == (id(two) in taken)
            if id(one) in partner:
                assert partner[id(one)] is two
                continue
            partner[id(one)], taken[id(two)] = two, one
        if isinstance(one, np.ndarray):
            assert (one.dtype, one.shape, one.flags.writeable) == (two.dtype, two.shape, two.flags.writeable)
            assert one.dtype.char == two.dtype.char
            assert one.tobytes() == two.tobytes()
            pairs.append((one, two))
        elif isinstance(one, np.generic):
            assert (one.dtype, bytes(one.tobytes())) == (two.dtype, bytes(two.tobytes()))
        elif isinstance(one, list | tuple):
            assert len(one) == len(two)
            stack += zip(one, two, strict=True)
        elif isinstance(one, dict):
            assert len(one) == len(two)
            stack += [item for pair in zip(one.items(), two.items(), strict=True) for item in zip(*pair, strict=True)]
        elif isinstance(one, set | frozenset):
            assert sorted(map(encode_value, one)) == sorted(map(encode_value, two))
        elif isinstance(one, float | complex):
            parts = [(item.real, item.imag) if isinstance(item, complex) else (item, 0.0) for item in (one, two)]
            assert struct.pack("<2d", *parts[0]) == struct.pack("<2d", *parts[1])
        else:
            assert one == two
    for index, (one, two) in enumerate(pairs):
        for other, counterpart in pairs[:index]:
            assert np.shares_memory(one, other) == np.shares_memory(two, counterpart)


@given(values())
def test_a_value_comes_back_equal_by_bits_identity_and_shared_memory(value):
    assert_same(value, decode_value(encode_value(value)))


@given(values())
def test_a_value_that_came_back_is_the_same_message_again(value):
    data = encode_value(value)
    assert encode_value(decode_value(data)) == data


@given(st.lists(FLOATS, min_size=1, max_size=6), st.integers(1, 3))
def test_equal_arrays_are_equal_messages_however_they_were_sliced_out(numbers, step):
    wide = np.zeros((len(numbers), step * 2))
    wide[:, step] = numbers
    assert encode_value(wide[:, step]) == encode_value(np.array(numbers))
    assert encode_value(np.array(numbers[::-1])[::-1]) == encode_value(np.array(numbers))


@given(st.permutations(["a", "b", "c", "d", 1, 2.5, (3, 4), None]))
def test_sets_are_equal_messages_however_they_grew(items):
    assert encode_value(set(items)) == encode_value({None, (3, 4), 2.5, 2, 1, "d", "c", "b", "a"} - {2})


NODES = st.recursive(
    st.one_of(st.none(), st.integers(-3, 9), st.binary(max_size=9), st.sampled_from("ltdsfiucynabvwe^"), st.floats()),
    lambda inner: st.lists(inner, max_size=5),
    max_leaves=20,
)


@given(st.one_of(st.binary(max_size=30), st.lists(NODES, min_size=3, max_size=5).map(pack_table)))
def test_whatever_a_hostile_program_sends_is_a_malformed_request_or_arguments(table):
    callee = Callee({"a": np.arange(4.0), "log": []})
    try:
        arguments = callee.open(table)
    except MalformedMessageError:
        return
    assert type(arguments) is tuple


@given(st.data())
def test_a_request_with_one_part_replaced_is_malformed_or_is_arguments(data):
    callee = Callee({"a": np.arange(4.0), "log": [1, {"k": (2, 3)}]})
    root, nodes = unpack_table(callee.opening)
    views = [["b", bytes(16)], ["v", [len(nodes)], "<f8", [2], [8], 0, True], ["a", "<f8", [1], "C", bytes(8), True]]
    views += [["w", 1, "<f8", [2], [8], 0, True], ["^", 1], ["e", "builtins.OSError", [len(nodes) + 6], [2]], ["t"]]
    nodes = [*nodes, *views, ["t", [len(nodes) + 1], [len(nodes) + 2]]]
    parts = [root, [len(nodes) - 1], nodes, [[0, 0], [1, 1]], 3]
    target: Any = parts
    while True:
        place = data.draw(st.integers(0, len(target) - 1))
        if not (isinstance(target[place], list) and target[place] and data.draw(st.booleans())):
            break
        target = target[place]
    target[place] = data.draw(NODES)
    try:
        arguments = callee.open(pack_table(parts))
    except MalformedMessageError:
        return
    assert type(arguments) is tuple
