"""How motions of cube-lift's robot end: targets reached, joints at their limits, control steps, time to plan.

Each start and target is a hand pointing down or tilted by up to 0.35 rad, turned by any yaw, in a box in front of
the robot. A pair of motions goes from the reset posture to the first hand, and from wherever that ended to the second.

    python benchmarks/motion.py --motions 300 [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from surefoot.environments.robosuite.environment import RobosuiteEnvironment
from surefoot.environments.robosuite.poses import DOWN, Pose, product, rotation_of, turn
from surefoot.environments.robosuite.setups import CUBE_LIFT

SEED = 201
AT_LIMIT = 0.02


class Motion(NamedTuple):
    """One motion: whether it arrived, how far off it ended [m, rad], the least clearance of a joint [rad], steps."""

    arrived: bool
    off: float
    turned: float
    clearance: float
    steps: int


def random_hand(random, height=(-0.05, 0.45)) -> Pose:
    """A hand in the base frame, down or tilted."""
    position = np.array([random.uniform(0.3, 0.65), random.uniform(-0.35, 0.35), random.uniform(*height)])
    direction, tilt = random.uniform(-math.pi, math.pi), random.uniform(0.0, 0.35) * random.integers(2)
    lean = rotation_of(tilt * np.array([math.cos(direction), math.sin(direction), 0.0]))
    return Pose(position, product(lean, product(turn(random.uniform(-math.pi, math.pi)), DOWN)))


def move(environment, hand: Pose) -> Motion:
    """Move there and measure."""
    episode = environment._running
    plant, arm = episode.plant, episode.plant.arms[0]
    before = plant.steps
    arrived = episode.servo.move({0: episode.readings.site_target(hand)}, 0.003)
    end, joints = episode.readings.hand_pose(), arm.joints(plant.data)
    cosine = (np.trace(product(end.rotation.T, hand.rotation)) - 1) / 2
    low, high = plant.model.jnt_range[arm._qpos].T
    return Motion(
        bool(arrived),
        math.dist(end.position, hand.position),
        math.acos(min(max(cosine, -1.0), 1.0)),
        float(np.minimum(joints - low, high - joints).min()),
        plant.steps - before,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--motions", type=int, default=300)
    parser.add_argument("--height", type=float, nargs=2, default=(-0.05, 0.45))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    environment = RobosuiteEnvironment(CUBE_LIFT, "robosuite/cube-lift")
    environment.reset(SEED)
    home = environment.snapshot()
    random = np.random.default_rng(0)
    rows = []
    for _ in range(options.motions):
        environment.restore(home)
        first, second = random_hand(random), random_hand(random, options.height)
        start = move(environment, first)
        rows.append((start, move(environment, second)))
    environment.close()
    if options.json:
        options.json.write_text(json.dumps([[list(start), list(end)] for start, end in rows]))
    for name, motions in (("first", [row[0] for row in rows]), ("second", [row[1] for row in rows])):
        arrived = [motion for motion in motions if motion.arrived]
        limit = sum(motion.clearance < AT_LIMIT for motion in motions)
        print(
            f"{name}: {len(arrived)}/{len(motions)} arrived, {limit} with a joint at its limit, "
            f"{np.mean([motion.steps for motion in motions]):.1f} steps ({np.mean([m.steps for m in arrived]):.1f})"
        )


if __name__ == "__main__":
    main()
