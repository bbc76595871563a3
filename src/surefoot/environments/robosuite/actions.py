"""Robosuite's actions for OSC_POSE, as commands of our arms and back: how the two ways of stepping are compared.

An action of one arm (6 + g,): position and rotation vector (world frame) that the goal lies ahead of the hand,
in units of the farthest step; then, if the hand has fingers, +1 to close them and -1 to open them (g is 1 or 0).
"""

from __future__ import annotations

import numpy as np

from surefoot.environments.robosuite.arm import POSITION_STEP, ROTATION_STEP, ArmCommand, ahead
from surefoot.environments.robosuite.poses import Array, Pose, product, rotation_of, rotation_vector


def command_of(action: Array, hand: Pose) -> ArmCommand:
    """The command that does for a control step what `action` does in `env.step`, with the hand where it is."""
    position = hand.position + POSITION_STEP * action[:3]
    rotation = product(rotation_of(ROTATION_STEP * action[3:6]), hand.rotation)
    return ArmCommand(Pose(position, rotation), closing=bool(action[6:].sum() > 0))


def action_of(command: ArmCommand, hand: Pose, fingers: bool) -> Array:
    """The action that does for a control step what `command` does. Not for motions in joint space."""
    goal = ahead(hand, command.target)
    shift = (goal.position - hand.position) / POSITION_STEP
    spin = rotation_vector(product(goal.rotation, hand.rotation.T)) / ROTATION_STEP
    return np.concatenate([shift, spin, [1.0 if command.closing else -1.0] * fingers])
