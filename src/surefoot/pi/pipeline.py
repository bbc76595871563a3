"""A user's own pipeline: stages of opaque actions, their contracts, an audit, and tasks on it (docs/pi-pipeline.md)."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from surefoot.environments.staged import Domain, Feedback, Goals, Program
from surefoot.errors import UsageError, unknown_name
from surefoot.pi.sources import Template

Verdict = bool | str
"""True where it holds; a text that says what is wrong, or False, where it does not."""
Action = Callable[[Any], Any]
"""From what enters a stage to what leaves it."""
Contract = Callable[[Any, Any, Any], Verdict]
"""What entered the stage, what left it, the goal."""
Named = Mapping[str, Any] | Sequence[Any]
"""One value per stage: by the stages' names, or in their order."""
_LONGEST = 300
"""Characters of an error's text that a diagnostic shows."""


@dataclass(frozen=True)
class Stage:
    """One stage: the functions that can be chosen for it, and the contract that judges what the chosen one did.

    Where several revisions of a tool can be called side by side, give `versions` (revision to actions) instead of
    `actions`. `goals`, where given, are all that may be requested. UsageError for a declaration that can't be used.
    """

    name: str
    _: KW_ONLY
    contract: Contract
    actions: Mapping[str, Action] = field(default_factory=dict)
    versions: Mapping[str, Mapping[str, Action]] = field(default_factory=dict)
    goals: Sequence[Any] = ()

    def __post_init__(self) -> None:
        _named("A stage's name", self.name)
        for what, given in (("actions", self.actions), ("versions", self.versions)):
            if not isinstance(given, Mapping):
                raise UsageError(f"Stage '{self.name}' got {_kind(given)} as {what}. Give a mapping from names.")
        if bool(self.actions) == bool(self.versions):
            said = "both actions and versions; give one of them" if self.actions else "no action; give at least one"
            raise UsageError(f"Stage '{self.name}' has {said}, for instance actions={{\"m0\": function}}.")
        for version in self.versions:
            _named(f"The name of a version of stage '{self.name}'", version)
        for actions in self.versions.values() or [self.actions]:
            self._check(actions)
        _takes(f"The contract of stage '{self.name}'", self.contract, ("before", "after", "goal"))
        if isinstance(self.goals, str):
            raise UsageError(f"Stage '{self.name}' got a text as goals. Give a list: goals=[{self.goals!r}].")
        object.__setattr__(self, "goals", tuple(_goal(self.name, goal) for goal in self.goals))
        object.__setattr__(self, "actions", dict(self.actions))
        object.__setattr__(self, "versions", {each: dict(actions) for each, actions in self.versions.items()})

    @property
    def names(self) -> tuple[str, ...]:
        """The actions' names, in the order in which they are tried where nothing is known."""
        return tuple(self.actions or next(iter(self.versions.values())))

    def tools(self, revision: str) -> tuple[Action, ...]:
        """The functions of a revision, in the order of `names`; UsageError where `versions` lacks it."""
        if self.actions:
            return tuple(self.actions.values())
        if revision not in self.versions:
            raise unknown_name(f"version of stage '{self.name}'", revision, self.versions)
        return tuple(self.versions[revision][name] for name in self.names)

    def asked(self, goal: Any) -> Any:
        """A requested goal, checked against `goals`."""
        found = _goal(self.name, goal)
        if self.goals and found not in self.goals:
            raise unknown_name(f"goal of stage '{self.name}'", str(goal), map(str, self.goals))
        return found

    def judge(self, action: str, before: Any, after: Any, goal: Any) -> str:
        """What the contract holds against an action's output; empty where it passes."""
        try:
            verdict = self.contract(before, after, goal)
        except Exception as error:  # noqa: BLE001 - contracts are written for right outputs and may stumble on wrong ones
            return f"the contract can't judge what {action} gave ({_said(error)})"
        return _text(f"The contract of stage '{self.name}'", verdict, f"{action} does not give {goal!r}")

    def _check(self, actions: Mapping[str, Action]) -> None:
        if not isinstance(actions, Mapping) or not actions:
            raise UsageError(f"A version of stage '{self.name}' has no action. Give a mapping from names to functions.")
        for name, action in actions.items():
            _named(f"The name of an action of stage '{self.name}'", name)
            _takes(f"Action '{name}' of stage '{self.name}'", action, ("data",))
        if set(actions) != set(self.names):
            odd = ", ".join(sorted(set(actions) ^ set(self.names)))
            raise UsageError(
                f"The versions of stage '{self.name}' differ in their actions: {odd}. Give every version the same "
                "names; for an action that a version lacks, a function that raises."
            )


