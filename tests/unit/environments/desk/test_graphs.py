"""Predicates and graph: how far an episode got, read from telemetry alone."""

from __future__ import annotations

import pytest

from surefoot.environments.desk.environment import DeskEnvironment
from surefoot.environments.desk.scene import Setting
from surefoot.environments.desk.tasks import TASKS

TASK = TASKS["desk/place"]
STEPS = ["reached", "grasped", "lifted", "above", "inside"]
INVARIANTS = ["intact", "upright", "still", "wall_clear"]


def trace(environment, source, run):
    """Telemetry before the first call and after each effect of a program."""
    moments = [environment.telemetry()]
    for name in ("move_to", "grip", "release"):
        setattr(environment.api, name, recorded(getattr(environment.api, name), environment, moments))
    run(environment, source)
    return moments


def recorded(call, environment, moments):
    def wrapped(*arguments, **keywords):
        result = call(*arguments, **keywords)
        moments.append(environment.telemetry())
        return result

    return wrapped


def first(moments, name):
    """Index of the first moment at which a check holds, or None."""
    return next((i for i, now in enumerate(moments) if TASK.graph[name].holds(now, TASK.roles)), None)


def broken(moments):
    """The invariants that do not hold in the end."""
    return [name for name in INVARIANTS if not TASK.graph[name].holds(moments[-1], TASK.roles)]


@pytest.mark.parametrize("seed", TASK.development)
def test_a_success_establishes_the_steps_in_order_and_keeps_the_invariants(desk, make, full, seed):
    moments = trace(make(seed=seed), full, desk.run)
    at = [first(moments, name) for name in STEPS]
    assert None not in at and at == sorted(at)
    for name in INVARIANTS:
        assert all(TASK.graph[name].holds(now, TASK.roles) for now in moments)


@pytest.mark.parametrize(
    ("shape", "obstacle", "missing", "harm"),
    [
        ("block", None, None, []),
        ("mug", None, "grasped", []),
        ("brick", None, "lifted", []),
        ("block", "wall", "above", ["upright", "wall_clear"]),
        ("block", "lamp", None, []),
    ],
)
def test_the_naive_program_fails_at_the_step_that_the_scene_makes_hard(desk, shape, obstacle, missing, harm):
    setting = Setting({shape: 1.0}, walls=float(obstacle == "wall"), lamps=float(obstacle == "lamp"))
    environment = DeskEnvironment("desk/test", setting)
    environment.reset(101)
    moments = trace(environment, TASK.demonstrations[0].source, desk.run)
    steps = [name for name in STEPS if first(moments, name) is None]
    assert (steps[0] if steps else None) == missing
    assert broken(moments) == harm
    assert environment.succeeded() is (missing is None)


def test_invariants_come_before_every_step_and_none_is_undone_by_success():
    for name in STEPS:
        assert set(INVARIANTS) <= TASK.graph.ancestors[name]
    assert [check.name for check in TASK.graph if check.invariant] == INVARIANTS


def test_effects_are_facts_over_roles():
    assert [check.effect for check in TASK.graph] == [
        "intact(item)",
        "upright(item)",
        "still(goal)",
        "wall_clear()",
        "reached(item)",
        "grasped(item)",
        "lifted(item)",
        "above(item, goal)",
        "inside(item, goal)",
    ]
