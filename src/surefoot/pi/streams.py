"""The tasks of one world, by stream: sources, acquisition, probe, final groups and follow-up (PI, section 4.1)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from surefoot.environments.tables.contracts import Request
from surefoot.environments.tables.recognizer import recognize
from surefoot.environments.tables.worlds import (
    ATOMIC,
    COMPOSED,
    ORDINARY_SIZE,
    PROGRAMS,
    SHIFTED_SIZE,
    Size,
    TableTask,
    World,
    generate,
)
from surefoot.pi.sources import Template

PUBLISHED_SEEDS = (11, 29, 47, 61, 83, 101, 127, 149, 173, 197)
FAMILIAR = ("A", "B")
NEW = "C"
GROUPS = ("atomic", "composition", "schema-shift", "revision-C")
GROUP_SIZE = 60
SOURCES_PER_REQUEST = 2
ACQUISITIONS_PER_REQUEST = 8
PROBES_PER_REQUEST = 1  # ours: 12 compositions on each familiar revision make the 24
FOLLOW_UPS_PER_REQUEST = 2


@dataclass(frozen=True)
class Streams:
    """Everything that the controllers meet in one world. Ids are disjoint over all streams."""

    world: World
    sources: tuple[TableTask, ...]
    acquisition: tuple[TableTask, ...]
    probe: tuple[TableTask, ...]
    final: dict[str, tuple[TableTask, ...]]
    follow_up: tuple[TableTask, ...]

    @classmethod
    def of(cls, seed: int) -> Streams:
        """The streams of the world of `seed`. Each stream draws from a random source of its own."""
        world = World.drawn(seed)
        return cls(
            world,
            _each(world, "source", FAMILIAR, ATOMIC, SOURCES_PER_REQUEST),
            _shuffled(_each(world, "acquisition", FAMILIAR, ATOMIC, ACQUISITIONS_PER_REQUEST), f"order {seed}"),
            _each(world, "probe", FAMILIAR, COMPOSED, PROBES_PER_REQUEST),
            {
                "atomic": _drawn(world, "atomic", FAMILIAR, ATOMIC, ORDINARY_SIZE),
                "composition": _drawn(world, "composition", FAMILIAR, COMPOSED, ORDINARY_SIZE),
                "schema-shift": _drawn(world, "schema-shift", FAMILIAR, COMPOSED, SHIFTED_SIZE),
                "revision-C": _drawn(world, "revision-C", (NEW,), COMPOSED, ORDINARY_SIZE),
            },
            # ours: one order for all controllers, so that pi and compositional tie exactly, as published
            _shuffled(_each(world, "follow-up", (NEW,), COMPOSED, FOLLOW_UPS_PER_REQUEST), f"follow-up order {seed}"),
        )

    @property
    def tasks(self) -> tuple[TableTask, ...]:
        """The 360 tasks of the integrity suite: acquisition, probe and final groups."""
        return self.acquisition + self.probe + tuple(task for group in self.final.values() for task in group)

    def templates(self) -> list[Template]:
        """The source demonstrations: accepted programs with the effects that their transitions show."""
        return [demonstration(task) for task in self.sources]


def demonstration(task: TableTask) -> Template:
    """The accepted program of a task, with the effect of each stage as the recognizer sees it."""
    program = next(program for program in PROGRAMS if task.full(program).accepted)
    states = task.trace(program).states
    effects = tuple(recognize(stage, *states[stage : stage + 2]) for stage in range(len(program)))
    return Template(task.id, task.revision, task.request, program, effects)


def _shuffled(tasks: Sequence[TableTask], seed: str) -> tuple[TableTask, ...]:
    """The tasks in another order."""
    return tuple(random.Random(f"pi {seed}").sample(tasks, len(tasks)))


def _each(
    world: World, stream: str, revisions: Sequence[str], requests: Sequence[Request], times: int
) -> tuple[TableTask, ...]:
    chance = random.Random(f"pi {stream} {world.seed}")
    keys = [(revision, request) for revision in revisions for request in requests for _ in range(times)]
    return tuple(
        generate(world, chance, f"{stream}-{world.seed}-{number:03d}", revision, request, ORDINARY_SIZE)
        for number, (revision, request) in enumerate(keys)
    )


def _drawn(
    world: World, stream: str, revisions: Sequence[str], requests: Sequence[Request], size: Size
) -> tuple[TableTask, ...]:
    chance = random.Random(f"pi {stream} {world.seed}")
    return tuple(
        generate(
            world,
            chance,
            f"{stream}-{world.seed}-{number:03d}",
            chance.choice(revisions),
            chance.choice(requests),
            size,
        )
        for number in range(GROUP_SIZE)
    )
