"""Annotating an execution: executable checks over its telemetry give labels and evidence windows.

A check that need not be sustained takes the first moment at which it holds at or after the ends of all its
parents, inside the windows of its invariant ancestors. An invariant takes one maximal run of moments; of
several runs (a re-grasp) the one that supports the most dependants, the earliest of equals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from surefoot.diagnosis.graph import Check, DiagnosticGraph, Roles
from surefoot.diagnosis.progress import Annotation, Finding, Window, failure_frontier, supported_progress
from surefoot.tape.records import Telemetry

Series = Mapping[str, Sequence[bool] | None]
"""Per check, whether it holds at each moment (moment 0 is before the first event); None where unknown."""


class Diagnosis(msgspec.Struct, frozen=True):
    """What the checks say of one execution."""

    findings: dict[str, Finding]
    supported: tuple[str, ...]
    frontier: tuple[str, ...]


def diagnose(graph: DiagnosticGraph, telemetry: Sequence[Telemetry], roles: Roles) -> Diagnosis:
    """Annotate an execution and derive supported progress and frontier."""
    annotation = annotate(graph, observe(graph, telemetry, roles))
    supported = supported_progress(graph, annotation)
    ordered = tuple(check.name for check in graph if check.name in supported)
    return Diagnosis(dict(annotation), ordered, failure_frontier(graph, supported))


def observe(graph: DiagnosticGraph, telemetry: Sequence[Telemetry], roles: Roles) -> dict[str, list[bool] | None]:
    """Evaluate every check at every moment; a check whose observables are missing is unknown."""
    return {check.name: _series(check, telemetry, roles) for check in graph}


def _series(check: Check, telemetry: Sequence[Telemetry], roles: Roles) -> list[bool] | None:
    try:
        return [check.holds(moment.values, roles) for moment in telemetry]
    except KeyError:
        return None


def annotate(graph: DiagnosticGraph, series: Series) -> dict[str, Finding]:
    """Labels and evidence windows from truth values per moment."""
    chosen: dict[str, Window | None] = {}
    for check in graph:
        if check.invariant:
            chosen[check.name] = _best_run(graph, series, check, chosen)
    return _place(graph, series, chosen)


def _best_run(graph: DiagnosticGraph, series: Series, check: Check, chosen: dict[str, Window | None]) -> Window | None:
    best, most = None, -1
    for run in _runs(series[check.name] or ()):
        findings = _place(graph, series, {**chosen, check.name: run})
        progress = supported_progress(graph, findings)
        count = len(progress.intersection((check.name, *graph.descendants[check.name])))
        if count > most:
            best, most = run, count
    return best


def _runs(holds: Sequence[bool]) -> list[Window]:
    """Maximal runs of moments at which a check holds, as windows of events."""
    runs: list[Window] = []
    start: int | None = None
    for moment, value in enumerate([*holds, False]):
        if value and start is None:
            start = moment
        elif not value and start is not None:
            runs.append(Window(start - 1, moment - 2))
            start = None
    return runs


def _place(graph: DiagnosticGraph, series: Series, chosen: Mapping[str, Window | None]) -> dict[str, Finding]:
    """Findings for given runs of the invariants; an invariant not yet chosen takes its longest run."""
    findings: dict[str, Finding] = {}
    for check in graph:
        holds = series[check.name]
        if holds is None:
            findings[check.name] = Finding("unknown")
            continue
        if check.invariant:
            longest = max(_runs(holds), key=lambda run: run.last - run.first, default=None)
            window = chosen.get(check.name, longest)
        else:
            window = _first_point(graph, check, holds, findings)
        findings[check.name] = Finding("supported", window) if window else Finding("not supported")
    return findings


def _first_point(graph: DiagnosticGraph, check: Check, holds: Sequence[bool], findings: Annotation) -> Window | None:
    start, bounds = -1, []
    for parent in check.parents:
        window = findings[parent].window
        if window is not None and not graph[parent].invariant:
            start = max(start, window.last)
    for ancestor in graph.ancestors[check.name]:
        window = findings[ancestor].window
        if window is not None and graph[ancestor].invariant:
            bounds.append(window)
    for moment, value in enumerate(holds):
        point = Window(moment - 1, moment - 1)
        if value and point.first >= start and all(bound.contains(point) for bound in bounds):
            return point
    return None