class Run(NamedTuple):
    """What running a program on some data gave: per stage what is wrong (empty: nothing), work, and the last output."""

    wrong: tuple[str, ...]
    work: int
    output: Any

    @property
    def failed(self) -> tuple[int, ...]:
        """Stages whose contract fails."""
        return tuple(number for number, text in enumerate(self.wrong) if text)

    def feedback(self, accepted: bool) -> Feedback:
        """What the controller sees of it."""
        return Feedback(tuple(not text for text in self.wrong), self.failed, accepted, self.work)


class Submission(NamedTuple):
    """A full run with the audit's word: empty where accepted. Outputs of rejected programs are not kept."""

    feedback: Feedback
    wrong: tuple[str, ...]
    audit: str
    output: Any


class Pipeline:
    """Stages in order, and an audit of the whole that does not rest on them.

    `audit(task, output)` gives True, or a text that says what is wrong. `size` counts the rows of whatever passes
    between stages. Each action gets a `copy` of its input, as one that changes it in place would blind the contracts;
    for data that can't be changed in place, `copy=lambda data: data` is faster.
    UsageError for a declaration that can't be used.
    """

    def __init__(
        self,
        stages: Sequence[Stage],
        audit: Callable[[PipelineTask, Any], Verdict],
        size: Callable[[Any], int] = len,
        copy: Callable[[Any], Any] = copy.deepcopy,
    ):
        self.stages = tuple(stages)
        if not self.stages or not all(isinstance(stage, Stage) for stage in self.stages):
            raise UsageError("A pipeline needs stages. Give at least one: stages=[Stage(…), …].")
        names = tuple(stage.name for stage in self.stages)
        for name in names:
            if names.count(name) > 1:
                raise UsageError(f"{names.count(name)} stages are called '{name}'. Give each a name of its own.")
        _takes("The audit", audit, ("task", "output"))
        _takes("size", size, ("data",))
        _takes("copy", copy, ("data",))
        self.audit, self.size, self.copy = audit, size, copy
        self.domain = Domain(names, tuple(stage.names for stage in self.stages))

    @property
    def bound(self) -> int:
        """How many trials are enough for any task where the premises hold: all actions of each stage but one."""
        return sum(len(names) - 1 for names in self.domain.actions)

    def task(
        self, identity: str, revision: str, request: Named, data: Any, micro: Callable[[Any], Any]
    ) -> PipelineTask:
        """A task: which revision of the tools, one goal per stage, the data, and how to take the micro-task from it.

        `identity` must be unique over all tasks ever learned from: two of them confirm an action. UsageError where something
        does not fit.
        """
        _named("A task's id", identity)
        _named(f"The revision of task '{identity}'", revision)
        goals = self._in_order(f"The request of task '{identity}'", "goal", request)
        asked = tuple(stage.asked(goal) for stage, goal in zip(self.stages, goals, strict=True))
        tools = tuple(stage.tools(revision) for stage in self.stages)
        _takes(f"micro of task '{identity}'", micro, ("data",))
        rows = self._rows(f"The data of task '{identity}'", data)
        try:
            small = micro(data)
        except Exception as error:  # the user's function
            raise UsageError(f"micro can't take a part of the data of task '{identity}' ({_said(error)}).") from error
        taken = self._rows(f"The micro-task of '{identity}'", small)
        if taken > rows:
            raise UsageError(
                f"The micro-task of '{identity}' has {taken} rows and its data {rows}. Let micro take a part of the data."
            )
        try:
            self.copy(small)
        except Exception as error:  # the user's function
            raise UsageError(f"The data of task '{identity}' can't be copied ({_said(error)}). Give Pipeline(copy=function).") from error  # fmt: skip
        return PipelineTask(identity, revision, asked, data, small, taken, self, tools)

    def demonstrate(
        self, task: PipelineTask, program: Named, recognize: Callable[[str, Any, Any], Any] | None = None
    ) -> Template:
        """A source demonstration: a program that is known to solve a task. UsageError if the audit rejects it.

        `recognize(stage, before, after)` says which goal a stage's transition fulfils; without it, the goal that the
        task requested, which its contract has confirmed.
        """
        places = self.places(program)
        submission = task.submission(places)
        if not submission.feedback.accepted:
            raise UsageError(
                f"The demonstration on '{task.id}' is not accepted ({self.problems(submission)}). "
                "Give a program that is."
            )
        effects = task.request
        if recognize is not None:
            _takes("recognize", recognize, ("stage", "before", "after"))
            states = task.states(places)
            effects = tuple(
                _goal(stage.name, recognize(stage.name, before, after))
                for stage, before, after in zip(self.stages, states, states[1:], strict=False)
            )
        return Template(task.id, task.revision, task.request, places, effects)

    def places(self, program: Named) -> Program:
        """A program from the names of its actions. UsageError for one that does not exist."""
        given = self._in_order("A program", "action", program)
        for stage, name in zip(self.stages, given, strict=True):
            if name not in stage.names:
                raise unknown_name(f"action of stage '{stage.name}'", str(name), stage.names)
        return tuple(stage.names.index(name) for stage, name in zip(self.stages, given, strict=True))

    def names(self, program: Program) -> dict[str, str]:
        """The name of each stage's action."""
        return {stage.name: stage.names[place] for stage, place in zip(self.stages, program, strict=True)}

    def problems(self, submission: Submission) -> str:
        """What a submission was rejected for, in one line."""
        texts = [f"{self.stages[stage].name}: {text}" for stage, text in enumerate(submission.wrong) if text]
        return "; ".join(texts) or (f"audit: {submission.audit}" if submission.audit else "")

    def run(self, tools: Sequence[Action], goals: Goals, names: Sequence[str], data: Any) -> Run:
        """Run one action per stage. One that raises fails its contract, and the stages after it are not run."""
        wrong: list[str] = []
        state, handed, work = data, self.copy(data), self.size(data)
        for stage, tool, goal, name in zip(self.stages, tools, goals, names, strict=True):
            try:
                output = tool(handed)
                rows = self.size(output)
                handed = self.copy(output) if len(wrong) + 1 < len(self.stages) else None
            except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a tool raises is the tool's failure
                wrong.append(f"{name} failed ({_said(error)})")
                unreached = len(self.stages) - len(wrong)
                wrong += [f"not run, as '{stage.name}' gave nothing to work on"] * unreached
                break
            wrong.append(stage.judge(name, state, output, goal))
            state, work = output, work + rows
        return Run(tuple(wrong), work, state)

    def _in_order(self, what: str, noun: str, given: Named) -> tuple[Any, ...]:
        wanted = self.domain.stages
        if isinstance(given, Mapping):
            for name in given:
                if name not in wanted:
                    raise unknown_name("stage", str(name), wanted)
            missing = [name for name in wanted if name not in given]
            if missing:
                raise UsageError(f"{what} has no {noun} for {', '.join(missing)}. Give one {noun} per stage.")
            return tuple(given[name] for name in wanted)
        if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != len(wanted):
            got = _kind(given) if isinstance(given, str) or not isinstance(given, Sequence) else f"{len(given)}"
            raise UsageError(f"{what} has one {noun} for each of {', '.join(wanted)}; got {got}.")
        return tuple(given)

    def _rows(self, what: str, data: Any) -> int:
        try:
            rows = self.size(data)
        except Exception as error:  # the user's function
            raise UsageError(f"{what} can't be counted ({_said(error)}). Give Pipeline(size=function).") from error
        if isinstance(rows, bool) or not isinstance(rows, int | np.integer) or rows < 0:
            raise UsageError(f"{what} has size {rows!r}. Let size give a whole number of rows.")
        if rows == 0:
            raise UsageError(f"{what} has no rows. A task and its micro-task need at least one.")
        return int(rows)


