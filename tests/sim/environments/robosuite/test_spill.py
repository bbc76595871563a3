"""Dirt: where it is said to be, how it goes, and that robosuite's count decides."""

import importlib.util

import numpy as np
import pytest

INSTALLED = importlib.util.find_spec("robosuite") is not None  # importing it here would choose a renderer
pytestmark = [pytest.mark.sim, pytest.mark.skipif(not INSTALLED, reason="needs the extra robosuite")]

DOWN = (0.0, 0.0, 1.0, 0.0)


@pytest.fixture(scope="module")
def environment(environment_of):
    return environment_of("robosuite/spill-wipe")


@pytest.fixture
def spill(environment):
    environment.reset(201)
    return environment._running.readings.spill


def asked(environment):
    position, quaternion, extent = environment.api.get_object_pose("spill", return_bbox_extent=True)
    np.testing.assert_array_equal(quaternion, [1.0, 0.0, 0.0, 0.0])
    return position, extent


def wipe_at(environment, position):
    environment.api.goto_pose(position + np.array([0.0, 0.0, -0.005]), DOWN, z_approach=0.06)


def spots(environment, spill):
    """Positions of the spots that are left, base frame."""
    base = environment._running.readings._base
    return spill.left - base.position


def test_the_box_is_around_the_spots_that_are_left_with_a_margin(environment, spill):
    there = spots(environment, spill)
    position, extent = asked(environment)
    np.testing.assert_allclose(position, (there.min(axis=0) + there.max(axis=0)) / 2, atol=1e-9)
    np.testing.assert_allclose(extent[:2], np.ptp(there, axis=0)[:2] + 0.05, atol=1e-9)
    gone = np.argsort(there[:, 1])[: len(there) // 2]
    spill.wiped = tuple(int(number) for number in gone)
    rest = spots(environment, spill)
    position, extent = asked(environment)
    assert len(rest) == len(there) - len(gone)
    np.testing.assert_allclose(position, (rest.min(axis=0) + rest.max(axis=0)) / 2, atol=1e-9)
    np.testing.assert_allclose(extent[:2], np.ptp(rest, axis=0)[:2] + 0.05, atol=1e-9)


def test_with_nothing_left_the_extent_is_zero_and_the_place_that_of_all(environment, spill):
    place, _ = asked(environment)
    spill.wiped = tuple(range(len(spill.positions)))
    position, extent = asked(environment)
    np.testing.assert_array_equal(extent, [0.0, 0.0, 0.0])
    np.testing.assert_array_equal(position, place)
    assert (spill.share_wiped, len(spill.left)) == (1.0, 0)
    assert environment.succeeded()
    assert environment.telemetry()["wiped"] == 1.0


def test_one_spot_that_is_left_is_no_success(environment, spill):
    spill.wiped = tuple(range(1, len(spill.positions)))
    assert not environment.succeeded()
    assert 0.9 < environment.telemetry()["wiped"] < 1.0
    _, extent = asked(environment)
    np.testing.assert_allclose(extent, [0.05, 0.05, 0.0], atol=1e-9)


def test_the_nearest_spot_is_one_of_those_left(environment, spill):
    first = spill.nearest(np.array([9.0, 0.0, 0.9]))
    distances = np.linalg.norm(spill.positions - [9.0, 0.0, 0.9], axis=1)
    number = int(distances.argmin())
    np.testing.assert_array_equal(first, spill.positions[number])
    spill.wiped = (number,)
    second = spill.nearest(np.array([9.0, 0.0, 0.9]))
    np.testing.assert_array_equal(second, spill.positions[np.argsort(distances)[1]])


def test_the_tool_takes_off_what_it_covers_and_nothing_far_from_it(environment, spill):
    there = spots(environment, spill)
    wipe_at(environment, there[0])
    gone = list(spill.wiped)
    assert 0 in gone
    assert np.abs(there[gone][:, 1] - there[0][1]).max() < 0.08
    assert spill.share_wiped == pytest.approx(len(gone) / len(there))


def test_a_tool_that_passes_high_takes_nothing_off(environment, spill):
    environment.api.goto_pose(spots(environment, spill)[0] + np.array([0.0, 0.0, 0.04]), DOWN)
    assert spill.wiped == ()


def test_dirt_that_is_gone_is_part_of_a_snapshot_and_of_the_digest(environment, spill):
    there = spots(environment, spill)
    wipe_at(environment, there[0])
    snapshot, digest, gone = environment.snapshot(), environment.state_digest(), spill.wiped
    wipe_at(environment, there[len(there) // 2])
    later, telemetry = environment.state_digest(), environment.telemetry()
    assert len(spill.wiped) > len(gone) > 0
    environment.restore(snapshot)
    assert (spill.wiped, environment.state_digest()) == (gone, digest)
    wipe_at(environment, there[len(there) // 2])
    assert (environment.state_digest(), environment.telemetry()) == (later, telemetry)
    environment.restore(snapshot)
    spill.wiped = gone[1:]
    assert environment.state_digest() != digest


def test_a_reset_brings_all_dirt_back(environment, spill):
    before = environment.state_digest()
    spill.wiped = (0, 1)
    environment.reset(201)
    assert environment._running.readings.spill.wiped == ()
    assert environment.state_digest() == before
