"""Things of a scene as they stand in MuJoCo's model and state: where their poses, sizes and contacts are read."""

from __future__ import annotations

from typing import Any, Protocol

import mujoco
import numpy as np

from surefoot.environments.robosuite.objects import ObjectSpec
from surefoot.environments.robosuite.poses import Array, Pose, product

CORNERS = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8)
_OBJECTS = {
    "body": mujoco.mjtObj.mjOBJ_BODY,
    "site": mujoco.mjtObj.mjOBJ_SITE,
    "geom": mujoco.mjtObj.mjOBJ_GEOM,
}


class Thing(Protocol):
    """Something with a pose and a box around it, in the world frame."""

    def pose(self, now: mujoco.MjData) -> Pose:
        """Its pose."""

    def box(self, now: mujoco.MjData) -> Array:
        """Full side lengths (3,) of the box around it along its own axes [m]."""

    def top(self, now: mujoco.MjData) -> float:
        """Height of its highest point [m]."""


class Solid:
    """A thing that is part of the model."""

    def __init__(self, spec: ObjectSpec, model: mujoco.MjModel, simulator: Any):
        kind, name = spec.frame
        self._model = model
        self._kind = kind
        self._index = int(mujoco.mj_name2id(model, _OBJECTS[kind], name))
        self.geom_names = _geom_names(spec, simulator)
        self.geoms = [int(model.geom(name).id) for name in self.geom_names] or self._of_body()

    @property
    def body(self) -> int:
        """The body that it belongs to."""
        if self._kind == "body":
            return self._index
        owners = self._model.site_bodyid if self._kind == "site" else self._model.geom_bodyid
        return int(owners[self._index])

    def pose(self, now: mujoco.MjData) -> Pose:
        """Its pose."""
        positions, rotations = {
            "body": (now.xpos, now.xmat),
            "site": (now.site_xpos, now.site_xmat),
            "geom": (now.geom_xpos, now.geom_xmat),
        }[self._kind]
        return Pose(positions[self._index].copy(), rotations[self._index].reshape(3, 3).copy())

    def box(self, now: mujoco.MjData) -> Array:
        """Full side lengths (3,) of the box around its geometries along its own axes [m]."""
        axes = self.pose(now).rotation
        return np.array(np.ptp(product(axes.T, self._corners(now)), axis=1).round(9))

    def top(self, now: mujoco.MjData) -> float:
        """Height of its highest point [m]."""
        return float(self._corners(now)[2].max())

    def _corners(self, now: mujoco.MjData) -> Array:
        """Corners (3, 8 n) of the bounding boxes of its geometries, world frame."""
        return np.concatenate([self._corners_of(geom, now) for geom in self.geoms], axis=1)

    def _corners_of(self, geom: int, now: mujoco.MjData) -> Array:
        bounds = self._model.geom_aabb[geom]
        corners = bounds[:3, None] + CORNERS * bounds[3:, None]
        return np.array(product(now.geom_xmat[geom].reshape(3, 3), corners) + now.geom_xpos[geom][:, None])

    def _of_body(self) -> list[int]:
        return [int(geom) for geom in np.flatnonzero(self._model.geom_bodyid == self._index)]


def _geom_names(spec: ObjectSpec, simulator: Any) -> tuple[str, ...]:
    if spec.geoms is None:
        return ()
    owner, attribute = spec.geoms
    models = {item.name: item for item in simulator.model.mujoco_objects}
    return tuple(getattr(models[owner], attribute))
