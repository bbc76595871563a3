"""The desk as an environment: reset, verdict, telemetry, exact state."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Any

import msgspec

from surefoot.boundary.decoding import decode_value
from surefoot.boundary.encoding import encode_value
from surefoot.boundary.environment import Environment, Frame, Scene, checked_duration
from surefoot.boundary.surface import types_of
from surefoot.environments.desk import predicates
from surefoot.environments.desk.api import DeskApi
from surefoot.environments.desk.board import graft, new_board
from surefoot.environments.desk.camera import visible
from surefoot.environments.desk.clock import spend
from surefoot.environments.desk.picture import draw as draw_picture
from surefoot.environments.desk.scene import Setting, describe_scene, draw
from surefoot.environments.desk.world import STEP_SECONDS, World
from surefoot.errors import UsageError


class DeskEnvironment(Environment):
    """One desk.

    With a steady setting a reset is a pure function of its seed. With an unsteady one (`Setting.unsteady`)
    it also depends on how many resets this instance has seen: resets of one seed differ by a few
    millimetres, in layout and in scene digest, but the n-th reset of any new instance is the same again.
    """

    def __init__(self, task: str, setting: Setting):
        self._task = task
        self._setting = setting
        self._resets = 0
        self._scene: Scene | None = None
        self._live: World | None = None

    def reset(self, seed: int) -> Scene:
        """Lay out the scene of `seed`, with a new board and a new api."""
        self._live = draw(self._setting, seed, self._resets)
        self._resets += 1
        self._scene = describe_scene(self._task, seed, self._live)
        board = new_board(self._live)
        self.public_state, self.api = board, DeskApi(self._live, board)
        return self._scene

    def succeeded(self) -> bool:
        """The item lies in the bin, let go, unharmed, and nothing else was touched."""
        now = self.telemetry()
        unharmed = predicates.intact(now, "item") and predicates.upright(now, "item")
        untouched = predicates.still(now, "bin") and predicates.wall_clear(now)
        return predicates.inside(now, "item", "bin") and unharmed and untouched

    def telemetry(self) -> dict[str, Any]:
        """Hand and bodies as they are.

        `hand.position` [x, y], `hand.height`, `hand.open`, and for each object `position.<object>`
        [x, y, lowest point], `size.<object>` [x, y, up], `displacement.<object>` since the reset (all in
        metres), `held.`, `upright.`, `intact.` and `visible.<object>`.
        """
        world = self._world
        hand = world.hand
        values: dict[str, Any] = {
            "hand.position": [hand.x, hand.y],
            "hand.height": hand.height,
            "hand.open": hand.open,
        }
        for name, body in world.bodies.items():
            values[f"position.{name}"] = [body.x, body.y, body.z]
            values[f"size.{name}"] = list(body.size)
            values[f"displacement.{name}"] = body.displacement
            values[f"held.{name}"] = hand.holding == name
            values[f"upright.{name}"] = body.upright
            values[f"intact.{name}"] = body.intact
            values[f"visible.{name}"] = visible(world, name)
        return values

    @property
    def clock(self) -> float:
        """Seconds of environment time since the reset."""
        return self._world.steps * STEP_SECONDS

    @property
    def steps(self) -> int:
        """Environment steps taken since the reset."""
        return self._world.steps

    def sleep(self, seconds: float) -> None:
        """Let `seconds` pass, rounded up to whole steps; ValueError unless finite and not negative."""
        seconds = checked_duration(seconds)
        beyond = self._world.step_limit + 1.0  # keeps huge sleeps countable
        spend(self._world, math.ceil(min(seconds / STEP_SECONDS, beyond) - 1e-9))

    def state_digest(self) -> str:
        """Exact hash of the world. The board is not in it: it is the program's to write on."""
        return hashlib.blake2b(msgspec.msgpack.encode(self._world), digest_size=16).hexdigest()

    def snapshot(self) -> dict[str, str | bytes]:
        """World and board as they are; restorable any number of times, in any instance at this scene."""
        world = msgspec.msgpack.encode(self._world)
        assert self._scene is not None
        return {"scene": self._scene.digest, "world": world, "board": encode_value(self.public_state)}

    def restore(self, snapshot: Any) -> None:
        """Return to `snapshot`, in place: api, board and what is on the board stay the same objects.

        Where the board's objects can't become what they were (arrays that share memory), they are replaced.
        UsageError for a snapshot of another scene.
        """
        world = self._world
        assert self._scene is not None and self.public_state is not None
        if not isinstance(snapshot, dict) or snapshot.get("scene") != self._scene.digest:
            raise UsageError("This snapshot is of another scene; reset to its seed, then restore it.")
        world.assign(msgspec.msgpack.decode(snapshot["world"], type=World))
        board = decode_value(snapshot["board"], types_of(DeskApi))
        graft(self.public_state, board)
        if encode_value(self.public_state) != snapshot["board"]:
            self.public_state.clear()
            self.public_state.update(board)

    def watch(self, on_step: Callable[[], None]) -> None:
        """Call `on_step` after each step of this episode."""
        self._world.watchers.append(on_step)

    def frame(self) -> Frame:
        """The desk from above, (360, 480, 3)."""
        return draw_picture(self._world)

    @property
    def _world(self) -> World:
        if self._live is None:
            raise UsageError("The desk is empty before its first reset; call reset(seed).")
        return self._live
