"""Joint torques of one arm: operational space control and joint control, compiled.

The operational space law is robosuite's OSC_POSE (Khatib 1987) with position and orientation decoupled and a
posture task in the null space. It is written with small Cholesky factorisations instead of inverses and
pseudo-inverses: the same numbers but for rounding, faster, and the same bits with every BLAS kernel.

Symbols: n arm joints; nv degrees of freedom of the model; M mass matrix (n, n); J site Jacobian (6, n),
linear rows first; all quantities in the world frame, SI units.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from surefoot.environments.robosuite.poses import Array

POSTURE_STIFFNESS = 10.0
JOINT_STIFFNESS = 150.0
VANISHING_PIVOT = 1e-12


Indices = NDArray[np.int64]
F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile with numba, keeping the result on disk where a folder is writable."""
    try:
        return cast(F, numba.njit(cache=True)(function))
    except RuntimeError:  # numba's "no locator available"
        return cast(F, numba.njit(function))


@compiled
def cholesky(matrix: Array) -> Array:
    """Lower Cholesky factor of a symmetric matrix; a direction without stiffness gets pivot 0."""
    n = matrix.shape[0]
    factor = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            rest = matrix[i, j]
            for k in range(j):
                rest -= factor[i, k] * factor[j, k]
            if i == j:
                factor[i, i] = np.sqrt(rest) if rest > VANISHING_PIVOT * matrix[i, i] else 0.0
            elif factor[j, j] > 0.0:
                factor[i, j] = rest / factor[j, j]
    return factor


@compiled
def cholesky_solve(factor: Array, right: Array) -> Array:
    """Solve `factor @ factor.T @ x = right` (n,); components along vanished pivots are 0."""
    n = factor.shape[0]
    x = np.zeros(n)
    for i in range(n):
        rest = right[i]
        for k in range(i):
            rest -= factor[i, k] * x[k]
        x[i] = rest / factor[i, i] if factor[i, i] > 0.0 else 0.0
    for i in range(n - 1, -1, -1):
        rest = x[i]
        for k in range(i + 1, n):
            rest -= factor[k, i] * x[k]
        x[i] = rest / factor[i, i] if factor[i, i] > 0.0 else 0.0
    return x


@compiled
def multiply(matrix: Array, vector: Array) -> Array:
    """Matrix times vector with a fixed order of summation."""
    out = np.zeros(matrix.shape[0])
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            out[i] += matrix[i, j] * vector[j]
    return out


@compiled
def arm_mass(full_mass: Array, dofs: Indices) -> Array:
    """The arm's part (n, n) of the model's mass matrix (nv, nv)."""
    n = dofs.shape[0]
    mass = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            mass[i, j] = full_mass[dofs[i], dofs[j]]
    return mass


@compiled
def arm_jacobian(linear: Array, angular: Array, dofs: Indices) -> Array:
    """The arm's site Jacobian (6, n) from the model's linear and angular ones (3, nv)."""
    n = dofs.shape[0]
    jacobian = np.empty((6, n))
    for j in range(n):
        for i in range(3):
            jacobian[i, j] = linear[i, dofs[j]]
            jacobian[3 + i, j] = angular[i, dofs[j]]
    return jacobian


@compiled
def pose_error(position: Array, rotation: Array, goal_position: Array, goal_rotation: Array) -> Array:
    """Position error and half the sum of the axes' cross products (6,)."""
    error = np.zeros(6)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        error[i] = goal_position[i] - position[i]
        for c in range(3):
            error[3 + i] += 0.5 * (rotation[j, c] * goal_rotation[k, c] - rotation[k, c] * goal_rotation[j, c])
    return error


@compiled
def task_inertia_inverse(jacobian: Array, mass_factor: Array) -> Array:
    """J M^-1 J^T (6, 6)."""
    product = np.empty((6, 6))
    for i in range(6):
        product[:, i] = multiply(jacobian, cholesky_solve(mass_factor, jacobian[i]))
    return product


@compiled
def pose_torques(
    full_mass: Array,
    linear: Array,
    angular: Array,
    dofs: Indices,
    q: Array,
    full_qd: Array,
    full_bias: Array,
    error: Array,
    stiffness: Array,
    damping: Array,
    rest: Array,
) -> Array:
    """Operational space torques (n,) towards a pose, not clipped.

    `full_*` belong to the whole model, `dofs` (n,) picks the arm; `q` (n,) joint positions; `error` (6,) from
    `pose_error`; `stiffness`, `damping` (6,); `rest` (n,) posture of the null space task.
    """
    n = dofs.shape[0]
    mass = arm_mass(full_mass, dofs)
    jacobian = arm_jacobian(linear, angular, dofs)
    qd = np.empty(n)
    pull = np.empty(n)
    for i in range(n):
        qd[i] = full_qd[dofs[i]]
        pull[i] = POSTURE_STIFFNESS * (rest[i] - q[i]) - 2 * np.sqrt(POSTURE_STIFFNESS) * qd[i]
    acceleration = stiffness * error - damping * multiply(jacobian, qd)
    inverse = task_inertia_inverse(jacobian, cholesky(mass))
    wrench = -cholesky_solve(cholesky(inverse), multiply(jacobian, pull))
    wrench[:3] += cholesky_solve(cholesky(inverse[:3, :3].copy()), acceleration[:3])
    wrench[3:] += cholesky_solve(cholesky(inverse[3:, 3:].copy()), acceleration[3:])
    torques = multiply(jacobian.T, wrench) + multiply(mass, pull)
    for i in range(n):
        torques[i] += full_bias[dofs[i]]
    return torques


@compiled
def joint_torques(full_mass: Array, dofs: Indices, q: Array, full_qd: Array, full_bias: Array, goal: Array) -> Array:
    """Computed torques (n,) towards joint positions `goal` (n,), critically damped, not clipped."""
    n = dofs.shape[0]
    pull = np.empty(n)
    for i in range(n):
        pull[i] = JOINT_STIFFNESS * (goal[i] - q[i]) - 2 * np.sqrt(JOINT_STIFFNESS) * full_qd[dofs[i]]
    torques = multiply(arm_mass(full_mass, dofs), pull)
    for i in range(n):
        torques[i] += full_bias[dofs[i]]
    return torques
