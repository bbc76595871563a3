"""Which way a hand goes to a target, and with which posture, so that no joint runs into its limit.

Operational space control knows no joint limits. So each motion is rehearsed first: the controller's own law
drives a model of the bare arm, without contacts and without gravity, which the controller cancels. It takes about
a hundredth of the motion's time and touches nothing of the simulation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from surefoot.environments.robosuite.chain import (
    Chain,
    dot,
    drag_of,
    frames_of,
    hand_at,
    jacobian_of,
    mass_of,
    spin_to,
    turned,
    turning,
)
from surefoot.environments.robosuite.control import cholesky, cholesky_solve, compiled, multiply, pose_torques
from surefoot.environments.robosuite.poses import Array, Pose, matrix_of

MARGINS = (0.08, 0.01)
"""Distances that joints should keep from their limits, the wish first [rad]."""

STRETCH = 0.15
"""The same at the nearest pose to a target out of reach, so that the arm finds its way back [rad]."""

HELD = 1e-3
"""How near joints must bring the hand to a pose to hold it; a turn by 1 rad counts as `LEVER` [m]."""

LONGEST = 150
"""Control steps that a motion is rehearsed for, and steps of a search for joints."""

SUBSTEPS = 4
"""Steps of integration in a control step."""

LEVER = 0.3
"""Distance that counts as much as a turn by 1 rad when no pose within reach is the target's [m]."""

TURN_AHEAD = 0.3
"""Farthest that the commanded orientation is turned ahead of the hand's. The controller would take 0.5, but the air
resists the hand of robosuite's model so much that the last joint's motor is then saturated, and another joint turns
in its place until it meets its limit [rad]."""

SOON = 60
"""Control steps below which a way is taken without looking for a faster one."""

FASTER = 5
"""Control steps that a way must save to be preferred to one that is tried before it."""

SMALL_TURN = 0.3
"""Turns below this are made the shortest way in any case [rad]."""

STIFFNESS = np.full(6, 150.0)
DAMPING = 2 * np.sqrt(STIFFNESS)


class Way(NamedTuple):
    """How a hand gets to where it can get.

    `target` is the pose to go to, the nearest within reach if the one asked for is not. `turn` (4,) is its
    orientation with the sign that says which way round the hand turns; `posture` (n,) the joints that the
    null space is pulled to [rad]. If `swings`, no straight way is known, and the joints go to `posture` first.
    """

    target: Pose
    turn: Array
    posture: Array
    swings: bool


def find_way(chain: Chain, q: Array, qd: Array, rest: Array, target: Pose) -> Way:
    """The way from joints `q` (n,) moving at `qd` (n,) to a target in the world.

    The straight way with posture `rest` if it keeps clear of limits; else with a posture that suits the target,
    or turning the other way round; else the same to the nearest pose within reach. Joint limits count with a
    margin of 0.08 rad, or 0.01 rad if nothing else is found. Among ways that take long, as they lead past a
    singularity, the fastest is taken. If no straight way keeps the joints free, they swing to the target.
    """
    way = _best(chain, q, qd, rest, target)
    if way is not None:
        return way
    near, turn, posture, off = _nearest(chain, q, rest, target)
    way = _best(chain, q, qd, rest, near) or Way(near, turn, posture, True)
    return way if off >= HELD else way._replace(target=target)


def prepare(chain: Chain, q: Array) -> None:
    """Have everything here compiled or loaded, so that no motion's time counts it; `q` (n,) are any joints."""
    position, turn = hand_at(chain, q)
    here = Pose(position, matrix_of(turn))
    find_way(chain, q, np.zeros_like(q), q, here)
    _nearest(chain, q, q, here)


def _best(chain: Chain, q: Array, qd: Array, rest: Array, target: Pose) -> Way | None:
    for margin in MARGINS:
        low, high = _within(chain, q, margin)
        found, longest = None, LONGEST
        for turn, posture in _candidates(chain, q, rest, target, low, high):
            steps = rehearse(chain, q, qd, posture, target.position, turn, low, high, longest)
            if steps <= longest:
                found, longest = Way(target, turn, posture, False), steps - FASTER
            if longest < SOON:
                break
        if found is not None:
            return found
    return None


def _nearest(chain: Chain, q: Array, rest: Array, target: Pose) -> tuple[Pose, Array, Array, float]:
    """The pose within reach that is nearest to a target, its signed orientation, joints that hold it, how near [m]."""
    low, high = _within(chain, q, STRETCH)
    goal = target.quaternion
    ends = [posture_at(chain, start, target.position, turn, low, high) for start in (q, rest) for turn in (goal, -goal)]
    posture, off = min(ends, key=lambda end: (max(end[1], HELD), float(np.abs(end[0] - q).max())))
    position, turn = hand_at(chain, posture)
    return Pose(position, matrix_of(turn)), turn, posture, off


def _within(chain: Chain, q: Array, margin: float) -> tuple[Array, Array]:
    """Limits with a margin, opened where the joints stand already beyond."""
    return np.minimum(chain.low + margin, q), np.maximum(chain.high - margin, q)


