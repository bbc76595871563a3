"""What crosses exactly, and what is refused by its name."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.boundary.decoding import Decoder, decode_value
from surefoot.boundary.encoding import encode_value
from surefoot.boundary.exchange import UNCHANGED, Callee, Caller
from surefoot.boundary.table import MalformedMessageError, UnsupportedValueError, unpack_table


class Number(float):
    pass


class Half(np.float16):
    pass


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (object(), "A value of type builtins.object can't cross the boundary: only Python scalars, str, bytes, "
                   "containers, ndarrays, NumPy scalars, exceptions and declared types can."),
        (np.array([None]), "A value of type numpy.ndarray can't cross the boundary: its dtype object holds Python objects."),
        (np.zeros(1, np.dtype("f8", metadata={"unit": "m"})),
         "A value of type numpy.ndarray can't cross the boundary: its dtype float64 has metadata or a class of its own."),
        (np.rec.array([(1,)], dtype=[("a", "i4")]).view(np.ndarray),
         "A value of type numpy.ndarray can't cross the boundary: "
         "its dtype (numpy.record, [('a', '<i4')]) has metadata or a class of its own."),
        (ExceptionGroup("both", [ValueError(1)]), "A value of type builtins.ExceptionGroup can't cross the boundary: "
                                                  "exceptions in groups are not carried; pass them in a list."),
    ],
)  # fmt: skip
def test_what_cannot_be_exact_is_refused_by_its_qualified_name(value, text):
    with pytest.raises(UnsupportedValueError) as error:
        encode_value([value])
    assert str(error.value) == text


@pytest.mark.parametrize(
    "value",
    [
        Number(1.0), Half(1), np.ma.array([1]), np.recarray(1, "f4"), np.array(["a"], np.dtypes.StringDType()), lambda: 0, type,
        np.zeros(1, {"names": ["a", "b"], "formats": ["i4", "i2"], "offsets": [0, 2]}), iter([]),
    ],
    ids=repr,
)  # fmt: skip
def test_subclasses_and_foreign_types_are_never_flattened(value):
    with pytest.raises(UnsupportedValueError):
        encode_value({"key": value})


def test_frozensets_nested_beyond_reason_are_refused():
    nested = frozenset()
    for _ in range(5_000):
        nested = frozenset([nested])
    with pytest.raises(UnsupportedValueError, match="its frozensets are nested too deeply"):
        encode_value(nested)


def test_lists_and_tuples_cross_at_any_depth():
    nested = ()
    for _ in range(20_000):
        nested = (nested, [])
    assert encode_value(decode_value(encode_value(nested))) == encode_value(nested)


@pytest.mark.parametrize(
    ("error", "attributes"),
    [
        (FileNotFoundError(2, "no", "map.txt"), ["errno", "strerror", "filename", "args"]),
        (ImportError("no", name="numpy", path="/x"), ["name", "path", "msg", "args"]),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), ["object", "start", "reason", "args"]),
        (SystemExit(3), ["code", "args"]),
        (StopIteration(5), ["value", "args"]),
        (KeyError("k"), ["args"]),
    ],
)
def test_python_exceptions_keep_what_they_carry(error, attributes):
    error.note = [1, [2]]
    copy = decode_value(encode_value(error))
    assert type(copy) is type(error)
    assert [getattr(copy, name) for name in [*attributes, "note"]] == [
        getattr(error, name) for name in [*attributes, "note"]
    ]


def test_declared_exceptions_keep_args_and_attributes_without_their_constructor(toy):
    error = toy.error([1, [2]], code=7)
    copy = decode_value(encode_value(error), toy.types)
    assert (copy.args, copy.code, copy.detail) == (("code 7",), 7, [1, [2]])


def test_an_exception_that_the_receiver_does_not_know_is_malformed(toy):
    with pytest.raises(MalformedMessageError, match="A type that the surface does not declare"):
        decode_value(encode_value(toy.error([], code=1)))


def test_groups_of_views_are_numbered_by_their_order_in_the_value_not_by_address():
    arrays = [np.arange(float(size)) for size in (3, 4, 5, 6)]
    for order in (arrays, arrays[::-1]):
        _, nodes = unpack_table(encode_value([item for array in order for item in (array, array[:2])]))
        sizes = [len(node[1]) // 8 for node in nodes if node[0] == "b"]
        assert sizes == [len(array) for array in order]


@pytest.mark.parametrize(
    "nodes",
    [
        [["a", "<f8", [2], "C", bytes(8), True]],
        [["a", "<f8", [1], "C", bytes(16), True]],
        [["a", "<f8", [1 << 40], [0], bytes(8), True]],
        [["v", [1], "<f8", [1 << 40], [0], 0, True], ["b", bytes(8)]],
        [["v", [1], "<f8", [2], [8], 0, True], ["b", bytes(8)]],
        [["n", "O", bytes(8)]],
        [["a", "|O", [1], "C", bytes(8), True]],
        [["t", [0]]],
        [["l", [9]]],
        [["w", 0, "<f8", [1], [8], 0, True]],
        [["e", "os.system", [1], [2]], ["t"], ["d"]],
        [*[["v", [5], "<f8", [1 << 25], [0], 0, True] for _ in range(5)], ["b", bytes(8)]],
        [["zz"]],
        [[]],
        [["d", {}]],
    ],
)
def test_a_table_that_no_encoder_wrote_is_malformed(nodes):
    with pytest.raises(MalformedMessageError):
        Decoder(nodes)


def test_views_of_what_is_known_are_no_larger_than_other_views():
    with pytest.raises(MalformedMessageError, match="larger than any message"):
        Decoder([["w", 0, "<f8", [1 << 40], [0], 0, True]], [np.zeros(2)])


@pytest.mark.parametrize("nested", [b"\x91" * 100_000 + b"\xc0", b"\x81\xa1x" * 100_000 + b"\xc0"])
def test_bytes_nested_beyond_reason_are_no_table(nested):
    with pytest.raises(MalformedMessageError, match="Not a node table"):
        unpack_table(nested)


def test_frozensets_within_each_other_take_no_more_time_than_they_hold():
    nested = frozenset()
    for number in range(40):
        nested = frozenset([nested, number])
    value = {nested: [nested, (nested,)]}
    again = decode_value(encode_value(value))
    assert again == value
    assert encode_value(again) == encode_value(value)


@pytest.mark.parametrize("holder", [["d", [1], 0], ["s", [1]], ["f", [1]]])
def test_a_key_that_would_take_for_ever_to_hash_is_malformed(holder):
    with pytest.raises(MalformedMessageError, match="holds too much"):
        Decoder([holder, *[["t", [number], [number]] for number in range(2, 50)], ["t"]])


class Pair:
    """Both sides of a boundary, without a process between them."""

    def __init__(self, toy, state):
        self.callee = Callee(state, toy.types)
        self.caller = Caller(self.callee.opening, toy.types)

    def call(self, function, *arguments):
        received = self.callee.open(self.caller.request(arguments))
        return self.caller.apply(self.callee.close(function(*received)))


@pytest.fixture
def pair(toy):
    return lambda **state: Pair(toy, state)


def test_a_view_of_shared_state_passed_as_argument_is_a_view_on_the_other_side(pair):
    both = pair(a=np.arange(4.0))
    both.call(lambda view: view.__setitem__(0, 9.0), both.caller.state["a"][1:3])
    assert both.callee.state["a"].tolist() == both.caller.state["a"].tolist() == [0.0, 9.0, 2.0, 3.0]


def test_a_view_returned_after_an_effect_shares_the_callers_memory(pair):
    both = pair(a=np.arange(4.0))

    def effect():
        both.callee.state["a"][0] = 7.0
        return both.callee.state["a"][:2]

    view = both.call(effect)
    assert np.shares_memory(view, both.caller.state["a"])
    assert view.tolist() == [7.0, 1.0]


def test_a_view_that_reaches_beyond_what_the_other_side_has_is_refused(pair):
    base = np.arange(8.0)
    both = pair(a=base[:4])
    with pytest.raises(UnsupportedValueError, match="a view across the edge or the gaps of an array that the other"):
        both.call(lambda: base)


def test_read_only_flags_set_in_place_travel(pair):
    both = pair(a=np.arange(4.0))
    both.caller.state["a"].flags.writeable = False
    assert both.call(lambda: both.callee.state["a"].flags.writeable) is False


def test_a_caught_exception_may_be_kept_in_the_shared_state(pair, toy):
    both = pair(notes={})
    both.caller.state["notes"]["error"] = toy.error([1], code=3)
    assert both.call(lambda: both.callee.state["notes"]["error"].code) == 3


def test_a_program_s_own_exception_is_refused_on_its_own_side(pair):
    class Mine(Exception):
        pass

    with pytest.raises(UnsupportedValueError, match="of exceptions only Python's own and those declared"):
        pair(a=1).call(lambda value: value, Mine())


def test_an_array_reshaped_in_place_is_refused(pair):
    both = pair(a=np.arange(4.0))
    both.caller.state["a"].resize((2, 2))
    with pytest.raises(MalformedMessageError) as error:
        both.call(lambda: None)
    assert str(error.value) == (
        "Malformed request: An array's shape or dtype was changed in place; that can't be carried back."
    )


def test_an_exception_in_the_public_state_is_no_change_by_itself():
    error = ValueError(3)
    error.note = [1]
    callee = Callee({"error": error})
    caller = Caller(callee.opening, {})
    for _ in range(2):
        callee.open(caller.request(()))
        answer = callee.close(None)
        caller.apply(answer)
        assert unpack_table(answer)[0] == UNCHANGED
    caller.state["error"].note.append(2)
    callee.open(caller.request(()))
    assert error.note == [1, 2]
