"""GEPA's adapter (`pip install gepa`): programs as text, scored through a `CertifiedEvaluator`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from surefoot.boundary.outcome import is_success
from surefoot.environments.base import Task
from surefoot.errors import UsageError
from surefoot.scripts.evaluator import CertifiedEvaluator, Result
from surefoot.tape.text import request_text

if TYPE_CHECKING:
    from gepa.core.adapter import EvaluationBatch, ProposalFn

COMPONENT = "program"
"""Under which name GEPA's candidates hold the program's text."""
CALLS_SHOWN = 40


class GepaAdapter:
    """What `gepa.optimize(adapter=…)` takes: data are configurations, candidates `{"program": text}`.

    What a reflection model reads of a configuration does not depend on whether it was certified or run, so that
    a deterministic optimisation goes the same way with certificates and without.
    """

    propose_new_texts: ProposalFn | None = None

    def __init__(self, task: Task, evaluator: CertifiedEvaluator):
        self._task = task
        self._evaluator = evaluator

    @property
    def prompt_template(self) -> str:
        """A `reflection_prompt_template` for programs of the task: its aim, its functions, the program, the runs."""
        return (
            f"A Python program controls this task: {self._task.description}\n\nIt may call these functions:\n\n"
            f"{self._task.surface.page()}\nThe program:\n```\n<curr_param>\n```\n\nHow it did:\n<side_info>\n\n"
            "Write a better program, whole, within ``` marks."
        )

    def evaluate(
        self, batch: list[int], candidate: dict[str, str], capture_traces: bool = False
    ) -> EvaluationBatch[Result, str]:
        """Score a candidate on configurations: 1.0 for a success, 0.0 otherwise. UsageError for other components."""
        from gepa.core.adapter import EvaluationBatch

        if set(candidate) != {COMPONENT}:
            raise UsageError(f"A candidate holds one component, '{COMPONENT}'; this one holds {sorted(candidate)}.")
        results = self._evaluator.evaluate(candidate[COMPONENT], tuple(batch))
        return EvaluationBatch(
            outputs=[result.outcome.text for result in results],
            scores=[result.score for result in results],
            trajectories=results if capture_traces else None,
        )

    def make_reflective_dataset(
        self, candidate: dict[str, str], eval_batch: EvaluationBatch[Result, str], components_to_update: list[str]
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Per configuration: which it is, the last calls made, and how the run ended."""
        records = [_record(result) for result in eval_batch.trajectories or []]
        return dict.fromkeys(components_to_update, records)


def _record(result: Result) -> dict[str, Any]:
    feedback = result.outcome.text
    calls: list[str] = []
    if result.tape is not None and result.tape.end is not None:
        surface = result.tape.header.surface
        calls = [
            request_text(surface, event.function, event.request) + (" raised" if event.raised else "")
            for event in result.tape.events[-CALLS_SHOWN:]
        ]
        if not is_success(result.outcome) and result.tape.end.output:
            feedback += f"\nIt printed:\n{result.tape.end.output.rstrip()}"
    return {"Inputs": {"configuration": str(result.seed)}, "Generated Outputs": {"calls": calls}, "Feedback": feedback}
