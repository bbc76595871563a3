"""The whole text of every error that a program can see."""

from __future__ import annotations

import re

import numpy as np
import pytest

from surefoot.environments.desk.errors import (
    BadBoardError,
    BadForceError,
    BadTargetError,
    NeverSeenError,
    NotVisibleError,
    UnknownObjectError,
)

POSITION = "A position is two finite numbers (x, y) in metres, not {}."
HEIGHT = "A height is a number from 0 to 0.4 m, not {}."
FORCE = "A force is a number from 1 to 100 N, not {}."
CYCLE = [0.0]
CYCLE.append(CYCLE)


def raised(kind, text, call, *arguments, **keywords):
    with pytest.raises(kind, match=f"^{re.escape(text)}$") as info:
        call(*arguments, **keywords)
    assert info.value.args == (text,)


@pytest.mark.parametrize("function", ["locate", "describe", "recall"])
def test_an_unknown_object(make, function):
    call = getattr(make(seed=101).api, function)
    listed = ", ".join(sorted(make(seed=101).api.list_objects()))
    raised(
        UnknownObjectError,
        f"There is no object 'itme'. Did you mean 'item'? Available: {listed}.",
        call,
        "itme",
    )
    raised(UnknownObjectError, f"There is no object 'zzz'. Available: {listed}.", call, "zzz")
    raised(UnknownObjectError, "An object's name is a string, not 3. See list_objects().", call, 3)
    raised(UnknownObjectError, "An object's name is a string, not ['item']. See list_objects().", call, ["item"])


@pytest.mark.parametrize(
    "position",
    [
        [np.nan, 0.0],
        np.array([0.0, np.inf]),
        [0.0, 0.0, 0.1],
        [[0.0, 0.0]],
        [0.0, [0.0, 1.0]],
        [1j, 0.0],
        [True, False],
        ["0", "0"],
        [10**400, 0],
        "item",
        None,
        0.1,
        {"x": 0.0, "y": 0.0},
        CYCLE,
    ],
    ids=repr,
)
def test_what_is_no_position(make, position):
    environment = make()
    shown = repr(position) if len(repr(position)) <= 60 else repr(position)[:57] + "..."
    before = environment.state_digest()
    raised(BadTargetError, POSITION.format(shown), environment.api.move_to, position)
    raised(BadTargetError, POSITION.format(shown), environment.api.free_heights, [0.0, 0.0], position)
    assert environment.state_digest() == before


@pytest.mark.parametrize(
    "position", [(0.1, 0.2), [0, 0], np.array([0.1, 0.2], dtype=np.float32), np.array([0, 0])], ids=repr
)
def test_sequences_and_arrays_of_two_numbers_are_positions(make, position):
    assert make(seed=102).api.move_to(position, height=np.float32(0.3))


def test_a_position_out_of_reach(make):
    text = "The hand can't reach (0.500, 0.000); x lies within ±0.4 m, y within ±0.3 m."
    raised(BadTargetError, text, make().api.move_to, [0.5, 0.0])


@pytest.mark.parametrize("height", [np.nan, -0.01, 0.41, "low", None, True, 10**400], ids=lambda h: repr(h)[:9])
def test_what_is_no_height(make, height):
    shown = repr(height) if len(repr(height)) <= 60 else repr(height)[:57] + "..."
    raised(BadTargetError, HEIGHT.format(shown), make().api.move_to, [0.0, 0.0], height=height)


def test_a_number_too_long_to_print(make):
    text = HEIGHT.format("a value of type int")
    raised(BadTargetError, text, make().api.move_to, [0.0, 0.0], height=10**5000)


@pytest.mark.parametrize("force", [0.0, 101, np.inf, "firm", None, False])
def test_what_is_no_force(make, force):
    raised(BadForceError, FORCE.format(repr(force)), make().api.grip, force)


def test_an_object_behind_the_hand(make):
    api = make("desk/occlusion").api
    api.move_to(api.locate("item"), height=0.1)
    text = "The hand hides 'item' from the camera; move it away to see 'item' again."
    raised(NotVisibleError, text, api.locate, "item")


def test_a_pose_that_the_board_does_not_hold(make):
    environment = make()
    del environment.public_state["poses"]["item"]
    text = "The board holds no pose of 'item'; call locate('item') while it is in view."
    raised(NeverSeenError, text, environment.api.recall, "item")


@pytest.mark.parametrize(("part", "kind"), [("poses", "dict"), ("visited", "list")])
def test_a_broken_board(make, part, kind):
    text = f"state['{part}'] must stay a {kind}; change what is in it, don't replace it."
    for spoil in (lambda board: board.pop(part), lambda board: board.update({part: 3})):
        environment = make()
        spoil(environment.public_state)
        before = environment.state_digest()
        raised(BadBoardError, text, environment.api.move_to, [0.0, 0.0])
        raised(BadBoardError, text, environment.api.grip)
        raised(BadBoardError, text, environment.api.release)
        assert environment.state_digest() == before
