"""PI's controller on a user's own pipeline: solving tasks, what is known, and keeping it in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from surefoot.environments.staged import Goals, Program
from surefoot.errors import UsageError
from surefoot.memory.evidence import Tally
from surefoot.pi import evidence_file
from surefoot.pi.compositions import Composition, composition
from surefoot.pi.controller import Controller, Episode
from surefoot.pi.evidence_file import Contents, Entry, Remembered, tupled
from surefoot.pi.pipeline import Pipeline, PipelineTask
from surefoot.pi.sources import Template


class Tried(NamedTuple):
    """A trial: an action at a stage, on the micro-task; what its contract held against it (empty: it was kept)."""

    stage: str
    action: str
    kept: bool
    incentive: float
    wrong: str


@dataclass(frozen=True)
class Outcome:
    """How a task went. `data` is the output where it was accepted, else None: a rejected output is not handed out.

    `first` and `final` say what was wrong with the first and the last submission (empty: accepted), `visits` counts
    rows entering stages and rows leaving the last, over all submissions and trials. `str(outcome)` tells it in lines.
    """

    task: str
    accepted: bool
    first_accepted: bool
    submitted: dict[str, str]
    program: dict[str, str]
    first: str
    final: str
    trials: tuple[Tried, ...]
    visits: int
    advice: str
    data: Any = field(repr=False)

    def __str__(self) -> str:
        lines = [f"{self.task}: submits {_shown(self.submitted)}: {self.first or 'accepted'}"]
        for number, trial in enumerate(self.trials, start=1):
            said = (
                f"kept, incentive {trial.incentive:.2f}"
                if trial.kept
                else trial.wrong or "its contract passes, but not all do"
            )
            lines.append(f"  trial {number}: {trial.action} for {trial.stage}: {said}")
        if not self.first_accepted:
            lines.append(f"  submits {_shown(self.program)}: {self.final or 'accepted'}")
        if self.advice:
            lines.append(f"  {self.advice}")
        return "\n".join([*lines, f"  {self.visits} rows visited"])


class Known(NamedTuple):
    """What is known of one action: E(c, a) = (s, f, R, |U|), and whether first submissions use it."""

    revision: str
    stage: str
    goal: Any
    action: str
    successes: int
    failures: int
    incentive: float
    confirmations: int
    promoted: bool


class Learner:
    """A controller of PI with what it has learned on a pipeline.

    `composition` is one of the paper's eight controllers by name, or a composition of your own; `demonstrations` come
    from `Pipeline.demonstrate` and are optional.
    """

    def __init__(
        self, pipeline: Pipeline, composition: str | Composition = "pi", demonstrations: Sequence[Template] = ()
    ):
        self.pipeline = pipeline
        self.composition = _composition(composition)
        self._controller = Controller(self.composition, pipeline.domain, list(demonstrations))

    @classmethod
    def load(
        cls,
        pipeline: Pipeline,
        path: str | Path,
        composition: str | Composition = "pi",
        demonstrations: Sequence[Template] = (),
    ) -> Learner:
        """A learner that knows what `save` wrote.

        UsageError for a file that is missing, damaged or newer, or that another composition learned, and for a stage
        or an action that the pipeline does not have.
        """
        learner = cls(pipeline, composition, demonstrations)
        learner._recall(Path(path), evidence_file.read(Path(path)))
        return learner

    def save(self, path: str | Path) -> None:
        """Write everything learned to a file, which is replaced at once. One process at a time should write it."""
        stages, actions = self.pipeline.domain
        entries = tuple(
            Entry(revision, stages[stage], goal, actions[stage][action],
                  tally.successes, tally.failures, tally.incentive, tuple(sorted(tally.confirmed)))
            for ((revision, stage, goal), action), tally in self._controller.evidence.items()
        )  # fmt: skip
        programs = tuple(
            Remembered(revision, request, tuple(self.pipeline.names(program).values()))
            for (revision, request), program in self._controller.programs.items()
        )
        evidence_file.write(Path(path), Contents(self.composition.name, entries, programs))

    def solve(self, task: PipelineTask, budget: int | None = None, learn: bool = True) -> Outcome:
        """Submit, and where that is rejected repair on the micro-task with at most `budget` trials and submit again.

        Without a budget it is `pipeline.bound`. With `learn=False` nothing is written to the evidence.
        """
        if task.pipeline is not self.pipeline:
            raise UsageError(f"Task '{task.id}' is one of another pipeline. Make it with this learner's pipeline.task.")
        limit = self.pipeline.bound if budget is None else budget
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
            raise UsageError(f"The budget is {budget!r}. Give a whole number of trials, 0 or more.")
        submitted = self._controller.initial(task)
        episode = self._controller.run(task, limit, learn=learn)
        return self._outcome(task, submitted, episode, limit)

    def known(self) -> list[Known]:
        """The evidence, in the order in which it began."""
        stages, actions = self.pipeline.domain
        return [
            Known(revision, stages[stage], goal, actions[stage][action], tally.successes, tally.failures,
                  tally.incentive, len(tally.confirmed), self.composition.promote(tally))
            for ((revision, stage, goal), action), tally in self._controller.evidence.items()
        ]  # fmt: skip

    def reset(self) -> None:
        """Forget everything learned."""
        self._controller.reset()

    def digest(self) -> str:
        """Hash of everything learned: equal before and after `solve(…, learn=False)`."""
        return self._controller.digest()

    def _outcome(self, task: PipelineTask, submitted: Program, episode: Episode, budget: int) -> Outcome:
        pipeline = self.pipeline
        stages, actions = pipeline.domain
        trials = tuple(
            Tried(stages[each.stage], actions[each.stage][each.program[each.stage]], each.committed, each.incentive,
                  task.trial(each.program).wrong[each.stage])
            for each in episode.trials
        )  # fmt: skip
        final = task.submission(episode.program)
        return Outcome(
            task.id,
            episode.accepted,
            episode.first_accepted,
            pipeline.names(submitted),
            pipeline.names(episode.program),
            pipeline.problems(task.submission(submitted)),
            pipeline.problems(final),
            trials,
            episode.visits,
            "" if episode.accepted else self._advice(task, submitted, episode, budget),
            final.output,
        )

    def _advice(self, task: PipelineTask, submitted: Program, episode: Episode, budget: int) -> str:
        """Which premise seems not to hold, where a task was not solved."""
        final = task.full(episode.program)
        names = self.pipeline.domain.stages
        if not final.failed:
            return "Every contract passes and the audit does not: the contracts let through what the audit rejects."
        if not self.composition.trials:
            return ""
        committed = any(trial.committed for trial in episode.trials)
        failed = (task.small(episode.program) if committed else task.full(submitted)).failed
        if not failed:
            stages = ", ".join(names[stage] for stage in final.failed)
            return (
                f"All contracts pass on the micro-task, but on the data not that of {stages}: "
                "the micro-task does not tell its actions apart. Let micro take more rows, or more telling ones."
            )
        stage = failed[0]
        if stage not in task.small(episode.program).failed:
            return (
                f"The micro-task does not show what fails at {names[stage]} on the data. "
                "Let micro take more rows, or more telling ones."
            )
        if len(episode.trials) >= budget:
            return (
                f"The budget of {budget} trials is used up at {names[stage]}; {self.pipeline.bound} are always enough "
                "where the premises hold."
            )
        return (
            f"No action of {names[stage]} passes on the micro-task: its tools can't do what is requested, or its "
            "contract asks for something else."
        )

    def _recall(self, path: Path, contents: Contents) -> None:
        if contents.composition != self.composition.name:
            raise UsageError(
                f"{path} was learned by the composition '{contents.composition}', not '{self.composition.name}'. "
                f'Load it with composition="{contents.composition}".'
            )
        stages, actions = self.pipeline.domain
        for entry in contents.evidence:
            if entry.stage not in stages:
                raise self._unlike(path, f"has no stage '{entry.stage}'")
            stage = stages.index(entry.stage)
            if entry.action not in actions[stage]:
                raise self._unlike(path, f"has no action '{entry.action}' at stage '{entry.stage}'")
            known = Tally(entry.successes, entry.failures, entry.incentive, set(entry.confirmed))
            condition = (entry.revision, stage, tupled(entry.goal))
            self._controller.evidence.merge(condition, actions[stage].index(entry.action), known)
        for kept in contents.programs:
            request: Goals = tuple(map(tupled, kept.request))
            try:
                program = self.pipeline.places(kept.program)
            except UsageError:
                raise self._unlike(path, f"has no program ({', '.join(kept.program)})") from None
            self._controller.programs[kept.revision, request] = program

    def _unlike(self, path: Path, what: str) -> UsageError:
        return UsageError(
            f"{path} is of another pipeline: this one {what}. Load it with the pipeline that it was learned on, or start "
            "with a new Learner and another file."
        )


def _composition(given: str | Composition) -> Composition:
    return given if isinstance(given, Composition) else composition(given)


def _shown(program: dict[str, str]) -> str:
    return "(" + ", ".join(program.values()) + ")"
