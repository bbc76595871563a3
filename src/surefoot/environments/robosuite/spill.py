"""Dirt on the table and its wiping, by the rules of robosuite's Wipe."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import mujoco
import numpy as np

from surefoot.environments.robosuite.ledger import Ledger
from surefoot.environments.robosuite.poses import Array, Pose

MARGIN = 0.05
"""How far the box around dirt reaches beyond the centres of its spots, both sides together [m]."""


class Spill(Ledger):
    """The spots of dirt that are still there. `wiped` holds the numbers of those that are gone.

    Robosuite takes a spot off when the wiping tool covers it, at most 2 cm above it, while the tool touches
    something, the arm nothing, and no joint is at its limit. It does so while it computes rewards, once for each control step.
    """

    def __init__(self, simulator: Any, model: mujoco.MjModel, live: mujoco.MjData):
        self._simulator = simulator
        self._live = live
        self._markers = list(simulator.model.mujoco_arena.markers)
        bodies = [int(model.body(marker.root_body).id) for marker in self._markers]
        self.positions: Array = np.array(simulator.sim.data._data.xpos[bodies])

    @property
    def wiped(self) -> tuple[int, ...]:
        """Numbers of the spots that have been wiped off, in that order."""
        return tuple(self._markers.index(marker) for marker in self._simulator.wiped_markers)

    @wiped.setter
    def wiped(self, numbers: tuple[int, ...]) -> None:
        self._simulator.wiped_markers = [self._markers[number] for number in numbers]

    @property
    def share_wiped(self) -> float:
        """How much of it is gone, 0 to 1."""
        return len(self._simulator.wiped_markers) / len(self._markers)

    @property
    def left(self) -> Array:
        """Positions (n, 3) of the spots that are still there, world frame."""
        gone = set(self.wiped)
        there = [number for number in range(len(self._markers)) if number not in gone]
        left: Array = self.positions[there]
        return left

    def record(self) -> None:
        """Let robosuite take off what the tool covers, but not print that a joint is near its limit."""
        view = self._simulator.sim.data
        elsewhere, view._data = view._data, self._live
        with contextlib.redirect_stdout(io.StringIO()):
            self._simulator.reward(None)
        view._data = elsewhere

    @property
    def entries(self) -> Array:
        """The numbers of the spots that are gone."""
        return np.array(self.wiped, dtype=np.float64)

    @entries.setter
    def entries(self, entries: Array) -> None:
        self.wiped = tuple(int(number) for number in entries)

    def pose(self, now: mujoco.MjData) -> Pose:
        """Middle of the box around what is left (around all, once nothing is), not turned."""
        left = self.left if len(self.left) else self.positions
        return Pose((left.min(axis=0) + left.max(axis=0)) / 2, np.eye(3))

    def box(self, now: mujoco.MjData) -> Array:
        """Full side lengths (3,) of the box around what is left, with a margin on the table [m]."""
        left = self.left
        if not len(left):
            return np.zeros(3)
        return np.array((np.ptp(left, axis=0) + np.array([MARGIN, MARGIN, 0.0])).round(9))

    def top(self, now: mujoco.MjData) -> float:
        """Height of the table under it [m]."""
        return float(self.positions[:, 2].max())

    def nearest(self, position: Array) -> Array:
        """The spot (3,) nearest to a position among those left (among all, once none is), world frame."""
        left = self.left if len(self.left) else self.positions
        return np.array(left[((left - position) ** 2).sum(axis=1).argmin()])