@dataclass(eq=False)
class PipelineTask:
    """One task on a pipeline, made by `Pipeline.task`. What a program did on it is kept: nothing is run twice."""

    id: str
    revision: str
    request: Goals
    data: Any = field(repr=False)
    micro: Any = field(repr=False)
    trial_rows: int
    pipeline: Pipeline = field(repr=False)
    tools: tuple[tuple[Action, ...], ...] = field(repr=False)
    _full: dict[Program, Submission] = field(default_factory=dict, repr=False)
    _small: dict[Program, Run] = field(default_factory=dict, repr=False)

    def full(self, program: Program) -> Feedback:
        """A full submission: the contracts on all data, and the audit where they all pass."""
        return self.submission(program).feedback

    def small(self, program: Program) -> Feedback:
        """A trial on the micro-task. It is not audited."""
        return self.trial(program).feedback(False)

    def submission(self, program: Program) -> Submission:
        """A full submission with its texts, and its output where accepted."""
        found = self._full.get(program)
        if found is None:
            run = self._run(program, self.data)
            audit = "" if run.failed else self._audit(run.output)
            accepted = not run.failed and not audit
            output = run.output if accepted else None
            found = self._full[program] = Submission(run.feedback(accepted), run.wrong, audit, output)
        return found

    def trial(self, program: Program) -> Run:
        """A run on the micro-task."""
        found = self._small.get(program)
        if found is None:
            found = self._small[program] = self._run(program, self.micro)
        return found

    def states(self, program: Program) -> list[Any]:
        """The data before each stage, and the output, of a program whose stages all run."""
        states = [self.data]
        for tools, action in zip(self.tools, program, strict=True):
            states.append(tools[action](self.pipeline.copy(states[-1])))
        return states

    def ambiguous(self, program: Named) -> dict[str, tuple[str, ...]]:
        """Stages that the micro-task does not settle, with the actions that pass on it, where `program` is the right one.

        Empty where the micro-task identifies: exactly one action of each stage passes beside the others of `program`.
        """
        places = self.pipeline.places(program)
        found = {}
        for number, stage in enumerate(self.pipeline.stages):
            passing = tuple(
                name
                for place, name in enumerate(stage.names)
                if number not in self.trial((*places[:number], place, *places[number + 1 :])).failed
            )
            if len(passing) != 1:
                found[stage.name] = passing
        return found

    def _run(self, program: Program, data: Any) -> Run:
        chosen = [tools[action] for tools, action in zip(self.tools, program, strict=True)]
        return self.pipeline.run(chosen, self.request, tuple(self.pipeline.names(program).values()), data)

    def _audit(self, output: Any) -> str:
        try:
            verdict = self.pipeline.audit(self, output)
        except Exception as error:  # noqa: BLE001 - an output that can't be audited is not accepted
            return f"it can't judge the output ({_said(error)})"
        return _text("The audit", verdict, "the output is not accepted")


