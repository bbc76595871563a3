"""Noise: contracts that lie, diagnostics that are missing; what repetition or a bound on promotion buys.

Every arm may spend the same number of row-stage visits on acquisition; what trials and repetitions cost is part
of it. The audit is exact, and success is its word. Evaluation is frozen, under the same noise.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from surefoot.environments.staged import Feedback, Goals, Program, Task
from surefoot.environments.tables.worlds import DOMAIN, TableTask
from surefoot.evaluation.statistics import wilson_interval
from surefoot.memory.evidence import Tally
from surefoot.pi.compositions import COMPOSITIONS, PI, Composition
from surefoot.pi.controller import Controller
from surefoot.pi.experiment import ACQUISITION_BUDGET, COLD_BUDGET
from surefoot.pi.streams import Streams
from surefoot.pi.tables import Cell, Table, mean_and_deviation

LIES = (0.0, 0.05, 0.1, 0.2)
MISSING = (0.0, 0.3)
REPEATS = 3
BOUND = 0.5
"""Lower end of the Wilson interval that the bounded arm asks of an action; four successes in a row reach it."""
ACQUISITION_VISITS = 3_000
"""What each arm may spend on acquisition: little enough that no arm comes to the end of the 96 tasks before it is spent."""


def surely_better_than_even(tally: Tally) -> bool:
    """Promotion by a confidence bound instead of the fixed threshold."""
    return tally.confirmed_often and _lower_bound(tally.successes, tally.successes + tally.failures) >= BOUND


@functools.cache
def _lower_bound(successes: int, trials: int) -> float:
    return wilson_interval(successes, trials)[0]


class Arm(NamedTuple):
    """A controller and how often it repeats each small trial."""

    name: str
    composition: Composition
    repeats: int = 1


ARMS = (
    Arm("pi", PI),
    Arm(f"pi, each trial {REPEATS} times", PI, REPEATS),
    Arm("pi, bound on promotion", replace(PI, promote=surely_better_than_even)),
    Arm("compositional", COMPOSITIONS["compositional"]),
    Arm("self_trial", COMPOSITIONS["self_trial"]),
    Arm("pi_no_incentive", COMPOSITIONS["pi_no_incentive"]),
)


@dataclass
class NoisyTask:
    """A task whose contracts lie with chance `lies`, and whose diagnostics are missing with chance `missing`."""

    task: TableTask
    lies: float
    missing: float
    repeats: int
    chance: random.Random

    @property
    def id(self) -> str:
        """The task's own."""
        return self.task.id

    @property
    def revision(self) -> str:
        """The task's own."""
        return self.task.revision

    @property
    def request(self) -> Goals:
        """The task's own."""
        return self.task.request

    @property
    def trial_rows(self) -> int:
        """The task's own."""
        return self.task.trial_rows

    def full(self, program: Program) -> Feedback:
        """A full submission; the audit is exact, its contracts are not."""
        return self._seen(self.task.full(program), 1)

    def small(self, program: Program) -> Feedback:
        """A trial, repeated; each contract's word is the majority's."""
        return self._seen(self.task.small(program), self.repeats)

    def _seen(self, true: Feedback, times: int) -> Feedback:
        bits = tuple(
            2 * sum(bit != (self.chance.random() < self.lies) for _ in range(times)) > times for bit in true.bits
        )
        failed = tuple(stage for stage, bit in enumerate(bits) if not bit and self.chance.random() >= self.missing)
        return Feedback(bits, failed, true.accepted, times * true.work)


class Found(NamedTuple):
    """One arm in one world: tasks acquired, wrong promotions, and the frozen evaluation."""

    acquired: float
    wrong: float
    first: float
    final: float
    visits: float


Place = tuple[float, float, str]
"""Chance of a lie, chance of a missing diagnostic, arm."""


def run_world(seed: int) -> dict[Place, Found]:
    """All arms under all rates in the world of `seed`."""
    streams = Streams.of(seed)
    return {
        (lies, missing, arm.name): _run(streams, arm, lies, missing)
        for lies in LIES
        for missing in MISSING
        for arm in ARMS
    }


def _run(streams: Streams, arm: Arm, lies: float, missing: float) -> Found:
    def noisy(task: TableTask) -> Task:
        # one stream of noise per task: every arm meets the same
        return NoisyTask(task, lies, missing, arm.repeats, random.Random(f"noise {task.id} {lies} {missing}"))

    controller = Controller(arm.composition, DOMAIN, streams.templates())
    spent = acquired = 0
    for task in streams.acquisition:
        if spent >= ACQUISITION_VISITS:
            break
        spent += controller.run(noisy(task), ACQUISITION_BUDGET, learn=True).visits
        acquired += 1
    episodes = [controller.run(noisy(task), COLD_BUDGET, learn=False) for task in streams.final["composition"]]
    share = 100 / len(episodes)
    return Found(
        acquired,
        _wrong(controller, streams),
        share * sum(episode.first_accepted for episode in episodes),
        share * sum(episode.accepted for episode in episodes),
        sum(episode.visits for episode in episodes) / len(episodes),
    )


def _wrong(controller: Controller, streams: Streams) -> float:
    """How many conditions would start with a wrong action: promoted, but without the effect that is asked for."""
    conditions = {condition for (condition, _), _ in controller.evidence.items()}
    best = {
        condition: controller.evidence.promoted(condition, controller.composition.promote)[:1]
        for condition in conditions
    }
    return sum(
        streams.world.tools[revision][stage][actions[0]] != goal
        for (revision, stage, goal), actions in best.items()
        if actions
    )


def tables(worlds: Sequence[dict[Place, Found]]) -> list[Table]:
    """One row per rates and arm; means over worlds, the standard deviation of `final` beside it."""
    rows: list[tuple[Cell, ...]] = []
    for lies, missing, arm in worlds[0]:
        found = [world[lies, missing, arm] for world in worlds]
        means = [mean_and_deviation([getattr(each, name) for each in found]) for name in Found._fields]
        rows.append((lies, missing, arm, *(mean for mean, _ in means), means[Found._fields.index("final")][1]))
    columns = ("contracts lie", "diagnostics missing", "arm", "tasks acquired", "wrong promotions", "first", "final",
               "visits", "sd of final")  # fmt: skip
    title = f"Noise: compositions, frozen, K={COLD_BUDGET}; {ACQUISITION_VISITS:,} visits of acquisition for every arm"
    return [Table("noise", title, columns, tuple(rows))]
