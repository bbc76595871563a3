"""What surefoot relies on, of any environment.

A task joins by its name in `conftest.py`. Calls are made by running the task's own demonstrations, and by
calling each function with what its parameters' names suggest.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import msgspec
import numpy as np
import pytest

from surefoot.boundary.declared import MARK
from surefoot.boundary.decoding import decode_value
from surefoot.boundary.encoding import encode_value
from surefoot.boundary.surface import Surface
from surefoot.environments.host import TaskHost
from surefoot.errors import UsageError
from surefoot.program.source import Program
from surefoot.tape.certificate import Certified, Unavailable
from surefoot.tape.text import parameter_names

pytestmark = pytest.mark.contract

GUESSES: dict[str, tuple[Any, ...]] = {
    "name": ("item", "bin", "no such object"),
    "object_name": ("cube", "cubeA", "cubeB", "spill", "handle", "pot", "square_nut", "no such object"),
    "quaternion_wxyz": ((0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 0.0)),
    "quaternion_wxyz0": ((0.0, 0.0, 1.0, 0.0),),
    "quaternion_wxyz1": ((0.0, 1.0, 0.0, 0.0),),
    "position": ((0.5, 0.0, 0.1), (0.0, 0.0), "nowhere"),
    "position0": ((0.45, 0.0, 0.1),),
    "position1": ((0.8, 0.0, 0.15), "nowhere"),
    "start": ((-0.2, 0.1), np.array([0.1, 0.1])),
    "goal": ((0.2, 0.1), np.array([0.2, 0.0])),
}


def calls(task, environment, kind):
    """Bound methods of one kind with arguments that may suit them."""
    for function in task.surface.functions:
        if function.kind == kind:
            names = parameter_names(function)
            for attempt in range(max([len(GUESSES.get(name, ())) for name in names], default=1) or 1):
                guesses = [GUESSES.get(name, (0.1,)) for name in names]
                method = getattr(environment.api, function.name)
                yield function, method, [guess[attempt % len(guess)] for guess in guesses]


def attempted(method, arguments):
    """Call; a declared exception is an answer like any other."""
    try:
        return method(*arguments)
    except getattr(method, MARK).raises as error:
        return error


def act(task, environment):
    """Call every effect once."""
    for _, method, arguments in calls(task, environment, "effect"):
        attempted(method, arguments)


def everything(environment):
    """What a program, an evaluator and a diagnosis can see."""
    return encode_value([environment.public_state, environment.telemetry(), environment.clock, environment.steps])


def test_a_query_leaves_the_state_bit_unchanged(task, start):
    environment = start(task)
    for _ in range(2):
        before = environment.state_digest(), everything(environment)
        queries = list(calls(task, environment, "query"))
        for function, method, arguments in queries:
            attempted(method, arguments)
            assert (environment.state_digest(), everything(environment)) == before, function.name
        act(task, environment)


def test_reading_telemetry_verdict_and_digest_changes_nothing(task, start):
    environment = start(task)
    act(task, environment)
    before = environment.state_digest(), everything(environment)
    environment.succeeded()
    environment.telemetry()
    assert (environment.state_digest(), everything(environment)) == before


def test_telemetry_is_plain_data_and_new_at_each_reading(task, start):
    environment = start(task)
    first, second = environment.telemetry(), environment.telemetry()
    assert first == second
    assert first is not second
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(first)) == first
    for name, value in first.items():
        assert type(name) is str
        for item in value if type(value) is list else [value]:
            assert type(item) in (float, bool), name


def test_a_reset_is_a_pure_function_of_its_seed(steady, start):
    fresh = start(steady, None)
    scene = fresh.reset(101)
    state = fresh.state_digest(), everything(fresh)
    used = start(steady, 102)
    act(steady, used)
    assert used.reset(101) == scene
    assert (used.state_digest(), everything(used)) == state
    assert used.reset(102) != scene


def test_a_reset_starts_the_episode_s_clock_and_steps_anew(task, start):
    environment = start(task)
    act(task, environment)
    assert environment.steps > 0
    assert environment.clock > 0.0
    environment.reset(102)
    assert (environment.steps, environment.clock, environment.succeeded()) == (0, 0.0, False)


def test_time_never_runs_back_and_sleep_passes_it(task, start):
    environment = start(task)
    before = environment.clock
    for _, method, arguments in calls(task, environment, "effect"):
        attempted(method, arguments)
        assert environment.clock >= before
        before = environment.clock
    environment.sleep(0.1)
    assert environment.clock >= before + 0.1 - 1e-9
    for seconds in (-0.1, math.nan, math.inf):
        with pytest.raises(ValueError):
            environment.sleep(seconds)


def test_equal_calls_on_equal_scenes_give_equal_states(steady, start):
    states = []
    for environment in (start(steady), start(steady)):
        act(steady, environment)
        states.append((environment.state_digest(), everything(environment)))
    assert states[0] == states[1]


def test_a_restored_snapshot_is_the_state_it_was_taken_of(task, start):
    environment = start(task)
    act(task, environment)
    snapshot = environment.snapshot()
    if snapshot is None:
        pytest.skip("takes no snapshots")
    before = environment.state_digest(), everything(environment)
    api, state = environment.api, environment.public_state
    for _ in range(2):
        act(task, environment)
        assert environment.state_digest() != before[0]
        environment.restore(snapshot)
        assert (environment.state_digest(), everything(environment)) == before
    assert environment.api is api
    assert environment.public_state is state


def test_a_snapshot_is_a_value_that_another_instance_goes_on_from(task, start):
    environment = start(task)
    for middle in (False, True):
        if middle:
            act(task, environment)
        snapshot = environment.snapshot()
        if snapshot is None:
            pytest.skip("takes no snapshots")
        fresh = start(task)
        fresh.restore(decode_value(encode_value(snapshot)))
        assert (fresh.state_digest(), everything(fresh)) == (environment.state_digest(), everything(environment))
        for here, there in zip(calls(task, environment, "effect"), calls(task, fresh, "effect"), strict=True):
            answers = [encode_value(attempted(method, arguments)) for _, method, arguments in (here, there)]
            assert answers[0] == answers[1]
            assert (fresh.state_digest(), everything(fresh)) == (environment.state_digest(), everything(environment))


def test_a_snapshot_of_another_scene_is_refused(task, start):
    snapshot = start(task).snapshot()
    if snapshot is None:
        pytest.skip("takes no snapshots")
    with pytest.raises(UsageError):
        start(task, 102).restore(snapshot)


def test_a_watched_and_drawn_episode_is_equal_to_one_that_is_not(steady, start):
    watched, plain = start(steady), start(steady)
    try:
        first = watched.frame()
    except UsageError as error:
        pytest.skip(str(error))
    if first is None:
        pytest.skip("has no pictures")
    seen = []

    def look():
        seen.append(watched.steps)
        if len(seen) % 50 == 1:  # not all: a simulator draws slowly
            frame = watched.frame()
            assert (frame.shape, frame.dtype) == (first.shape, np.uint8)

    watched.watch(look)
    states = []
    for environment in (watched, plain):
        act(steady, environment)
        states.append((environment.state_digest(), everything(environment)))
    assert states[0] == states[1]
    assert seen == list(range(1, watched.steps + 1))
    assert not np.array_equal(watched.frame(), first)


def test_nobody_is_told_of_the_steps_of_the_next_episode(task, start):
    environment, seen = start(task), []
    environment.watch(lambda: seen.append(environment.steps))
    environment.reset(102)
    environment.sleep(0.1)
    assert seen == []


def test_answers_are_not_overwritten_by_later_calls_unless_they_are_shared_state(task, start):
    environment = start(task)
    answers = [attempted(method, arguments) for _, method, arguments in calls(task, environment, "query")]
    shared = {id(item) for item in _arrays(environment.public_state)}
    own = [item for answer in answers for item in _arrays(answer) if id(item) not in shared]
    before = copy.deepcopy(own)
    act(task, environment)
    assert all(first.tobytes() == second.tobytes() for first, second in zip(own, before, strict=True))


def _arrays(value):
    if isinstance(value, np.ndarray):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [array for item in items for array in _arrays(item)]


def test_the_task_says_what_it_is(task, start):
    environment = start(task, None)
    scene = environment.reset(task.development[0])
    assert task.surface == Surface.of(type(environment.api))
    assert not set(task.development) & set(task.held_out)
    assert max(task.development + task.held_out) < 10_001
    assert set(task.role_types) == set(task.roles)
    hands = {key.removesuffix(".position") for key in environment.telemetry() if key.endswith(".position")}
    assert set(task.roles.values()) <= set(scene.layout) | hands
    assert all(name in task.graph.by_name for name in task.goal)
    assert {check.predicate.name for check in task.graph} <= set(task.predicates)
    assert task.revision() == task.revision()
    for check in task.graph:
        assert check.holds(environment.telemetry(), task.roles) in (True, False)


def test_development_and_held_out_scenes_differ(steady, start):
    environment = start(steady)
    seeds = (*steady.development[::3], *steady.held_out[::10])
    digests = [environment.reset(seed).digest for seed in seeds]
    assert len(set(digests)) == len(digests)


def test_demonstrations_are_programs_that_replay_as_recorded(task):
    assert task.demonstrations
    own = [item for item in task.demonstrations if item.task == task.name]
    with TaskHost(task) as host:
        for demonstration in own or task.demonstrations[:1]:
            program = Program(demonstration.source, demonstration.name)
            certificate = host.certify(program, host.execute(program, task.development[0]).tape)
            assert isinstance(certificate, Certified) or certificate.reason == "not a success"
            assert isinstance(certificate, Certified | Unavailable)
