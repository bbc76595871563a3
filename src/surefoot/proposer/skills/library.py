"""The library: fragments by effect, and assembling a first program from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from surefoot.environments.base import Task
from surefoot.memory.evidence import Evidence, Tally
from surefoot.proposer.skills.fragments import Fact, StageFragment, facts_of
from surefoot.proposer.skills.sketch import Sketch, Slot, Variant

Condition = tuple[str, tuple[tuple[str, tuple[str, ...]], ...]]
"""Evidence key: environment revision, and the facts (predicate, role types) that a slot must bring about."""

SkillEvidence = Evidence[Condition, Variant]


class Library:
    """Fragments in order of arrival, which is the order in which they are tried where nothing is known."""

    def __init__(self) -> None:
        self._fragments: dict[str, StageFragment] = {}

    def add(self, fragment: StageFragment) -> None:
        """Keep a fragment; one that is there already keeps its place."""
        self._fragments.setdefault(fragment.id, fragment)

    def __iter__(self) -> Iterator[StageFragment]:
        return iter(self._fragments.values())

    def __getitem__(self, identity: str) -> StageFragment:
        return self._fragments[identity]

    def __len__(self) -> int:
        return len(self._fragments)

    def label(self, variant: Variant) -> str:
        """A variant as a person knows it: demonstration, stage, and what is set otherwise."""
        fragment = self._fragments[variant.fragment]
        values = ", ".join(f"{name} = {value:g}" for name, value in variant.constants)
        return f"{fragment.origin}.{fragment.stage.name}" + (f" with {values}" if values else "")

    def providing(self, facts: Iterable[Fact]) -> list[StageFragment]:
        """Fragments whose effect includes all of `facts`, by predicate and role types."""
        wanted = {fact.key for fact in facts}
        return [item for item in self._fragments.values() if wanted <= {fact.key for fact in item.effect}]

    def serving(self, task: Task, slot: Slot) -> list[StageFragment]:
        """Fragments that bring about all that a slot must, on the slot's objects in the slot's order."""
        facts = facts_of(task.graph, task.role_types)
        providers = self.providing(facts[name] for name in slot.checks)
        wanted = facts[slot.checks[-1]]
        return [item for item in providers if item.bind(wanted, task.roles, task.role_types) == slot.objects]


class Skill(msgspec.Struct, frozen=True):
    """A stage with its evidence, as runs hand it on."""

    fragment: StageFragment
    condition: Condition
    successes: int
    failures: int
    incentive: float
    confirmed: tuple[str, ...]

    @classmethod
    def of(cls, fragment: StageFragment, condition: Condition, tally: Tally) -> Skill:
        """A fragment with what is known of it."""
        scenes = tuple(sorted(tally.confirmed))
        return cls(fragment, condition, tally.successes, tally.failures, tally.incentive, scenes)

    def restore(self, library: Library, evidence: SkillEvidence) -> None:
        """Add the skill to a run's library and its evidence to the run's."""
        library.add(self.fragment)
        tally = Tally(self.successes, self.failures, self.incentive, set(self.confirmed))
        evidence.merge(self.condition, Variant(self.fragment.id), tally)


class SkillLibrary(msgspec.Struct, frozen=True):
    """Skills of finished runs. A run reads it once, at its start, and is merged into it at its end.

    `runs` names the runs that are in it, so that none is counted twice.
    """

    runs: tuple[str, ...] = ()
    skills: tuple[Skill, ...] = ()

    def merged(self, other: SkillLibrary) -> SkillLibrary:
        """Both libraries' skills; evidence of equal skills adds up, scenes and runs count once."""
        if set(other.runs) <= set(self.runs):
            return self
        found: dict[tuple[str, Condition], Skill] = {}
        for skill in (*self.skills, *other.skills):
            key = (skill.fragment.id, skill.condition)
            known = found.get(key)
            found[key] = skill if known is None else Skill(
                known.fragment, known.condition, known.successes + skill.successes, known.failures + skill.failures,
                known.incentive + skill.incentive, tuple(sorted({*known.confirmed, *skill.confirmed})),
            )  # fmt: skip
        return SkillLibrary(tuple(sorted({*self.runs, *other.runs})), tuple(found.values()))


def slot_condition(task: Task, slot: Slot, revision: str) -> Condition:
    """The condition under which evidence of a slot's variants is kept."""
    facts = facts_of(task.graph, task.role_types)
    return (revision, tuple(facts[name].key for name in slot.checks))


def assemble(task: Task, library: Library, evidence: SkillEvidence, revision: str) -> Sketch | None:
    """A first sketch: fragments in the order of the graph, each for the facts not yet brought about.

    Promoted variants come first (PI's initial program); where there are none, the first in the library.
    None if the library has nothing for this task.
    """
    facts = facts_of(task.graph, task.role_types)
    slots: list[Slot] = []
    covered: set[str] = set()
    for check in task.graph:
        if check.name in covered:
            continue
        for fragment in library.providing([facts[check.name]]):
            objects = fragment.bind(facts[check.name], task.roles, task.role_types)
            if objects is not None:
                slot = _slot(fragment, check.name, objects, covered, facts, slots)
                slots.append(_promote(task, slot, library, evidence, revision))
                covered.update(slot.checks)
                break
    if not slots:
        return None
    names = {slot.default.fragment for slot in slots}
    return Sketch(tuple(slots), {name: library[name].stage for name in sorted(names)})


def _slot(
    fragment: StageFragment,
    wanted: str,
    objects: tuple[str, ...],
    covered: set[str],
    facts: dict[str, Fact],
    slots: list[Slot],
) -> Slot:
    effect = fragment.effect_for(facts[wanted])
    checks = tuple(name for name, fact in facts.items() if name not in covered and fact in effect)
    taken = {slot.name for slot in slots}
    name = fragment.stage.name
    while name in taken:
        name += "_again"
    return Slot(name, fragment.stage.parameters, objects, checks, Variant(fragment.id))


def _promote(task: Task, slot: Slot, library: Library, evidence: SkillEvidence, revision: str) -> Slot:
    serving = {item.id for item in library.serving(task, slot)}
    best = [item for item in evidence.promoted(slot_condition(task, slot, revision)) if item.fragment in serving]
    return msgspec.structs.replace(slot, default=best[0]) if best else slot
