"""The controller: Algorithm 1 of PI, with everything that its compositions vary as a switch."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

from surefoot.environments.staged import Domain, Feedback, Goals, Program, Task
from surefoot.memory.evidence import Evidence
from surefoot.pi.compositions import Composition
from surefoot.pi.sources import ActionFragment, Condition, Template, fragments_of

COST = 0.01
"""Cost of one row-stage visit per row of the trial, in the incentive."""


class Trial(NamedTuple):
    """One small trial: which stage was in question, the program tried, whether it was committed, and its incentive."""

    stage: int
    program: Program
    committed: bool
    incentive: float
    bits: tuple[bool, ...]


class Episode(NamedTuple):
    """How one task went."""

    program: Program
    first_accepted: bool
    accepted: bool
    collateral: bool
    tentative_regressions: int
    trials: tuple[Trial, ...]
    visits: int


class Controller:
    """One controller with what it has learned. `templates` are the source demonstrations, in order of their ids."""

    def __init__(self, composition: Composition, domain: Domain, templates: list[Template]):
        self.composition = composition
        self.evidence: Evidence[Condition, int] = Evidence()
        self.programs: dict[tuple[str, Goals], Program] = {}
        self._domain = domain
        self._templates = templates
        self._fragments: dict[tuple[int, object], list[ActionFragment]] = {}
        for fragment in fragments_of(templates):
            self._fragments.setdefault((fragment.stage, fragment.effect), []).append(fragment)

    def reset(self) -> None:
        """Discard everything learned: the cold controller."""
        self.evidence = Evidence()
        self.programs = {}

    def digest(self) -> str:
        """Hash of everything learned."""
        known = [(key, tally.successes, tally.failures, tally.incentive, sorted(tally.confirmed))
                 for key, tally in self.evidence.items()]  # fmt: skip
        return hashlib.blake2b(repr((known, sorted(self.programs.items()))).encode(), digest_size=16).hexdigest()

    def run(self, task: Task, budget: int, *, learn: bool) -> Episode:
        """One episode with at most `budget` small trials and two full submissions; writes evidence if `learn`."""
        initial = self.initial(task)
        first = task.full(initial)
        visits = first.work
        program, final = initial, first
        trials: list[Trial] = []
        if not first.accepted:
            if self.composition.trials:
                program, trials = self._repair(task, initial, first, budget, learn)
            else:
                program = self._adopt(task, initial, first)
            final = task.full(program)
            visits += final.work + sum(task.small(trial.program).work for trial in trials)
        if learn and final.accepted:
            self._confirm(task, program)
        lost = any(then and not now for then, now in zip(first.bits, final.bits, strict=True))
        return Episode(
            program, first.accepted, final.accepted, lost, _regressions(first.bits, trials), tuple(trials), visits
        )

    def initial(self, task: Task) -> Program:
        """The program of the first submission: promoted actions, else first identifiers."""
        if self.composition.memory == "programs":
            return self.programs.get((task.revision, task.request), self._domain.first)
        if self.composition.memory == "nothing":
            return self._domain.first
        best = (
            self.evidence.promoted((task.revision, stage, goal), self.composition.promote)[:1]
            for stage, goal in enumerate(task.request)
        )
        return tuple(actions[0] if actions else 0 for actions in best)

    def _repair(
        self, task: Task, initial: Program, first: Feedback, budget: int, learn: bool
    ) -> tuple[Program, list[Trial]]:
        """Step 3: try candidates for the first failed stage on the micro-task, and commit those that pass."""
        program, failed, bits = initial, first.failed, first.bits
        trials: list[Trial] = []
        tried: set[tuple[int, Program]] = set()
        while failed and len(trials) < budget:
            stage = failed[0]
            candidate = self._next(task, stage, program, tried)
            if candidate is None:
                break
            tried.add((stage, candidate))
            feedback = task.small(candidate)
            passed = all(feedback.bits) if self.composition.commit_on == "all" else feedback.bits[stage]
            incentive = sum(feedback.bits) - sum(bits) - COST * feedback.work / task.trial_rows
            if learn and self.composition.memory == "actions":
                condition = (task.revision, stage, task.request[stage])
                self.evidence.record_trial(condition, candidate[stage], feedback.bits[stage], incentive)
            trials.append(Trial(stage, candidate, passed, incentive, feedback.bits))
            if passed:
                program, failed, bits = candidate, feedback.failed, feedback.bits
        return program, trials

    def _adopt(self, task: Task, initial: Program, first: Feedback) -> Program:
        """Without trials: the top candidate of each failed stage."""
        program = initial
        for stage in first.failed:
            program = self._next(task, stage, program, set()) or program
        return program

    def _next(self, task: Task, stage: int, program: Program, tried: set[tuple[int, Program]]) -> Program | None:
        """The best candidate that is neither the current program nor was tried in this episode."""
        for source in self.composition.candidates:
            for candidate in _SOURCES[source](self, task, stage, program):
                if (stage, candidate) in tried or (candidate == program and self.composition.skips_current):
                    continue
                return candidate
        return None

    def _acquired(self, task: Task, stage: int, program: Program) -> Iterator[Program]:
        for action in self.evidence.acquired((task.revision, stage, task.request[stage])):
            yield _with(program, stage, action)

    def _by_effect(self, task: Task, stage: int, program: Program) -> Iterator[Program]:
        goal = task.request[stage]
        if self.composition.whole:
            for template in sorted(self._templates, key=lambda each: (each.effects[stage] != goal,
                                                                      each.revision != task.revision, each.id)):  # fmt: skip
                yield template.program
            return
        for fragment in sorted(self._fragments.get((stage, goal), ()), key=lambda each: self._rank(each, task)):
            yield _with(program, stage, fragment.action)

    def _rank(self, fragment: ActionFragment, task: Task) -> tuple[bool, float, str]:
        """Current revision first, then the evidence of the fragment's own condition, then the source's id."""
        condition = (fragment.revision, fragment.stage, fragment.effect)
        score = self.evidence.tally(condition, fragment.action).score if self.composition.ranks_fragments else 0.0
        return fragment.revision != task.revision, -score, fragment.origin

    def _by_request(self, task: Task, stage: int, program: Program) -> Iterator[Program]:
        def rank(template: Template) -> tuple[bool, int, str]:
            return template.revision != task.revision, -template.likeness(task.request), template.id

        for template in sorted(self._templates, key=rank):
            yield template.program if self.composition.whole else _with(program, stage, template.program[stage])

    def _typed(self, task: Task, stage: int, program: Program) -> Iterator[Program]:
        for action in range(len(self._domain.actions[stage])):
            yield _with(program, stage, action)

    def _confirm(self, task: Task, program: Program) -> None:
        """A fully accepted task confirms each action of its final program, under its own conditions."""
        if self.composition.memory == "programs":
            self.programs[task.revision, task.request] = program
        elif self.composition.memory == "actions":
            for stage, (goal, action) in enumerate(zip(task.request, program, strict=True)):
                self.evidence.confirm((task.revision, stage, goal), action, task.id)


_SOURCES: dict[str, Callable[[Controller, Task, int, Program], Iterator[Program]]] = {
    "acquired": Controller._acquired,
    "by effect": Controller._by_effect,
    "by request": Controller._by_request,
    "typed": Controller._typed,
}


def _with(program: Program, stage: int, action: int) -> Program:
    return (*program[:stage], action, *program[stage + 1 :])


def _regressions(bits: tuple[bool, ...], trials: list[Trial]) -> int:
    """How often a commit failed a contract that passed before it."""
    count = 0
    for trial in trials:
        if trial.committed:
            count += sum(then and not now for then, now in zip(bits, trial.bits, strict=True))
            bits = trial.bits
    return count
