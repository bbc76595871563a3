"""The integrity suite: what must hold of tasks, sources, audit and controllers before any score is read."""

from __future__ import annotations

from typing import NamedTuple

from surefoot.environments.staged import Program
from surefoot.environments.tables.audit import Reference, reference
from surefoot.environments.tables.worlds import DOMAIN, PROGRAMS, accepts
from surefoot.pi.compositions import COMPOSITIONS
from surefoot.pi.controller import Controller, Episode
from surefoot.pi.experiment import ACQUISITION_BUDGET, BUDGETS, StateChangedError, frozen
from surefoot.pi.sources import fragments_of
from surefoot.pi.streams import Streams

SOURCE_FRAGMENTS = 16


class Checked(NamedTuple):
    """A check: how many cases were looked at, and how many did not hold."""

    name: str
    cases: int
    failures: int


def check_world(seed: int) -> list[Checked]:
    """All checks in the world of `seed`."""
    streams = Streams.of(seed)
    return [
        _full_and_micro_agree(streams),
        _one_program_is_accepted(streams),
        _corruption_is_rejected(streams),
        _effects_are_inferred(streams),
        _ids_are_disjoint(streams),
        *_controllers(streams),
    ]


def total(worlds: list[list[Checked]]) -> list[Checked]:
    """Checks added up over worlds."""
    return [
        Checked(same[0].name, sum(each.cases for each in same), sum(each.failures for each in same))
        for same in zip(*worlds, strict=True)
    ]


def _full_and_micro_agree(streams: Streams) -> Checked:
    wrong = sum(task.full(program).bits != task.small(program).bits for task in streams.tasks for program in PROGRAMS)
    return Checked("contracts agree on the full table and on the micro-task", len(streams.tasks) * len(PROGRAMS), wrong)


def _one_program_is_accepted(streams: Streams) -> Checked:
    wrong = sum(sum(task.full(program).accepted for program in PROGRAMS) != 1 for task in streams.tasks)
    return Checked("exactly one program is accepted", len(streams.tasks), wrong)


def _corruption_is_rejected(streams: Streams) -> Checked:
    """The audit takes no total that is off by the smallest amount, and no supporting rows but the right ones."""
    wrong = 0
    for task in streams.tasks:
        trace = task.trace(next(program for program in PROGRAMS if task.full(program).accepted))
        wanted = reference(task.rows, task.request)
        spoilt = (
            trace._replace(total=trace.total + 1),
            trace._replace(supporting=trace.supporting[:-1]),
            trace._replace(supporting=(*trace.supporting[:-1], "another row")),
        )
        wrong += sum(accepts(each, wanted) for each in spoilt) + (not accepts(trace, wanted))
        wrong += accepts(trace, Reference(wanted.total, wanted.supporting[::-1])) and len(wanted.supporting) > 1
    return Checked("corrupted totals and provenance are rejected", 3 * len(streams.tasks), wrong)


def _effects_are_inferred(streams: Streams) -> Checked:
    """The recognizer names the effect that the hidden tools have, for every fragment and every source stage."""
    templates = streams.templates()
    wrong = sum(
        streams.world.tools[template.revision][stage][action] != template.effects[stage]
        for template in templates
        for stage, action in enumerate(template.program)
    )
    wrong += len(fragments_of(templates)) != SOURCE_FRAGMENTS
    return Checked("source effects are inferred, 16 fragments", 3 * len(templates) + 1, wrong)


def _ids_are_disjoint(streams: Streams) -> Checked:
    tasks = streams.sources + streams.tasks + streams.follow_up
    ids = [task.id for task in tasks]
    rows = [row.row for task in tasks for row in task.rows]
    return Checked(
        "ids of tasks and rows are disjoint", len(ids), len(ids) - len(set(ids)) + len(rows) - len(set(rows))
    )


def _controllers(streams: Streams) -> list[Checked]:
    """Scope, budgets and frozen states, over every controller's acquisition and evaluation."""
    episodes = local = scope = over = changed = 0
    for composition in COMPOSITIONS.values():
        controller = Controller(composition, DOMAIN, streams.templates())
        for task in streams.acquisition:
            initial = controller.initial(task)
            episode = controller.run(task, ACQUISITION_BUDGET, learn=True)
            episodes += 1
            over += len(episode.trials) > ACQUISITION_BUDGET
            if not composition.whole:
                local += 1
                scope += _out_of_scope(initial, episode)
        for budget in BUDGETS:
            try:
                frozen(controller, streams.probe, budget)
            except StateChangedError:
                changed += 1
            over += sum(len(controller.run(task, budget, learn=False).trials) > budget for task in streams.probe)
    return [
        Checked("a local trial changes one stage of the current program", local, scope),
        Checked("no episode uses more trials than its budget", episodes, over),
        Checked("frozen evaluation leaves the learned state as it was", len(BUDGETS) * len(COMPOSITIONS), changed),
    ]


def _out_of_scope(current: Program, episode: Episode) -> int:
    """How many trials of a local controller changed another stage than the one in question."""
    wrong = 0
    for trial in episode.trials:
        changed = [stage for stage, pair in enumerate(zip(current, trial.program, strict=True)) if pair[0] != pair[1]]
        wrong += changed != [trial.stage]
        if trial.committed:
            current = trial.program
    return wrong
