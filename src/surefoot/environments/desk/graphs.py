"""The desk's diagnostic graph: four things to leave unharmed, five steps on the way."""

from __future__ import annotations

from surefoot.diagnosis.graph import Check, DiagnosticGraph
from surefoot.environments.desk.predicates import PREDICATES


def _check(name: str, roles: tuple[str, ...], *parents: str, invariant: bool = False) -> Check:
    return Check(name, PREDICATES[name], roles, parents, invariant)


# None of the four may be undone by success (the item is let go in the end, so `grasped` is no invariant);
# they come first, so that each must hold throughout all five steps.
PLACE = DiagnosticGraph(
    (
        _check("intact", ("item",), invariant=True),
        _check("upright", ("item",), invariant=True),
        _check("still", ("goal",), invariant=True),
        _check("wall_clear", (), invariant=True),
        _check("reached", ("item",), "intact", "upright", "still", "wall_clear"),
        _check("grasped", ("item",), "reached"),
        _check("lifted", ("item",), "grasped"),
        _check("above", ("item", "goal"), "lifted"),
        _check("inside", ("item", "goal"), "above"),
    )
)
