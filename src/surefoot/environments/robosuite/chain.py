"""One arm as a chain of hinges, compiled: where its hand is, how its joints move it, and its mass matrix.

An arm is a chain of n hinges from the world to the grip site. Before each hinge, and after the last one, stands
a fixed transform. Orientations are unit quaternions wxyz. Hand orientations are products of the joints' half
angles, so they are continuous in the joints: a full turn of a joint changes the sign of the quaternion.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from surefoot.environments.robosuite.control import Indices, compiled
from surefoot.environments.robosuite.poses import Array, product, quaternion_of

LEAST_DRAG = 0.01
"""Share of the greatest drag of a body below which a body's drag is left out."""


class Hulls(NamedTuple):
    """Bodies as the air finds them: MuJoCo gives each the box of its inertia, and drag by its sides.

    Robosuite's hand has the inertia of a box a metre wide, so that drag takes all of the last joint's torque.
    `links` (b,) the hinges that carry them; `places` (b, 3), `facings` (b, 4) seen from there; `forces` (b, 3),
    `torques` (b, 3) at unit speeds along and about their axes.
    """

    links: Indices
    places: Array
    facings: Array
    forces: Array
    torques: Array


class Chain(NamedTuple):
    """What of a model decides how an arm moves; a copy, so that nothing solved on it touches the simulation.

    Fixed transforms, each seen from the hinge before: `offsets` (n + 1, 3) [m] and `turns` (n + 1, 4). Hinges:
    `axes` (n, 3), `zeros` (n,) the positions at which they are unturned, `low` and `high` (n,) their limits [rad],
    `armature` (n,), `weakest` and `strongest` (n,) the torques of their motors [N m]. Links, each with all that it carries up to the next hinge, seen from its hinge: `masses` (n,),
    `centres` (n, 3), `inertias` (n, 3, 3) about the hinge.
    """

    offsets: Array
    turns: Array
    axes: Array
    zeros: Array
    low: Array
    high: Array
    armature: Array
    weakest: Array
    strongest: Array
    masses: Array
    centres: Array
    inertias: Array
    viscous: Array
    coulomb: Array
    hulls: Hulls

    @classmethod
    def of(cls, model: mujoco.MjModel, site: int, qpos: Indices, torques: tuple[Array, Array]) -> Chain:
        """The chain of hinges with addresses `qpos` that carries `site`; fingers count where they are at 0.

        `torques` are the least and the greatest of each hinge's motor.
        """
        unturned = mujoco.MjData(model)
        unturned.qpos[:] = model.qpos0
        mujoco.mj_kinematics(model, unturned)
        hinges = [int(np.flatnonzero(model.jnt_qposadr == address)[0]) for address in qpos]
        bodies = [int(model.jnt_bodyid[hinge]) for hinge in hinges]
        places = [np.zeros(3), *unturned.xanchor[hinges], unturned.site_xpos[site]]
        facings = [np.eye(3), *unturned.xmat[bodies].reshape(-1, 3, 3), unturned.site_xmat[site].reshape(3, 3)]
        steps = [(facings[i].T, places[i + 1] - places[i], facings[i + 1]) for i in range(len(hinges) + 1)]
        carried = [_carried(model, body, bodies) for body in bodies]
        links = [_link(model, unturned, hinge, parts) for hinge, parts in zip(hinges, carried, strict=True)]
        dofs = model.jnt_dofadr[hinges]
        return cls(
            offsets=np.array([product(back, shift) for back, shift, _ in steps]),
            turns=np.array([quaternion_of(product(back, facing)) for back, _, facing in steps]),
            axes=np.array(model.jnt_axis[hinges]),
            zeros=np.array(model.qpos0[qpos]),
            low=np.array(model.jnt_range[hinges, 0]),
            high=np.array(model.jnt_range[hinges, 1]),
            armature=np.array(model.dof_armature[dofs]),
            weakest=torques[0],
            strongest=torques[1],
            masses=np.array([mass for mass, _, _ in links]),
            centres=np.array([centre for _, centre, _ in links]),
            inertias=np.array([inertia for _, _, inertia in links]),
            viscous=np.array(model.dof_damping[dofs]),
            coulomb=np.array(model.dof_frictionloss[dofs]),
            hulls=_hulls(model, unturned, hinges, carried),
        )


def _carried(model: mujoco.MjModel, root: int, links: list[int]) -> list[int]:
    """Bodies that move with link `root`: itself and its descendants up to the next of `links`."""
    found = [root]
    for body in range(root + 1, model.nbody):  # parents come first
        if int(model.body_parentid[body]) in found and body not in links:
            found.append(body)
    return found


