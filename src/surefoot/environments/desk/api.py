"""The functions that programs call on the desk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.boundary.surface import api
from surefoot.environments.desk import gripper, motion, passage
from surefoot.environments.desk.arguments import (
    checked_force,
    checked_height,
    checked_name,
    checked_position,
)
from surefoot.environments.desk.board import Board, note_poses, note_visit, require_parts
from surefoot.environments.desk.camera import visible
from surefoot.environments.desk.errors import (
    BadBoardError,
    BadForceError,
    BadTargetError,
    NeverSeenError,
    NotVisibleError,
    UnknownObjectError,
)
from surefoot.environments.desk.world import World

Vector = npt.NDArray[np.float64]
Position = Vector | Sequence[float]


class DeskApi:
    """The surface of every desk task.

    Positions are (x, y) in the desk's frame: origin at its centre, x to the right, y away from the viewer,
    in metres. Heights are above the desk's surface, in metres.
    """

    def __init__(self, world: World, board: Board):
        self._world = world
        self._board = board

    @api("query")
    def list_objects(self) -> list[str]:
        """Names of everything on the desk: 'item', 'bin' and, where there is one, 'wall' or 'lamp'."""
        return list(self._world.bodies)

    @api("query", raises=(UnknownObjectError, NotVisibleError))
    def locate(self, name: str) -> Vector:
        """Where the camera sees the centre of `name` now: ndarray (2,), x and y [m], desk frame.

        On some desks the hand hides what it is near to; then there is nothing to see.
        """
        body = self._world.bodies[checked_name(name, self._world.bodies)]
        if not visible(self._world, name):
            raise NotVisibleError(f"The hand hides '{name}' from the camera; move it away to see '{name}' again.")
        return np.array([body.x, body.y])

    @api("query", raises=(UnknownObjectError,))
    def describe(self, name: str) -> dict[str, Any]:
        """What `name` is, from the desk's inventory; it needs no view of the object.

        Returns a dict: "shape" ('block', 'mug' or 'brick' for the item, else 'bin', 'wall' or 'lamp'),
        "size" ndarray (3,) [m] along x, y and up, "weight" [kg], and "angle" [rad], the direction from a
        mug's centre to its handle, counted from +x towards +y.
        """
        body = self._world.bodies[checked_name(name, self._world.bodies)]
        return {"shape": body.shape, "size": np.array(body.size), "weight": body.weight, "angle": body.angle}

    @api("query")
    def get_hand(self) -> dict[str, Any]:
        """The gripper now.

        Returns a dict: "position" ndarray (2,) [m] of the fingertips, "height" [m], "open" (bool), and
        "holding", the name of what it holds or None.
        """
        hand = self._world.hand
        position = np.array([hand.x, hand.y])
        return {"position": position, "height": hand.height, "open": hand.open, "holding": hand.holding}

    @api("query", raises=(BadTargetError,))
    def free_heights(self, start: Position, goal: Position) -> Vector:
        """Lowest and highest height [m] for a level move from above `start` to above `goal`: ndarray (2,).

        Keep a centimetre from either. Walls give the lowest and lamps the highest, for the hand as it is,
        with what hangs below it; where nothing is in the way it is [0.0, 0.4].
        """
        return np.array(passage.free_heights(self._world, checked_position(start), checked_position(goal)))

    @api("query", raises=(UnknownObjectError, NeverSeenError, BadBoardError))
    def recall(self, name: str) -> Vector:
        """Where `name` was last seen: the board's own array (2,) [m], `state["poses"][name]`.

        The board starts with all that is in view and is brought up to date after every move, grip and
        release. The array is overwritten then; copy it to keep it.
        """
        checked_name(name, self._world.bodies)
        require_parts(self._board)
        poses = self._board["poses"]
        if name not in poses:
            raise NeverSeenError(f"The board holds no pose of '{name}'; call locate('{name}') while it is in view.")
        pose: Vector = poses[name]
        return pose

    @api("effect", raises=(BadTargetError, BadBoardError))
    def move_to(self, position: Position, height: float = 0.1) -> bool:
        """Move the fingertips in a straight line to `position`, (x, y) [m], at `height` [m], 0.5 m/s.

        Returns whether they arrived. The hand stops at whatever it meets from the side, which spoils it:
        walls, lamps and the bin shift, items topple, and what the hand holds is lost. The bin and items are
        safely entered from above. An item too heavy for the grip stays behind.
        """
        target = (*checked_position(position), checked_height(height))
        require_parts(self._board)
        arrived = motion.move(self._world, target)
        note_visit(self._board, self._world)
        note_poses(self._board, self._world)
        return arrived

    @api("effect", raises=(BadForceError, BadBoardError))
    def grip(self, force: float = 10.0) -> bool:
        """Close the fingers with `force` [N], 1 to 100, on what is between them; whether they hold it.

        They must be within 15 mm of the grip point and no higher than the item. A block or a brick is
        gripped about its centre; a mug is too wide for that, and has its handle 0.05 m from its centre. An
        item of m kg needs 9.81 m newtons not to slip; blocks and mugs break above 20 N.
        """
        checked = checked_force(force)
        require_parts(self._board)
        held = gripper.grip(self._world, checked)
        note_poses(self._board, self._world)
        return held

    @api("effect", raises=(BadBoardError,))
    def release(self) -> None:
        """Open the fingers. What they held falls straight down, and breaks if it falls over 0.15 m."""
        require_parts(self._board)
        gripper.release(self._world)
        note_poses(self._board, self._world)
