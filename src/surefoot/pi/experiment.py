"""The paper's experiments on one world: cold, acquisition with checkpoints, transfer and budgets, reset, follow-up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from surefoot.environments.tables.worlds import DOMAIN, TableTask
from surefoot.errors import SurefootError
from surefoot.pi.compositions import COMPOSITIONS
from surefoot.pi.controller import Controller, Episode
from surefoot.pi.streams import GROUPS, Streams

COLD_BUDGET = 3
ACQUISITION_BUDGET = 6  # ours: 3 gives the same frozen results
BUDGETS = (1, 3, 6)
CHECKPOINTS = (0, 24, 48, 96)
FOLLOW_UP_BUDGET = 3
FOLLOW_UP_CHECKPOINTS = (0, 6, 12, 24)
FOLLOW_UP_CONTROLLERS = ("pi", "compositional", "self_trial", "pi_no_incentive")


class Key(NamedTuple):
    """One cell of the results: what was done, on which tasks, with which budget, by whom."""

    setting: str
    group: str
    budget: int
    controller: str


class Measure(NamedTuple):
    """Means over the tasks of one group: rates in per cent, trials and visits per task."""

    final: float
    first: float
    collateral: float
    tentative: float
    trials: float
    visits: float

    @classmethod
    def of(cls, episodes: Sequence[Episode]) -> Measure:
        """The means of some episodes."""
        share = 1 / len(episodes)
        return cls(
            100 * share * sum(episode.accepted for episode in episodes),
            100 * share * sum(episode.first_accepted for episode in episodes),
            100 * share * sum(episode.collateral for episode in episodes),
            share * sum(episode.tentative_regressions for episode in episodes),
            share * sum(len(episode.trials) for episode in episodes),
            share * sum(episode.visits for episode in episodes),
        )


Results = dict[Key, Measure]


class StateChangedError(SurefootError):
    """A frozen evaluation changed what a controller has learned."""


def frozen(controller: Controller, tasks: Iterable[TableTask], budget: int) -> Measure:
    """Evaluate without learning; StateChangedError if the controller's state is another afterwards."""
    before = controller.digest()
    episodes = [controller.run(task, budget, learn=False) for task in tasks]
    if controller.digest() != before:
        raise StateChangedError(f"The frozen evaluation of {controller.composition.name} changed what it has learned.")
    return Measure.of(episodes)


def run_world(seed: int) -> Results:
    """All of the paper's measurements in the world of `seed`."""
    streams = Streams.of(seed)
    results: Results = {}
    for each in COMPOSITIONS.values():
        controller = Controller(each, DOMAIN, streams.templates())
        _main(controller, streams, results)
        if each.name in FOLLOW_UP_CONTROLLERS:
            _follow_up(controller, streams, results)
        if each.name == "pi":
            controller.reset()
            for group in GROUPS:
                results[Key("reset", group, COLD_BUDGET, each.name)] = frozen(
                    controller, streams.final[group], COLD_BUDGET
                )
    return results


def _main(controller: Controller, streams: Streams, results: Results) -> None:
    name = controller.composition.name
    for group in GROUPS:
        results[Key("cold", group, COLD_BUDGET, name)] = frozen(controller, streams.final[group], COLD_BUDGET)
    for number, task in enumerate(streams.acquisition):
        if number in CHECKPOINTS:
            results[Key(f"probe {number}", "composition", COLD_BUDGET, name)] = frozen(
                controller, streams.probe, COLD_BUDGET
            )
        controller.run(task, ACQUISITION_BUDGET, learn=True)
    results[Key(f"probe {len(streams.acquisition)}", "composition", COLD_BUDGET, name)] = frozen(
        controller, streams.probe, COLD_BUDGET
    )
    for budget in BUDGETS:
        for group in GROUPS:
            results[Key("acquired", group, budget, name)] = frozen(controller, streams.final[group], budget)


def _follow_up(controller: Controller, streams: Streams, results: Results) -> None:
    """Exploratory: learn on revision C as well, from the history of A and B on."""
    name = controller.composition.name
    tasks = streams.follow_up
    for exposures in range(len(tasks) + 1):
        if exposures in FOLLOW_UP_CHECKPOINTS:
            results[Key(f"follow-up {exposures}", "revision-C", FOLLOW_UP_BUDGET, name)] = frozen(
                controller, streams.final["revision-C"], FOLLOW_UP_BUDGET
            )
        if exposures < len(tasks):
            controller.run(tasks[exposures], FOLLOW_UP_BUDGET, learn=True)
