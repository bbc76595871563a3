"""Controls of all arms for one simulation step: operational space control and joint control, compiled.

The operational space law is robosuite's OSC_POSE (Khatib 1987) with position and orientation decoupled and a
posture task in the null space. It is written with small Cholesky factorisations instead of inverses and
pseudo-inverses: the same numbers but for rounding, faster, and the same bits with every BLAS kernel.

Symbols: n arm joints; nv degrees of freedom of the model; M mass matrix (n, n); J site Jacobian (6, n),
linear rows first; q, qd joint positions and velocities (n,); all in the world frame, SI units.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from surefoot.environments.base import revision_of
from surefoot.environments.robosuite.poses import Array

FOLDER = Path(__file__).parent
POSTURE_STIFFNESS = 10.0
JOINT_STIFFNESS = 150.0
VANISHING_PIVOT = 1e-12

Indices = NDArray[np.int64]
Record = Any
"""One arm, an element of an array of `arm_type`; numba and NumPy know its fields by name."""
F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile with numba, keeping the result on disk where a folder is writable.

    Each state of this folder's modules has a cache of its own: numba looks only at a function's own module, and would
    go on with the old code of what that function calls in others.
    """
    usual = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(Path(usual or FOLDER / "__pycache__") / _state())
    try:
        return cast(F, numba.njit(cache=True)(function))
    except RuntimeError:  # numba's "no locator available"
        return cast(F, numba.njit(function))
    finally:
        numba.config.CACHE_DIR = usual


@cache
def _state() -> str:
    return f"compiled-{revision_of(FOLDER, ())}"


def arm_type(joints: int, fingers: int) -> np.dtype[np.void]:
    """All that the control law knows of one arm: one record, as passing many arrays costs more than the law.

    Where its numbers stand in the model: `site`; `root`, the body whose subtree's centre of mass MuJoCo takes
    motion axes about; `dofs`, `qpos`, `motors` (n,); `inertia` (n, n), the place of each element of M in
    MuJoCo's sparse mass matrix; `finger_motors` (f,).
    Limits and gains: `low`, `high` torques (n,) [N m]; `stiffness`, `damping` (6,); `finger_middle`,
    `finger_reach` (f,), the finger motors' range.
    Orders for the present control step: `goal_position` (3,), `goal_rotation` (3, 3); `posture` (n,) of the
    null space task; if `in_joint_space`, `joints` (n,) instead; `finger_rates` (f,), changes of the normalised
    finger commands in one simulation step.
    Memory: `fingers` (f,), the normalised finger commands.
    """
    n, f = (joints,), (fingers,)
    return np.dtype(
        [
            ("site", np.int64), ("root", np.int64), ("dofs", np.int64, n), ("qpos", np.int64, n),
            ("motors", np.int64, n), ("inertia", np.int64, n + n), ("finger_motors", np.int64, f),
            ("low", np.float64, n), ("high", np.float64, n),
            ("stiffness", np.float64, 6), ("damping", np.float64, 6),
            ("finger_middle", np.float64, f), ("finger_reach", np.float64, f),
            ("goal_position", np.float64, 3), ("goal_rotation", np.float64, (3, 3)), ("posture", np.float64, n),
            ("in_joint_space", np.bool_), ("joints", np.float64, n), ("finger_rates", np.float64, f),
            ("fingers", np.float64, f),
        ],
        align=True,
    )  # fmt: skip


@compiled
def actuate(
    arms: Record,
    qpos: Array,
    qvel: Array,
    bias: Array,
    inertia: Array,
    axes: Array,
    centres: Array,
    site_positions: Array,
    site_rotations: Array,
    controls: Array,
) -> None:
    """Write the controls of every arm's motors for the next simulation step, and move its finger commands on.

    `arms` is an array of `arm_type`; the others are MuJoCo's `qpos`, `qvel`, `qfrc_bias`, `qM`, `cdof`,
    `subtree_com`, `site_xpos`, `site_xmat` and `ctrl`.
    """
    for k in range(arms.shape[0]):
        arm = arms[k]
        q, qd = taken(qpos, arm.qpos), taken(qvel, arm.dofs)
        mass = arm_mass(inertia, arm.inertia)
        if arm.in_joint_space:
            torques = joint_torques(mass, q, qd, arm.joints)
        else:
            position, rotation = site_positions[arm.site], site_rotations[arm.site].reshape(3, 3)
            error = pose_error(position, rotation, arm.goal_position, arm.goal_rotation)
            jacobian = arm_jacobian(axes, arm.dofs, position - centres[arm.root])
            torques = pose_torques(mass, jacobian, q, qd, error, arm.stiffness, arm.damping, arm.posture)
        for i in range(torques.shape[0]):
            torque = torques[i] + bias[arm.dofs[i]]
            controls[arm.motors[i]] = min(max(torque, arm.low[i]), arm.high[i])
        move_fingers(arm, controls)


