"""Worlds and task generators: ordinary tables, and schema-shift tables with other layouts (PI, section 4.1)."""

from __future__ import annotations

import datetime
import itertools
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from surefoot.environments.staged import Domain, Feedback
from surefoot.environments.tables.audit import Reference, reference
from surefoot.environments.tables.contracts import LINEAGE, PATHS, Request, contract_bits
from surefoot.environments.tables.effects import ACTIONS, APPLY, EFFECTS, STAGES
from surefoot.environments.tables.interpreter import Program, Tools, Trace, run
from surefoot.environments.tables.table import Role, Rows, Table, read

DOMAIN = Domain(STAGES, ACTIONS)
REVISIONS = ("A", "B", "C")
PROGRAMS: tuple[Program, ...] = tuple(itertools.product(*(range(len(actions)) for actions in ACTIONS)))
REQUESTS: tuple[Request, ...] = tuple(itertools.product(*(range(len(effects)) for effects in EFFECTS)))
DEFAULT: Request = (0, 0, 0)
ATOMIC: tuple[Request, ...] = tuple(request for request in REQUESTS if sum(goal != 0 for goal in request) <= 1)
"""The default request and those that change one goal of it."""
COMPOSED: tuple[Request, ...] = tuple(request for request in REQUESTS if sum(goal != 0 for goal in request) >= 2)
"""Requests with two or three goals that are not the default's; withheld from demonstrations and acquisition."""


class Layout(NamedTuple):
    """How a table is laid out: column names by role, whether moments are time stamps, and columns without a role."""

    names: Mapping[Role, str]
    stamps: bool
    others: tuple[str, ...]


ORDINARY = (
    Layout(
        {"order": "order_id", "row": "row_id", "moment": "revision", "settled": "settled", "amount": "amount"},
        False,
        (),
    ),
    Layout(
        {"order": "order_no", "row": "line", "moment": "version", "settled": "paid", "amount": "value"},
        False,
        ("clerk",),
    ),
    Layout({"order": "ref", "row": "entry", "moment": "changed_at", "settled": "closed", "amount": "sum"}, True, ()),
)
SHIFTED = (
    Layout(
        {"order": "vorgang", "row": "zeile", "moment": "stand", "settled": "bezahlt", "amount": "betrag"},
        True,
        ("ort",),
    ),
    Layout(
        {"order": "case", "row": "uid", "moment": "edition", "settled": "is_final", "amount": "price"},
        False,
        ("desk", "x"),
    ),
    Layout({"order": "deal", "row": "key", "moment": "recorded", "settled": "done", "amount": "cost"}, True, ()),
)


class Size(NamedTuple):
    """How large a table is, and whether settlement may change between an order's revisions."""

    orders: int
    revisions: int
    settlement_changes: bool
    layouts: tuple[Layout, ...]


ORDINARY_SIZE = Size(6, 2, False, ORDINARY)
SHIFTED_SIZE = Size(8, 3, True, SHIFTED)
MICRO_ORDERS = 2
SETTLED = 0.5  # ours: the published 28.98 visits agree with it
"""Chance that an order is settled."""


@dataclass(frozen=True)
class World:
    """Hidden tools: per revision and stage, an independent uniform permutation of effects over identifiers."""

    seed: int
    tools: Mapping[str, Tools]

    @classmethod
    def drawn(cls, seed: int) -> World:
        """The world of a seed."""
        chance = random.Random(f"pi world {seed}")
        tools = {
            revision: tuple(tuple(chance.sample(range(len(effects)), len(effects))) for effects in EFFECTS)
            for revision in REVISIONS
        }
        return cls(seed, tools)


@dataclass
class TableTask:
    """x = (v, r, roles, D), with its micro-task. Executions are kept: every controller meets the same task."""

    id: str
    revision: str
    request: Request
    table: Table
    roles: Mapping[str, Role]
    rows: Rows
    micro: Rows
    tools: Tools = field(repr=False)
    _full: dict[Program, Feedback] = field(default_factory=dict, repr=False)
    _small: dict[Program, Feedback] = field(default_factory=dict, repr=False)

    @property
    def trial_rows(self) -> int:
        """Rows of the micro-task."""
        return len(self.micro)

    def full(self, program: Program) -> Feedback:
        """A full submission: contracts, and the independent audit of total and supporting rows."""
        found = self._full.get(program)
        if found is None:
            found = self._full[program] = self._feedback(self.trace(program), self.rows)
        return found

    def small(self, program: Program) -> Feedback:
        """A trial on the micro-task."""
        found = self._small.get(program)
        if found is None:
            found = self._small[program] = self._feedback(run(self.tools, program, self.micro), self.micro)
        return found

    def trace(self, program: Program) -> Trace:
        """The full execution, with its states."""
        return run(self.tools, program, self.rows)

    def _feedback(self, trace: Trace, rows: Rows) -> Feedback:
        bits = contract_bits(trace, self.request)
        failed = tuple(LINEAGE[PATHS[stage]] for stage, holds in enumerate(bits) if not holds)
        return Feedback(bits, failed, not failed and accepts(trace, reference(rows, self.request)), trace.work)


def accepts(trace: Trace, wanted: Reference) -> bool:
    """Whether total and supporting rows are the reference's."""
    return trace.total == wanted.total and trace.supporting == wanted.supporting


def generate(
    world: World, chance: random.Random, identity: str, revision: str, request: Request, size: Size
) -> TableTask:
    """A task whose effects can all be told apart, on its table and on its micro-task."""
    while True:
        layout = chance.choice(size.layouts)
        table = _table(chance, identity, layout, size)
        roles = {name: role for role, name in layout.names.items()}
        rows = read(table, roles)
        micro = micro_of(rows)
        if distinguishes(rows) and distinguishes(micro):
            return TableTask(identity, revision, request, table, roles, rows, micro, world.tools[revision])


def micro_of(rows: Rows) -> Rows:
    """The first two orders with all their revisions."""
    first = sorted({row.order for row in rows})[:MICRO_ORDERS]
    return tuple(row for row in rows if row.order in first)


def distinguishes(rows: Rows) -> bool:
    """Whether every pair of effects of every stage gives different outputs, before and after the settled filter."""
    settled = APPLY[0][1](rows)
    if settled == rows or not settled:
        return False
    return all(
        len({effect(given) for effect in APPLY[stage]}) == len(APPLY[stage])
        for given in (rows, settled)
        for stage in (1, 2)
    )


def _table(chance: random.Random, identity: str, layout: Layout, size: Size) -> Table:
    names = layout.names
    columns = [names[role] for role in ("order", "row", "moment", "settled", "amount")] + list(layout.others)
    chance.shuffle(columns)
    rows = []
    start = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    for order in range(size.orders):
        settled = chance.random() < SETTLED
        moment = chance.randrange(1, 5) if not layout.stamps else chance.randrange(0, 100_000)
        for _ in range(size.revisions):
            if size.settlement_changes:
                settled = chance.random() < SETTLED
            stamp = (start + datetime.timedelta(minutes=moment)).isoformat() if layout.stamps else moment
            amount = chance.randrange(1, 10_000)
            rows.append({names["order"]: f"{identity}-o{order}", names["moment"]: stamp, names["settled"]: settled,
                         names["amount"]: amount, **dict.fromkeys(layout.others, "")})  # fmt: skip
            moment += chance.randrange(1, 5) if not layout.stamps else chance.randrange(1, 10_000)
    chance.shuffle(rows)
    for number, row in enumerate(rows):
        row[names["row"]] = f"{identity}-r{number}"
    return Table(tuple(columns), tuple(tuple(row[column] for column in columns) for row in rows))
