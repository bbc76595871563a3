"""One arm with its hand: where its numbers stand in the model, and what it is commanded to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import mujoco
import numpy as np

from surefoot.environments.robosuite.chain import Chain
from surefoot.environments.robosuite.control import Indices, Record, arm_type
from surefoot.environments.robosuite.poses import Array, Pose, product, rotation_of, rotation_vector

POSITION_STEP = 0.05
"""Farthest that the controller's goal may lie ahead of the hand, per axis [m]."""

ROTATION_STEP = 0.5
"""Farthest that the controller's goal may be turned ahead of the hand, per axis [rad]."""

CLOSING_RATES = np.array([-0.01, 0.01])
"""Changes of the normalised finger commands in one simulation step, as in robosuite's PandaGripper (2,)."""


class ArmCommand(msgspec.Struct, frozen=True):
    """What an arm is told to do until further notice.

    `target` is the hand's pose (grip site, world frame); `joints` (n,) replaces it while the arm moves in
    joint space; `closing` says which way the fingers go, if the hand has any; the null space is pulled to
    `posture` (n,), or to the posture of the reset where that is None.
    """

    target: Pose
    joints: Array | None = None
    closing: bool = False
    posture: Array | None = None


class ArmState(msgspec.Struct, frozen=True):
    """What an arm remembers between control steps: its command and the normalised finger commands (f,)."""

    command: ArmCommand
    fingers: Array

    def to_value(self) -> dict[str, Any]:
        """It as numbers and arrays."""
        command, target = self.command, self.command.target
        return {
            "position": target.position.copy(), "rotation": target.rotation.copy(), "joints": command.joints,
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
    """Turns an arm's command into orders for the control law, one control step at a time.

    `record` is this arm's element of an array of `arm_type`: written here, read by the law, which moves the
    finger commands on in it. `rest` (n,) is the posture at the reset, which the null space is drawn to unless told otherwise [rad].
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, robot: Any, record: Record):
        controller = robot.controller
        record["site"] = self._site = int(robot.eef_site_id)
        record["root"] = model.body_rootid[model.site_bodyid[self._site]]
        record["dofs"] = controller.qvel_index
        record["qpos"] = self._qpos = _indices(controller.qpos_index)
        record["motors"] = robot._ref_joint_actuator_indexes
        record["inertia"] = inertia_places(model, record["dofs"].tolist())
        record["low"], record["high"] = robot.torque_limits
        record["stiffness"], record["damping"] = controller.kp, controller.kd
        record["finger_motors"] = motors = finger_motors(robot)
        low, high = model.actuator_ctrlrange[motors].T
        record["finger_middle"], record["finger_reach"] = 0.5 * (high + low), 0.5 * (high - low)
        record["fingers"] = robot.gripper.current_action
        self._closing_rates = CLOSING_RATES[: len(motors)]
        self._finger_qpos = _indices(robot._ref_gripper_joint_pos_indexes)
        self._record = record
        self.rest = np.array(controller.initial_joint, dtype=np.float64)
        self.chain = Chain.of(model, self._site, self._qpos, (record["low"].copy(), record["high"].copy()))
        self.command = ArmCommand(self.hand(data))

    @property
    def state(self) -> ArmState:
        """What the arm remembers between control steps."""
        return ArmState(self.command, self._record["fingers"].copy())

    @state.setter
    def state(self, state: ArmState) -> None:
        self.command = state.command
        self._record["fingers"] = state.fingers

    def hand(self, data: mujoco.MjData) -> Pose:
        """Pose of the grip site between the fingertips, world frame: fingers open along x, z leads ahead."""
        rotation = data.site_xmat[self._site].reshape(3, 3)
        return Pose(data.site_xpos[self._site].copy(), rotation.copy())

    def joints(self, data: mujoco.MjData) -> Array:
        """Joint positions (n,) [rad]."""
        return np.array(data.qpos[self._qpos], dtype=np.float64)

    def velocities(self, data: mujoco.MjData) -> Array:
        """Joint velocities (n,) [rad/s]."""
        return np.array(data.qvel[self._record["dofs"]], dtype=np.float64)

    def opening(self, data: mujoco.MjData) -> float:
        """Distance between the finger pads [m]; 0 without fingers."""
        return float(np.abs(data.qpos[self._finger_qpos]).sum())

    def aim(self, data: mujoco.MjData) -> None:
        """Write the orders for the next control step; its goal is the target, or a bounded way towards it."""
        record, command = self._record, self.command
        record["in_joint_space"] = command.joints is not None
        if command.joints is not None:
            record["joints"] = command.joints
        record["goal_position"], record["goal_rotation"] = ahead(self.hand(data), command.target)
        record["posture"] = self.rest if command.posture is None else command.posture
        record["finger_rates"] = self._closing_rates if command.closing else -self._closing_rates


def ahead(hand: Pose, target: Pose) -> Pose:
    """The controller's goal for a control step: `target`, or the way towards it as far as it may lie ahead."""
    shift = bounded(target.position - hand.position, POSITION_STEP)
    spin = bounded(rotation_vector(product(target.rotation, hand.rotation.T)), ROTATION_STEP)
    return Pose(hand.position + shift, product(rotation_of(spin), hand.rotation))


def bounded(vector: Array, limit: float) -> Array:
    """`vector`, shortened so that no component exceeds `limit`; its direction stays."""
    largest = float(np.abs(vector).max())
    return vector if largest <= limit else vector * (limit / largest)


def arm_records(robots: Sequence[Any]) -> Record:
    """An array of `arm_type` with an element for each of several robots of one kind, not yet filled."""
    (shape,) = {(len(robot.controller.qvel_index), len(finger_motors(robot))) for robot in robots}
    return np.zeros(len(robots), arm_type(*shape))


def finger_motors(robot: Any) -> Indices:
    """Motors of the fingers (f,); none for a tool without fingers, such as the one that wipes."""
    return _indices(robot._ref_joint_gripper_actuator_indexes)


def inertia_places(model: mujoco.MjModel, dofs: Sequence[int]) -> Indices:
    """Where MuJoCo's sparse mass matrix `qM` holds the elements of a chain of degrees of freedom (n, n).

    Its row of a degree of freedom begins with the diagonal and goes on towards the root of the tree.
    """
    places = np.zeros((len(dofs), len(dofs)), dtype=np.int64)
    for i, dof in enumerate(dofs):
        place, ancestor = int(model.dof_Madr[dof]), dof
        while ancestor >= 0:
            if ancestor in dofs:
                j = dofs.index(ancestor)
                places[i, j] = places[j, i] = place
            place, ancestor = place + 1, int(model.dof_parentid[ancestor])
    return places


def _indices(values: Any) -> Indices:
    return np.array(values, dtype=np.int64)
