"""Declared types and shared objects: what keeps its identity across calls, on both sides, and what does not."""

from __future__ import annotations

import collections
import dataclasses
import enum
import typing

import numpy as np
import pytest

from surefoot.boundary.exchange import Callee, Caller
from surefoot.boundary.standins import build_standins
from surefoot.boundary.surface import Surface, api, functions_of, types_of
from surefoot.boundary.table import UnsupportedValueError
from surefoot.errors import UsageError


@dataclasses.dataclass
class Box:
    item: object = None


@dataclasses.dataclass(frozen=True, order=True, slots=True)
class Point:
    x: float
    y: float = 2.0


class Mode(enum.IntEnum):
    OFF = 0
    ON = 1
    STOP = 0


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Pair(typing.NamedTuple):
    first: object
    second: object = 5


class ToyError(Exception):
    def __init__(self, *, code):
        super().__init__(f"code {code}")
        self.code = code


class Arm:
    def __init__(self, name):
        self.called = name

    @api("query")
    def name(self):
        return self.called


class Api:
    """Keeps the last object that was put into it."""

    def __init__(self):
        self.kept = None
        self.large = np.arange(12.0)
        self.left = Arm("left")

    @api("effect", types=(Box, Point, Mode, Access, Pair, Arm), shared=(list, Box, Arm))
    def put(self, value):
        self.kept = value

    @api("effect", shared="all")
    def put_all(self, value):
        self.kept = value

    @api("query")
    def get(self):
        return self.kept

    @api("effect")
    def grow(self, item):
        self.kept.append(item)

    @api("effect")
    def act(self):
        return self.action()

    @api("query", shared=(np.ndarray,))
    def window(self, start, stop):
        return self.large[start:stop]

    @api("effect")
    def wave(self):
        self.large += 1

    @api("query")
    def arms(self):
        return {"one": self.left, "two": [self.left]}

    @api("query")
    def is_left(self, arm):
        return arm is self.left

    @api("query")
    def echo(self, value):
        return value

    @api("query", raises=(ToyError,), shared=(ToyError,))
    def fail(self):
        self.kept = self.kept or ToyError(code=3)
        self.kept.code += 1
        raise self.kept


class Both:
    """Both sides of a boundary without a process between them: `call(function, *arguments)`."""

    def __init__(self, state=None):
        self.api = Api()
        self.surface = Surface.of(Api)
        self.functions = functions_of(self.api, self.surface)
        self.callee = Callee(state, types_of(Api))
        self.types = build_standins(self.surface.types)
        self.caller = Caller(self.callee.opening, self.types)

    def kind(self, real):
        return self.types[f"{real.__module__}.{real.__qualname__}"]

    def call(self, name, *arguments):
        _, function, raises, shared, _ = self.functions[name]
        received = self.callee.open(self.caller.request(arguments))
        try:
            result, raised = function(received), False
        except raises as error:
            result, raised = error, True
        answer = self.caller.apply(self.callee.close(result, shared))
        if raised:
            raise answer
        return answer


@pytest.fixture
def both():
    return Both()


def test_an_object_of_a_shared_type_is_one_object_for_both_sides_from_then_on(both):
    items = [1]
    both.call("put", items)
    assert both.call("get") is items
    both.call("grow", 2)
    items.append(3)
    both.call("grow", 4)
    assert items == both.api.kept == [1, 2, 3, 4]


def test_what_a_shared_object_holds_is_shared_with_it(both):
    inner = {"k": np.arange(3.0)}
    both.call("put", [inner])
    view = inner["k"][:1]
    both.api.action = lambda: both.api.kept[0]["k"].fill(9.0)
    both.call("act")
    assert both.call("get")[0] is inner
    assert view.tolist() == [9.0]


def test_an_object_of_an_undeclared_type_is_a_value(both):
    items = {1: 2}
    both.call("put", items)
    assert both.call("get") is not both.call("get")
    items[3] = 4
    assert both.call("get") == {1: 2}


def test_all_shares_every_object_but_numbers_and_texts(both):
    value = ({"k": 1}, (2, []), {3})
    both.call("put_all", value)
    assert both.call("get") is value
    both.api.kept = value_at_host = both.api.kept[1]
    assert both.call("get") is value[1]
    assert both.api.kept is value_at_host


def test_a_program_that_forgets_a_shared_object_sends_the_same_requests():
    held, dropped = Both(), Both()
    kept = [1]
    held.call("put", kept)
    dropped.call("put", [1])
    for each in (held, dropped):
        each.call("put", None)
    assert held.caller.request(()) == dropped.caller.request(())


def test_windows_of_one_host_array_are_views_of_one_shared_array(both):
    wide = both.call("window", 2, 9)
    narrow = both.call("window", 4, 6)
    assert np.shares_memory(wide, narrow)
    both.call("wave")
    assert (wide[2], narrow.tolist()) == (5.0, [5.0, 6.0])
    narrow[0] = -1.0
    both.call("get")
    assert both.api.large[4] == -1.0


def test_a_window_across_the_edge_of_a_shared_array_is_refused(both):
    both.call("window", 2, 6)
    with pytest.raises(UnsupportedValueError, match="across the edge or the gaps of an array that the other side"):
        both.call("window", 4, 9)


