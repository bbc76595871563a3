"""Labels, evidence windows, supported progress and the failure frontier (SCOPE section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from surefoot.diagnosis.graph import DiagnosticGraph

Label = Literal["supported", "not supported", "unknown"]


class Window(msgspec.Struct, frozen=True, order=True):
    """Events `first` to `last`, both included; -1 stands for the moment before the first event."""

    first: int
    last: int

    def contains(self, other: Window) -> bool:
        """Whether `other` lies within this window."""
        return self.first <= other.first and other.last <= self.last


class Finding(msgspec.Struct, frozen=True):
    """One check's label in one execution, with its evidence window where it is supported."""

    label: Label
    window: Window | None = None


Annotation = Mapping[str, Finding]
"""Findings by check name, for one execution."""


def supported_progress(graph: DiagnosticGraph, annotation: Annotation) -> frozenset[str]:
    """S_e: the checks that hold with all their prerequisites, in order and under their invariants."""
    supported: set[str] = set()
    for check in graph:
        finding = annotation[check.name]
        if finding.label != "supported" or finding.window is None:
            continue
        if not supported.issuperset(check.parents):
            continue
        if _after_parents(graph, annotation, check.name) and _under_invariants(graph, annotation, check.name):
            supported.add(check.name)
    return frozenset(supported)


def failure_frontier(graph: DiagnosticGraph, supported: frozenset[str]) -> tuple[str, ...]:
    """F_e: unsupported checks all of whose parents are supported, in topological order."""
    return tuple(check.name for check in graph if check.name not in supported and supported.issuperset(check.parents))


def _window(annotation: Annotation, name: str) -> Window:
    window = annotation[name].window
    assert window is not None
    return window


def _after_parents(graph: DiagnosticGraph, annotation: Annotation, name: str) -> bool:
    start = _window(annotation, name).first
    return all(
        _window(annotation, parent).last <= start for parent in graph[name].parents if not graph[parent].invariant
    )


def _under_invariants(graph: DiagnosticGraph, annotation: Annotation, name: str) -> bool:
    window = _window(annotation, name)
    for ancestor in graph.ancestors[name]:
        if not graph[ancestor].invariant:
            continue
        finding = annotation[ancestor]
        if finding.label != "supported" or finding.window is None or not finding.window.contains(window):
            return False
    return True
