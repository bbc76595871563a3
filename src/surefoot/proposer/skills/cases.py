"""Cases: what the archive says of one slot, scene by scene."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from surefoot.boundary.wire import Scalar
from surefoot.environments.base import Task
from surefoot.memory.archive import Archive, Record
from surefoot.proposer.skills.assignment import SceneEvidence
from surefoot.proposer.skills.knowledge import Reader, SlotResult, scene_evidence
from surefoot.proposer.skills.sketch import Sketch, render
from surefoot.tape.file import Tape

Passed = Callable[[Sketch, int, Record, Tape | None], bool | None]
"""Whether a slot did its work in an execution; None where that can't be told."""


class Cases:
    """Executions of sketches on one task. `sketches` says which sketch each program was written from."""

    def __init__(self, task: Task, is_effect: Callable[[str], bool], passed: Passed):
        self.sketches: dict[str, Sketch] = {}
        self._task = task
        self._is_effect = is_effect
        self._passed = passed
        self._reader = Reader(is_effect)

    def scenes(self, archive: Archive, base: Sketch, index: int) -> dict[str, SceneEvidence]:
        """Evidence on slot `index` of `base` from every archived execution, by scene."""
        program = render(base, self._is_effect)
        checks = base.slots[index].checks
        entries: dict[str, list[tuple[Mapping[str, Scalar] | None, SlotResult]]] = {}
        for record in archive.on(self._task.name):
            sketch = self.sketches.get(record.program)
            if sketch is None or record.role == "demonstration":
                continue
            values = self._reader.before_guards(archive, program, base, index, record)
            entries.setdefault(record.scene, []).append((values, self.result(archive, sketch, checks, record)))
        return {scene: scene_evidence(items) for scene, items in entries.items()}

    def result(self, archive: Archive, sketch: Sketch, checks: tuple[str, ...], record: Record) -> SlotResult:
        """What ran in the slot that answers for `checks` in a record's program, and whether it did its work."""
        index = next((number for number, slot in enumerate(sketch.slots) if slot.checks == checks), None)
        if index is None:
            return SlotResult(None, None)
        slot = sketch.slots[index]
        program = archive.programs[record.program]
        values = self._reader.before_guards(archive, program, sketch, index, record) if slot.guards else {}
        variant = slot.chosen(values) if values is not None else None
        tape = archive.tape(record) if record.tape else None
        return SlotResult(variant, self._passed(sketch, index, record, tape))

    def endings(
        self, archive: Archive, name: str, record: Record
    ) -> tuple[Mapping[str, Scalar] | None, list[Mapping[str, Scalar]]]:
        """Values at a stage's end in a record, and in the successes of the record's program."""
        program = archive.programs[record.program]
        good = [
            self._reader.at_end(archive, program, name, other)
            for other in archive.on(self._task.name)
            if other.program == record.program and other.success
        ]
        return self._reader.at_end(archive, program, name, record), [item for item in good if item is not None]
