"""What a change of the accepted program must go through: four ways, as data."""

from __future__ import annotations

import msgspec

from surefoot.search.settings import Settings


class Checking(msgspec.Struct, frozen=True):
    """How changes are checked.

    `minibatch`: before it is accepted, a change must solve more of so many development configurations than
    the accepted program does, the one that it was made for among them; 0: no such gate.
    `witnesses`: after it, so many older successes on other configurations are looked at; None: all of them.
    `replay`: those whose tapes certify the change are not run.
    `diagnostics`: at most so many of the rest are run, and only where a failure may still be repaired;
    None: all of them, whatever comes of it.
    `reuse`: what a program once did on a configuration stands; it is not run there again.
    """

    minibatch: int = 0
    witnesses: int | None = 0
    replay: bool = False
    diagnostics: int | None = 0
    reuse: bool = False


def checking_of(settings: Settings) -> Checking:
    """The way that a run's settings name."""
    ways = {
        "certify": Checking(witnesses=settings.sampled_witnesses, replay=True, diagnostics=settings.diagnostics),
        "rerun-all": Checking(witnesses=None, diagnostics=None, reuse=True),
        "minibatch": Checking(minibatch=settings.minibatch, reuse=True),
        "none": Checking(),
    }
    return ways[settings.checking]
