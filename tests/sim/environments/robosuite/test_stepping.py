"""The stepping core does what robosuite's own `env.step` does, for each kind of environment."""

import hashlib
import importlib.util

import numpy as np
import pytest
from benchmarks.stepping import Bench, compare

from surefoot.environments.robosuite.importing import load_robosuite
from surefoot.environments.robosuite.setups import (
    CUBE_LIFT,
    CUBE_RESTACK,
    CUBE_STACK,
    NUT_ASSEMBLY,
    SPILL_WIPE,
    TWO_ARM_HANDOVER,
    TWO_ARM_LIFT,
)
from surefoot.environments.robosuite.tasks import TASKS
from surefoot.program.source import Program

INSTALLED = importlib.util.find_spec("robosuite") is not None  # importing it here would choose a renderer
pytestmark = [pytest.mark.sim, pytest.mark.skipif(not INSTALLED, reason="needs the extra robosuite")]

SETUPS = {
    setup.environment: setup
    for setup in (CUBE_LIFT, CUBE_STACK, CUBE_RESTACK, SPILL_WIPE, NUT_ASSEMBLY, TWO_ARM_LIFT, TWO_ARM_HANDOVER)
}
STEPS = 60

LIFT_FROM_HOME = """
position, quaternion = sample_grasp_pose("cube")
goto_pose(position + [0.0, 0.1, 0.2], quaternion)
home_pose()
goto_pose(position, quaternion, z_approach=0.1)
close_gripper()
goto_pose(position + [0.0, 0.0, 0.15], quaternion)
"""


class Both:
    """One simulator, stepped by robosuite and by the core."""

    def __init__(self, setup):
        load_robosuite()
        from surefoot.environments.robosuite.simulator import make_robosuite

        self.setup = setup
        self.simulator = make_robosuite(setup)

    def plant(self, seed):
        """The core at the start of a scene."""
        from surefoot.environments.robosuite.plant import Plant
        from surefoot.environments.robosuite.readings import Readings
        from surefoot.environments.robosuite.simulator import reset_robosuite

        reset_robosuite(self.simulator, seed)
        sim = self.simulator.sim
        plant = Plant(sim.model._model, sim.data._data, self.simulator.robots, 1000)
        if self.setup.spill:
            plant.ledger = Readings(self.simulator, plant, self.setup).spill
        return plant

    def actions(self, seed, scale):
        """A scene's random actions, one row for each control step."""
        size = (STEPS, self.simulator.action_dim)
        return scale * np.random.default_rng(seed).uniform(-1, 1, size)

    def robosuites(self, seed, actions):
        """Positions (nq,) after `env.step` with each action, and Wipe's counts."""
        from surefoot.environments.robosuite.simulator import reset_robosuite

        reset_robosuite(self.simulator, seed)
        for action in actions:
            self.simulator.step(action)
        return self.simulator.sim.data.qpos.copy(), self.counts

    @property
    def counts(self):
        """What Wipe has counted: collisions, wiped markers."""
        if not self.setup.spill:
            return None
        return self.simulator.collisions, len(self.simulator.wiped_markers)

    @property
    def joints(self):
        """Which positions are the arms' joints."""
        return np.concatenate([robot._ref_joint_pos_indexes for robot in self.simulator.robots])


def follow(plant, actions):
    """Step the core by robosuite's actions."""
    from surefoot.environments.robosuite.actions import command_of

    for action in actions:
        for arm, part in zip(plant.arms, np.split(action, len(plant.arms)), strict=True):
            arm.command = command_of(part, arm.hand(plant.data))
        plant.step()


def saved(model):
    """Digest of all bytes of a model."""
    import mujoco

    buffer = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return hashlib.blake2b(buffer.tobytes()).hexdigest()


@pytest.fixture(scope="module", params=SETUPS)
def both(request):
    both = Both(SETUPS[request.param])
    yield both
    both.simulator.close()


