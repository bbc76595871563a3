"""Sending one scene to another variant while every scene known to succeed keeps its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from surefoot.proposer.skills.sketch import Guard, Slot, Variant
from surefoot.proposer.skills.stumps import Stump, Values, fit_stump


class SceneEvidence(msgspec.Struct):
    """What is known of one scene at one slot: values read before the guards, variants that worked or not."""

    values: Values | None
    worked: set[Variant]
    failed: set[Variant]

    def settled(self, slot: Slot) -> Variant | None:
        """The variant that the slot runs here, if it is known to work here."""
        chosen = slot.chosen(self.values) if self.values is not None else None
        return chosen if chosen in self.worked else None


def assign(
    slot: Slot,
    scene: SceneEvidence,
    others: Sequence[SceneEvidence],
    variant: Variant,
    trusted: Callable[[Variant], float],
) -> Slot | None:
    """The slot changed so that `scene` runs `variant`; None if that can't be without undoing what is known.

    A settled scene keeps its variant. It stands in the way if the variant failed there, or was never tried
    there. Where a telling stump separates the scene from all of those, the variant is guarded by it and they
    stay certified; without one the variant becomes the default, unless it is known to fail somewhere: then
    any stump that fits will do. `trusted` scores variants; unseen scenes follow the better of the two.
    """
    settled = [(other, other.settled(slot)) for other in others]
    failing = [other for other in others if variant in other.failed]
    untried = [
        other
        for other, chosen in settled
        if chosen is not None and chosen != variant and variant not in (other.worked | other.failed)
    ]
    if variant == slot.default:
        return _withdraw(slot, scene, settled)
    rest = tuple(guard for guard in slot.guards if guard.variant != variant)
    as_default = _as_default(slot, scene, settled, variant, keep_guards=bool(failing or untried))
    against = [*failing, *untried]
    if not against:
        return as_default
    if scene.values is None or any(other.values is None for other in against):
        return None if failing else as_default
    helped = [other for other, chosen in settled if variant in other.worked and (chosen is None or chosen == variant)]
    generous = trusted(variant) >= trusted(slot.default)
    stump = _fit([scene, *helped], against, others, generous)
    if stump is None and failing:  # then one of its own, beside those that serve the others
        stump, rest = _fit([scene], against, others, False), slot.guards
    if stump is not None and (stump.telling or failing):
        return msgspec.structs.replace(slot, guards=(Guard(stump.condition, variant), *rest))
    return None if failing else as_default


def _as_default(
    slot: Slot,
    scene: SceneEvidence,
    settled: Sequence[tuple[SceneEvidence, Variant | None]],
    variant: Variant,
    keep_guards: bool,
) -> Slot | None:
    """The slot with another default; guards that are kept go on serving their scenes, and let `scene` pass."""
    guards = list(slot.guards) if keep_guards else []
    while guards and guards[-1].variant == variant:
        guards.pop()
    changed = msgspec.structs.replace(slot, default=variant, guards=tuple(guards))
    return changed if scene.values is None else _withdraw(changed, scene, settled)


def without_idle_guards(slot: Slot, scenes: Sequence[SceneEvidence]) -> Slot:
    """The slot without guards that serve no scene known to succeed: left-overs of candidates that failed."""
    serving = {other.settled(slot) for other in scenes}
    guards = tuple(guard for guard in slot.guards if guard.variant in serving)
    return msgspec.structs.replace(slot, guards=guards)


def _withdraw(slot: Slot, scene: SceneEvidence, settled: Sequence[tuple[SceneEvidence, Variant | None]]) -> Slot | None:
    """Narrow the guard that caught `scene`, so that it falls through to the default."""
    assert scene.values is not None
    guards: list[Guard] = []
    for guard in slot.guards:
        if not guard.condition.holds(scene.values):
            guards.append(guard)
            continue
        served = [other for other, chosen in settled if chosen == guard.variant]
        passed_by = [other for other, chosen in settled if chosen is not None and guard.variant not in other.worked]
        stump = _fit(served, [scene, *passed_by], [other for other, _ in settled], False)
        if served and stump is None:
            return None
        if stump is not None:
            guards.append(Guard(stump.condition, guard.variant))
    return msgspec.structs.replace(slot, guards=tuple(guards))


def _fit(
    wanted: Sequence[SceneEvidence], kept: Sequence[SceneEvidence], others: Sequence[SceneEvidence], generous: bool
) -> Stump | None:
    groups = [[scene.values for scene in group if scene.values is not None] for group in (wanted, kept, others)]
    return fit_stump(groups[0], groups[1], groups[2], generous)
