"""Rigid poses: quaternions (wxyz), rotation matrices, rotation vectors, and hands that point straight down.

Written without matrix products and factorisations of NumPy, whose bits change with the BLAS kernel.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DOWN = np.diag([-1.0, 1.0, -1.0])
"""A hand that points straight down at yaw 0; its quaternion is (0, 0, 1, 0) and its fingers open along y."""


class Pose(NamedTuple):
    """A frame seen from another one: `position` (3,) in metres, `rotation` (3, 3)."""

    position: Array
    rotation: Array

    @property
    def quaternion(self) -> Array:
        """The rotation as a unit quaternion wxyz (4,)."""
        return quaternion_of(self.rotation)

    def inverse(self) -> Pose:
        """The other frame seen from this one."""
        return Pose(-product(self.rotation.T, self.position), self.rotation.T)

    def compose(self, inner: Pose) -> Pose:
        """A pose given in this frame, seen from the outer one."""
        position = product(self.rotation, inner.position) + self.position
        return Pose(position, product(self.rotation, inner.rotation))


def product(left: Array, right: Array) -> Array:
    """Matrix (3, 3) times matrix (3, k) or vector (3,)."""
    terms = left * right if right.ndim == 1 else left[:, :, None] * right[None]
    return np.array(terms.sum(axis=1))


def matrix_of(quaternion: Array) -> Array:
    """Rotation matrix (3, 3) of a unit quaternion wxyz (4,)."""
    w, x, y, z = (float(part) for part in quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_of(matrix: Array) -> Array:
    """Unit quaternion wxyz (4,) of a rotation matrix (3, 3), its largest component positive."""
    (a, b, c), (d, e, f), (g, h, i) = matrix.tolist()
    squares = (1 + a + e + i, 1 + a - e - i, 1 - a + e - i, 1 - a - e + i)
    largest = squares.index(max(squares))
    row = (
        (squares[0], h - f, c - g, d - b),
        (h - f, squares[1], b + d, c + g),
        (c - g, b + d, squares[2], f + h),
        (d - b, c + g, f + h, squares[3]),
    )[largest]
    norm = math.sqrt(sum(part * part for part in row))
    return np.array([part / norm for part in row])


def rotation_vector(matrix: Array) -> Array:
    """Axis times angle (3,) of a rotation matrix, the angle within [0, pi] [rad]."""
    w, *axis = quaternion_of(matrix).tolist()
    if w < 0:
        w, axis = -w, [-part for part in axis]
    sine = math.sqrt(sum(part * part for part in axis))
    scale = 2.0 if sine < 1e-12 else 2 * math.atan2(sine, w) / sine
    return np.array(axis) * scale


def rotation_of(vector: Array) -> Array:
    """Rotation matrix (3, 3) that turns about `vector` (3,) by its length [rad]."""
    x, y, z = vector.tolist()
    angle = math.sqrt(x * x + y * y + z * z)
    scale = 0.5 if angle < 1e-12 else math.sin(angle / 2) / angle
    return matrix_of(np.array([math.cos(angle / 2), x * scale, y * scale, z * scale]))


def turn(yaw: float) -> Array:
    """Rotation matrix (3, 3) about the vertical axis [rad]."""
    cosine, sine = math.cos(yaw), math.sin(yaw)
    return np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])


def yaw_of_hand(rotation: Array) -> float:
    """Yaw of a hand's finger axis (its own y) against the y axis of the frame it is given in [rad]."""
    return math.atan2(-rotation[0, 1], rotation[1, 1])


def yaw_of_box(rotation: Array, axis: int | None = None) -> float:
    """Yaw of a box: the direction of one of its own axes (0, 1, 2), of its most level one without [rad]."""
    level = int(np.argmin(np.abs(rotation[2]))) if axis is None else axis
    return math.atan2(rotation[1, level], rotation[0, level])


def nearest_turn(yaw: float, reference: float, period: float) -> float:
    """The yaw nearest to `reference` among `yaw` plus whole multiples of `period` [rad]."""
    return reference + (yaw - reference + period / 2) % period - period / 2