def test_random_actions_lead_where_robosuites_step_leads(both):
    for seed in (201, 206):
        actions = both.actions(seed, scale=0.5)
        theirs, counted = both.robosuites(seed, actions)
        plant = both.plant(seed)
        follow(plant, actions)
        apart = np.abs(plant.data.qpos - theirs)
        assert apart[both.joints].max() < 2e-5  # rad; robosuite rounds rotations to single precision
        others = np.delete(apart, both.joints)
        assert others.size == 0 or others.max() < 1e-7  # m and quaternions
        assert both.counts == counted
        assert np.abs(theirs[both.joints] - both.simulator.robots[0].init_qpos[0]).max() > 0.1  # it did move


def test_what_follows_a_restored_snapshot_is_bit_equal(both):
    from surefoot.environments.robosuite.plant import Snapshot

    actions = both.actions(202, scale=0.5)
    plant = both.plant(202)
    follow(plant, actions[:30])
    snapshot = Snapshot.from_value(plant.snapshot().to_value())
    follow(plant, actions[30:])
    end = plant.snapshot().digest
    plant.restore(snapshot)
    assert plant.snapshot().digest == snapshot.digest != end
    follow(plant, actions[30:])
    assert plant.snapshot().digest == end


def test_a_reset_with_a_kept_model_is_equal_to_robosuites_hard_reset_whatever_came_before(both, monkeypatch):
    actions = both.actions(204, scale=1.0)[:10]
    both.plant(205)
    follow(both.plant(203), actions)
    both.simulator.sim.model.geom_rgba[:] *= 0.5
    plant = both.plant(204)
    kept = saved(plant.model), plant.snapshot().digest
    follow(plant, actions)
    kept_end = plant.snapshot().digest

    monkeypatch.delattr(both.simulator, "_initialize_sim")  # from here on robosuite's own, which always compiles
    plant = both.plant(204)
    assert (saved(plant.model), plant.snapshot().digest) == kept
    follow(plant, actions)
    assert plant.snapshot().digest == kept_end


def test_with_robosuites_own_rounding_only_the_last_digits_differ(monkeypatch):
    both = Both(SETUPS["Wipe"])  # nothing touches anything, and there are no fingers with limits
    from robosuite.utils import transform_utils

    from surefoot.environments.robosuite import actions, arm

    def single(vector):
        return transform_utils.quat2mat(transform_utils.axisangle2quat(vector))

    monkeypatch.setattr(actions, "rotation_of", single)
    monkeypatch.setattr(arm, "ahead", lambda hand, target: target)
    random_actions = both.actions(203, scale=0.5)
    theirs, _ = both.robosuites(203, random_actions)
    plant = both.plant(203)
    follow(plant, random_actions)
    np.testing.assert_allclose(plant.data.qpos, theirs, atol=1e-11)
    both.simulator.close()


def test_the_dirt_of_a_snapshot_comes_back():
    both = Both(SPILL_WIPE)
    plant = both.plant(206)
    before = plant.snapshot()
    follow(plant, both.actions(206, scale=1.0))
    after = plant.snapshot()
    assert both.counts == (0, 3)
    plant.restore(before)
    assert both.counts == (0, 0)
    plant.restore(after)
    assert both.counts == (0, 3)
    assert plant.snapshot().digest == after.digest != before.digest
    both.simulator.close()


def test_an_episode_given_again_to_robosuites_step_ends_with_the_same_verdict(zygote, tmp_path):
    bench = Bench(TASKS["robosuite/cube-lift"], zygote)
    for source, succeeds in ((LIFT_FROM_HOME, True), (LIFT_FROM_HOME.replace("close", "open"), False)):
        found = compare(bench, Program(source), 201, tmp_path)
        assert (found.succeeded, found.same_verdict, found.same_bits) == (succeeds, True, True)
        assert found.apart < 5e-3
    bench.environment.close()
