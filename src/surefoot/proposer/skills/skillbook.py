"""The skill book: stages as they stood in a run's executions, with their evidence, for later runs."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from surefoot.environments.base import Task
from surefoot.errors import RunError
from surefoot.memory.archive import Record
from surefoot.proposer.skills.fragments import StageFragment, facts_of
from surefoot.proposer.skills.library import Condition, Library, Skill, SkillEvidence, SkillLibrary
from surefoot.proposer.skills.sketch import Sketch, Slot, Variant, rendered_stage


class SkillBook:
    """What one run found out about whole stages, guards and all; apart from what it started with."""

    def __init__(self, task: Task, is_effect: Callable[[str], bool]):
        self._task = task
        self._is_effect = is_effect
        self._stages = Library()
        self._evidence = SkillEvidence()
        self._known: set[str] = set()

    def load(self, data: bytes, library: Library, evidence: SkillEvidence) -> None:
        """Add the skills of earlier runs to a library and to evidence; RunError if they can't be read."""
        for skill in _skills(data).skills:
            skill.restore(library, evidence)
            self._known.add(skill.fragment.id)

    def note(self, sketch: Sketch, slot: Slot, condition: Condition, record: Record, passed: bool) -> None:
        """Count a stage's part in an execution: a confirmation in an accepted one, else a trial."""
        action = self._action(sketch, slot)
        if record.success:
            self._evidence.confirm(condition, action, record.scene)
        else:
            self._evidence.record_trial(condition, action, passed, 0.0)

    def save(self, data: bytes, run: str) -> bytes:
        """The library with every stage that took part in an accepted run, and how skills of earlier runs did."""
        skills = (
            Skill.of(self._stages[action.fragment], condition, tally)
            for (condition, action), tally in self._evidence.items()
            if tally.confirmed or action.fragment in self._known
        )
        merged = _skills(data).merged(SkillLibrary((run,), tuple(skills)))
        return msgspec.json.format(msgspec.json.encode(merged), indent=2) + b"\n"

    def _action(self, sketch: Sketch, slot: Slot) -> Variant:
        roles = {item: role for role, item in self._task.roles.items()}
        facts = facts_of(self._task.graph, self._task.role_types)
        fragment = StageFragment(
            f"{self._task.name}:{slot.name}",
            tuple(facts[name] for name in slot.checks),
            rendered_stage(sketch, slot, self._is_effect),
            tuple(roles[item] for item in slot.objects),
        )
        self._stages.add(fragment)
        return Variant(fragment.id)


def _skills(data: bytes) -> SkillLibrary:
    if not data:
        return SkillLibrary()
    try:
        return msgspec.json.decode(data, type=SkillLibrary)
    except msgspec.DecodeError as error:
        raise RunError(f"The skill library can't be read ({error}). Name another file, or none.") from None