@compiled
def move_fingers(arm: Record, controls: Array) -> None:
    """Move the normalised finger commands on by their rates, within -1 and 1, and write them as controls."""
    for i in range(arm.fingers.shape[0]):
        arm.fingers[i] = min(max(arm.fingers[i] + arm.finger_rates[i], -1.0), 1.0)
        controls[arm.finger_motors[i]] = arm.finger_middle[i] + arm.finger_reach[i] * arm.fingers[i]


@compiled
def pose_torques(
    mass: Array,
    jacobian: Array,
    q: Array,
    qd: Array,
    error: Array,
    stiffness: Array,
    damping: Array,
    posture: Array,
) -> Array:
    """Operational space torques (n,) towards a pose, without gravity, not clipped.

    `error` (6,) from `pose_error`; `stiffness`, `damping` (6,); `posture` (n,) of the null space task.
    """
    pull = POSTURE_STIFFNESS * (posture - q) - 2 * np.sqrt(POSTURE_STIFFNESS) * qd
    acceleration = stiffness * error - damping * multiply(jacobian, qd)
    inverse = task_inertia_inverse(jacobian, cholesky(mass))
    wrench = -cholesky_solve(cholesky(inverse), multiply(jacobian, pull))
    wrench[:3] += cholesky_solve(cholesky(inverse[:3, :3]), acceleration[:3])
    wrench[3:] += cholesky_solve(cholesky(inverse[3:, 3:]), acceleration[3:])
    return multiply(jacobian.T, wrench) + multiply(mass, pull)


@compiled
def joint_torques(mass: Array, q: Array, qd: Array, goal: Array) -> Array:
    """Computed torques (n,) towards joint positions, critically damped, without gravity, not clipped."""
    return multiply(mass, JOINT_STIFFNESS * (goal - q) - 2 * np.sqrt(JOINT_STIFFNESS) * qd)


@compiled
def task_inertia_inverse(jacobian: Array, mass_factor: Array) -> Array:
    """J M^-1 J^T (6, 6): products of the rows of J, each solved halfway."""
    m, n = jacobian.shape
    halves = np.empty((m, n))
    product = np.empty((m, m))
    for i in range(m):
        halves[i] = lower_solve(mass_factor, jacobian[i])
        for j in range(i + 1):
            product[i, j] = 0.0
            for k in range(n):
                product[i, j] += halves[i, k] * halves[j, k]
            product[j, i] = product[i, j]
    return product


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
def arm_mass(inertia: Array, places: Indices) -> Array:
    """The arm's mass matrix (n, n) from MuJoCo's sparse one of the whole model."""
    n = places.shape[0]
    mass = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            mass[i, j] = inertia[places[i, j]]
    return mass


@compiled
def arm_jacobian(axes: Array, dofs: Indices, lever: Array) -> Array:
    """The arm's site Jacobian (6, n).

    `axes` (nv, 6) are MuJoCo's motion axes, angular part first, taken about a centre; `lever` (3,) leads from
    that centre to the site.
    """
    n = dofs.shape[0]
    jacobian = np.empty((6, n))
    for c in range(n):
        axis = axes[dofs[c]]
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            jacobian[i, c] = axis[3 + i] + axis[j] * lever[k] - axis[k] * lever[j]
            jacobian[3 + i, c] = axis[i]
    return jacobian


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
def lower_solve(factor: Array, right: Array) -> Array:
    """Solve `factor @ x = right` (n,) by a lower factor; components along vanished pivots are 0."""
    n = factor.shape[0]
    x = np.zeros(n)
    for i in range(n):
        rest = right[i]
        for k in range(i):
            rest -= factor[i, k] * x[k]
        x[i] = rest / factor[i, i] if factor[i, i] > 0.0 else 0.0
    return x


@compiled
def cholesky_solve(factor: Array, right: Array) -> Array:
    """Solve `factor @ factor.T @ x = right` (n,); components along vanished pivots are 0."""
    n = factor.shape[0]
    x = lower_solve(factor, right)
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
def taken(values: Array, places: Indices) -> Array:
    """The values at some places (n,)."""
    out = np.empty(places.shape[0])
    for i in range(places.shape[0]):
        out[i] = values[places[i]]
    return out
