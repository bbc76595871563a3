"""Controls: the same edits without what the paper adds, for comparison at equal executions."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from surefoot.memory.archive import Record
from surefoot.proposer.base import Level, RepairContext
from surefoot.proposer.skills.library import slot_condition
from surefoot.proposer.skills.proposer import Candidate, Skills
from surefoot.proposer.skills.sketch import Sketch, Slot, Variant
from surefoot.tape.file import Tape

_DRAWS = 20


class SkillsWithoutFrontier(Skills):
    """Enumeration: labels, windows and frontiers are hidden; every slot's variants are tried in order.

    What remains is whether a whole run succeeded.
    """

    name = "skills-no-frontier"

    def _base(self, context: RepairContext) -> tuple[Sketch, Record]:
        return self._cases.sketches[context.failure.program], context.failure

    def _slots_to_try(self, context: RepairContext, base: Sketch, record: Record) -> Iterable[int]:
        return range(len(base.slots))

    def _passed(self, sketch: Sketch, index: int, record: Record, tape: Tape | None) -> bool | None:
        return True if record.success else None


class RandomEdits(SkillsWithoutFrontier):
    """Random edits of the same kinds: any slot, any fragment for it or any value of any constant, unguarded."""

    name = "random"

    def _candidates(self, context: RepairContext, base: Sketch, record: Record) -> Iterator[Candidate]:
        draw = random.Random(f"random edits {self._run_seed} {context.trial}")
        texts = {item.id: item.stage for item in self._library}
        for _ in range(_DRAWS):
            index = draw.randrange(len(base.slots))
            slot = base.slots[index]
            variant = self._drawn(context, base, slot, draw)
            changed = Slot(slot.name, slot.parameters, slot.objects, slot.checks, variant)
            level: Level = "local" if variant.fragment == slot.default.fragment else "stage"
            yield Candidate(level, base.with_slot(index, changed, texts), index, f"{slot.name}: {variant.text}")

    def _drawn(self, context: RepairContext, base: Sketch, slot: Slot, draw: random.Random) -> Variant:
        condition = slot_condition(context.task, slot, self._revision)
        offered = [variant for variant, _ in self._variants(context, base, slot, condition)]
        variant = draw.choice(offered)
        if variant.fragment != slot.default.fragment or not variant.constants:
            return variant
        constants = {constant.name: constant for constant in base.stages[variant.fragment].constants}
        drawn = [
            (constants[name], draw.uniform(constants[name].low, constants[name].high)) for name, _ in variant.constants
        ]
        return Variant(variant.fragment, tuple((constant.name, constant.fitted(value)) for constant, value in drawn))
