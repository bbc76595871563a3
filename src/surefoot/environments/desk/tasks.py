"""The desk's tasks."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import msgspec

from surefoot.boundary.surface import Surface
from surefoot.environments.base import Demonstration, Task, revision_of
from surefoot.environments.desk.api import DeskApi
from surefoot.environments.desk.environment import DeskEnvironment
from surefoot.environments.desk.graphs import PLACE
from surefoot.environments.desk.predicates import PREDICATES
from surefoot.environments.desk.scene import PROTOCOL, Setting

FOLDER = Path(__file__).parent

# Walls and lamps leave no height that suits every scene, nor do bricks and blocks leave a force, nor mugs
# and blocks a grip point: each wants a guard.
_VARIED = Setting({"block": 0.6, "mug": 0.2, "brick": 0.2}, walls=0.3, lamps=0.3)


def _demonstrations(task: str, *names: str) -> tuple[Demonstration, ...]:
    return tuple(Demonstration(name, task, FOLDER / "demonstrations" / f"{name}.py") for name in names)


_PLACING = _demonstrations("desk/place", "place_naive", "place_mug", "place_brick", "place_high")
_OCCLUSION = (*_demonstrations("desk/occlusion", "occlusion_naive", "occlusion_cached"), *_PLACING)


def _task(name: str, description: str, setting: Setting, demonstrations: tuple[Demonstration, ...]) -> Task:
    return Task(
        name=name,
        description=description,
        tier="state",
        protocol=PROTOCOL,
        surface=Surface.of(DeskApi),
        graph=PLACE,
        predicates=PREDICATES,
        roles={"item": "item", "goal": "bin"},
        role_types={"item": "item", "goal": "bin"},
        goal=("inside",),
        development=tuple(range(101, 126)),
        held_out=tuple(range(1, 101)),
        make=partial(DeskEnvironment, name, setting),
        revision=partial(revision_of, FOLDER, ("numpy", "msgspec")),
        demonstrations=demonstrations,
        options=msgspec.structs.asdict(setting),
    )


_PLACE_TEXT = (
    "Put the item into the bin and let go of it, without breaking it or knocking it over, and without"
    " touching the wall or the lamp or pushing the bin."
)

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        _task("desk/place", _PLACE_TEXT, _VARIED, _PLACING),
        _task(
            "desk/place-unsteady",
            f"{_PLACE_TEXT} Nothing lies exactly where it lay last time.",
            msgspec.structs.replace(_VARIED, unsteady=0.005),
            _PLACING,
        ),
        _task(
            "desk/occlusion",
            f"{_PLACE_TEXT} Near an object the hand hides it from the camera.",
            Setting({"block": 1.0}, walls=0.3, lamps=0.0, hand_hides=True),
            _OCCLUSION,
        ),
    )
}
