"""The stepping core: MuJoCo's model and state, advanced one control step at a time under the arms' commands.

Robosuite's `env.step` runs three passes of dynamics for each simulation step; this loop runs one, as it
computes torques between the two halves of MuJoCo's step. Between control steps the first half has been done,
so that kinematics, contacts and velocities of the live state are always those of its present positions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import mujoco
import numpy as np

from surefoot.boundary.environment import StepLimitReachedError
from surefoot.environments.robosuite.arm import Arm, ArmState, arm_records
from surefoot.environments.robosuite.control import actuate
from surefoot.environments.robosuite.ledger import Ledger
from surefoot.environments.robosuite.poses import Array
from surefoot.environments.robosuite.setups import CONTROL_PERIOD
from surefoot.errors import EnvironmentFaultError

STATE = mujoco.mjtState.mjSTATE_INTEGRATION


class Snapshot(msgspec.Struct, frozen=True):
    """Everything that the rest of an episode depends on: MuJoCo's integration state, arms, steps taken, ledger."""

    integration: Array
    arms: tuple[ArmState, ...]
    steps: int
    ledger: Array

    def to_value(self) -> dict[str, Any]:
        """It as numbers and arrays."""
        return {
            "integration": self.integration,
            "arms": [arm.to_value() for arm in self.arms],
            "steps": self.steps,
            "ledger": self.ledger,
        }

    @classmethod
    def from_value(cls, value: dict[str, Any]) -> Snapshot:
        """The snapshot behind `to_value`."""
        arms = tuple(ArmState.from_value(arm) for arm in value["arms"])
        return cls(value["integration"], arms, value["steps"], value["ledger"])

    @property
    def digest(self) -> str:
        """Exact hash of it."""
        arms = (arm.to_bytes() for arm in self.arms)
        parts = (self.integration.tobytes(), *arms, str(self.steps).encode(), self.ledger.tobytes())
        digest = hashlib.blake2b(digest_size=16)
        for part in parts:
            digest.update(len(part).to_bytes(8, "little") + part)
        return digest.hexdigest()


class Plant:
    """The live simulation of one episode. Only `step` and `restore` change it.

    `robots` are robosuite's, all of one kind.
    `steps` counts control steps; StepLimitReachedError is raised instead of a step beyond `step_limit`.
    `changes` counts every change of the state, for caches of what was read from it. `ledger` is told of each
    control step, `on_step` called after it.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, robots: Sequence[Any], step_limit: int):
        self.model = model
        self.data = data
        self.step_limit = step_limit
        self.steps = 0
        self.changes = 0
        self.ledger = Ledger()
        self.on_step: Callable[[], None] | None = None
        self._substeps = round(CONTROL_PERIOD / model.opt.timestep)
        mujoco.mj_step1(model, data)
        self._records = arm_records(robots)
        self.arms = tuple(Arm(model, data, *pair) for pair in zip(robots, self._records, strict=True))
        self._law_arguments = (
            data.qpos, data.qvel, data.qfrc_bias, data.qM, data.cdof, data.subtree_com,
            data.site_xpos, data.site_xmat, data.ctrl,
        )  # fmt: skip

    def step(self) -> None:
        """Advance by one control step of 0.05 s."""
        if self.steps >= self.step_limit:
            raise StepLimitReachedError(f"The episode's {self.step_limit} control steps are used up.")
        begin = self.data.time
        for arm in self.arms:
            arm.aim(self.data)
        for _ in range(self._substeps - 1):
            self._second_half()
            mujoco.mj_step1(self.model, self.data)
        self._second_half()
        self.ledger.record()
        mujoco.mj_step1(self.model, self.data)
        if not self.data.time > begin:
            raise EnvironmentFaultError("MuJoCo found the simulation unstable and reset it; run the scene again.")
        self.steps += 1
        self.changes += 1
        if self.on_step is not None:
            self.on_step()

    def settle(self, steps: int) -> None:
        """Advance by control steps that are not counted: the episode begins after them."""
        for _ in range(steps):
            self.step()
            self.steps = 0

    def snapshot(self) -> Snapshot:
        """The whole state, copied."""
        arms = tuple(arm.state for arm in self.arms)
        return Snapshot(self.integration_state(), arms, self.steps, self.ledger.entries)

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a state of this episode; what follows is equal to the bit."""
        mujoco.mj_setState(self.model, self.data, snapshot.integration, STATE)
        mujoco.mj_step1(self.model, self.data)
        for arm, state in zip(self.arms, snapshot.arms, strict=True):
            arm.state = state
        self.steps = snapshot.steps
        self.ledger.entries = snapshot.ledger
        self.changes += 1

    def integration_state(self) -> Array:
        """MuJoCo's integration state, copied."""
        state = np.empty(mujoco.mj_stateSize(self.model, STATE))
        mujoco.mj_getState(self.model, self.data, state, STATE)
        return state

    def _second_half(self) -> None:
        actuate(self._records, *self._law_arguments)
        mujoco.mj_step2(self.model, self.data)
