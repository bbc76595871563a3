"""Annotating executions: the window rule on a re-grasp, unknown checks, frontiers."""

from __future__ import annotations

import pytest

from surefoot.diagnosis.annotation import annotate, diagnose
from surefoot.diagnosis.graph import Check, DiagnosticGraph, Predicate
from surefoot.diagnosis.progress import Finding, Window, supported_progress
from surefoot.errors import UsageError
from surefoot.tape.records import Telemetry

GRASPED = Predicate("grasped", lambda telemetry, item: telemetry[f"held.{item}"])
LIFTED = Predicate("lifted", lambda telemetry, item: telemetry[f"height.{item}"] > 0.1)
GRAPH = DiagnosticGraph(
    [
        Check("lifted", LIFTED, ("item",), ("grasped",)),
        Check("reached", Predicate("reached", lambda telemetry, item: telemetry[f"near.{item}"]), ("item",)),
        Check("grasped", GRASPED, ("item",), ("reached",), invariant=True),
    ]
)


def execution(*moments: tuple[bool, bool, float]) -> list[Telemetry]:
    return [
        Telemetry(index - 1, {"near.mug": near, "held.mug": held, "height.mug": height})
        for index, (near, held, height) in enumerate(moments)
    ]


REGRASP = execution(
    (False, False, 0.0),
    (True, False, 0.0),
    (True, True, 0.0),  # event 1: grasped
    (True, True, 0.05),
    (True, False, 0.0),  # event 3: it slipped
    (True, True, 0.0),  # event 4: grasped again
    (True, True, 0.2),  # event 5: lifted
    (True, True, 0.3),
)


def test_an_invariant_takes_the_run_that_supports_its_dependants_after_a_regrasp():
    found = diagnose(GRAPH, REGRASP, {"item": "mug"})
    assert found.findings == {
        "reached": Finding("supported", Window(0, 0)),
        "grasped": Finding("supported", Window(4, 6)),
        "lifted": Finding("supported", Window(5, 5)),
    }
    assert found.supported == ("reached", "grasped", "lifted")
    assert found.frontier == ()


def test_a_slip_before_the_lift_leaves_the_lift_as_frontier():
    found = diagnose(GRAPH, REGRASP[:5], {"item": "mug"})
    assert found.supported == ("reached", "grasped")
    assert found.findings["grasped"] == Finding("supported", Window(1, 2))
    assert found.frontier == ("lifted",)


def test_height_without_a_grasp_supports_nothing_above_it():
    found = diagnose(GRAPH, execution((True, False, 0.3)), {"item": "mug"})
    assert found.findings["lifted"].label == "supported"
    assert found.supported == ("reached",)
    assert found.frontier == ("grasped",)


def test_of_equally_supporting_runs_the_earliest_is_taken():
    findings = annotate(
        GRAPH, {"reached": [True] * 7, "grasped": [0, 1, 1, 0, 1, 1, 1], "lifted": [0, 0, 1, 0, 0, 1, 1]}
    )
    assert findings["grasped"].window == Window(0, 1)


def test_a_check_that_holds_before_the_first_event_has_its_window_there():
    assert annotate(GRAPH, {"reached": [True], "grasped": None, "lifted": None})["reached"].window == Window(-1, -1)


def test_a_check_whose_observables_are_missing_is_unknown():
    found = diagnose(GRAPH, [Telemetry(-1, {"near.mug": True})], {"item": "mug"})
    assert found.findings["grasped"] == found.findings["lifted"] == Finding("unknown")
    assert found.frontier == ("grasped",)


def test_an_empty_execution_supports_nothing():
    found = diagnose(GRAPH, [], {"item": "mug"})
    assert (found.supported, found.frontier) == ((), ("reached",))


@pytest.mark.parametrize(
    ("checks", "text"),
    [
        ([Check("a", LIFTED, (), ("b",)), Check("b", LIFTED, (), ("a",))], "The checks a, b depend on each other in a circle."),
        ([Check("a", LIFTED, ()), Check("a", LIFTED, ())], "Check names must differ; given twice: a."),
        ([Check("lifted", LIFTED, (), ("graspd",)), Check("grasped", LIFTED, ())],
         "There is no check 'graspd'. Did you mean 'grasped'? Available: grasped, lifted."),
    ],
)  # fmt: skip
def test_a_graph_that_is_none_is_refused(checks, text):
    with pytest.raises(UsageError) as error:
        DiagnosticGraph(checks)
    assert str(error.value) == text


def test_an_effect_is_named_by_predicate_and_roles():
    assert GRAPH["grasped"].effect == "grasped(item)"
    with pytest.raises(UsageError, match="There is no check 'grasp'"):
        GRAPH["grasp"]


def test_an_invariant_binds_its_dependants_through_the_checks_between():
    annotation = {
        "grasped": Finding("supported", Window(0, 3)),
        "lifted": Finding("supported", Window(2, 2)),
        "placed": Finding("supported", Window(5, 5)),
    }
    chain = [
        Check("grasped", GRASPED, (), (), invariant=True),
        Check("lifted", LIFTED, (), ("grasped",)),
        Check("placed", LIFTED, (), ("lifted",)),
    ]
    assert supported_progress(DiagnosticGraph(chain), annotation) == {"grasped", "lifted"}