def _link(model: mujoco.MjModel, data: mujoco.MjData, hinge: int, bodies: list[int]) -> tuple[float, Array, Array]:
    """Mass, centre of mass (3,) and inertia (3, 3) about the hinge of bodies taken together, seen from the hinge."""
    back = data.xmat[model.jnt_bodyid[hinge]].reshape(3, 3).T
    mass, moment, inertia = 0.0, np.zeros(3), np.zeros((3, 3))
    for body in bodies:
        part = float(model.body_mass[body])
        lever = product(back, data.xipos[body] - data.xanchor[hinge])
        facing = product(back, data.ximat[body].reshape(3, 3))
        mass, moment = mass + part, moment + part * lever
        inertia += product(facing * model.body_inertia[body], facing.T)
        inertia += part * ((lever * lever).sum() * np.eye(3) - lever[:, None] * lever)
    return mass, moment / mass, inertia


def _hulls(model: mujoco.MjModel, data: mujoco.MjData, hinges: list[int], carried: list[list[int]]) -> Hulls:
    rows = []
    for link, (hinge, bodies) in enumerate(zip(hinges, carried, strict=True)):
        back = data.xmat[model.jnt_bodyid[hinge]].reshape(3, 3).T
        for body in bodies:
            inertia, mass = model.body_inertia[body], float(model.body_mass[body])
            sides = np.sqrt(6 * np.maximum(inertia.sum() - 2 * inertia, 0.0) / mass) if mass > 0 else np.zeros(3)
            a, b, c = sides
            rows.append(
                (
                    link,
                    product(back, data.xipos[body] - data.xanchor[hinge]),
                    quaternion_of(product(back, data.ximat[body].reshape(3, 3))),
                    model.opt.density / 2 * np.array([b * c, c * a, a * b]),
                    model.opt.density / 64 * np.array([a * (b**4 + c**4), b * (c**4 + a**4), c * (a**4 + b**4)]),
                )
            )
    most = max(float(torques.max()) for *_, torques in rows)
    felt = [row for row in rows if row[4].max() >= LEAST_DRAG * most]
    return Hulls(*(np.array(column) for column in zip(*felt, strict=True)))


@compiled
def turned(left: Array, right: Array) -> Array:
    """Product of two quaternions (4,)."""
    a, b, c, d = left[0], left[1], left[2], left[3]
    e, f, g, h = right[0], right[1], right[2], right[3]
    return np.array(
        [
            a * e - b * f - c * g - d * h,
            a * f + b * e + c * h - d * g,
            a * g - b * h + c * e + d * f,
            a * h + b * g - c * f + d * e,
        ]
    )


@compiled
def rotated(turn: Array, vector: Array) -> Array:
    """A vector (3,) turned by a quaternion (4,)."""
    w, x, y, z = turn[0], turn[1], turn[2], turn[3]
    a, b, c = vector[0], vector[1], vector[2]
    u = 2 * (y * c - z * b)
    v = 2 * (z * a - x * c)
    t = 2 * (x * b - y * a)
    return np.array([a + w * u + y * t - z * v, b + w * v + z * u - x * t, c + w * t + x * v - y * u])


@compiled
def turning(spin: Array) -> Array:
    """Quaternion (4,) of a rotation vector (3,) of any length, whose sign follows it."""
    angle = np.sqrt(dot(spin, spin))
    scale = np.sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
    return np.array([np.cos(0.5 * angle), spin[0] * scale, spin[1] * scale, spin[2] * scale])


@compiled
def spin_to(turn: Array, goal: Array) -> Array:
    """Rotation vector (3,) from one quaternion to another, not cut to the shortest way: up to 2 pi long [rad]."""
    error = turned(goal, np.array([turn[0], -turn[1], -turn[2], -turn[3]]))
    sine = np.sqrt(error[1] * error[1] + error[2] * error[2] + error[3] * error[3])
    scale = 2 * np.arctan2(sine, error[0]) / sine if sine > 1e-12 else 2.0
    return np.array([error[1] * scale, error[2] * scale, error[3] * scale])


@compiled
def frames_of(chain: Chain, q: Array) -> tuple[Array, Array, Array]:
    """Positions (n + 1, 3) and quaternions (n + 1, 4) of the links and the hand, and the hinges' axes (n, 3), in the world."""
    n = q.shape[0]
    places, facings, ways = np.empty((n + 1, 3)), np.empty((n + 1, 4)), np.empty((n, 3))
    place, facing = chain.offsets[0].copy(), chain.turns[0].copy()
    for i in range(n):
        axis = chain.axes[i]
        ways[i] = rotated(facing, axis)
        facing = turned(facing, turning(axis * (q[i] - chain.zeros[i])))
        places[i], facings[i] = place, facing
        place = place + rotated(facing, chain.offsets[i + 1])
        facing = turned(facing, chain.turns[i + 1])
    places[n], facings[n] = place, facing
    return places, facings, ways


@compiled
def jacobian_of(places: Array, ways: Array) -> Array:
    """The hand's Jacobian (6, n), linear rows first, from `frames_of`."""
    n = ways.shape[0]
    jacobian = np.empty((6, n))
    for i in range(n):
        jacobian[:3, i] = crossed(ways[i], places[n] - places[i])
        jacobian[3:, i] = ways[i]
    return jacobian


