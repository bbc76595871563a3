"""How a change of the accepted program is checked: four ways, as data."""

from __future__ import annotations

import msgspec

from surefoot.search.settings import Settings


class Checking(msgspec.Struct, frozen=True):
    """How changes are checked.

    `minibatch`: to be accepted it must solve more of so many development configurations than the accepted
    program does, the one that it was made for among them; 0: no such gate.
    `witnesses`: so many older successes on other configurations are looked at; None: all of them.
    `replay`: those whose tapes certify the change are not run.
    `diagnostics`: at most so many of the rest are run; None: all of them.
    `refuse`: a change that loses one of them is not accepted. Without it, it stays accepted, and its failure
    queues a follow-up; then a limited number of diagnostics goes only where a follow-up may still come of it.
    `reuse`: what a program once did on a configuration stands; it is not run there again.
    """

    minibatch: int = 0
    witnesses: int | None = 0
    replay: bool = False
    diagnostics: int | None = 0
    refuse: bool = False
    reuse: bool = False


def checking_of(settings: Settings) -> Checking:
    """The way that a run's settings name."""
    refuse = settings.regressions == "refuse"
    ways = {
        "certify": Checking(
            witnesses=settings.sampled_witnesses, replay=True, diagnostics=settings.diagnostics, refuse=refuse
        ),
        "rerun-all": Checking(witnesses=None, diagnostics=None, refuse=refuse, reuse=True),
        "minibatch": Checking(minibatch=settings.minibatch, reuse=True),
        "none": Checking(),
    }
    return ways[settings.checking]
