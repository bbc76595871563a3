"""The functions that programs call on robosuite tasks; the docstrings are the page a proposer reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from surefoot.boundary.surface import api
from surefoot.environments.robosuite.arguments import ObjectNames, distance_of, finite_array, flag_of, rotation
from surefoot.environments.robosuite.errors import BadFlagError, BadPoseError, UnknownObjectError
from surefoot.environments.robosuite.objects import ObjectSpec
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

    def hand_pose(self, arm: int = 0) -> Pose: ...  # noqa: D102

    def opening(self, arm: int = 0) -> float: ...  # noqa: D102

    def joints(self, arm: int = 0) -> Array: ...  # noqa: D102

    def move(self, hands: Mapping[int, Pose], position_tolerance: float) -> bool: ...  # noqa: D102

    def home(self, arm: int = 0) -> bool: ...  # noqa: D102

    def set_fingers(self, closing: bool, arm: int = 0) -> None: ...  # noqa: D102


class ObjectsApi:
    """What all tasks have: where things are, and motions as the subclasses name them."""

    def __init__(self, robot: Robot, objects: Sequence[ObjectSpec]):
        self._robot = robot
        self._objects = ObjectNames(robot.object_names, objects)

    @api("query", raises=(UnknownObjectError, BadFlagError))
    def get_object_pose(self, object_name: str, return_bbox_extent: bool = False) -> tuple[Array, ...]:
        """Return where an object is now: (position (3,), quaternion_wxyz (4,)).

        Robot-base frame (with two arms that of arm 0): metres, x forwards, y to the left, z up; the position is that
        of the object's own frame, up to 4 cm from the centre of its box. The quaternion's largest component is positive. With return_bbox_extent=True a third array
        (3,) follows: the full side lengths of the box around the object along its own axes, in metres. Dirt ("spill")
        is not turned; its box is that around what is left of it, 5 cm wider than the spots' centres, and is
        (0, 0, 0) once nothing is left.
        """
        name = self._objects.find(object_name)
        pose = self._robot.object_pose(name)
        if flag_of(return_bbox_extent, "get_object_pose's return_bbox_extent"):
            return pose.position, pose.quaternion, self._robot.object_size(name)
        return pose.position, pose.quaternion

    def _goto(self, hands: Mapping[int, Pose], z_approach: object, what: str) -> bool:
        """Move hands, by number of their arm, straight to poses, past the points of approach if there are any."""
        distance = distance_of(z_approach, f"{what}'s z_approach")
        if distance:
            behind = min(max(distance, -FAR), FAR)
            before = {
                arm: Pose(pose.position - pose.rotation[:, 2] * behind, pose.rotation) for arm, pose in hands.items()
            }
            self._robot.move(before, PASSED)
        return self._robot.move(hands, ARRIVED)


class ArmApi(ObjectsApi):
    """The API of tasks with one arm and a tool without fingers."""

    @api("effect", raises=(BadPoseError,))
    def goto_pose(self, position: Array, quaternion_wxyz: Array, z_approach: float = 0.0) -> bool:
        """Move the hand to a pose and return whether it arrived.

        position (3,) is where the point between the fingertips (of a wiping tool: the middle of its face) goes, in
        the robot-base frame (metres); quaternion_wxyz (4,) is the hand's orientation there, normalised for you. The
        hand's z axis points out of the hand towards the fingertips, the fingers open along its y axis. (0, 0, 1, 0)
        is straight down with the fingers opening along the base's y axis; straight down and turned by `yaw`
        (radians, about the base's z axis, reachable from about -2 to 3) is (0, -sin(yaw / 2), cos(yaw / 2), 0).

        With z_approach (metres) the hand first passes the point that far behind the target along its own z axis
        (for a hand pointing down: above it), already turned, to within 10 mm; with a negative one a point beyond it.

        The hand moves in a straight line, at about 0.3 m/s, without looking for obstacles; it keeps what it holds.
        It turns the shortest way that keeps the joints off their limits; where no straight way does, the joints swing
        to the target. Returns True once the hand is within 3 mm and 0.03 rad of the target. Returns False, and stays
        where it is, if it made no progress for 1.25 s or needed more than 7.5 s on a leg, a swing not
        counted. Out of reach it goes as near as it can, and returns False. Never raises for a pose that cannot be reached.
        """
        return self._goto({0: _hand(position, quaternion_wxyz, "goto_pose")}, z_approach, "goto_pose")

    @api("effect")
    def home_pose(self) -> bool:
        """Move the arm's joints back to their posture at the start and return whether they arrived.

        The hand then points down about 0.46 m in front of the base and 0.1 m (a wiping tool: 0.16 m) above it, to within 0.03 rad in
        each joint. The way is not a straight line; the fingers stay as they are. This also frees an arm that
        got stuck stretched out.
        """
        return self._robot.home()

    @api("query")
    def get_observation(self) -> dict[str, Any]:
        """Return what can be seen now, as a dict.

        "hand_position" (3,) and "hand_quaternion_wxyz" (4,): the hand's pose as goto_pose takes it;
        "gripper_opening": distance between the finger pads in metres, 0 to 0.08 (0 for a tool without fingers);
        "joint_positions" (7,): radians; "object_positions" and "object_quaternions_wxyz": dicts from each object's
        name to its position (3,) and quaternion (4,). Robot-base frame, metres.
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


class GripperApi(ArmApi):
    """The API of tasks with one arm and a gripper."""

    @api("query", raises=(UnknownObjectError,))
    def sample_grasp_pose(self, object_name: str) -> tuple[Array, Array]:
        """Return a top-down grasp of an object for goto_pose: (position (3,), quaternion_wxyz (4,)).

        The position is the object's centre (a nut's: its handle's) in the robot-base frame (metres). The hand points
        straight down with its finger axis across two faces of the object (across the handle): of all such yaws the
        one nearest to the hand's present yaw. Deterministic, and blind to neighbours: open fingers come down 4 to
        6 cm from the centre, on both sides along the finger axis. Turning a cube's grasp by 90 degrees about the
        vertical gives the other pair of faces.
        """
        name = self._objects.find(object_name)
        spec = self._objects.specs[self._objects.specs[name].grasp_at or name]
        pose = self._robot.object_pose(spec.name)
        present = yaw_of_hand(self._robot.hand_pose().rotation)
        yaw = nearest_turn(yaw_of_box(pose.rotation, spec.long_axis), present, spec.grasp_period)
        return pose.position, quaternion_of(product(turn(yaw), DOWN))

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


class TwoArmApi(ObjectsApi):
    """The API of tasks with two arms that face each other. All poses are in the frame of arm 0's base."""

    @api("query")
    def get_arm0_gripper_pose(self) -> tuple[Array, Array]:
        """Return arm 0's hand as goto_pose_arm0 takes it: (position (3,), quaternion_wxyz (4,))."""
        return self._hand_pose(0)

    @api("query")
    def get_arm1_gripper_pose(self) -> tuple[Array, Array]:
        """Return arm 1's hand as goto_pose_arm1 takes it: (position (3,), quaternion_wxyz (4,)), arm 0's frame."""
        return self._hand_pose(1)

    @api("effect", raises=(BadPoseError,))
    def goto_pose_arm0(self, position: Array, quaternion_wxyz: Array, z_approach: float = 0.0) -> bool:
        """Move arm 0's hand to a pose and return whether it arrived; arm 1 holds still.

        position (3,) is where the point between the fingertips goes, in the frame of arm 0's base (metres, x
        towards arm 1, y to the left, z up); quaternion_wxyz (4,) is the hand's orientation there, normalised for
        you. The hand's z axis points out of the hand towards the fingertips, the fingers open along its y axis.
        Straight down, turned by `yaw` about the vertical (radians), is (0, -sin(yaw / 2), cos(yaw / 2), 0); arm 0
        reaches yaws from about -2 to 3, arm 1, which stands opposite, from about -2 + pi to 3 + pi.

        With z_approach (metres) the hand first passes the point that far behind the target along its own z axis,
        already turned, to within 10 mm; with a negative one a point beyond it. The hand moves in a straight line,
        at about 0.3 m/s, without looking for obstacles or the other arm; it keeps what it holds. It turns the
        shortest way that keeps the joints off their limits; where no straight way does, the joints swing to the
        target. Returns True once it is within 3 mm and 0.03 rad. Returns False, and stays where it is, if it made no
        progress for 1.25 s or needed more than 7.5 s on a leg, a swing not counted. Out of reach it goes as near as
        it can, and returns False.
        """
        return self._goto({0: _hand(position, quaternion_wxyz, "goto_pose_arm0")}, z_approach, "goto_pose_arm0")

    @api("effect", raises=(BadPoseError,))
    def goto_pose_arm1(self, position: Array, quaternion_wxyz: Array, z_approach: float = 0.0) -> bool:
        """Move arm 1's hand to a pose in the frame of arm 0's base, as goto_pose_arm0 does for arm 0."""
        return self._goto({1: _hand(position, quaternion_wxyz, "goto_pose_arm1")}, z_approach, "goto_pose_arm1")

    @api("effect", raises=(BadPoseError,))
    def goto_pose_both(
        self,
        position0: Array,
        quaternion_wxyz0: Array,
        position1: Array,
        quaternion_wxyz1: Array,
        z_approach: float = 0.0,
    ) -> bool:
        """Move both hands at the same time, each as goto_pose_arm0 does, and return whether both arrived.

        Each hand moves at its own speed, so over unequal distances one arrives first; what both hold is best moved
        in short steps.
        """
        hands = {
            0: _hand(position0, quaternion_wxyz0, "goto_pose_both"),
            1: _hand(position1, quaternion_wxyz1, "goto_pose_both"),
        }
        return self._goto(hands, z_approach, "goto_pose_both")

    @api("effect")
    def open_gripper_arm0(self) -> None:
        """Open arm 0's hand to 8 cm, and wait 0.75 s until its fingers are at rest."""
        self._robot.set_fingers(closing=False, arm=0)

    @api("effect")
    def close_gripper_arm0(self) -> None:
        """Close arm 0's hand on what is between its fingers, and wait 0.75 s; it keeps pressing until opened."""
        self._robot.set_fingers(closing=True, arm=0)

    @api("effect")
    def open_gripper_arm1(self) -> None:
        """Open arm 1's hand to 8 cm, and wait 0.75 s until its fingers are at rest."""
        self._robot.set_fingers(closing=False, arm=1)

    @api("effect")
    def close_gripper_arm1(self) -> None:
        """Close arm 1's hand on what is between its fingers, and wait 0.75 s; it keeps pressing until opened."""
        self._robot.set_fingers(closing=True, arm=1)

    @api("effect")
    def home_pose_arm0(self) -> bool:
        """Move arm 0's joints back to their posture at the start, and return whether they arrived."""
        return self._robot.home(0)

    @api("effect")
    def home_pose_arm1(self) -> bool:
        """Move arm 1's joints back to their posture at the start, and return whether they arrived."""
        return self._robot.home(1)

    def _hand_pose(self, arm: int) -> tuple[Array, Array]:
        hand = self._robot.hand_pose(arm)
        return hand.position, hand.quaternion


class PotApi(TwoArmApi):
    """The API of the two-arm lift: a pot with a handle for each arm."""

    @api("query")
    def get_pot_pose(self) -> tuple[Array, Array]:
        """Return the pot's centre and orientation: (position (3,), quaternion_wxyz (4,)).

        The handles lie along the pot's own y axis; their bars run along its x axis, so fingers close across one
        when the hand's y axis is parallel to the pot's y axis.
        """
        pose = self._robot.object_pose("pot")
        return pose.position, pose.quaternion

    @api("query")
    def get_handle0_pos(self) -> Array:
        """Return the middle (3,) of the handle that is on arm 0's side."""
        return self._robot.object_pose("handle0").position

    @api("query")
    def get_handle1_pos(self) -> Array:
        """Return the middle (3,) of the handle that is on arm 1's side."""
        return self._robot.object_pose("handle1").position


class HammerApi(TwoArmApi):
    """The API of the handover: a hammer near arm 0."""

    @api("query")
    def get_hammer_pose(self) -> tuple[Array, Array]:
        """Return the hammer: (position (3,) of the middle of its handle, quaternion_wxyz (4,)).

        The handle runs along the hammer's own z axis, the head is at its positive end.
        get_object_pose("handle", return_bbox_extent=True) tells how long the handle is (along z, 0.1 to 0.25 m).
        """
        pose = self._robot.object_pose("handle")
        return pose.position, pose.quaternion


def _hand(position: object, quaternion_wxyz: object, what: str) -> Pose:
    """A hand's target as programs give it; BadPoseError for what is no pose."""
    return Pose(
        np.clip(finite_array(position, 3, f"{what}'s position"), -FAR, FAR),
        rotation(quaternion_wxyz, f"{what}'s quaternion_wxyz"),
    )
