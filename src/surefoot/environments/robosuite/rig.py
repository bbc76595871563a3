"""The robot as the API uses it: what its functions read and which motions they start, in base-frame poses."""

from __future__ import annotations

from collections.abc import Mapping

from surefoot.environments.robosuite.poses import Array, Pose
from surefoot.environments.robosuite.readings import Readings
from surefoot.environments.robosuite.servo import Servo


class Rig:
    """Reads through a copy of the state, moves through the servo."""

    def __init__(self, readings: Readings, servo: Servo):
        self._readings = readings
        self._servo = servo

    @property
    def object_names(self) -> tuple[str, ...]:
        """Ids of all objects."""
        return self._readings.names

    def object_pose(self, name: str) -> Pose:
        """Pose of an object, base frame."""
        return self._readings.object_pose(name)

    def object_size(self, name: str) -> Array:
        """Full side lengths (3,) along the object's own axes [m]."""
        return self._readings.object_size(name)

    def hand_pose(self, arm: int = 0) -> Pose:
        """Pose of a hand's fingertips, or its tool, base frame."""
        return self._readings.hand_pose(arm)

    def opening(self, arm: int = 0) -> float:
        """Distance between a hand's finger pads [m]."""
        return self._readings.opening(arm)

    def joints(self, arm: int = 0) -> Array:
        """Joint positions (7,) of an arm [rad]."""
        return self._readings.joints(arm)

    def move(self, hands: Mapping[int, Pose], position_tolerance: float) -> bool:
        """Move hands, by number of their arm, straight to poses, base frame; whether all arrived."""
        targets = {arm: self._readings.site_target(hand) for arm, hand in hands.items()}
        return self._servo.move(targets, position_tolerance)

    def home(self, arm: int = 0) -> bool:
        """Move an arm to its posture at the reset; whether it arrived."""
        return self._servo.home(arm)

    def set_fingers(self, closing: bool, arm: int = 0) -> None:
        """Open or close a hand."""
        self._servo.set_fingers(arm, closing)
