"""Sizes, tops and names of things as programs and checks get them."""

import importlib.util

import numpy as np
import pytest

from surefoot.environments.robosuite.errors import UnknownObjectError
from surefoot.environments.robosuite.poses import matrix_of, product

INSTALLED = importlib.util.find_spec("robosuite") is not None  # importing it here would choose a renderer
pytestmark = [pytest.mark.sim, pytest.mark.skipif(not INSTALLED, reason="needs the extra robosuite")]


def size(environment, name):
    return environment.api.get_object_pose(name, return_bbox_extent=True)[2]


@pytest.mark.parametrize(
    ("task", "thing", "extent", "top"),
    [
        ("cube-stack", "red cube", (0.04, 0.04, 0.04), 0.04),
        ("cube-stack", "green cube", (0.05, 0.05, 0.05), 0.05),
        ("cube-restack", "cubeA", (0.04, 0.04, 0.04), 0.04),
        ("cube-restack", "cubeB", (0.04, 0.04, 0.04), 0.08),
        ("two-arm-lift", "pot", (0.14, 0.34, 0.14), 0.14),
        ("two-arm-lift", "green handle", (0.11, 0.10, 0.02), 0.14),
        ("two-arm-lift", "blue handle", (0.11, 0.10, 0.02), 0.14),
        ("nut-assembly", "square nut", (0.123, 0.0875, 0.02), 0.02),
        ("nut-assembly", "square peg", (0.032, 0.032, 0.2), 0.13),  # the peg's lower part is in the table
    ],
)
def test_a_box_is_along_a_thing_s_own_axes_and_its_top_above_the_table(environment_of, task, thing, extent, top):
    environment = environment_of(f"robosuite/{task}")
    environment.reset(203)
    np.testing.assert_allclose(size(environment, thing), extent, atol=2e-4)
    name = {"red cube": "cubeA", "green cube": "cubeB", "green handle": "handle0", "blue handle": "handle1"}.get(
        thing, thing.replace(" ", "_")
    )
    assert environment.telemetry()[f"top.{name}"] == pytest.approx(top, abs=2e-3)


@pytest.mark.parametrize("seed", [201, 202, 203])
def test_sizes_that_are_drawn_at_a_reset_are_those_of_that_reset(environment_of, seed):
    lift = environment_of("robosuite/cube-lift")
    lift.reset(seed)
    assert all(0.0399 < side < 0.0441 for side in size(lift, "cube"))
    handover = environment_of("robosuite/two-arm-handover")
    handover.reset(seed)
    handle, hammer = size(handover, "handle"), size(handover, "hammer")
    assert 0.1 < handle[2] < 0.25
    assert handle[0] < 0.06
    assert hammer[2] > handle[2]


def test_drawn_sizes_differ_between_scenes(environment_of):
    handover = environment_of("robosuite/two-arm-handover")
    lengths = set()
    for seed in (201, 202, 203):
        handover.reset(seed)
        lengths.add(float(size(handover, "handle")[2]))
    assert len(lengths) == 3


def test_a_box_turns_with_its_thing_and_keeps_its_size(environment_of):
    environment = environment_of("robosuite/cube-lift")
    environment.reset(204)
    before, (position, quaternion) = size(environment, "cube"), environment.api.sample_grasp_pose("cube")
    environment.api.goto_pose(position, quaternion, z_approach=0.1)
    environment.api.close_gripper()
    environment.api.goto_pose(position + np.array([0.0, 0.0, 0.1]), [0.0, -0.25, 0.97, 0.0])
    assert environment.telemetry()["lifted.cube"]
    np.testing.assert_allclose(size(environment, "cube"), before, atol=1e-8)


def test_the_hammer_s_pose_is_its_handle_s_middle_and_its_head_at_the_axis_s_positive_end(environment_of):
    environment = environment_of("robosuite/two-arm-handover")
    environment.reset(201)
    position, quaternion = environment.api.get_hammer_pose()
    np.testing.assert_array_equal(position, environment.api.get_object_pose("handle")[0])
    data, base = environment._simulator.sim.data, environment._running.readings._base
    to_head = data.get_geom_xpos("hammer_head") - data.get_geom_xpos("hammer_handle")
    axis = product(base.rotation, matrix_of(quaternion)[:, 2])
    assert to_head @ axis == pytest.approx(np.linalg.norm(to_head), abs=1e-6)
    assert to_head @ axis > 0.05


def test_an_unknown_thing_is_answered_with_what_the_scene_has(environment_of):
    environment = environment_of("robosuite/nut-assembly")
    environment.reset(201)
    with pytest.raises(UnknownObjectError) as error:
        environment.api.sample_grasp_pose("round nut")
    assert str(error.value) == (
        "There is no object 'round nut'. Did you mean 'square nut'? "
        "Available: square_nut, square_nut_handle, square_peg."
    )
