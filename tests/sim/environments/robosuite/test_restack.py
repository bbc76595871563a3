"""The restack environment: what it draws, and what counts as restacked."""

import importlib.util

import numpy as np
import pytest

from surefoot.environments.robosuite.importing import load_robosuite
from surefoot.environments.robosuite.restack import X_RANGE, Y_RANGE
from surefoot.environments.robosuite.setups import CUBE_RESTACK

INSTALLED = importlib.util.find_spec("robosuite") is not None  # importing it here would choose a renderer
pytestmark = [pytest.mark.sim, pytest.mark.skipif(not INSTALLED, reason="needs the extra robosuite")]

RED, GREEN = "cubeA", "cubeB"
ON_TABLE = 0.82
TURNED = np.array([np.cos(0.4), 0.0, 0.0, np.sin(0.4)])


@pytest.fixture(scope="module")
def simulator():
    load_robosuite()
    from surefoot.environments.robosuite.simulator import make_robosuite

    simulator = make_robosuite(CUBE_RESTACK)
    yield simulator
    simulator.close()


def reset(simulator, seed):
    from surefoot.environments.robosuite.simulator import reset_robosuite

    reset_robosuite(simulator, seed)
    return {name: simulator.sim.data.get_joint_qpos(f"{name}_joint0") for name in (RED, GREEN)}


def put(simulator, red, green, turned=(1.0, 0.0, 0.0, 0.0)):
    """Place both cubes at positions in the world and see what robosuite says."""
    for name, position in ((RED, red), (GREEN, green)):
        simulator.sim.data.set_joint_qpos(f"{name}_joint0", np.concatenate([position, turned]))
    simulator.sim.forward()
    return bool(simulator._check_success())


def test_the_green_cube_is_drawn_on_the_red_one_shifted_by_a_centimetre_each_turned_on_its_own(simulator):
    places, yaws = [], []
    for seed in range(201, 241):
        cubes = reset(simulator, seed)
        red, green = cubes[RED], cubes[GREEN]
        np.testing.assert_allclose(green[:3] - red[:3], [-0.01, 0.0, 0.042], atol=1e-9)
        assert red[2] == pytest.approx(0.822)
        places.append(red[:2])
        yaws.append([2 * np.arctan2(cube[6], cube[3]) for cube in (red, green)])
        assert not simulator._check_success()
    low, high = np.min(places, axis=0), np.max(places, axis=0)
    limits = np.array([X_RANGE, Y_RANGE]).T
    assert (limits[0] <= low).all()
    assert (high <= limits[1]).all()
    assert (high - low > 0.8 * (limits[1] - limits[0])).all()
    assert np.std(yaws, axis=0).min() > 0.5
    assert np.abs(np.corrcoef(np.transpose(yaws))[0, 1]) < 0.5


def test_both_cubes_are_four_centimetres_wide_in_every_geometry(simulator):
    reset(simulator, 201)
    model = simulator.sim.model
    sizes = {
        name: model.geom_size[model.geom_name2id(name)]
        for name in model.geom_names
        if name and name.startswith((f"{RED}_", f"{GREEN}_"))
    }
    assert len(sizes) >= 4  # collision and visual geometries
    np.testing.assert_allclose(list(sizes.values()), 0.02)


def test_red_on_green_on_the_table_is_a_success_however_both_are_turned(simulator):
    reset(simulator, 201)
    for turned in ((1.0, 0.0, 0.0, 0.0), TURNED):
        assert put(simulator, [0.0, 0.0, ON_TABLE + 0.0395], [0.0, 0.0, ON_TABLE], turned)
    assert put(simulator, [0.015, 0.0, ON_TABLE + 0.0395], [0.0, 0.0, ON_TABLE])


@pytest.mark.parametrize(
    ("red", "green"),
    [
        ((0.0, 0.0, ON_TABLE), (0.0, 0.0, ON_TABLE + 0.0395)),  # green on red
        ((0.1, 0.0, ON_TABLE), (0.0, 0.0, ON_TABLE)),  # side by side
        ((0.0, 0.0, ON_TABLE + 0.06), (0.0, 0.0, ON_TABLE)),  # in the air, not touching
        ((0.1, 0.0, ON_TABLE + 0.06), (0.0, 0.0, ON_TABLE)),  # in the air, beside
    ],
)
def test_anything_else_is_none(simulator, red, green):
    reset(simulator, 201)
    assert not put(simulator, red, green)


def test_a_tower_in_the_air_is_none_though_robosuites_stack_would_call_it_one(simulator):
    from robosuite.environments.manipulation.stack import Stack

    reset(simulator, 201)
    assert not put(simulator, [0.0, 0.0, ON_TABLE + 0.07], [0.0, 0.0, ON_TABLE + 0.0305])
    assert Stack._check_success(simulator)
    assert put(simulator, [0.0, 0.0, ON_TABLE + 0.0395], [0.0, 0.0, ON_TABLE])
    assert Stack._check_success(simulator)
