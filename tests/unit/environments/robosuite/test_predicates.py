import math

import pytest

from surefoot.environments.robosuite.predicates import (
    ASIDE_DISTANCE,
    OFFERED,
    PREDICATES,
    REACH,
    SKEW,
    STILL_DISTANCE,
    contact_key,
    is_seated,
)

A_BIT = 1e-3


def seen(changes=None):
    """A red cube that stands on a green one, let go; a tool that arm 1 holds up; half of the dirt gone."""
    telemetry = {
        "hand.position": [0.5, 0.0, 0.1],
        "arm0.position": [0.2, 0.0, 0.1],
        "arm1.position": [0.41, 0.0, 0.2],
        "position.red": [0.5, 0.0, -0.04],
        "position.green": [0.5, 0.0, -0.085],
        "position.tool": [0.4, 0.0, 0.2],
        "grasp_point.red": [0.5, 0.0, -0.04],
        "grasp_point.tool": [0.4, 0.0, 0.2],
        "height.red": 0.065,
        "height.green": 0.02,
        "top.green": 0.045,
        "lifted.red": True,
        "lifted.green": False,
        "lifted.tool": True,
        "displacement.green": 0.001,
        "grasped.red": False,
        "grasped.green": False,
        "grasped.tool.arm0": False,
        "grasped.tool.arm1": True,
        "skew.tool.arm0": 0.0,
        "skew.tool.arm1": SKEW - A_BIT,
        "seated.red.green": True,
        "wiped": 0.5,
        contact_key("green", "red"): True,
    }
    return telemetry | (changes or {})


def holds(predicate, *roles, changes=None):
    return PREDICATES[predicate].holds(seen(changes), *roles)


HOLD = [("lifted", "red"), ("still", "green"), ("above", "red", "green"), ("on", "red", "green"), ("begun", "dirt"),
        ("reached_by", "tool", "arm1"), ("near", "tool", "arm1"), ("grasped_by", "tool", "arm1"),
        ("offered", "tool", "arm1"), ("handed_over", "tool", "arm0", "arm1")]  # fmt: skip
FAIL = [("reached", "red"), ("grasped", "red"), ("lifted", "green"), ("aside", "green", "red"), ("wiped", "dirt"),
        ("reached_by", "tool", "arm0"), ("near", "tool", "arm0"), ("grasped_by", "tool", "arm0"),
        ("handed_over", "tool", "arm1", "arm0")]  # fmt: skip


def test_every_predicate_of_the_vocabulary_is_tried_here():
    assert {name for name, *_ in [*HOLD, *FAIL]} == set(PREDICATES)


@pytest.mark.parametrize("case", HOLD, ids=" ".join)
def test_what_is_so_holds(case):
    assert holds(*case) is True


@pytest.mark.parametrize("case", FAIL, ids=" ".join)
def test_what_is_not_so_does_not_hold(case):
    assert holds(*case) is False


@pytest.mark.parametrize(
    ("case", "change"),
    [
        (("reached", "red"), {"hand.position": [0.5, 0.0, -0.04 + REACH - A_BIT]}),
        (("reached_by", "tool", "arm0"), {"arm0.position": [0.4, REACH - A_BIT, 0.2]}),
        (("near", "tool", "arm0"), {"arm0.position": [0.4, 0.0, 0.081]}),
        (("grasped", "red"), {"grasped.red": True}),
        (("grasped_by", "tool", "arm0"), {"grasped.tool.arm0": True}),
        (("lifted", "green"), {"lifted.green": True}),
        (("aside", "green", "red"), {"position.green": [0.5, ASIDE_DISTANCE + A_BIT, -0.09]}),
        (("handed_over", "tool", "arm1", "arm0"), {"grasped.tool.arm0": True, "grasped.tool.arm1": False}),
        (("wiped", "dirt"), {"wiped": 1.0}),
    ],
)
def test_one_change_makes_it_so(case, change):
    assert holds(*case, changes=change) is True


@pytest.mark.parametrize(
    ("case", "change"),
    [
        (("reached_by", "tool", "arm1"), {"arm1.position": [0.4, REACH + A_BIT, 0.2]}),
        (("reached_by", "tool", "arm1"), {"skew.tool.arm1": SKEW + A_BIT}),
        (("reached_by", "tool", "arm1"), {"skew.tool.arm1": math.nan}),
        (("near", "tool", "arm1"), {"arm1.position": [0.4, 0.0, 0.079]}),
        (("still", "green"), {"displacement.green": STILL_DISTANCE + A_BIT}),
        (("above", "red", "green"), {"position.red": [0.521, 0.0, -0.04]}),
        (("above", "red", "green"), {"height.red": 0.049}),
        (("on", "red", "green"), {"grasped.red": True}),
        (("on", "red", "green"), {"seated.red.green": False}),
        (("offered", "tool", "arm1"), {"lifted.tool": False}),
        (("offered", "tool", "arm1"), {"arm1.position": [0.4 + OFFERED + A_BIT, 0.0, 0.2]}),
        (("handed_over", "tool", "arm0", "arm1"), {"grasped.tool.arm0": True}),
        (("handed_over", "tool", "arm0", "arm1"), {"lifted.tool": False}),
        (("begun", "dirt"), {"wiped": 0.0}),
    ],
)
def test_one_change_undoes_it(case, change):
    assert holds(*case, changes=change) is False


@pytest.mark.parametrize(
    "change",
    [
        {"grasped.green": True},
        {"height.green": 0.036},
        {"height.green": -0.78},
        {"position.green": [0.5, ASIDE_DISTANCE - A_BIT, -0.09]},
    ],
)
def test_a_thing_is_not_aside_while_held_high_close_or_on_the_floor(change):
    there = {"position.green": [0.5, 0.1, -0.09]}
    assert holds("aside", "green", "red", changes=there)
    assert not holds("aside", "green", "red", changes=there | change)


@pytest.mark.parametrize("case", [case for case in [*HOLD, *FAIL] if case[0] not in ("grasped", "grasped_by")])
def test_nothing_holds_of_positions_that_are_not_numbers(case):
    broken = {
        key: [math.nan] * 3 if isinstance(value, list) else math.nan if isinstance(value, float) else False
        for key, value in seen().items()
    }
    assert PREDICATES[case[0]].holds(broken, *case[1:]) is False


@pytest.mark.parametrize(
    "change",
    [
        {contact_key("red", "green"): False},
        {"position.red": [0.5, 0.0, -0.071]},
        {"lifted.red": False},
        {"position.red": [math.nan] * 3},
    ],
)
def test_a_thing_is_seated_on_a_top_that_it_touches_from_above(change):
    assert is_seated(seen(), "red", "green", "top") is True
    assert is_seated(seen(change), "red", "green", "top") is False


@pytest.mark.parametrize(
    "change",
    [
        {"position.red": [0.531, 0.0, -0.09]},
        {"position.red": [0.5, -0.031, -0.09]},
        {"height.red": 0.051},
        {"height.red": math.nan},
        {"position.red": [math.nan] * 3},
        {"position.red": [0.5, math.nan, -0.09]},
    ],
)
def test_a_thing_is_seated_around_a_foot_when_low_and_within_robosuites_margin_along_each_axis(change):
    low = {"height.red": 0.049, "position.red": [0.529, -0.029, -0.09]}
    assert is_seated(seen(low), "red", "green", "foot") is True
    assert is_seated(seen(low | change), "red", "green", "foot") is False


def test_a_contact_has_one_key_whatever_the_order():
    assert contact_key("red", "green") == contact_key("green", "red") == "contact.green.red"
