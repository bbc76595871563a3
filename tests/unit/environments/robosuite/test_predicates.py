import math

import pytest

from surefoot.environments.robosuite.predicates import above, contact_key, grasped, lifted, on, reached, still


def seen(**changes):
    """A red cube that stands on a green one, let go, with the hand away."""
    telemetry = {
        "hand.position": [0.5, 0.0, 0.1],
        "position.cubeA": [0.5, 0.0, -0.04],
        "position.cubeB": [0.5, 0.0, -0.085],
        "height.cubeA": 0.07,
        "displacement.cubeB": 0.001,
        "grasped.cubeA": False,
        contact_key("cubeA", "cubeB"): True,
    }
    return telemetry | {key.replace("_", "."): value for key, value in changes.items()}


def test_a_stacked_cube_is_on_above_and_lifted_and_the_base_still():
    assert on(seen(), "cubeA", "cubeB")
    assert above(seen(), "cubeA", "cubeB")
    assert lifted(seen(), "cubeA")
    assert still(seen(), "cubeB")
    assert not reached(seen(), "cubeA")
    assert not grasped(seen(), "cubeA")


@pytest.mark.parametrize(
    "change",
    [
        {"grasped_cubeA": True},
        {"contact_cubeA_cubeB": False},
        {"position_cubeA": [0.5, 0.0, -0.085]},
        {"height_cubeA": 0.02},
    ],
)
def test_a_cube_is_not_on_another_while_held_apart_beside_or_low(change):
    assert not on(seen(**change), "cubeA", "cubeB")


def test_nothing_holds_of_positions_that_are_not_numbers():
    broken = seen(position_cubeA=[math.nan] * 3, height_cubeA=math.nan, displacement_cubeB=math.nan)
    assert not any(
        [reached(broken, "cubeA"), lifted(broken, "cubeA"), still(broken, "cubeB"), above(broken, "cubeA", "cubeB")]
    )
    assert not on(broken, "cubeA", "cubeB")


def test_a_contact_has_one_key_whatever_the_order():
    assert contact_key("cubeB", "cubeA") == contact_key("cubeA", "cubeB") == "contact.cubeA.cubeB"
