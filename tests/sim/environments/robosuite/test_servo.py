"""Motions keep joints off their limits and go as near as they can."""

import importlib.util

import numpy as np
import pytest

from surefoot.environments.robosuite.poses import DOWN, Pose, product, turn
from surefoot.environments.robosuite.setups import CUBE_LIFT, Setup

INSTALLED = importlib.util.find_spec("robosuite") is not None  # importing it here would choose a renderer
pytestmark = [pytest.mark.sim, pytest.mark.skipif(not INSTALLED, reason="needs the extra robosuite")]


@pytest.fixture(scope="module")
def environment():
    from surefoot.environments.robosuite.tasks import start

    environment = start(CUBE_LIFT, "robosuite/cube-lift")
    environment.reset(201)
    yield environment
    environment.close()


@pytest.fixture
def episode(environment):
    environment.reset(201)
    return environment._running


def down(position, yaw=0.0):
    return Pose(np.array(position), product(turn(yaw), DOWN))


def move(episode, hand):
    return episode.servo.move({0: episode.readings.site_target(hand)}, 0.003)


def clearance(plant, index=0):
    """Least distance of a joint of an arm from its limits [rad]."""
    chain, joints = plant.arms[index].chain, plant.arms[index].joints(plant.data)
    return float(np.minimum(joints - chain.low, chain.high - joints).min())


@pytest.mark.parametrize("position", [(0.46, 0.0, 0.9), (0.95, 0.1, 0.2), (0.4, 0.3, 100.0)])
def test_a_hand_sent_out_of_reach_stops_short_with_free_joints_and_comes_back(episode, position):
    assert not move(episode, down(position))
    assert clearance(episode.plant) > 0.05
    assert move(episode, down((0.45, 0.1, 0.1)))


def test_a_lift_beyond_reach_ends_at_the_highest_pose_within_it(episode):
    move(episode, down((0.46, 0.0, 0.9)))
    here = episode.readings.hand_pose()
    assert here.position[2] > 0.55
    assert abs(here.position[0] - 0.46) < 0.15


@pytest.mark.parametrize("yaw", np.linspace(-3.1, 3.1, 9))
def test_every_yaw_is_reached_from_every_other_one(episode, yaw):
    assert move(episode, down((0.5, -0.1, 0.15), yaw))
    assert clearance(episode.plant) > 0.02
    assert move(episode, down((0.45, 0.15, 0.2), yaw + 2.0))
    assert clearance(episode.plant) > 0.02


def test_a_hand_at_its_last_joint_s_limit_turns_the_other_way_round(episode):
    assert move(episode, down((0.5, 0.0, 0.2), 2.6))
    before = episode.plant.arms[0].joints(episode.plant.data)[6]
    assert move(episode, down((0.5, 0.0, 0.2), -2.6))
    after = episode.plant.arms[0].joints(episode.plant.data)[6]
    assert abs(after - before) > 3.0  # the shortest way would have been 1.1 rad


def test_choosing_a_way_leaves_the_simulation_as_it_is(episode):
    from surefoot.environments.robosuite.reach import find_way

    arm, data = episode.plant.arms[0], episode.plant.data
    joints, before = arm.joints(data), episode.plant.snapshot().digest
    target = episode.readings.site_target(down((0.5, 0.2, 0.3), 3.0))
    ways = [find_way(arm.chain, joints, arm.velocities(data), arm.rest, target) for _ in range(2)]
    assert episode.plant.snapshot().digest == before
    assert ways[0].posture.tobytes() == ways[1].posture.tobytes()


def test_the_chain_has_the_model_s_kinematics_masses_and_drag(episode):
    import mujoco

    from surefoot.environments.robosuite.chain import drag_of, frames_of, jacobian_of, mass_of
    from surefoot.environments.robosuite.poses import matrix_of

    plant, arm = episode.plant, episode.plant.arms[0]
    dofs = plant.model.jnt_dofadr[[plant.model.jnt_qposadr.tolist().index(at) for at in arm._qpos]]
    model, chain, data = plant.model, arm.chain, mujoco.MjData(episode.plant.model)
    random = np.random.default_rng(0)
    linear, angular, full = np.zeros((3, model.nv)), np.zeros((3, model.nv)), np.zeros((model.nv, model.nv))
    for _ in range(5):
        joints, speeds = random.uniform(chain.low, chain.high), random.uniform(-1, 1, 7)
        data.qpos[:], data.qvel[:] = model.qpos0, 0.0
        data.qpos[arm._qpos], data.qvel[dofs] = joints, speeds
        mujoco.mj_forward(model, data)
        mujoco.mj_jacSite(model, data, linear, angular, arm._site)
        mujoco.mj_fullM(model, full, data.qM)
        places, facings, ways = frames_of(chain, joints)
        hand = arm.hand(data)
        assert np.allclose(places[-1], hand.position, atol=1e-12)
        assert np.allclose(matrix_of(facings[-1]), hand.rotation, atol=1e-12)
        assert np.allclose(jacobian_of(places, ways), np.vstack([linear, angular])[:, dofs], atol=1e-12)
        assert np.allclose(mass_of(chain, places, facings, ways), full[np.ix_(dofs, dofs)], atol=1e-9)
        air = drag_of(chain, places, facings, ways, speeds) + chain.coulomb * np.sign(speeds)
        assert np.allclose(air, data.qfrc_passive[dofs], atol=0.5)  # bodies with little drag are left out


def test_two_arms_move_in_one_call_whatever_way_they_face():
    from surefoot.environments.robosuite.importing import load_robosuite

    load_robosuite()
    from surefoot.environments.robosuite.plant import Plant
    from surefoot.environments.robosuite.servo import Servo
    from surefoot.environments.robosuite.simulator import make_robosuite, reset_robosuite

    opposed = {"env_configuration": "single-arm-opposed"}
    simulator = make_robosuite(Setup("TwoArmLift", (), robots=("Panda", "Panda"), options=opposed))
    reset_robosuite(simulator, 201)
    plant = Plant(simulator.sim.model._model, simulator.sim.data._data, simulator.robots, 5000)
    plant.settle(10)
    servo = Servo(plant)
    site = np.diag([1.0, -1.0, -1.0])
    for yaw in (-1.0, 1.2, 2.9, -2.5):
        targets = {
            0: Pose(np.array([0.05, -0.2, 1.1]), product(turn(yaw), site)),
            1: Pose(np.array([-0.05, 0.2, 1.15]), product(turn(yaw + 1.0), site)),
        }
        assert servo.move(targets, 0.003)
        for index, target in targets.items():
            hand = plant.arms[index].hand(plant.data)
            assert np.abs(hand.position - target.position).max() < 0.003
            assert clearance(plant, index) > 0.02
    simulator.close()