def test_a_handle_is_one_stand_in_wherever_it_comes_from_and_goes_back_as_the_host_s_object(both):
    found = both.call("arms")
    assert found["one"] is found["two"][0] is both.call("arms")["one"]
    assert type(found["one"]) is both.kind(Arm)
    assert both.call("is_left", found["one"]) is True
    assert both.call("Arm.name", found["one"]) == "left"


def test_a_handle_made_by_the_program_is_refused(both):
    with pytest.raises(UnsupportedValueError) as error:
        both.call("is_left", both.kind(Arm)())
    assert str(error.value).endswith("the host knows only the objects that it sent, no copies of them.")


def test_stand_ins_have_fields_defaults_order_and_members_of_the_declared_types(both):
    point, mode, access, pair = (both.kind(kind) for kind in (Point, Mode, Access, Pair))
    assert repr(point(1.0)) == "Point(x=1.0, y=2.0)"
    assert sorted([point(2, 1), point(1, 2)]) == [point(1, 2), point(2, 1)]
    with pytest.raises(dataclasses.FrozenInstanceError):
        point(1).x = 2
    assert (mode.STOP is mode.OFF, mode.ON + 1, list(mode)) == (True, 2, [mode.OFF, mode.ON])
    assert both.call("echo", access.READ | access.WRITE) is access(3)
    assert (pair(1), pair._fields) == ((1, 5), ("first", "second"))


@pytest.mark.parametrize("make", [
    lambda both: both.kind(Point)(1.0, y=-0.0), lambda both: both.kind(Pair)(1, [2]), lambda both: both.kind(Mode).ON,
    lambda both: collections.deque([1, [2]], 3), lambda both: collections.defaultdict(list, k=[1]),
    lambda both: collections.Counter("aba"), lambda both: collections.OrderedDict(b=1, a=2),
])  # fmt: skip
def test_a_value_comes_back_as_the_same_class_with_the_same_content(both, make):
    value = [make(both)]
    both.call("put_all", [0])
    both.api.kept = None
    copy = both.call("echo", value)[0]
    assert (type(copy), copy, repr(copy)) == (type(value[0]), value[0], repr(value[0]))


def test_attributes_beside_the_fields_and_their_order_travel(both):
    box = both.kind(Box)([1])
    box.later, box.item = 1, box.__dict__.pop("item")
    both.call("put", box)
    assert list(vars(both.api.kept)) == ["later", "item"]

    def change():
        both.api.kept.more = both.api.kept.item
        del both.api.kept.later

    both.api.action = change
    both.call("act")
    assert list(vars(box)) == ["item", "more"]
    assert box.more is box.item


def test_an_immutable_in_the_public_state_is_the_same_object_as_long_as_it_holds_the_same():
    state = {"tuple": (1, [2]), "point": Point(1.0), "set": frozenset([1]), "error": ValueError("x")}
    both = Both(state)
    mine = dict(both.caller.state)
    both.api.action = lambda: both.callee.state.update(other=1)
    both.call("act")
    assert all(both.caller.state[name] is mine[name] for name in mine)
    both.api.action = lambda: both.callee.state.update(tuple=(1, [2]))
    both.call("act")
    assert both.caller.state["tuple"] is not mine["tuple"]


def test_an_exception_raised_again_is_the_same_exception_with_new_attributes(both):
    caught = []
    for _ in range(2):
        with pytest.raises(both.kind(ToyError)) as error:
            both.call("fail")
        caught.append(error.value)
    assert caught[0] is caught[1]
    assert caught[0].code == 5


def test_an_undeclared_dataclass_is_refused_by_its_name(both):
    @dataclasses.dataclass
    class Mine:
        x: int = 1

    with pytest.raises(
        UnsupportedValueError, match=r"Mine can't cross the boundary: its type is not declared on the surface"
    ):
        both.call("echo", Mine())


def test_what_has_no_exact_stand_in_can_t_be_declared():
    class Bad:
        @api("query", types=(int,))
        def ask(self):
            return 1

    with pytest.raises(UsageError) as error:
        Surface.of(Bad)
    assert str(error.value) == (
        "builtins.int can't be declared: types=(...) takes dataclasses, enums, named tuples, and classes whose methods are "
        "marked with @api (handles); exceptions go into raises=(...)."
    )


def test_shared_takes_types_or_all():
    with pytest.raises(UsageError) as error:
        api("query", shared="some")
    assert str(error.value) == "@api takes shared='all' or a tuple of types, not 'some'."


def test_a_changed_declaration_changes_a_function_s_digest():
    def surface(**declared):
        class Other:
            @api("query", **declared)
            def ask(self):
                return 1

        return Surface.of(Other).digests["ask"]

    assert (
        len(
            {
                surface(),
                surface(types=(Box,)),
                surface(shared=(list,)),
                surface(shared="all"),
                surface(raises=(ToyError,)),
            }
        )
        == 5
    )


def test_an_exception_among_its_own_args_is_refused_with_a_sentence(both):
    error = ValueError()
    error.args = (error,)
    with pytest.raises(UnsupportedValueError, match="can't cross the boundary: an exception is among its own args"):
        both.call("echo", error)
