"""The robot as the API uses it: what its functions read and which motions they start, in base-frame poses."""

from __future__ import annotations

from surefoot.environments.robosuite.poses import Array, Pose
from surefoot.environments.robosuite.readings import Readings
from surefoot.environments.robosuite.servo import Servo


class Rig:
    """Reads through a copy of the state, moves through the servo. One arm."""

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

    def hand_pose(self) -> Pose:
        """Pose of the fingertips, base frame."""
        return self._readings.hand_pose()

    def opening(self) -> float:
        """Distance between the finger pads [m]."""
        return self._readings.opening()

    def joints(self) -> Array:
        """Joint positions (7,) [rad]."""
        return self._readings.joints()

    def move(self, hand: Pose, position_tolerance: float) -> bool:
        """Move the fingertips straight to a pose, base frame; whether they arrived."""
        return self._servo.move({0: self._readings.site_target(hand)}, position_tolerance)

    def home(self) -> bool:
        """Move the arm to its posture at the reset; whether it arrived."""
        return self._servo.home(0)

    def set_fingers(self, closing: bool) -> None:
        """Open or close the hand."""
        self._servo.set_fingers(0, closing)
