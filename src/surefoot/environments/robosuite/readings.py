"""What can be seen of an episode: poses, contacts and robosuite's verdict, read on a copy of the state.

The copy takes over the live simulation's integration state and computes everything else from it, once for
each change of the live state. Robosuite's own functions are given the copy as well, so nothing that reads
can disturb what is simulated. Poses are in the frame of the first robot's base: metres, x forwards, z up.
"""

from __future__ import annotations

import math
from itertools import combinations, permutations
from typing import Any

import mujoco
import numpy as np

from surefoot.environments.robosuite.plant import STATE, Plant
from surefoot.environments.robosuite.poses import Array, Pose, product
from surefoot.environments.robosuite.predicates import contact_key, is_seated
from surefoot.environments.robosuite.setups import Setup
from surefoot.environments.robosuite.spill import Spill
from surefoot.environments.robosuite.things import Solid, Thing

HAND_IN_SITE = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
"""Programs' hand frame seen from the grip site's: fingers open along the hand's y, but along the site's x."""

LEAST_RISE = 0.015
"""How far a thing that did not start on the table must have risen to count as lifted [m]."""


class Readings:
    """Reads the state of one episode without touching it."""

    def __init__(self, simulator: Any, plant: Plant, setup: Setup):
        self._simulator = simulator
        self._plant = plant
        self._arms = setup.arms
        self._copy = mujoco.MjData(plant.model)
        self._copied = -1
        self._specs = {spec.name: spec for spec in setup.objects}
        self._solids = {spec.name: Solid(spec, plant.model, simulator) for spec in setup.objects}
        self._lift_heights = {spec.name: spec.lift_height for spec in setup.objects}
        self.spill = Spill(simulator, plant.model, plant.data) if setup.spill else None
        self._things: dict[str, Thing] = dict(self._solids)
        if self.spill is not None:
            self._things[setup.spill] = self.spill
        simulator.sim.data._data = self._copy
        base = int(plant.model.body(simulator.robots[0].robot_model.root_body).id)
        self._base = Pose(self._now.xpos[base].copy(), self._now.xmat[base].reshape(3, 3).copy())
        self._table = float(simulator.model.mujoco_arena.table_offset[2])
        self._start: dict[str, Array] = {}

    def mark_start(self) -> None:
        """Take the present positions of all things as those that displacements are measured from."""
        self._start = {name: self.object_pose(name).position for name in self._things}

    def constants(self) -> list[Array]:
        """What robosuite draws while loading: sizes, frictions, masses and fixed poses of the things."""
        model = self._plant.model
        geoms = [geom for solid in self._solids.values() for geom in solid.geoms]
        bodies = [solid.body for solid in self._solids.values()]
        drawn = [
            model.geom_size[geoms],
            model.geom_friction[geoms],
            model.body_mass[bodies],
            model.body_pos[bodies],
            model.body_quat[bodies],
        ]
        return drawn if self.spill is None else [*drawn, self.spill.positions]

    @property
    def names(self) -> tuple[str, ...]:
        """Ids of all things."""
        return tuple(self._things)

    def object_pose(self, name: str) -> Pose:
        """Pose of a thing's own frame."""
        return self._base.inverse().compose(self._things[name].pose(self._now))

    def object_size(self, name: str) -> Array:
        """Full side lengths (3,) of the box around a thing along its own axes [m]."""
        return self._things[name].box(self._now)

    def grasp_point(self, name: str) -> Array:
        """Where a hand takes hold of a thing, or where the nearest dirt is (3,)."""
        if self.spill is not None and self._things[name] is self.spill:
            world = self.spill.nearest(self._plant.arms[0].hand(self._now).position)
            return self._base.inverse().compose(Pose(world, np.eye(3))).position
        return self.object_pose(self._specs[name].grasp_at or name).position

    def hand_pose(self, arm: int = 0) -> Pose:
        """Pose of a hand in the programs' convention: fingers open along its y, z leads ahead."""
        site = self._plant.arms[arm].hand(self._now)
        return self._base.inverse().compose(Pose(site.position, product(site.rotation, HAND_IN_SITE)))

    def site_target(self, hand: Pose) -> Pose:
        """The grip site's pose in the world that puts the hand at a pose in the programs' convention."""
        world = self._base.compose(hand)
        return Pose(world.position, product(world.rotation, HAND_IN_SITE.T))

    def opening(self, arm: int = 0) -> float:
        """Distance between a hand's finger pads [m]; 0 for a hand without fingers."""
        return self._plant.arms[arm].opening(self._now)

    def joints(self, arm: int = 0) -> Array:
        """Joint positions (7,) of an arm [rad]."""
        return self._plant.arms[arm].joints(self._now)

    def grasped(self, name: str, arm: int) -> bool:
        """Robosuite's check that both finger pads of a hand touch a thing."""
        simulator, geoms = self._robosuite, self._solids[name].geom_names
        return bool(geoms) and bool(simulator._check_grasp(simulator.robots[arm].gripper, list(geoms)))

    def succeeded(self) -> bool:
        """Robosuite's verdict on the present state."""
        return bool(self._robosuite._check_success())

    def telemetry(self) -> dict[str, Any]:
        """The declared observables: floats, bools and lists of floats by name."""
        seen: dict[str, Any] = {}
        for index in range(len(self._arms)):
            seen |= self._arm_telemetry(index)
        for name in self._things:
            seen |= self._thing_telemetry(name)
        for name in self._solids:
            seen |= self._grasp_telemetry(name)
        for first, second in combinations(self._solids, 2):
            seen[contact_key(first, second)] = self._touching(first, second)
        for item, base in permutations(self._specs.values(), 2):
            if base.holds is not None:
                seen[f"seated.{item.name}.{base.name}"] = is_seated(seen, item.name, base.name, base.holds)
        if self.spill is not None:
            seen["wiped"] = self.spill.share_wiped
        return seen

    def _arm_telemetry(self, index: int) -> dict[str, Any]:
        """One arm's; a task's only arm is `hand`, of several each goes by its name."""
        prefix = "hand" if len(self._arms) == 1 else self._arms[index]
        hand = self.hand_pose(index)
        return {
            f"{prefix}.position": hand.position.tolist(),
            f"{prefix}.quaternion": hand.quaternion.tolist(),
            f"{prefix}.opening": self.opening(index),
            f"{prefix}.joints": self.joints(index).tolist(),
        }

    def _thing_telemetry(self, name: str) -> dict[str, Any]:
        pose = self.object_pose(name)
        height = float(pose.position[2] + self._base.position[2]) - self._table
        risen = float(pose.position[2] - self._start[name][2])
        return {
            f"position.{name}": pose.position.tolist(),
            f"quaternion.{name}": pose.quaternion.tolist(),
            f"grasp_point.{name}": self.grasp_point(name).tolist(),
            f"height.{name}": height,
            f"lifted.{name}": height > self._lift_heights.get(name, math.inf) and risen > LEAST_RISE,
            f"top.{name}": self._things[name].top(self._now) - self._table,
            f"displacement.{name}": float(np.sqrt(((pose.position - self._start[name]) ** 2).sum())),
        }

    def _grasp_telemetry(self, name: str) -> dict[str, Any]:
        by_arm = {f"grasped.{name}.{arm}": self.grasped(name, index) for index, arm in enumerate(self._arms)}
        skews = {f"skew.{name}.{arm}": self._skew(name, index) for index, arm in enumerate(self._arms)}
        return {**by_arm, **skews, f"grasped.{name}": any(by_arm.values())}

    def _skew(self, name: str, arm: int) -> float:
        """How far a hand's fingers are from closing straight across a long thing [rad]; 0 for others."""
        axis = self._specs[name].long_axis
        if axis is None:
            return 0.0
        along = (self.object_pose(name).rotation[:, axis] * self.hand_pose(arm).rotation[:, 1]).sum()
        return math.asin(min(abs(float(along)), 1.0))

    def _touching(self, first: str, second: str) -> bool:
        one, other = (set(self._solids[name].geoms) for name in (first, second))
        pairs = self._now.contact.geom
        return any((a in one and b in other) or (a in other and b in one) for a, b in pairs.tolist())

    @property
    def _robosuite(self) -> Any:
        """Robosuite's environment, looking at the copy brought up to date."""
        self._refresh()
        return self._simulator

    @property
    def _now(self) -> mujoco.MjData:
        """The copy, brought up to date."""
        self._refresh()
        return self._copy

    def _refresh(self) -> None:
        if self._copied != self._plant.changes:
            mujoco.mj_setState(self._plant.model, self._copy, self._plant.integration_state(), STATE)
            mujoco.mj_forward(self._plant.model, self._copy)
            self._copied = self._plant.changes
