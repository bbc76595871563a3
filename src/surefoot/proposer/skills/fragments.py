"""Fragments: closed stages taken from accepted executions, with the effect that they were seen to have."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

import msgspec

from surefoot.diagnosis.annotation import Diagnosis
from surefoot.diagnosis.graph import DiagnosticGraph
from surefoot.environments.base import Task
from surefoot.memory.archive import Record
from surefoot.memory.fragments import Fragment
from surefoot.program.source import Program
from surefoot.program.stages import Stage, StageCall, StagedProgram, staged
from surefoot.tape.file import Tape


class Fact(msgspec.Struct, frozen=True, order=True):
    """A predicate over roles, by role type: `on(item: cube, base: cube)`; comparable across tasks."""

    predicate: str
    roles: tuple[str, ...]
    types: tuple[str, ...]

    @property
    def key(self) -> tuple[str, tuple[str, ...]]:
        """What must agree for two facts to mean the same: predicate and role types."""
        return (self.predicate, self.types)

    def __str__(self) -> str:
        return f"{self.predicate}({', '.join(self.roles)})"


class StageFragment(Fragment[tuple[Fact, ...]], frozen=True):
    """A stage and its inferred effect: the facts that became supported while it ran.

    `parameters` gives, per parameter of the stage, the role of the object that it was called with.
    """

    stage: Stage
    parameters: tuple[str, ...]

    @property
    def id(self) -> str:
        """Identity of the stage's text, 12 hex digits."""
        return hashlib.blake2b(self.stage.source.encode(), digest_size=6).hexdigest()

    def bind(self, wanted: Fact, roles: Mapping[str, str], types: Mapping[str, str]) -> tuple[str, ...] | None:
        """Objects for the stage's parameters so that the fragment brings about `wanted`; None if it can't.

        Parameters that the wanted fact does not name take the role of their own name, where the task has it
        and the type fits. Different roles never get one object.
        """
        own = {role: kind for fact in self.effect for role, kind in zip(fact.roles, fact.types, strict=True)}
        for bound in self._bindings(wanted):
            targets = [bound.get(role, role) for role in self.parameters]
            fits = all(
                target in roles and own.get(role, types[target]) == types[target]
                for role, target in zip(self.parameters, targets, strict=True)
            )
            if fits and len(set(targets)) == len(set(self.parameters)):
                return tuple(roles[target] for target in targets)
        return None

    def effect_for(self, wanted: Fact) -> frozenset[Fact]:
        """What the fragment brings about when it is bound so that it brings about `wanted`."""
        bound = next(self._bindings(wanted), {})
        return frozenset(
            Fact(fact.predicate, tuple(bound.get(role, role) for role in fact.roles), fact.types)
            for fact in self.effect
        )

    def _bindings(self, wanted: Fact) -> Iterator[dict[str, str]]:
        """Ways to give the fragment's roles those of `wanted`."""
        for fact in self.effect:
            if fact.key == wanted.key:
                yield dict(zip(fact.roles, wanted.roles, strict=True))


def facts_of(graph: DiagnosticGraph, types: Mapping[str, str]) -> dict[str, Fact]:
    """Each check of a graph as a fact."""
    return {
        check.name: Fact(check.predicate.name, check.roles, tuple(types[role] for role in check.roles))
        for check in graph
    }


def fragments_of(task: Task, program: Program, record: Record, tape: Tape) -> list[StageFragment]:
    """The fragments of one accepted execution: its closed stages, each with what it brought about."""
    parts = staged(program)
    if parts is None or record.diagnosis is None or not record.success:
        return []
    names = [function.name for function in task.surface.functions] + [spec.name for spec in task.surface.types]
    roles = {item: role for role, item in task.roles.items()}
    found = []
    for call, effect in zip(parts.calls, effects_of(task, parts, record.diagnosis, tape), strict=True):
        stage = parts.stage(call.stage)
        if effect and stage.is_closed([*names, "state"]) and all(item in roles for item in call.objects):
            found.append(StageFragment(program.name, tuple(effect), stage, tuple(roles[item] for item in call.objects)))
    return found


def effects_of(task: Task, parts: StagedProgram, diagnosis: Diagnosis, tape: Tape) -> list[list[Fact]]:
    """Per stage call, the facts whose evidence begins while it runs."""
    facts = facts_of(task.graph, task.role_types)
    effects: list[list[Fact]] = [[] for _ in parts.calls]
    spans = stage_spans(parts.calls, tape)
    for name in diagnosis.supported:
        window = diagnosis.findings[name].window
        for effect, span in zip(effects, spans, strict=True):
            if window is not None and span is not None and span[0] <= window.first <= span[1]:
                effect.append(facts[name])
    return effects


def stage_spans(calls: tuple[StageCall, ...], tape: Tape) -> list[tuple[int, int] | None]:
    """First and last event of each stage call; None for one that made none.

    Calls run in order, so the events of equal neighbours can't be told apart; they count to the first.
    """
    spans: list[tuple[int, int] | None] = []
    position = 0
    for call in calls:
        start = position
        while position < len(tape.events) and tape.events[position].stage == call.stage:
            position += 1
        spans.append((start, position - 1) if position > start else None)
    return spans
