"""The functions that programs call on robosuite tasks; the docstrings are the page a proposer reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from surefoot.boundary.surface import api
from surefoot.environments.robosuite.arguments import ObjectNames, distance_of, finite_array, rotation
from surefoot.environments.robosuite.errors import BadPoseError, UnknownObjectError
from surefoot.environments.robosuite.poses import (
    DOWN,
    Array,
    Pose,
    nearest_turn,
    product,
    quaternion_of,
    turn,
    yaw_of_box,
    yaw_of_hand,
)
from surefoot.environments.robosuite.setups import ObjectSpec

ARRIVED = 0.003
"""Distance at which a motion has arrived [m]."""

PASSED = 0.01
"""Distance at which the hand has passed the point of approach [m]."""


FAR = 100.0
"""Coordinate that no hand reaches; targets beyond it are moved here, so that no arithmetic overflows [m]."""


class Robot(Protocol):
    """What the API needs of a robot; `surefoot.environments.robosuite.rig.Rig` is one. Base-frame poses."""

    @property
    def object_names(self) -> tuple[str, ...]: ...  # noqa: D102

    def object_pose(self, name: str) -> Pose: ...  # noqa: D102

    def object_size(self, name: str) -> Array: ...  # noqa: D102

    def hand_pose(self) -> Pose: ...  # noqa: D102

    def opening(self) -> float: ...  # noqa: D102

    def joints(self) -> Array: ...  # noqa: D102

    def move(self, hand: Pose, position_tolerance: float) -> bool: ...  # noqa: D102

    def home(self) -> bool: ...  # noqa: D102

    def set_fingers(self, closing: bool) -> None: ...  # noqa: D102


class RobosuiteApi:
    """The API of the single-arm tasks."""

    def __init__(self, robot: Robot, objects: Sequence[ObjectSpec]):
        self._robot = robot
        self._objects = ObjectNames(objects)

    @api("query", raises=(UnknownObjectError,))
    def get_object_pose(self, object_name: str, return_bbox_extent: bool = False) -> tuple[Array, ...]:
        """Return where an object is now: (position (3,), quaternion_wxyz (4,)).

        Robot-base frame: metres, x forwards, y to the left, z up; the position is the object's centre. The
        quaternion's largest component is positive. With return_bbox_extent=True a third array (3,) follows:
        the full side lengths of the box around the object along its own axes, in metres.
        """
        name = self._objects.find(object_name).name
        pose = self._robot.object_pose(name)
        if return_bbox_extent:
            return pose.position, pose.quaternion, self._robot.object_size(name)
        return pose.position, pose.quaternion

    @api("query", raises=(UnknownObjectError,))
    def sample_grasp_pose(self, object_name: str) -> tuple[Array, Array]:
        """Return a top-down grasp of an object for goto_pose: (position (3,), quaternion_wxyz (4,)).

        The position is the object's centre in the robot-base frame (metres). The hand points straight down
        with its finger axis across two faces of the object: of all such yaws the one nearest to the hand's
        present yaw. Deterministic, and blind to neighbours: open fingers come down 4 to 6 cm from the centre, on
        both sides along the finger axis. Turning the grasp by 90 degrees about the vertical gives the other
        pair of faces.
        """
        spec = self._objects.find(object_name)
        pose = self._robot.object_pose(spec.name)
        present = yaw_of_hand(self._robot.hand_pose().rotation)
        yaw = nearest_turn(yaw_of_box(pose.rotation), present, spec.grasp_period)
        return pose.position, quaternion_of(product(turn(yaw), DOWN))

    @api("effect", raises=(BadPoseError,))
    def goto_pose(self, position: Array, quaternion_wxyz: Array, z_approach: float = 0.0) -> bool:
        """Move the hand to a pose and return whether it arrived.

        position (3,) is where the point between the fingertips goes, in the robot-base frame (metres);
        quaternion_wxyz (4,) is the hand's orientation there, normalised for you. The hand's z axis points out
        of the hand towards the fingertips, the fingers open along its y axis. (0, 0, 1, 0) is straight down
        with the fingers opening along the base's y axis; straight down and turned by `yaw` (radians, about
        the base's z axis, reachable from about -2 to 3) is (0, -sin(yaw / 2), cos(yaw / 2), 0).

        With z_approach (metres, not negative) the hand first passes the point that far behind the target along its own
        z axis (for a hand pointing down: above it), already turned, to within 10 mm.

        The hand moves in a straight line, at about 0.3 m/s, turning the shortest way, without looking for
        obstacles; it keeps what it holds. Returns True once the hand is within 3 mm and 0.03 rad of the
        target. Returns False, and stays where it is, if it made no progress for 1.25 s (blocked or out of
        reach) or needed more than 7.5 s on a leg. Never raises for a pose that cannot be reached.
        """
        target = Pose(
            np.clip(finite_array(position, 3, "goto_pose's position"), -FAR, FAR),
            rotation(quaternion_wxyz, "goto_pose's quaternion_wxyz"),
        )
        distance = min(distance_of(z_approach, "goto_pose's z_approach"), FAR)
        if distance:
            before = target.position - target.rotation[:, 2] * distance
            self._robot.move(Pose(before, target.rotation), PASSED)
        return self._robot.move(target, ARRIVED)

    @api("effect")
    def open_gripper(self) -> None:
        """Open the hand to 8 cm, and wait 0.75 s until the fingers are at rest."""
        self._robot.set_fingers(closing=False)

    @api("effect")
    def close_gripper(self) -> None:
        """Close the hand on what is between the fingers, and wait 0.75 s until the fingers are at rest.

        It keeps pressing until open_gripper. Nothing tells directly whether something is held:
        get_observation()["gripper_opening"] stays at the object's width, or goes to about 0 if nothing is.
        """
        self._robot.set_fingers(closing=True)

    @api("effect")
    def home_pose(self) -> bool:
        """Move the arm's joints back to their posture at the start and return whether they arrived.

        The hand then points down about 0.46 m in front of the base and 0.1 m above it, to within 0.03 rad in
        each joint. The way is not a straight line; the fingers stay as they are. This also frees an arm that
        got stuck stretched out.
        """
        return self._robot.home()

    @api("query")
    def get_observation(self) -> dict[str, Any]:
        """Return what can be seen now, as a dict.

        "hand_position" (3,) and "hand_quaternion_wxyz" (4,): the hand's pose as goto_pose takes it;
        "gripper_opening": distance between the finger pads in metres, 0 to 0.08; "joint_positions" (7,):
        radians; "object_positions" and "object_quaternions_wxyz": dicts from each object's name to its
        position (3,) and quaternion (4,). Robot-base frame, metres.
        """
        hand = self._robot.hand_pose()
        poses = {name: self._robot.object_pose(name) for name in self._robot.object_names}
        return {
            "hand_position": hand.position,
            "hand_quaternion_wxyz": hand.quaternion,
            "gripper_opening": self._robot.opening(),
            "joint_positions": np.array(self._robot.joints()),
            "object_positions": {name: pose.position for name, pose in poses.items()},
            "object_quaternions_wxyz": {name: pose.quaternion for name, pose in poses.items()},
        }
