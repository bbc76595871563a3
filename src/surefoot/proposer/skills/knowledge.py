"""What the proposer knows of executions: which variant ran in each slot, and whether the slot did its work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from surefoot.boundary.wire import Scalar
from surefoot.diagnosis.annotation import Diagnosis
from surefoot.diagnosis.graph import DiagnosticGraph
from surefoot.memory.archive import Archive, Record
from surefoot.program.source import Program
from surefoot.proposer.skills.assignment import SceneEvidence
from surefoot.proposer.skills.sketch import Sketch, Variant, dispatch_place
from surefoot.tape.file import Tape


class SlotResult(msgspec.Struct, frozen=True):
    """How one slot did in one execution: None where the execution broke before it could show."""

    variant: Variant | None
    passed: bool | None


class Reader:
    """Reads local values out of recorded executions by replaying programs on their tapes; remembers them."""

    def __init__(self, is_effect: Callable[[str], bool]):
        self._is_effect = is_effect
        self._read: dict[tuple[str, str, str], Mapping[str, Scalar] | None] = {}

    def before_guards(
        self, archive: Archive, program: Program, sketch: Sketch, index: int, record: Record
    ) -> Mapping[str, Scalar] | None:
        """Values that `program` has read when slot `index` decides, on a record's scene; None if it gets not there."""
        place = dispatch_place(sketch, index, self._is_effect)
        return self._value(archive, program, record, place) if place else None

    def at_end(self, archive: Archive, program: Program, stage: str, record: Record) -> Mapping[str, Scalar] | None:
        """Local values when a stage returns, on a record's scene."""
        return self._value(archive, program, record, f"end:{stage}")

    def _value(self, archive: Archive, program: Program, record: Record, place: str) -> Mapping[str, Scalar] | None:
        if not record.tape:
            return None
        key = (program.digest, record.tape, place)
        if key not in self._read:
            seen = archive.watch(program, record, (place,))
            self._read[key] = seen[0].values if seen else None
        return self._read[key]


def slot_passed(sketch: Sketch, index: int, record: Record, tape: Tape | None, graph: DiagnosticGraph) -> bool | None:
    """Whether a slot brought about its checks; None if an earlier slot's failure hides it."""
    if record.success:
        return True
    blamed = blame(sketch, record.diagnosis, tape, graph)
    if blamed is None or index > blamed:
        return None
    return index < blamed


def blame(sketch: Sketch, diagnosis: Diagnosis | None, tape: Tape | None, graph: DiagnosticGraph) -> int | None:
    """The slot to repair: the one in which an invariant broke, else the owner of the first frontier check.

    None if no slot answers for the frontier, or without a usable diagnosis. Where the frontier is empty
    (all checks hold, yet the evaluator refuses) the last slot is taken.
    """
    if diagnosis is None:
        return None
    if not diagnosis.frontier:
        return len(sketch.slots) - 1
    broken = _broken_at(sketch, diagnosis, tape, graph)
    owners = [index for name in diagnosis.frontier for index in _owners(sketch, name)]
    if broken is not None and (not owners or broken <= owners[0]):
        return broken
    return owners[0] if owners else None


def _owners(sketch: Sketch, check: str) -> Iterable[int]:
    return (index for index, slot in enumerate(sketch.slots) if check in slot.checks)


def _broken_at(sketch: Sketch, diagnosis: Diagnosis, tape: Tape | None, graph: DiagnosticGraph) -> int | None:
    """The slot during which an invariant that the frontier depends on ceased to hold, if that can be told."""
    if tape is None:
        return None
    needed = {name for check in diagnosis.frontier for name in (check, *graph.ancestors[check])}
    breaks = []
    for name in needed:
        window = diagnosis.findings[name].window
        if graph[name].invariant and window is not None and window.last + 1 < len(tape.events):
            breaks.append(window.last + 1)
    if not breaks:
        return None
    stage = tape.events[min(breaks)].stage
    return next((index for index, slot in enumerate(sketch.slots) if slot.name == stage), None)


def scene_evidence(
    entries: Iterable[tuple[Mapping[str, Scalar] | None, SlotResult]],
) -> SceneEvidence:
    """One scene's evidence from all executions on it, oldest first; the newest values count."""
    evidence = SceneEvidence(None, set(), set())
    for values, result in entries:
        evidence.values = values if values is not None else evidence.values
        if result.variant is None or result.passed is None:
            continue
        if result.passed:
            evidence.worked.add(result.variant)
            evidence.failed.discard(result.variant)
        elif result.variant not in evidence.worked:
            evidence.failed.add(result.variant)
    return evidence
