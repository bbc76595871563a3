"""What robosuite keeps of an episode in Python, besides MuJoCo's state."""

from __future__ import annotations

import numpy as np

from surefoot.environments.robosuite.poses import Array


class Ledger:
    """Keeps nothing: enough for environments whose verdict is a function of MuJoCo's state."""

    def record(self) -> None:
        """Take note of a control step.

        Called where robosuite calls its `_post_action`: positions and velocities are new, whatever MuJoCo
        computes from them is still that of one simulation step before.
        """

    @property
    def entries(self) -> Array:
        """All that is kept, as numbers; part of snapshots and digests."""
        return np.empty(0)

    @entries.setter
    def entries(self, entries: Array) -> None:
        """Return to what was kept."""
