"""The board: one dict shared by desk and program, in which the desk notes what happens.

    {"poses": {name: ndarray (2,)},   where each object was last seen [m]; overwritten in place
     "visited": [ndarray (3,), ...],  where the hand stood after each move (x, y, height) [m]
     "notes": {}}                     the program's own

Only effects write to it, so a query leaves it as it is. A program may write anywhere in it.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from surefoot.environments.desk.camera import visible
from surefoot.environments.desk.errors import BadBoardError
from surefoot.environments.desk.world import World

Board = dict[str, Any]


def new_board(world: World) -> Board:
    """The board of a new episode: everything the camera sees from the start, and nothing visited."""
    board: Board = {"poses": {}, "visited": [], "notes": {}}
    note_poses(board, world)
    return board


def require_parts(board: Board) -> None:
    """BadBoardError unless the parts that the desk writes to are what they were."""
    for part, kind in (("poses", dict), ("visited", list)):
        if not isinstance(board.get(part), kind):
            raise BadBoardError(f"state['{part}'] must stay a {kind.__name__}; change what is in it, don't replace it.")


def note_poses(board: Board, world: World) -> None:
    """Write down where everything is that the camera sees now."""
    poses = board["poses"]
    for name, body in world.bodies.items():
        if visible(world, name):
            seen = np.array([body.x, body.y])
            poses[name] = _overwrite(poses[name], seen) if name in poses else seen


def note_visit(board: Board, world: World) -> None:
    """Write down where the hand stands."""
    board["visited"].append(np.array(world.hand.point))


def graft(board: Board, source: Board) -> None:
    """Make `board` equal to `source`, in place: dicts, lists and arrays that match keep their identity."""
    _Graft().dict(board, source)


class _Graft:
    """One graft: each source object gives one target object, and no target object is used twice."""

    def __init__(self) -> None:
        self._done: dict[int, Any] = {}
        self._used: set[int] = set()

    def value(self, target: Any, source: Any) -> Any:
        if id(source) in self._done:
            return self._done[id(source)]
        if type(source) is dict:
            return self.dict(target if self._free(target, dict) else {}, source)
        if type(source) is list:
            return self.list(target if self._free(target, list) else [], source)
        if type(source) is np.ndarray and self._free(target, np.ndarray):
            result = _overwrite(target, source)
        else:
            result = copy.deepcopy(source)
        return self._claim(result, source)

    def dict(self, target: dict[Any, Any], source: dict[Any, Any]) -> dict[Any, Any]:
        self._claim(target, source)
        before = dict(target)
        target.clear()
        for key, item in source.items():
            target[key] = self.value(before.get(key), item)
        return target

    def list(self, target: list[Any], source: list[Any]) -> list[Any]:
        self._claim(target, source)
        before = target[: len(source)] + [None] * (len(source) - len(target))
        target[:] = [self.value(old, new) for old, new in zip(before, source, strict=True)]
        return target

    def _claim(self, target: Any, source: Any) -> Any:
        self._done[id(source)] = target
        self._used.add(id(target))
        return target

    def _free(self, target: Any, kind: type) -> bool:
        return type(target) is kind and id(target) not in self._used


def _overwrite(target: Any, source: np.ndarray[Any, Any]) -> Any:
    """`target` with the content of `source` where it can hold it exactly, else a copy of `source`."""
    same = isinstance(target, np.ndarray) and target.shape == source.shape and target.dtype == source.dtype
    if not same or not target.flags.writeable:
        return source.copy()
    target[...] = source
    return target
