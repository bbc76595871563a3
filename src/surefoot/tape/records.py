"""What a tape holds: header, events with what the host observed after them, end. Typed msgpack, data only."""

from __future__ import annotations

from typing import Any

import msgspec

from surefoot.boundary.environment import Scene
from surefoot.boundary.outcome import Outcome
from surefoot.boundary.surface import Surface
from surefoot.boundary.wire import Limits

FORMAT = 1
FEATURES: frozenset[str] = frozenset()
"""Names that `Header.features` may hold; a tape with any other is refused."""


class Header(msgspec.Struct, frozen=True):
    """What was run, on what, and everything that a replay's outcome depends on.

    `platform` is the numeric platform of the program process, `revision` the environment revision,
    `opening` the public state before the first call, `sandbox` the level of confinement,
    `modules` the texts that lie beside a trusted program and belong to it.
    """

    format: int
    features: tuple[str, ...]
    task: str
    tier: str
    protocol: str
    scene: Scene
    program: str
    program_name: str
    run_seed: int
    surface: Surface
    revision: str
    platform: dict[str, str]
    python: str
    sandbox: str
    limits: Limits
    opening: bytes
    clock: float
    modules: dict[str, str] = {}
    profile: str = "strict"


class Event(msgspec.Struct, frozen=True):
    """One call and its answer; `request` and `answer` are node tables, `clock` is in seconds after it."""

    number: int
    function: str
    kind: str
    request: bytes
    answer: bytes
    raised: bool
    clock: float
    line: int
    stage: str


class Telemetry(msgspec.Struct, frozen=True):
    """What only the host sees after event `number` (-1: before the first); never compared, never sent.

    `snapshot` is the environment's whole state as an encoded value, empty where there is none.
    """

    number: int
    values: dict[str, Any]
    snapshot: bytes = b""


class End(msgspec.Struct, frozen=True):
    """How the recorded execution ended."""

    outcome: Outcome
    events: int
    steps: int
    output: str
    errors: str
    line: int
