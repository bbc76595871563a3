"""The `skills` proposer: what to try next on a failed configuration, without a model."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from surefoot.boundary.wire import SLEEP
from surefoot.environments.base import Task
from surefoot.errors import UsageError
from surefoot.memory.archive import Archive, Record
from surefoot.program.edits import can_retry, nestable
from surefoot.program.source import Program
from surefoot.proposer.base import Level, Plan, RepairContext
from surefoot.proposer.skills.assignment import assign, without_idle_guards
from surefoot.proposer.skills.cases import Cases
from surefoot.proposer.skills.fragments import fragments_of
from surefoot.proposer.skills.knowledge import blame, slot_passed
from surefoot.proposer.skills.library import Condition, Library, SkillEvidence, assemble, slot_condition
from surefoot.proposer.skills.sketch import Sketch, Slot, Variant, legible, render, rendered_stage
from surefoot.proposer.skills.skillbook import SkillBook
from surefoot.proposer.skills.stumps import fit_stump
from surefoot.tape.file import Tape

_STRATA = (1.0, 0.5, 0.25, 0.75)
"""Where a constant is varied to, as shares of the way to its bound; the far end first, it tells most."""


class Candidate(msgspec.Struct, frozen=True):
    """A sketch to try, with what a plan says of it."""

    level: Level
    sketch: Sketch
    slot: int
    hypothesis: str


class Skills:
    """PI's localized repair on real programs.

    A failure is blamed on one slot of the program; candidates for that slot are confirmed skills, fragments
    by effect, varied constants, a bounded retry, and last whole programs. Where recorded successes would
    change, a candidate is guarded by what the stage has read, if that tells the scenes apart (`assign`).
    """

    name = "skills"

    def __init__(self, task: Task, run_seed: int):
        self._task = task
        self._run_seed = run_seed
        self._library = Library()
        self._evidence = SkillEvidence()
        self._wholes: list[Sketch] = []
        self._effects = {function.name for function in task.surface.functions if function.kind == "effect"}
        self._cases = Cases(task, self._is_effect, self._passed)
        self._book = SkillBook(task, self._is_effect)
        self._revision = task.revision()

    def _is_effect(self, function: str) -> bool:
        return function in self._effects or function in ("sleep", SLEEP)

    def observe(self, task: Task, record: Record, archive: Archive, plan: Plan | None) -> None:
        """Take fragments from accepted demonstrations, and evidence from everything else."""
        if record.role == "demonstration":
            self._learn_from_demonstration(task, record, archive)
            return
        if plan is not None:
            self._cases.sketches.setdefault(record.program, msgspec.convert(plan.edit, Sketch))
        self._count(record, archive)

    def _learn_from_demonstration(self, task: Task, record: Record, archive: Archive) -> None:
        if not record.success:
            return
        own = Library()
        for fragment in fragments_of(task, archive.programs[record.program], record, archive.tape(record)):
            self._library.add(fragment)
            own.add(fragment)
        whole = assemble(self._task, own, SkillEvidence(), self._revision) if task.name == self._task.name else None
        if whole is not None and whole not in self._wholes:
            self._wholes.append(whole)

    def _count(self, record: Record, archive: Archive) -> None:
        sketch = self._cases.sketches[record.program]
        gained = len(record.diagnosis.supported) if record.diagnosis else 0
        for slot in sketch.slots:
            result = self._cases.result(archive, sketch, slot.checks, record)
            condition = slot_condition(self._task, slot, self._revision)
            if result.variant is None or result.passed is None:
                continue
            if record.success:
                self._evidence.confirm(condition, result.variant, record.scene)
            else:
                incentive = gained / len(self._task.graph.checks)
                self._evidence.record_trial(condition, result.variant, result.passed, incentive)
            self._book.note(sketch, slot, condition, record, result.passed)

    def first_plan(self, task: Task, archive: Archive) -> Plan:
        """The plan of P_0: fragments of the demonstrations in the order of the graph."""
        sketch = assemble(task, self._library, self._evidence, self._revision)
        if sketch is None:
            raise UsageError(
                f"No demonstration for {task.name} was accepted, so there is nothing to build a first program from. "
                "Give the task a demonstration that succeeds on at least one configuration."
            )
        origins = sorted({self._library[slot.default.fragment].origin for slot in sketch.slots})
        return self._plan("strategy", "", sketch, "the demonstrations' stages reach the goal", origins, "success", ())

    def plan_repair(self, context: RepairContext) -> Plan | None:
        """The first candidate not yet tried on this configuration."""
        tried = {record.program for record in context.archive.on(context.task.name, context.failure.seed)}
        base, record = self._base(context)
        for candidate in self._candidates(context, base, record):
            program = render(candidate.sketch, self._is_effect)
            if program.digest not in tried:
                evidence = (f"run {record.number}: {record.outcome.text}", *self._cited(record))
                region = candidate.sketch.slots[candidate.slot].name
                base_program = render(base, self._is_effect).digest
                expected = ", ".join(candidate.sketch.slots[candidate.slot].checks) or "success"
                return self._plan(
                    candidate.level, base_program, candidate.sketch, candidate.hypothesis, evidence, expected, (region,)
                )
        return None

    def write(self, plan: Plan) -> Program:
        """The program that a plan stands for."""
        return render(msgspec.convert(plan.edit, Sketch), self._is_effect)

    def load(self, library: bytes) -> None:
        """Start from the skills that earlier runs left; RunError if the library can't be read."""
        self._book.load(library, self._library, self._evidence)

    def save(self, library: bytes, run: str) -> bytes:
        """The library with what this run learned of whole stages."""
        return self._book.save(library, run)

    def _plan(
        self,
        level: Level,
        base: str,
        sketch: Sketch,
        hypothesis: str,
        evidence: Any,
        expected: str,
        regions: tuple[str, ...],
    ) -> Plan:
        return Plan(level, base, hypothesis, tuple(evidence), regions, expected, msgspec.to_builtins(sketch))

    @staticmethod
    def _cited(record: Record) -> tuple[str, ...]:
        if record.diagnosis is None:
            return ()
        held = ", ".join(record.diagnosis.supported) or "nothing"
        return (f"supported: {held}", f"frontier: {', '.join(record.diagnosis.frontier) or 'empty'}")

    def _base(self, context: RepairContext) -> tuple[Sketch, Record]:
        """The archived program with most supported progress on this configuration.

        Of equals the failure at hand, else the oldest, which is nearest to the accepted program.
        """
        best = context.failure
        for record in context.archive.on(context.task.name, context.failure.seed):
            if record.program in self._cases.sketches and not record.success and _progress(record) > _progress(best):
                best = record
        return self._cases.sketches[best.program], best

    def _candidates(self, context: RepairContext, base: Sketch, record: Record) -> Iterator[Candidate]:
        for index in self._slots_to_try(context, base, record):
            yield from self._for_slot(context, base, record, index)
        for whole in self._wholes:
            yield Candidate("strategy", whole, 0, "another demonstration's strategy reaches further")

    def _slots_to_try(self, context: RepairContext, base: Sketch, record: Record) -> Iterable[int]:
        tape = context.archive.tape(record) if record.tape else None
        index = blame(base, record.diagnosis, tape, context.task.graph)
        return () if index is None else range(index, -1, -1)  # then what it stands on: its prerequisites

    def _for_slot(self, context: RepairContext, base: Sketch, record: Record, index: int) -> Iterator[Candidate]:
        slot = base.slots[index]
        condition = slot_condition(context.task, slot, self._revision)
        scenes = self._cases.scenes(context.archive, base, index)
        scene = scenes.pop(record.scene)
        others = list(scenes.values())
        slot = without_idle_guards(slot, others)
        texts = {**base.stages, **{item.id: item.stage for item in self._library}}

        def trusted(variant: Variant) -> float:
            return self._evidence.tally(condition, variant).score

        for variant, level in self._variants(context, base, slot, condition):
            if variant in scene.failed:
                continue
            changed = assign(slot, scene, others, variant, trusted)
            changed = None if changed is None else legible(changed, texts, self._is_effect)
            if changed is None or changed == slot:
                continue
            guarded = "guarded by what the stage has read" if changed.guards else "as the stage's default"
            yield Candidate(
                level,
                base.with_slot(index, changed, texts),
                index,
                f"{slot.name}: {self._library.label(variant)}, {guarded}",
            )
        yield from self._retries(context, base, record, index)

    def _variants(
        self, context: RepairContext, base: Sketch, slot: Slot, condition: Condition
    ) -> Iterator[tuple[Variant, Level]]:
        """Variants in the order in which they are tried (PI, step 3): acquired ones, fragments by effect, constants.

        Within each, by score: what failed elsewhere comes after what was never tried.
        """
        default = base.stages[slot.default.fragment]
        fitting = [
            item.id
            for item in self._library.serving(context.task, slot)
            if item.id == slot.default.fragment or nestable(item.stage, default)
        ]
        fragments = [Variant(identity) for identity in fitting]
        fragments.sort(key=lambda item: self._evidence.tally(condition, item).rank)
        for variant in self._evidence.acquired(condition):
            if variant.fragment in fitting:
                yield variant, "stage" if variant.fragment != slot.default.fragment else "local"
        for variant in fragments:
            yield variant, "stage"
        varied = sorted(self._varied(base, slot), key=lambda item: self._evidence.tally(condition, item).rank)
        yield from ((variant, "local") for variant in varied)

    def _varied(self, base: Sketch, slot: Slot) -> list[Variant]:
        """One constant moved at a time, far moves first; the run's randomness orders moves of one size.

        Moves are shares of the way from the declared value to its bounds, so there are finitely many: steps from one
        failed value to the next would close in on a bound without end.
        """
        now = dict(slot.default.constants)
        declared = base.stages[slot.default.fragment].constants
        values = {constant.name: now.get(constant.name, constant.value) for constant in declared}
        variants = []
        for share in _STRATA:
            moves = [
                (constant.name, constant.fitted(round(constant.value + share * (bound - constant.value), 6)))
                for constant in declared
                for bound in (constant.high, constant.low)
            ]
            random.Random(f"{self._run_seed} {share}").shuffle(moves)
            for name, moved in moves:
                if moved != values[name]:
                    variants.append(Variant(slot.default.fragment, tuple(sorted({**now, name: moved}.items()))))
        return variants

    def _retries(self, context: RepairContext, base: Sketch, record: Record, index: int) -> Iterator[Candidate]:
        """Run the stage once more when its values at the end look like those of failures, not of successes."""
        slot = base.slots[index]
        if slot.retry is not None or not can_retry(rendered_stage(base, slot, self._is_effect)):
            return
        bad, good = self._cases.endings(context.archive, slot.name, record)
        stump = fit_stump([bad], good, good, generous=False) if bad is not None else None
        if stump is not None and stump.telling:
            changed = msgspec.structs.replace(slot, retry=stump.condition)
            yield Candidate(
                "local", base.with_slot(index, changed, {}), index, f"{slot.name} again when {stump.condition.text}"
            )

    def _passed(self, sketch: Sketch, index: int, record: Record, tape: Tape | None) -> bool | None:
        return slot_passed(sketch, index, record, tape, self._task.graph)


def _progress(record: Record) -> int:
    return len(record.diagnosis.supported) if record.diagnosis else -1
