"""The eight controllers: one controller, differently composed. Each choice of ours is one switch, marked so."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from surefoot.errors import unknown_name
from surefoot.memory.evidence import Rule, Tally, promotion

Source = Literal["acquired", "by effect", "by request", "typed"]


def two_confirmations(tally: Tally) -> bool:
    """Promotion without the score threshold."""
    return tally.confirmed_often


@dataclass(frozen=True)
class Composition:
    """What a controller is made of.

    `candidates` are consulted in order for a failed stage: actions with acquired evidence, fragments by inferred
    effect, templates by request similarity, and all typed actions. `whole` replaces complete programs instead of one
    action. `memory` is what is kept across tasks.
    """

    name: str
    candidates: tuple[Source, ...] = ("acquired", "by effect", "typed")
    whole: bool = False
    commit_on: Literal["target", "all"] = "target"
    memory: Literal["actions", "programs", "nothing"] = "actions"
    promote: Rule = promotion
    ranks_fragments: bool = True
    trials: bool = True
    skips_current: bool = True  # ours: see no_trial


PI = Composition("pi")
COMPOSITIONS: dict[str, Composition] = {
    each.name: each
    for each in (
        PI,
        replace(PI, name="trajectory", whole=True, candidates=("by request",), commit_on="all", memory="programs"),
        replace(PI, name="no_localization", whole=True, candidates=("by effect",)),
        replace(PI, name="no_goal", candidates=("acquired", "by request", "typed")),
        # Ours: the current action is not skipped. Revision C's 24.0 % then lies near the middle of what comes out,
        # and otherwise at its edge.
        replace(PI, name="no_trial", trials=False, skips_current=False),
        # Its name in the paper's code; it keeps no learned action at all, so it is no ablation of the reward.
        replace(PI, name="pi_no_incentive", candidates=("by effect", "typed"), memory="nothing"),
        replace(PI, name="compositional", promote=two_confirmations, ranks_fragments=False),
        # Ours: without the step that looks at acquired actions first.
        replace(PI, name="self_trial", candidates=("typed",)),
    )
}


def composition(name: str) -> Composition:
    """The composition called `name`; UsageError with the nearest match where there is none."""
    if name not in COMPOSITIONS:
        raise unknown_name("controller", name, list(COMPOSITIONS))
    return COMPOSITIONS[name]