@compiled
def mass_of(chain: Chain, places: Array, facings: Array, ways: Array) -> Array:
    """The mass matrix (n, n): momenta of all that each hinge carries, projected on the hinges before it."""
    n = ways.shape[0]
    mass = np.empty((n, n))
    carried, moment, inertia = 0.0, np.zeros(3), np.zeros((3, 3))  # of links i and up, about the world's origin
    for i in range(n - 1, -1, -1):
        own = chain.masses[i] * rotated(facings[i], chain.centres[i])
        inertia += world_inertia(facings[i], chain.inertias[i]) + shifted_inertia(chain.masses[i], own, places[i])
        carried += chain.masses[i]
        moment += own + chain.masses[i] * places[i]
        pull = crossed(places[i], ways[i])  # how fast the world's origin would move with the hinge
        linear = carried * pull + crossed(ways[i], moment)
        angular = np.array([dot(inertia[k], ways[i]) for k in range(3)]) + crossed(moment, pull)
        for j in range(i + 1):
            mass[i, j] = dot(ways[j], angular) + dot(crossed(places[j], ways[j]), linear)
            mass[j, i] = mass[i, j]
        mass[i, i] += chain.armature[i]
    return mass


@compiled
def world_inertia(facing: Array, inertia: Array) -> Array:
    """An inertia (3, 3) turned by a quaternion."""
    half, full = np.empty((3, 3)), np.empty((3, 3))
    for k in range(3):
        half[:, k] = rotated(facing, inertia[:, k])
    for k in range(3):
        full[k] = rotated(facing, half[k])
    return full


@compiled
def shifted_inertia(mass: float, moment: Array, place: Array) -> Array:
    """What a body's inertia (3, 3) about a point gains about the origin; `moment` is about the point."""
    gain = np.empty((3, 3))
    straight = mass * dot(place, place) + 2 * dot(place, moment)
    for i in range(3):
        for j in range(3):
            gain[i, j] = -mass * place[i] * place[j] - place[i] * moment[j] - moment[i] * place[j]
        gain[i, i] += straight
    return gain


@compiled
def drag_of(chain: Chain, places: Array, facings: Array, ways: Array, qd: Array) -> Array:
    """Torques (n,) by which air, damping and dry friction brake the hinges moving at `qd` (n,)."""
    n = qd.shape[0]
    hulls = chain.hulls
    torques = np.empty(n)
    for i in range(n):  # below 0.01 rad/s dry friction gives way, which keeps the integration stable
        torques[i] = -chain.viscous[i] * qd[i] - chain.coulomb[i] * min(max(qd[i] / 0.01, -1.0), 1.0)
    forces, moments = np.zeros((n, 3)), np.zeros((n, 3))  # of the air on each link, about the world's origin
    spins, drifts = np.zeros((n, 3)), np.zeros((n, 3))
    spin, drift = np.zeros(3), np.zeros(3)  # velocity of the link, at the world's origin
    for i in range(n):
        spin = spin + qd[i] * ways[i]
        drift = drift + qd[i] * crossed(places[i], ways[i])
        spins[i], drifts[i] = spin, drift
    for k in range(hulls.links.shape[0]):
        i = hulls.links[k]
        place = places[i] + rotated(facings[i], hulls.places[k])
        facing = turned(facings[i], hulls.facings[k])
        back = facing * np.array([1.0, -1.0, -1.0, -1.0])
        about, along = rotated(back, spins[i]), rotated(back, drifts[i] + crossed(spins[i], place))
        force = rotated(facing, -hulls.forces[k] * np.abs(along) * along)
        forces[i] += force
        moments[i] += rotated(facing, -hulls.torques[k] * np.abs(about) * about) + crossed(place, force)
    force, moment = np.zeros(3), np.zeros(3)
    for i in range(n - 1, -1, -1):
        force, moment = force + forces[i], moment + moments[i]
        torques[i] += dot(ways[i], moment) + dot(crossed(places[i], ways[i]), force)
    return torques


@compiled
def dot(left: Array, right: Array) -> float:
    """Inner product of two vectors (3,)."""
    total: float = left[0] * right[0] + left[1] * right[1] + left[2] * right[2]
    return total


@compiled
def crossed(left: Array, right: Array) -> Array:
    """Cross product of two vectors (3,)."""
    a, b, c = left[0], left[1], left[2]
    x, y, z = right[0], right[1], right[2]
    return np.array([b * z - c * y, c * x - a * z, a * y - b * x])


def hand_at(chain: Chain, q: Array) -> tuple[Array, Array]:
    """Position (3,) and continuous quaternion (4,) of the hand for joints `q` (n,)."""
    places, facings, _ = frames_of(chain, q)
    return places[-1], facings[-1]
