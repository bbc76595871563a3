"""Motions made of control steps: move hands to poses, go home, open and close, hold still.

Nothing here is random or knows about objects; whether a motion makes sense is the program's business.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import msgspec
import numpy as np

from surefoot.environments.robosuite.arm import ArmCommand, bounded
from surefoot.environments.robosuite.chain import hand_at, spin_to
from surefoot.environments.robosuite.plant import Plant
from surefoot.environments.robosuite.poses import Array, Pose, product, rotation_of, rotation_vector
from surefoot.environments.robosuite.reach import TURN_AHEAD, Way, find_way

ROTATION_TOLERANCE = 0.03
LEG_LIMIT = 150
PATIENCE = 25
LEAST_PROGRESS = 2e-4
FINGER_STEPS = 15
SWING_LIMIT = 80
SWING_STEP = 0.06
SWING_TOLERANCE = 0.03


class Servo:
    """Moves the arms of a plant. Poses are of grip sites in the world frame."""

    def __init__(self, plant: Plant):
        self._plant = plant

    def move(self, targets: Mapping[int, Pose], position_tolerance: float) -> bool:
        """Move hands, by index of their arm, straight to their targets; whether all arrived.

        The hand turns the shortest way, or the other way round where only that keeps the joints inside their
        limits; where no straight way does, the joints swing to the target. If that is out of reach, the hand goes
        as near as it can. Ends when every hand is within
        `position_tolerance` [m] and 0.03 rad of where it can get, after 25 control steps without progress, or
        after 150. Hands that did not arrive stay where they are.
        """
        ways = {index: self._way(index, target) for index, target in targets.items()}
        postures = {index: way.posture for index, way in ways.items() if way.swings}
        if postures:
            self._swing(postures)
            ways |= {index: self._way(index, ways[index].target) for index in postures}
        history: list[float] = []
        for _ in range(LEG_LIMIT):
            errors = [self._aim(index, way) for index, way in ways.items()]
            if all(far <= position_tolerance and turned <= ROTATION_TOLERANCE for far, turned in errors):
                break
            history.append(sum(far + 0.1 * turned for far, turned in errors))
            if len(history) > PATIENCE and history[-1] > history[-1 - PATIENCE] - LEAST_PROGRESS:
                break
            self._plant.step()
        if all(self._near(index, target, position_tolerance) for index, target in targets.items()):
            return True
        self._stay(targets)
        return False

    def home(self, index: int) -> bool:
        """Move an arm in joint space to the posture it had at the reset; whether it arrived.

        This is also the way out of a locked elbow, which pose control does not see.
        """
        return self._swing({index: self._plant.arms[index].rest})

    def set_fingers(self, index: int, closing: bool) -> None:
        """Open or close a hand and wait until its fingers have come to rest."""
        command = self._plant.arms[index].command
        self._command(index, msgspec.structs.replace(command, closing=closing))
        self.hold(FINGER_STEPS)

    def hold(self, steps: int) -> None:
        """Let control steps pass while every arm keeps its command."""
        for _ in range(steps):
            self._plant.step()

    def _swing(self, postures: Mapping[int, Array]) -> bool:
        """Move arms, by their index, in joint space to postures (n,), and stay there; whether all arrived."""
        arms, data = self._plant.arms, self._plant.data
        goals = {index: arms[index].joints(data) for index in postures}
        arrived = False
        for _ in range(SWING_LIMIT):
            left = (_farthest(posture - arms[index].joints(data)) for index, posture in postures.items())
            arrived = max(left) < SWING_TOLERANCE
            if arrived:
                break
            for index, posture in postures.items():
                goals[index] = goals[index] + bounded(posture - goals[index], SWING_STEP)
                command = msgspec.structs.replace(arms[index].command, joints=goals[index], posture=None)
                self._command(index, command)
            self._plant.step()
        self._stay(postures)
        return arrived

    def _stay(self, indices: Iterable[int]) -> None:
        for index in indices:
            arm = self._plant.arms[index]
            here = arm.hand(self._plant.data)
            self._command(index, msgspec.structs.replace(arm.command, target=here, joints=None))

    def _way(self, index: int, target: Pose) -> Way:
        arm = self._plant.arms[index]
        return find_way(arm.chain, arm.joints(self._plant.data), arm.velocities(self._plant.data), arm.rest, target)

    def _aim(self, index: int, way: Way) -> tuple[float, float]:
        """Command the next control step; the distance [m] and the turn [rad] that were left before it."""
        arm, data = self._plant.arms[index], self._plant.data
        hand = arm.hand(data)
        joints = arm.joints(data)
        _, facing = hand_at(arm.chain, joints)
        spin = spin_to(facing, way.turn)
        turned = math.hypot(*spin)
        goal = way.target
        if turned > TURN_AHEAD:
            goal = Pose(goal.position, product(rotation_of(spin * (TURN_AHEAD / turned)), hand.rotation))
        self._command(index, ArmCommand(goal, closing=self._closing(index), posture=way.posture))
        return math.dist(goal.position, hand.position), turned

    def _command(self, index: int, command: ArmCommand) -> None:
        self._plant.arms[index].command = command

    def _closing(self, index: int) -> bool:
        return self._plant.arms[index].command.closing

    def _near(self, index: int, target: Pose, position_tolerance: float) -> bool:
        hand = self._plant.arms[index].hand(self._plant.data)
        turned = math.hypot(*rotation_vector(product(target.rotation, hand.rotation.T)))
        return math.dist(target.position, hand.position) <= position_tolerance and turned <= ROTATION_TOLERANCE


def _farthest(offsets: Array) -> float:
    return float(np.abs(offsets).max())
