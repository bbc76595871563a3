"""Stage contracts on the actual input, structured diagnostics, and the public lineage map (PI, section 3)."""

from __future__ import annotations

from typing import NamedTuple

from surefoot.environments.tables.effects import APPLY, EFFECTS
from surefoot.environments.tables.interpreter import Trace

Bits = tuple[bool, ...]
Request = tuple[int, ...]
"""One goal per stage, by its place in `EFFECTS`."""
PATHS = ("selected.population", "selected.revisions", "amounts.unit")
"""Output paths, one per stage."""
LINEAGE: dict[str, int] = {path: stage for stage, path in enumerate(PATHS)}
"""G: the stage that produces each output path. Public."""
_SENTENCES = (
    {"all": "rows are missing from the population", "settled": "the population is not the settled rows"},
    {
        "all": "revisions are missing",
        "oldest": "an order's row is not its oldest",
        "latest": "an order's row is not its latest",
    },
    {
        "yuan": "amounts are not in yuan as they stand",
        "cents": "amounts were not divided by 100",
        "hundreds": "amounts were not multiplied by 100",
    },
)


class Diagnostic(NamedTuple):
    """A violated output path, and a text for people."""

    path: str
    text: str


def contract_bits(trace: Trace, request: Request) -> Bits:
    """b: per stage, whether its output is what the requested effect gives on its actual input."""
    states = trace.states
    return tuple([APPLY[stage][goal](states[stage]) == states[stage + 1] for stage, goal in enumerate(request)])


def diagnostics(trace: Trace, request: Request) -> tuple[Diagnostic, ...]:
    """A diagnostic per failed contract, in the order of stages."""
    bits = contract_bits(trace, request)
    return tuple(explained(stage, request[stage], trace) for stage, holds in enumerate(bits) if not holds)


def explained(stage: int, goal: int, trace: Trace) -> Diagnostic:
    """The diagnostic of a failed stage: what was asked for, and what its output shows instead."""
    name = EFFECTS[stage][goal]
    before, after = trace.states[stage], trace.states[stage + 1]
    kept = f"{len(after)} of {len(before)} rows kept"
    if stage == 2:
        sums = [sum(row.amount for row in rows) for rows in (before, after)]
        kept = f"the sum went from {sums[0]} to {sums[1]} ten-thousandths"
    return Diagnostic(PATHS[stage], f"'{name}' was requested, but {_SENTENCES[stage][name]} ({kept})")