def _text(who: str, verdict: Any, otherwise: str) -> str:
    if isinstance(verdict, bool | np.bool_):
        return "" if verdict else otherwise
    if isinstance(verdict, str) and verdict.strip():
        return verdict
    raise UsageError(
        f"{who} gave {verdict!r}. Let it give True where all is right, and a text that says what is wrong (or False) "
        "where it is not."
    )


def _goal(stage: str, goal: Any) -> Any:
    """A goal that can be written to a file and found again."""
    if isinstance(goal, tuple):
        return tuple(_goal(stage, each) for each in goal)
    if isinstance(goal, str | int | None) or (isinstance(goal, float) and math.isfinite(goal)):
        return goal
    raise UsageError(
        f"A goal of stage '{stage}' is {goal!r}. Evidence is kept under goals: use texts, numbers, True, False, None, "
        "or tuples of them."
    )


def _named(what: str, name: Any) -> None:
    if not isinstance(name, str) or not name.strip():
        raise UsageError(f"{what} is {name!r}. Give a text that is not empty.")


def _takes(who: str, function: Any, arguments: tuple[str, ...]) -> None:
    """UsageError unless `function` can be called with these arguments, in order."""
    shown = ", ".join(arguments)
    if not callable(function):
        raise UsageError(f"{who} is {_kind(function)}. Give a function({shown}).")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some builtins don't tell
        return
    try:
        signature.bind(*arguments)
    except TypeError:
        raise UsageError(
            f"{who} is called as function({shown}), but takes {signature}. Change its parameters."
        ) from None


def _kind(value: Any) -> str:
    return f"of type {type(value).__name__}"


def _said(error: BaseException) -> str:
    """An error's type and the first line of its text."""
    lines = str(error).strip().splitlines()
    text = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
