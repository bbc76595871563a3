"""Supported progress and frontier against SCOPE's definition, read apart; laws of the window rule."""

from __future__ import annotations

from itertools import chain, combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.diagnosis.annotation import annotate
from surefoot.diagnosis.graph import Check, DiagnosticGraph, Predicate
from surefoot.diagnosis.progress import Finding, Window, failure_frontier, supported_progress

pytestmark = pytest.mark.property

ANY = Predicate("any", lambda telemetry: True)


@st.composite
def graphs(draw: st.DrawFn, largest: int = 7) -> DiagnosticGraph:
    """A random DAG; checks are given in a random order."""
    size = draw(st.integers(1, largest))
    checks = []
    for index in range(size):
        nearby = st.lists(st.integers(max(0, index - 3), index - 1), unique=True, min_size=1, max_size=2)
        parents = draw(nearby) if index and draw(st.integers(0, 3)) else []
        checks.append(Check(f"c{index}", ANY, (), tuple(f"c{parent}" for parent in parents), draw(st.booleans())))
    return DiagnosticGraph(draw(st.permutations(checks)))


WINDOWS = st.builds(lambda first, length: Window(first, first + length), st.integers(-1, 3), st.integers(0, 2))
SUPPORTED = st.builds(lambda window: Finding("supported", window), WINDOWS)
WIDE = st.builds(lambda last: Finding("supported", Window(-1, last)), st.integers(1, 5))
NOT = st.sampled_from([Finding("not supported"), Finding("unknown")])
FINDINGS = st.one_of(SUPPORTED, SUPPORTED, SUPPORTED, WIDE, WIDE, NOT)


def ancestors(graph: DiagnosticGraph, name: str) -> set[str]:
    """All u with a path u → … → v, by following every path."""
    parents = set(graph[name].parents)
    return parents.union(*(ancestors(graph, parent) for parent in parents))


def admissible(graph: DiagnosticGraph, annotation: dict[str, Finding], chosen: frozenset[str]) -> bool:
    """Whether every member of a set satisfies, within the set, the four conditions on S_e."""
    if any(annotation[name].label != "supported" or not set(graph[name].parents) <= chosen for name in chosen):
        return False
    for name in chosen:
        check, window = graph[name], annotation[name].window
        for parent in check.parents:
            if not graph[parent].invariant and annotation[parent].window.last > window.first:
                return False
        for above in ancestors(graph, name):
            if graph[above].invariant:
                outer = annotation[above].window
                if outer.first > window.first or window.last > outer.last:
                    return False
    return True


def brute_force(graph: DiagnosticGraph, annotation: dict[str, Finding]) -> frozenset[str]:
    """The largest admissible set, among all subsets of the checks."""
    names = list(annotation)
    subsets = chain.from_iterable(combinations(names, size) for size in range(len(names) + 1))
    found = [frozenset(subset) for subset in subsets if admissible(graph, annotation, frozenset(subset))]
    largest = max(found, key=len)
    assert all(subset <= largest for subset in found)  # it is unique
    return largest


@settings(max_examples=800)
@given(st.data())
def test_supported_progress_is_the_largest_set_that_fits_the_definition(data):
    graph = data.draw(graphs(6))
    annotation = {check.name: data.draw(FINDINGS) for check in graph}
    supported = supported_progress(graph, annotation)
    assert supported == brute_force(graph, annotation)
    frontier = {name for name in annotation if name not in supported and set(graph[name].parents) <= supported}
    found = failure_frontier(graph, supported)
    assert set(found) == frontier
    assert list(found) == [check.name for check in graph if check.name in frontier]


@given(st.data())
def test_progress_is_closed_under_prerequisites_and_the_frontier_lies_just_beyond(data):
    graph = data.draw(graphs(12))
    annotation = {check.name: data.draw(FINDINGS) for check in graph}
    supported = supported_progress(graph, annotation)
    assert all(graph.ancestors[name] <= supported for name in supported)
    frontier = set(failure_frontier(graph, supported))
    assert not frontier & supported
    assert bool(frontier) == (len(supported) < len(annotation))


@given(graphs(12))
def test_the_order_of_checks_is_topological_and_complete(graph):
    names = [check.name for check in graph]
    for check in graph:
        assert all(names.index(parent) < names.index(check.name) for parent in check.parents)
        assert graph.ancestors[check.name] == ancestors(graph, check.name)
        assert set(graph.descendants[check.name]) == {name for name in names if check.name in ancestors(graph, name)}


SERIES = st.lists(st.lists(st.booleans(), min_size=8, max_size=8), min_size=7, max_size=7)


@given(graphs(), SERIES, st.data())
def test_windows_are_moments_at_which_the_check_holds(graph, rows, data):
    series = {check.name: row for check, row in zip(graph, rows, strict=False)}
    unknown = data.draw(st.sets(st.sampled_from(sorted(series)), max_size=1))
    series |= dict.fromkeys(unknown)
    findings = annotate(graph, series)
    for check in graph:
        finding, holds = findings[check.name], series[check.name]
        if holds is None:
            assert finding == Finding("unknown")
            continue
        assert (finding.window is not None) == (finding.label == "supported")
        if finding.window is None:
            continue
        first, last = finding.window.first + 1, finding.window.last + 1
        assert all(holds[first : last + 1])
        if check.invariant:  # a maximal run
            assert first == 0 or not holds[first - 1]
            assert last == len(holds) - 1 or not holds[last + 1]
        else:
            assert first == last


@given(graphs(), SERIES)
def test_a_point_is_the_first_after_its_parents_within_its_invariants(graph, rows):
    series = {check.name: row for check, row in zip(graph, rows, strict=False)}
    findings = annotate(graph, series)
    for check in graph:
        if check.invariant:
            continue
        fits = []
        for moment, holds in enumerate(series[check.name]):
            after = all(
                findings[parent].window is None or findings[parent].window.last <= moment - 1
                for parent in check.parents
                if not graph[parent].invariant
            )
            within = all(
                findings[above].window is None or findings[above].window.contains(Window(moment - 1, moment - 1))
                for above in ancestors(graph, check.name)
                if graph[above].invariant
            )
            fits += [moment - 1] if holds and after and within else []
        expected = Window(fits[0], fits[0]) if fits else None
        assert findings[check.name].window == expected


@given(graphs(), SERIES)
def test_annotation_does_not_depend_on_the_order_in_which_checks_are_given(graph, rows):
    series = {f"c{index}": row for index, row in enumerate(rows)}
    assert annotate(graph, series) == annotate(graph, dict(reversed(series.items())))
