"""One arm with its hand: where its numbers stand in the model, and what it is commanded to do."""

from __future__ import annotations

from typing import Any

import msgspec
import mujoco
import numpy as np

from surefoot.environments.robosuite.chain import Chain
from surefoot.environments.robosuite.control import Indices, joint_torques, pose_error, pose_torques
from surefoot.environments.robosuite.poses import Array, Pose, product, rotation_of, rotation_vector

POSITION_STEP = 0.05
"""Farthest that the controller's goal may lie ahead of the hand, per axis [m]."""

ROTATION_STEP = 0.5
"""Farthest that the controller's goal may be turned ahead of the hand, per axis [rad]."""

GRIPPER_RATE = 0.01
"""Change of the normalised finger command in one simulation step, as in robosuite's PandaGripper."""


class ArmCommand(msgspec.Struct, frozen=True):
    """What an arm is told to do until further notice.

    `target` is the hand's pose (grip site, world frame); `joints` (n,) replaces it while the arm moves in
    joint space; `closing` says which way the fingers go; the null space is pulled to `posture` (n,), or to
    the posture of the reset where that is None.
    """

    target: Pose
    joints: Array | None = None
    closing: bool = False
    posture: Array | None = None


class ArmState(msgspec.Struct, frozen=True):
    """What an arm remembers between control steps: its command and the normalised finger command (2,)."""

    command: ArmCommand
    fingers: Array

    def to_value(self) -> dict[str, Any]:
        """It as numbers and arrays."""
        command, target = self.command, self.command.target
        return {
            "position": target.position, "rotation": target.rotation, "joints": command.joints,
            "closing": command.closing, "posture": command.posture, "fingers": self.fingers,
        }  # fmt: skip

    @classmethod
    def from_value(cls, value: dict[str, Any]) -> ArmState:
        """The state behind `to_value`."""
        target = Pose(value["position"], value["rotation"])
        return cls(ArmCommand(target, value["joints"], value["closing"], value["posture"]), value["fingers"])

    def to_bytes(self) -> bytes:
        """All bits of it, for digests."""
        target = self.command.target.position.tobytes() + self.command.target.rotation.tobytes()
        postures = (self.command.joints, self.command.posture)
        joints = b"".join(b"-" if posture is None else b"+" + posture.tobytes() for posture in postures)
        return target + joints + str(self.command.closing).encode() + self.fingers.tobytes()


class Arm:
    """Turns an arm's command into controls of the model, one simulation step at a time."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, robot: Any):
        controller = robot.controller
        self._model = model
        self._site = int(robot.eef_site_id)
        self._dofs = _indices(controller.qvel_index)
        self._qpos = _indices(controller.qpos_index)
        self._motors = _indices(robot._ref_joint_actuator_indexes)
        self._finger_motors = _indices(robot._ref_joint_gripper_actuator_indexes)
        self._finger_qpos = _indices(robot._ref_gripper_joint_pos_indexes)
        self._stiffness = np.array(controller.kp, dtype=np.float64)
        self._damping = np.array(controller.kd, dtype=np.float64)
        self._low, self._high = (np.array(limit, dtype=np.float64) for limit in robot.torque_limits)
        self._finger_range = np.array(model.actuator_ctrlrange[self._finger_motors])
        self._linear = np.zeros((3, model.nv))
        self._angular = np.zeros((3, model.nv))
        self.rest = np.array(controller.initial_joint, dtype=np.float64)
        self.chain = Chain.of(model, self._site, self._qpos, (self._low, self._high))
        fingers = np.array(robot.gripper.current_action, dtype=np.float64)
        self.state = ArmState(ArmCommand(self.hand(data)), fingers)
        self._goal = self.state.command.target

    @property
    def command(self) -> ArmCommand:
        """What the arm is told to do."""
        return self.state.command

    @command.setter
    def command(self, command: ArmCommand) -> None:
        self.state = ArmState(command, self.state.fingers)

    def hand(self, data: mujoco.MjData) -> Pose:
        """Pose of the grip site between the fingertips, world frame: fingers open along x, z leads ahead."""
        rotation = data.site_xmat[self._site].reshape(3, 3)
        return Pose(data.site_xpos[self._site].copy(), rotation.copy())

    def joints(self, data: mujoco.MjData) -> Array:
        """Joint positions (n,) [rad]."""
        return np.array(data.qpos[self._qpos], dtype=np.float64)

    def velocities(self, data: mujoco.MjData) -> Array:
        """Joint velocities (n,) [rad/s]."""
        return np.array(data.qvel[self._dofs], dtype=np.float64)

    def opening(self, data: mujoco.MjData) -> float:
        """Distance between the finger pads [m]."""
        return float(np.abs(data.qpos[self._finger_qpos]).sum())

    def aim(self, data: mujoco.MjData) -> None:
        """Place the controller's goal for the next control step: the target, or a bounded way towards it."""
        hand, target = self.hand(data), self.command.target
        shift = bounded(target.position - hand.position, POSITION_STEP)
        spin = bounded(rotation_vector(product(target.rotation, hand.rotation.T)), ROTATION_STEP)
        self._goal = Pose(hand.position + shift, product(rotation_of(spin), hand.rotation))

    def actuate(self, data: mujoco.MjData, mass: Array) -> None:
        """Write the controls of the next simulation step; `mass` is the model's mass matrix (nv, nv)."""
        torques = self._torques(data, mass)
        data.ctrl[self._motors] = np.minimum(np.maximum(torques, self._low), self._high)
        way = GRIPPER_RATE if self.command.closing else -GRIPPER_RATE
        fingers = np.clip(self.state.fingers + np.array([-way, way]), -1.0, 1.0)
        low, high = self._finger_range[:, 0], self._finger_range[:, 1]
        data.ctrl[self._finger_motors] = 0.5 * (high + low) + 0.5 * (high - low) * fingers
        self.state = ArmState(self.command, fingers)

    def _torques(self, data: mujoco.MjData, mass: Array) -> Array:
        q = self.joints(data)
        motion = (mass, self._dofs, q, data.qvel, data.qfrc_bias)
        if self.command.joints is not None:
            return joint_torques(*motion, self.command.joints)
        mujoco.mj_jacSite(self._model, data, self._linear, self._angular, self._site)
        position, rotation = data.site_xpos[self._site], data.site_xmat[self._site].reshape(3, 3)
        error = pose_error(position, rotation, self._goal.position, self._goal.rotation)
        posture = self.rest if self.command.posture is None else self.command.posture
        task = (self._stiffness, self._damping, posture)
        return pose_torques(mass, self._linear, self._angular, *motion[1:], error, *task)


def bounded(vector: Array, limit: float) -> Array:
    """`vector`, shortened so that no component exceeds `limit`; its direction stays."""
    largest = float(np.abs(vector).max())
    return vector if largest <= limit else vector * (limit / largest)


def _indices(values: Any) -> Indices:
    return np.array(values, dtype=np.int64)
