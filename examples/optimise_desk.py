"""GEPA optimises a program for desk/place, once with certificates and once without: `python examples/optimise_desk.py`.

Proposals come from a list of edits, so that both runs are offline and go the same way; with a language model, pass
`reflection_lm=…, reflection_prompt_template=adapter.prompt_template` instead of `custom_candidate_proposer`.
"""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import gepa

from surefoot.environments.registry import find_task
from surefoot.scripts.evaluator import CertifiedEvaluator, Counts
from surefoot.scripts.gepa_adapter import GepaAdapter

FINISHED_READING = "    move_to(start, height=height)\n"
EDITS: tuple[tuple[str, str], ...] = (
    ("force = vary(10.0, ", "force = vary(40.0, "),  # breaks what is not a brick
    (
        "    target = locate(item)\n",
        "    if about['shape'] == 'brick':\n        force = 40.0\n    target = locate(item)\n",
    ),
    ("free from {lowest:.2f} to", "free between {lowest:.2f} and"),  # changes no call
    ("height = vary(0.10, ", "height = vary(0.30, "),  # clears walls, meets lamps
    (FINISHED_READING, "    if lowest > 0.0:\n        height = lowest + 0.02\n" + FINISHED_READING),
    ("    release()\n    move_to(target, height=0.20)\n", "    release()\n"),  # drops the last call
    (
        "    move_to(target, height=0.10)\n    move_to(target, height=0.02)\n",
        "    if about['shape'] == 'mug':\n        import numpy as np\n\n        angle = about['angle']\n"
        "        target = target + 0.05 * np.array([np.cos(angle), np.sin(angle)])\n"
        "    move_to(target, height=0.10)\n    move_to(target, height=0.02)\n",
    ),
)


class Row(NamedTuple):
    """How one optimisation went; `scores` are those of every accepted program on all configurations."""

    program: str
    scores: list[float]
    counts: Counts
    seconds: float


def proposer() -> Callable[..., dict[str, str]]:
    """Proposes the next edit of the list, over and over, that can be made to the candidate."""
    upcoming = itertools.cycle(EDITS)

    def propose(candidate: dict[str, str], reflective_dataset: Any, components: list[str]) -> dict[str, str]:
        text = candidate["program"]
        for old, new in itertools.islice(upcoming, len(EDITS)):
            if old in text and new not in text:
                return {"program": text.replace(old, new, 1)}
        return {"program": text}

    return propose


def optimise(certificates: bool, *, configurations: int = 25, metric_calls: int = 300, seed: int = 0) -> Row:
    """One run of GEPA on development configurations of desk/place."""
    task = find_task("desk/place")
    seeds = task.development[:configurations]
    first = next(item.source for item in task.demonstrations if item.name == "place_naive")
    started = time.perf_counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        CertifiedEvaluator(task, seeds, Path(folder), certificates=certificates) as evaluator,
    ):
        result = gepa.optimize(
            seed_candidate={"program": first},
            trainset=list(seeds),
            valset=list(seeds),
            adapter=GepaAdapter(task, evaluator),
            custom_candidate_proposer=proposer(),
            reflection_minibatch_size=5,
            max_metric_calls=metric_calls,
            seed=seed,
            logger=Silent(),
        )
        seconds = time.perf_counter() - started
        return Row(result.best_candidate["program"], result.val_aggregate_scores, evaluator.counts, seconds)


class Silent:
    """A logger that keeps to itself."""

    def log(self, message: str) -> None:
        """Nothing is logged."""


def main() -> None:
    """Both runs, and what they have in common."""
    rows = {"without": optimise(False), "with": optimise(True)}
    print("certificates  best score  episodes run  certified  equal text  seconds")
    for name, (_, scores, counts, seconds) in rows.items():
        print(
            f"{name:12}  {max(scores):10.2f}  {counts.executed:12}  {counts.certified:9}  {counts.repeated:10}  {seconds:7.1f}"
        )
    plain, cached = rows["without"], rows["with"]
    print("same programs accepted, same scores:", (plain.program, plain.scores) == (cached.program, cached.scores))
    print("scores of accepted programs:", *(f"{score:.2f}" for score in cached.scores))


if __name__ == "__main__":
    main()
