"""Random finite worlds for PI's propositions: any stages, any actions, and tasks that keep or break a premise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st

from surefoot.environments.staged import Domain, Feedback, Goals, Program
from surefoot.pi.compositions import composition
from surefoot.pi.controller import Controller
from surefoot.pi.sources import Template

Bits = tuple[bool, ...]
Tools = tuple[tuple[int, ...], ...]
"""Per stage, the effect of each action."""


@dataclass(frozen=True)
class FiniteTask:
    """A task whose stage holds where its action has the requested effect.

    So all three premises hold: one action of a stage passes (identifiability), a patch changes one action (locality),
    and no stage's bit depends on another's action (stability). `contracts` and `trial` replace the bits of a full
    execution and of a small trial, to break a premise.
    """

    id: str
    revision: str
    request: Goals
    tools: Tools
    contracts: Callable[[Program], Bits] | None = None
    trial: Callable[[Program], Bits] | None = None
    trial_rows: int = 2

    @property
    def right(self) -> Program:
        """The program that does what is requested."""
        return tuple(effects.index(goal) for effects, goal in zip(self.tools, self.request, strict=True))

    def full(self, program: Program) -> Feedback:
        """Five rows at each stage and at the emission."""
        return self._feedback((self.contracts or self._bits)(program), 5)

    def small(self, program: Program) -> Feedback:
        """Two rows at each stage and at the emission."""
        return self._feedback((self.trial or self.contracts or self._bits)(program), self.trial_rows)

    def _bits(self, program: Program) -> Bits:
        return tuple(
            effects[action] == goal for effects, action, goal in zip(self.tools, program, self.request, strict=True)
        )

    def _feedback(self, bits: Bits, rows: int) -> Feedback:
        failed = tuple(stage for stage, holds in enumerate(bits) if not holds)
        return Feedback(bits, failed, not failed, rows * (len(bits) + 1))


def domain_of(*sizes: int) -> Domain:
    """Stages with so many actions each."""
    actions = tuple(tuple(f"{stage}:{action}" for action in range(size)) for stage, size in enumerate(sizes))
    return Domain(tuple(f"stage {stage}" for stage in range(len(sizes))), actions)


def demonstration(name: str, task: FiniteTask) -> Template:
    """What an accepted run of a task leaves behind; the recognizer makes no mistake."""
    return Template(name, task.revision, task.request, task.right, task.request)


def controller(name: str, domain: Domain, templates: list[Template] | None = None) -> Controller:
    """The controller called `name`, cold."""
    return Controller(composition(name), domain, templates or [])


@dataclass(frozen=True)
class FiniteWorld:
    """A domain, with the tools of each revision."""

    domain: Domain
    tools: dict[str, Tools]

    @property
    def bound(self) -> int:
        """Trials that suffice whatever fails at first."""
        return sum(len(actions) - 1 for actions in self.domain.actions)

    def task(self, name: str, revision: str, request: Goals) -> FiniteTask:
        """A task with these tools."""
        return FiniteTask(name, revision, request, self.tools[revision])


@st.composite
def worlds(draw: st.DrawFn) -> FiniteWorld:
    """1 to 5 stages of 2 to 6 actions, three revisions."""
    sizes = draw(st.lists(st.integers(2, 6), min_size=1, max_size=5))
    tools = {
        revision: tuple(tuple(draw(st.permutations(range(size)))) for size in sizes) for revision in ("A", "B", "C")
    }
    return FiniteWorld(domain_of(*sizes), tools)


def requests(world: FiniteWorld) -> st.SearchStrategy[Goals]:
    """A goal per stage."""
    return st.tuples(*(st.integers(0, len(actions) - 1) for actions in world.domain.actions))


@st.composite
def streams(draw: st.DrawFn, world: FiniteWorld, revisions: str, most: int) -> list[FiniteTask]:
    """Tasks of these revisions, each with an id of its own; few requests, so that experience repeats."""
    common = draw(st.lists(requests(world), min_size=1, max_size=3))
    keys = draw(st.lists(st.tuples(st.sampled_from(revisions), st.sampled_from(common)), max_size=most))
    return [world.task(f"task-{number}", *key) for number, key in enumerate(keys)]
