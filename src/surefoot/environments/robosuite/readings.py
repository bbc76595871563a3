"""What can be seen of an episode: poses, contacts and robosuite's verdict, read on a copy of the state.

The copy takes over the live simulation's integration state and computes everything else from it, once for
each change of the live state. Robosuite's own functions are given the copy as well, so nothing that reads
can disturb what is simulated. Poses are in the frame of the first robot's base: metres, x forwards, z up.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import mujoco
import numpy as np

from surefoot.environments.robosuite.plant import STATE, Plant
from surefoot.environments.robosuite.poses import Array, Pose, product
from surefoot.environments.robosuite.predicates import contact_key
from surefoot.environments.robosuite.setups import ObjectSpec

HAND_IN_SITE = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
"""Programs' hand frame seen from the grip site's: fingers open along the hand's y, but along the site's x."""


class Readings:
    """Reads the state of one episode without touching it."""

    def __init__(self, simulator: Any, plant: Plant, objects: Sequence[ObjectSpec]):
        self._simulator = simulator
        self._plant = plant
        self._copy = mujoco.MjData(plant.model)
        self._copied = -1
        self._models = {spec.name: getattr(simulator, spec.name) for spec in objects}
        self._bodies = {name: self._body(model.root_body) for name, model in self._models.items()}
        base = self._body(simulator.robots[0].robot_model.root_body)
        simulator.sim.data._data = self._copy
        self._base = Pose(self._now.xpos[base].copy(), self._now.xmat[base].reshape(3, 3).copy())
        self._table_height = float(simulator.model.mujoco_arena.table_offset[2]) - float(self._base.position[2])
        self._start: dict[str, Array] = {}

    def mark_start(self) -> None:
        """Take the present positions of all objects as those that displacements are measured from."""
        self._start = {name: self.object_pose(name).position for name in self._models}

    def constants(self) -> list[Array]:
        """What robosuite draws while loading: sizes, frictions, masses and fixed poses of the objects."""
        model = self._plant.model
        geoms = [geom for name in self._models for geom in self._geoms(name)]
        bodies = list(self._bodies.values())
        return [
            model.geom_size[geoms],
            model.geom_friction[geoms],
            model.body_mass[bodies],
            model.body_pos[bodies],
            model.body_quat[bodies],
        ]

    @property
    def names(self) -> tuple[str, ...]:
        """Ids of all objects."""
        return tuple(self._models)

    def object_pose(self, name: str) -> Pose:
        """Pose of an object's own frame, at its centre."""
        body = self._bodies[name]
        world = Pose(self._now.xpos[body].copy(), self._now.xmat[body].reshape(3, 3).copy())
        return self._base.inverse().compose(world)

    def object_size(self, name: str) -> Array:
        """Full side lengths (3,) of the box around an object along the object's own axes [m]."""
        corners = np.concatenate([self._corners(geom) for geom in self._geoms(name)], axis=1)
        axes = self._now.xmat[self._bodies[name]].reshape(3, 3)
        return np.array(np.ptp(product(axes.T, corners), axis=1).round(9))

    def hand_pose(self, arm: int = 0) -> Pose:
        """Pose of a hand in the programs' convention: fingers open along its y, z leads ahead."""
        site = self._plant.arms[arm].hand(self._now)
        return self._base.inverse().compose(Pose(site.position, product(site.rotation, HAND_IN_SITE)))

    def site_target(self, hand: Pose) -> Pose:
        """The grip site's pose in the world that puts the hand at a pose in the programs' convention."""
        world = self._base.compose(hand)
        return Pose(world.position, product(world.rotation, HAND_IN_SITE.T))

    def opening(self, arm: int = 0) -> float:
        """Distance between a hand's finger pads [m]."""
        return self._plant.arms[arm].opening(self._now)

    def joints(self, arm: int = 0) -> Array:
        """Joint positions (7,) of an arm [rad]."""
        return self._plant.arms[arm].joints(self._now)

    def grasped(self, name: str) -> bool:
        """Robosuite's check that both finger pads of one hand touch an object."""
        simulator, item = self._robosuite, self._models[name]
        grasps = (simulator._check_grasp(robot.gripper, item) for robot in simulator.robots)
        return any(bool(grasp) for grasp in grasps)

    def succeeded(self) -> bool:
        """Robosuite's verdict on the present state."""
        return bool(self._robosuite._check_success())

    def telemetry(self) -> dict[str, Any]:
        """The declared observables: floats, bools and lists of floats by name."""
        hand = self.hand_pose()
        seen: dict[str, Any] = {
            "hand.position": hand.position.tolist(),
            "hand.quaternion": hand.quaternion.tolist(),
            "gripper.opening": self.opening(),
            "joints": self.joints().tolist(),
        }
        for name in self._models:
            seen |= self._object_telemetry(name)
        for first, second in combinations(self._models, 2):
            touching = self._robosuite.check_contact(self._models[first], self._models[second])
            seen[contact_key(first, second)] = bool(touching)
        return seen

    def _object_telemetry(self, name: str) -> dict[str, Any]:
        pose = self.object_pose(name)
        return {
            f"position.{name}": pose.position.tolist(),
            f"quaternion.{name}": pose.quaternion.tolist(),
            f"height.{name}": float(pose.position[2]) - self._table_height,
            f"displacement.{name}": float(np.sqrt(((pose.position - self._start[name]) ** 2).sum())),
            f"grasped.{name}": self.grasped(name),
        }

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

    def _body(self, name: str) -> int:
        return int(self._plant.model.body(name).id)

    def _geoms(self, name: str) -> list[int]:
        """Collision geometries of an object."""
        names = self._models[name].contact_geoms
        return [int(self._plant.model.geom(geom).id) for geom in names]

    def _corners(self, geom: int) -> Array:
        """Corners (3, 8) of the bounding box of a geometry, world frame."""
        bounds, now = self._plant.model.geom_aabb[geom], self._now
        signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8)
        corners = bounds[:3, None] + signs * bounds[3:, None]
        return np.array(product(now.geom_xmat[geom].reshape(3, 3), corners) + now.geom_xpos[geom][:, None])
