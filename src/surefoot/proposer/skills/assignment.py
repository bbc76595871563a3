"""Sending one scene to another variant while every scene known to succeed keeps its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from surefoot.proposer.skills.sketch import Condition, Guard, Slot, Variant
from surefoot.proposer.skills.stumps import Values, fit_stump


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
    """The slot changed so that `scene` runs `variant`; None if no guard can tell it from the settled scenes.

    Where no settled scene stands against it, the variant becomes the default. `trusted` scores variants;
    unseen scenes follow the better of the two.
    """
    settled = [(other, other.settled(slot)) for other in others]
    against = [
        other
        for other, chosen in settled
        if (chosen is not None and chosen != variant and variant not in other.worked) or variant in other.failed
    ]
    if not against:
        return msgspec.structs.replace(slot, default=variant, guards=())
    if scene.values is None or any(other.values is None for other in against):
        return None
    if variant == slot.default:
        return _withdraw(slot, scene, settled)
    helped = [other for other, chosen in settled if variant in other.worked and (chosen is None or chosen == variant)]
    generous = trusted(variant) >= trusted(slot.default)
    condition = _fit([scene, *helped], against, others, generous)
    rest = tuple(guard for guard in slot.guards if guard.variant != variant)
    if condition is None:  # then one of its own, beside those that serve the others
        condition, rest = _fit([scene], against, others, False), slot.guards
    return None if condition is None else msgspec.structs.replace(slot, guards=(Guard(condition, variant), *rest))


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
        condition = _fit(served, [scene, *passed_by], [other for other, _ in settled], False)
        if served and condition is None:
            return None
        if condition is not None:
            guards.append(Guard(condition, guard.variant))
    return msgspec.structs.replace(slot, guards=tuple(guards))


def _fit(
    wanted: Sequence[SceneEvidence], kept: Sequence[SceneEvidence], others: Sequence[SceneEvidence], generous: bool
) -> Condition | None:
    groups = [[scene.values for scene in group if scene.values is not None] for group in (wanted, kept, others)]
    return fit_stump(groups[0], groups[1], groups[2], generous)
