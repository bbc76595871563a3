"""What robosuite keeps of an episode in Python, besides MuJoCo's state."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import mujoco
import numpy as np

from surefoot.environments.robosuite.poses import Array


class Ledger:
    """Keeps nothing: enough for environments whose verdict is a function of MuJoCo's state."""

    def record(self) -> None:
        """Take note of a control step.

        Called where robosuite calls its `_post_action`: positions and velocities are new, whatever MuJoCo
        computes from them is still that of one simulation step before.
        """

    @property
    def entries(self) -> Array:
        """All that is kept, as numbers; part of snapshots and digests."""
        return np.empty(0)

    @entries.setter
    def entries(self, entries: Array) -> None:
        """Return to what was kept."""


class WipingLedger(Ledger):
    """Keeps which markers have been wiped and how often the arm collided, as Wipe's `reward` counts them.

    Looks at the live simulation `data`, without computing anything in it, wherever `simulator` looks otherwise.
    """

    def __init__(self, simulator: Any, data: mujoco.MjData):
        self._simulator = simulator
        self._data = data
        self._markers = list(simulator.model.mujoco_arena.markers)
        self._geoms = [simulator.sim.model.geom_name2id(marker.visual_geoms[0]) for marker in self._markers]

    def record(self) -> None:
        """Let robosuite wipe and count, but not print that a joint is near its limit."""
        view = self._simulator.sim.data
        elsewhere, view._data = view._data, self._data
        with contextlib.redirect_stdout(io.StringIO()):
            self._simulator.reward()
        view._data = elsewhere

    @property
    def entries(self) -> Array:
        """The collisions, then 1 for each wiped marker and 0 for the others."""
        wiped = [marker in self._simulator.wiped_markers for marker in self._markers]
        return np.array([self._simulator.collisions, *wiped], dtype=np.float64)

    @entries.setter
    def entries(self, entries: Array) -> None:
        self._simulator.collisions = int(entries[0])
        wiped = entries[1:].astype(bool)
        chosen = zip(self._markers, wiped, strict=True)
        self._simulator.wiped_markers = [marker for marker, is_wiped in chosen if is_wiped]
        self._simulator.sim.model.geom_rgba[self._geoms, 3] = np.where(wiped, 0.0, 1.0)
