"""What source demonstrations give a controller: templates, and the fragments in them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from surefoot.environments.staged import Goals, Program
from surefoot.memory.fragments import Fragment

Condition = tuple[str, int, Hashable]
"""c = (revision, stage, goal): what evidence is kept under."""


class ActionFragment(Fragment[Hashable], frozen=True):
    """One action at one stage of an accepted program, with the effect inferred from its transition."""

    revision: str
    stage: int
    action: int


class Template(NamedTuple):
    """A source demonstration: an accepted program, what was requested, and the effect of each stage as inferred."""

    id: str
    revision: str
    request: Goals
    program: Program
    effects: tuple[Hashable, ...]

    def likeness(self, request: Goals) -> int:
        """How many goals agree."""
        return sum(map(lambda own, other: own == other, self.request, request))


def fragments_of(templates: list[Template]) -> list[ActionFragment]:
    """The distinct fragments of source demonstrations, each with the first source that shows it."""
    found: dict[tuple[str, int, int, Hashable], ActionFragment] = {}
    for template in templates:
        for stage, (action, effect) in enumerate(zip(template.program, template.effects, strict=True)):
            key = (template.revision, stage, action, effect)
            found.setdefault(key, ActionFragment(template.id, effect, template.revision, stage, action))
    return list(found.values())