def _candidates(
    chain: Chain, q: Array, rest: Array, target: Pose, low: Array, high: Array
) -> Iterator[tuple[Array, Array]]:
    """Signed orientations, the shortest way first, with postures for the null space, the one of the reset first."""
    _, here = hand_at(chain, q)
    goal = target.quaternion
    short = goal if float((here * goal).sum()) >= 0.0 else -goal
    spin = spin_to(here, short)
    for turn in (short, -short) if dot(spin, spin) > SMALL_TURN**2 else (short,):
        yield turn, rest
        for start in (q, rest):
            posture, off = posture_at(chain, start, target.position, turn, low, high)
            if off < HELD:
                yield turn, posture


@compiled
def rehearse(
    chain: Chain,
    q: Array,
    qd: Array,
    posture: Array,
    position: Array,
    turn: Array,
    low: Array,
    high: Array,
    longest: int,
) -> int:
    """Control steps in which the bare arm's hand arrives, all joints inside `low` and `high`; else `longest` + 1."""
    n = q.shape[0]
    q, qd = q.copy(), qd.copy()
    error = np.empty(6)
    period = 0.05 / SUBSTEPS
    for taken in range(longest + 1):
        places, facings, ways = frames_of(chain, q)
        shift, spin = position - places[n], spin_to(facings[n], turn)
        if dot(shift, shift) < 0.003**2 and dot(spin, spin) < 0.03**2:
            return taken
        mass = mass_of(chain, places, facings, ways)  # changes little in a control step
        factor = cholesky(mass)
        goal = places[n] + shortened(shift, 0.05)
        facing = turned(turning(shortened(spin, TURN_AHEAD)), facings[n])
        for _substep in range(SUBSTEPS):
            places, facings, ways = frames_of(chain, q)
            back = facings[n] * np.array([1.0, -1.0, -1.0, -1.0])
            left = turned(facing, back)
            error[:3] = goal - places[n]
            error[3:] = 2 * left[0] * left[1:]
            jacobian = jacobian_of(places, ways)
            torques = pose_torques(mass, jacobian, q, qd, error, STIFFNESS, DAMPING, posture)
            torques = np.minimum(np.maximum(torques, chain.weakest), chain.strongest)
            torques += drag_of(chain, places, facings, ways, qd)
            qd = qd + period * cholesky_solve(factor, torques)
            q = q + period * qd
        for i in range(n):
            if q[i] < low[i] or q[i] > high[i]:
                return longest + 1
    return longest + 1


@compiled
def posture_at(chain: Chain, q: Array, position: Array, turn: Array, low: Array, high: Array) -> tuple[Array, float]:
    """Joints (n,) within limits that put the hand nearest to a pose, descending from `q`; and how near [m].

    Damped least squares; a joint that would pass its limit is held there for the step. A turn by 1 rad counts as
    0.3 m.
    """
    q = np.minimum(np.maximum(q, low), high)
    best, least = q.copy(), 1e9
    error = np.empty(6)
    for _ in range(LONGEST):
        places, facings, ways = frames_of(chain, q)
        shift, spin = position - places[-1], spin_to(facings[-1], turn)
        off = np.sqrt(dot(shift, shift) + LEVER * LEVER * dot(spin, spin))
        if off < least:
            best, least = q.copy(), off
        if off < 1e-5:
            break
        jacobian = jacobian_of(places, ways)
        jacobian[3:] *= LEVER
        error[:3], error[3:] = shortened(shift, 0.1), LEVER * shortened(spin, 0.5)
        damping = 1e-5 + 0.1 * (dot(error[:3], error[:3]) + dot(error[3:], error[3:]))
        step = limited_step(jacobian, error, damping, low - q, high - q)
        if np.abs(step).max() < 1e-6:
            break
        q = q + step
    return best, least


@compiled
def limited_step(jacobian: Array, error: Array, damping: float, low: Array, high: Array) -> Array:
    """Joint step (n,) that nearly makes an error (6,) vanish and stays between `low` and `high` (n,)."""
    free = jacobian.copy()
    fixed = np.zeros(low.shape[0])
    step = fixed
    for _ in range(low.shape[0] + 1):
        step = fixed + damped_step(free, error - multiply(jacobian, fixed), damping)
        beyond = False
        for i in range(low.shape[0]):
            if step[i] < low[i] or step[i] > high[i]:
                fixed[i] = min(max(step[i], low[i]), high[i])
                free[:, i] = 0.0
                beyond = True
        if not beyond:
            break
    return np.minimum(np.maximum(step, low), high)


@compiled
def damped_step(jacobian: Array, error: Array, damping: float) -> Array:
    """J^T (J J^T + damping)^-1 error, (n,)."""
    square = np.empty((6, 6))
    for i in range(6):
        square[i] = multiply(jacobian, jacobian[i])
        square[i, i] += damping
    return multiply(jacobian.T, cholesky_solve(cholesky(square), error))


@compiled
def shortened(vector: Array, limit: float) -> Array:
    """A vector shortened so that no component exceeds `limit`."""
    largest = np.abs(vector).max()
    return vector * min(1.0, limit / largest) if largest > 0.0 else vector
