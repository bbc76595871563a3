"""Sketches: a program as slots, each a decision list over variants of one stage.

The proposer edits sketches, not text; `render` writes the program that a sketch stands for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import msgspec

from surefoot.boundary.wire import Scalar
from surefoot.program.edits import (
    Alternative,
    Branch,
    can_read,
    dispatch_line,
    renamed,
    takes_effect,
    with_branches,
    with_constants,
    with_retry,
)
from surefoot.program.source import Program, lines_of
from surefoot.program.stages import Stage


class Variant(msgspec.Struct, frozen=True):
    """One way to do a stage: a fragment's text with values for some of its constants."""

    fragment: str
    constants: tuple[tuple[str, float], ...] = ()

    @property
    def text(self) -> str:
        """Short name for messages."""
        values = ", ".join(f"{name}={value:g}" for name, value in self.constants)
        return f"{self.fragment}({values})" if values else self.fragment


class Condition(msgspec.Struct, frozen=True):
    """A stump: one expression against one value."""

    expression: str
    operator: str
    value: Scalar

    @property
    def text(self) -> str:
        """The condition as Python."""
        return f"{self.expression} {self.operator} {self.value!r}"

    def holds(self, values: Mapping[str, Scalar]) -> bool | None:
        """Whether the condition holds for known values; None where its expression is unknown."""
        if self.expression not in values:
            return None
        value = values[self.expression]
        if self.operator == "==":
            return type(value) is type(self.value) and value == self.value
        if isinstance(value, str) or isinstance(self.value, str):
            return None
        return value > self.value if self.operator == ">" else value < self.value


class Guard(msgspec.Struct, frozen=True):
    """`if condition: variant`."""

    condition: Condition
    variant: Variant


class Slot(msgspec.Struct, frozen=True):
    """One stage call: what it must bring about, on which objects, and how.

    `checks` are the graph's checks that the slot answers for. The first guard whose condition holds
    decides; otherwise `default` runs. `retry` is a condition over values at the stage's end.
    """

    name: str
    parameters: tuple[str, ...]
    objects: tuple[str, ...]
    checks: tuple[str, ...]
    default: Variant
    guards: tuple[Guard, ...] = ()
    retry: Condition | None = None

    def chosen(self, values: Mapping[str, Scalar]) -> Variant | None:
        """The variant that runs where these values have been read; None where that can't be told."""
        for guard in self.guards:
            holds = guard.condition.holds(values)
            if holds is None:
                return None
            if holds:
                return guard.variant
        return self.default


class Sketch(msgspec.Struct, frozen=True):
    """A whole program as slots in order. `stages` holds the text of every fragment that the slots name."""

    slots: tuple[Slot, ...]
    stages: dict[str, Stage]

    def with_slot(self, index: int, slot: Slot, stages: Mapping[str, Stage]) -> Sketch:
        """The sketch with one slot replaced, holding just the texts that it needs."""
        slots = (*self.slots[:index], slot, *self.slots[index + 1 :])
        needed = {name for item in slots for name in _fragments(item)}
        texts = {**self.stages, **stages}
        return Sketch(slots, {name: texts[name] for name in sorted(needed)})


def _fragments(slot: Slot) -> list[str]:
    return [slot.default.fragment, *(guard.variant.fragment for guard in slot.guards)]


def render(sketch: Sketch, is_effect: Callable[[str], bool]) -> Program:
    """The program text of a sketch."""
    parts = [rendered_stage(sketch, slot, is_effect).source.rstrip("\n") for slot in sketch.slots]
    calls = [f"{slot.name}({', '.join(map(_quoted, slot.objects))})" for slot in sketch.slots]
    return Program("\n\n\n".join(parts) + "\n\n\n" + "\n".join(calls) + "\n")


def _quoted(name: str) -> str:
    """An object's name as Python text in double quotes."""
    return json.dumps(name, ensure_ascii=False)


def dispatch_place(sketch: Sketch, index: int, is_effect: Callable[[str], bool]) -> str | None:
    """The place, for `watch`, at which a slot's guards are decided: its line in the rendered program."""
    stage = _base(sketch, sketch.slots[index])
    line = dispatch_line(stage, is_effect)
    if line is None:
        return None
    before = sum(len(lines_of(rendered_stage(sketch, slot, is_effect).source)) + 2 for slot in sketch.slots[:index])
    return f"line:{before + line + (1 if sketch.slots[index].retry else 0)}"


def legible(slot: Slot, stages: Mapping[str, Stage], is_effect: Callable[[str], bool]) -> Slot | None:
    """The slot as its default stage can run it; None if a guard asks for what that stage has not read.

    Conditions are over values of the default stage, and another fragment has other names. A retry that it can't
    decide is dropped.
    """
    stage = stages[slot.default.fragment]
    line = dispatch_line(stage, is_effect)
    if not all(can_read(stage, guard.condition.expression, line) for guard in slot.guards):
        return None
    if slot.retry is not None and not can_read(stage, slot.retry.expression):
        return msgspec.structs.replace(slot, retry=None)
    return slot


def _base(sketch: Sketch, slot: Slot) -> Stage:
    stage = renamed(sketch.stages[slot.default.fragment], slot.name)
    return with_constants(stage, dict(slot.default.constants))


def rendered_stage(sketch: Sketch, slot: Slot, is_effect: Callable[[str], bool]) -> Stage:
    """One slot's stage as it stands in the program: constants set, guards and retry in place."""
    stage = _base(sketch, slot)
    line = dispatch_line(stage, is_effect)
    if slot.guards and line is not None:
        stage = with_branches(stage, line, tuple(_branch(sketch, slot, guard, line) for guard in slot.guards))
    return with_retry(stage, slot.retry.text) if slot.retry else stage


def _branch(sketch: Sketch, slot: Slot, guard: Guard, line: int) -> Branch:
    """A guard as text: constants set in place where that is enough, else the variant as a function of its own."""
    variant, default = guard.variant, slot.default
    if variant.fragment == default.fragment:
        stage = sketch.stages[default.fragment]
        declared = {constant.name: constant.value for constant in stage.constants}
        changed = dict(variant.constants)
        values = {**changed, **{name: declared[name] for name, _ in default.constants if name not in changed}}
        if all(takes_effect(stage, line, name) for name in values):
            return Branch(guard.condition.text, Alternative(constants=tuple(values.items())))
    other = with_constants(sketch.stages[variant.fragment], dict(variant.constants))
    return Branch(guard.condition.text, Alternative(stage=renamed(other, f"{slot.name}_{variant.fragment[:4]}")))
