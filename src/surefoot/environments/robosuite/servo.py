"""Motions made of control steps: move hands to poses, go home, open and close, hold still.

Nothing here is random or knows about objects; whether a motion makes sense is the program's business.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec
import numpy as np

from surefoot.environments.robosuite.arm import ArmCommand, bounded
from surefoot.environments.robosuite.plant import Plant
from surefoot.environments.robosuite.poses import Array, Pose, product, rotation_vector

ROTATION_TOLERANCE = 0.03
LEG_LIMIT = 150
PATIENCE = 25
LEAST_PROGRESS = 2e-4
FINGER_STEPS = 15
HOME_LIMIT = 80
HOME_STEP = 0.06
HOME_TOLERANCE = 0.03


class Servo:
    """Moves the arms of a plant. Poses are of grip sites in the world frame."""

    def __init__(self, plant: Plant):
        self._plant = plant

    def move(self, targets: Mapping[int, Pose], position_tolerance: float) -> bool:
        """Move hands, by index of their arm, straight to their targets; whether all arrived.

        Ends when every hand is within `position_tolerance` [m] and 0.03 rad, after 25 control steps without
        progress, or after 150. Hands that did not arrive stay where they are.
        """
        for index, target in targets.items():
            self._command(index, ArmCommand(target, closing=self._closing(index)))
        best, patience = math.inf, PATIENCE
        for _ in range(LEG_LIMIT):
            errors = [self._error(index, target) for index, target in targets.items()]
            if all(far <= position_tolerance and turned <= ROTATION_TOLERANCE for far, turned in errors):
                return True
            total = sum(far + 0.1 * turned for far, turned in errors)
            best, patience = (total, PATIENCE) if total < best - LEAST_PROGRESS else (best, patience - 1)
            if patience < 0:
                break
            self._plant.step()
        self._stay(targets)
        return False

    def home(self, index: int) -> bool:
        """Move an arm in joint space to the posture it had at the reset; whether it arrived.

        This is also the way out of a locked elbow, which pose control does not see.
        """
        arm = self._plant.arms[index]
        goal = arm.joints(self._plant.data)
        arrived = False
        for _ in range(HOME_LIMIT):
            arrived = _farthest(arm.rest - arm.joints(self._plant.data)) < HOME_TOLERANCE
            if arrived:
                break
            goal = goal + bounded(arm.rest - goal, HOME_STEP)
            self._command(index, msgspec.structs.replace(arm.command, joints=goal))
            self._plant.step()
        self._stay([index])
        return arrived

    def set_fingers(self, index: int, closing: bool) -> None:
        """Open or close a hand and wait until its fingers have come to rest."""
        command = self._plant.arms[index].command
        self._command(index, msgspec.structs.replace(command, closing=closing))
        self.hold(FINGER_STEPS)

    def hold(self, steps: int) -> None:
        """Let control steps pass while every arm keeps its command."""
        for _ in range(steps):
            self._plant.step()

    def _stay(self, indices: Mapping[int, Pose] | list[int]) -> None:
        for index in indices:
            here = self._plant.arms[index].hand(self._plant.data)
            self._command(index, ArmCommand(here, closing=self._closing(index)))

    def _command(self, index: int, command: ArmCommand) -> None:
        self._plant.arms[index].command = command

    def _closing(self, index: int) -> bool:
        return self._plant.arms[index].command.closing

    def _error(self, index: int, target: Pose) -> tuple[float, float]:
        hand = self._plant.arms[index].hand(self._plant.data)
        turned = rotation_vector(product(target.rotation, hand.rotation.T))
        return math.dist(target.position, hand.position), math.hypot(*turned)


def _farthest(offsets: Array) -> float:
    return float(np.abs(offsets).max())
