"""State: queries leave it, snapshots keep it, restoring gives it back exactly."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from surefoot.environments.desk.board import graft
from surefoot.environments.desk.tasks import TASKS
from surefoot.errors import UsageError

ARGUMENTS = {
    "list_objects": [()],
    "locate": [("item",), ("bin",), ("cup",), (3,)],
    "describe": [("item",), ("bin",), ("cup",)],
    "get_hand": [()],
    "free_heights": [([-0.2, 0.0], [0.2, 0.1]), ([0.0, 0.0], [np.nan, 0.0])],
    "recall": [("item",), ("cup",)],
}


def middle(environment):
    """Bring the environment to the middle of an episode, item in hand."""
    target = environment.api.locate("item")
    environment.api.move_to(target, height=0.1)
    environment.api.move_to(target, height=0.02)
    environment.api.grip()
    environment.api.move_to(target, height=0.15)


def frozen(board):
    """The board as bytes, arrays exactly."""
    return pickle.dumps(copy.deepcopy(board))


@pytest.mark.parametrize("task", TASKS)
def test_queries_leave_state_and_board_bit_unchanged(make, task):
    queries = [function.name for function in TASKS[task].surface.functions if function.kind == "query"]
    assert sorted(queries) == sorted(ARGUMENTS)
    for prepare in (lambda environment: None, middle):
        environment = make(task)
        prepare(environment)
        before = environment.state_digest(), environment.steps, frozen(environment.public_state)
        for name in queries:
            for arguments in ARGUMENTS[name]:
                try:
                    getattr(environment.api, name)(*arguments)
                except Exception as error:  # noqa: BLE001 - the next line says which may come
                    assert type(error) in declared(task, name)
                assert (
                    environment.state_digest(),
                    environment.steps,
                    frozen(environment.public_state),
                ) == before


def declared(task, name):
    """Exception types that a function's specification lists."""
    from surefoot.environments.desk import errors

    return [getattr(errors, spec.name) for spec in TASKS[task].surface[name].raises]


def test_telemetry_and_verdict_leave_the_state_bit_unchanged(make):
    environment = make()
    middle(environment)
    before = environment.state_digest()
    environment.telemetry(), environment.succeeded(), environment.snapshot()
    assert environment.state_digest() == before


def test_telemetry_is_floats_bools_and_lists_of_floats(make):
    for value in make().telemetry().values():
        assert type(value) in (float, bool) or (type(value) is list and {type(x) for x in value} == {float})


def test_what_queries_return_is_not_the_state(make):
    environment = make()
    before = environment.state_digest()
    environment.api.locate("item")[:] = 0.0
    environment.api.get_hand()["position"][:] = 0.0
    environment.api.describe("item")["size"][:] = 0.0
    assert environment.state_digest() == before


@pytest.mark.parametrize("seed", [101, 102, 103, 104, 105])
def test_from_a_restored_snapshot_an_episode_goes_on_bit_for_bit(desk, make, full, seed):
    environment = make(seed=seed)
    middle(environment)
    snapshot, at = environment.snapshot(), environment.state_digest()
    desk.run(environment, full)
    end, board = environment.state_digest(), frozen(environment.public_state)
    for target in (environment, make(seed=seed)):
        target.restore(snapshot)
        assert target.state_digest() == at
        desk.run(target, full)
        assert (target.state_digest(), frozen(target.public_state)) == (end, board)


def test_restoring_keeps_api_and_board_the_same_objects(make):
    environment = make()
    api, board = environment.api, environment.public_state
    poses, visited, item = board["poses"], board["visited"], board["poses"]["item"]
    snapshot = environment.snapshot()
    api.move_to(api.locate("item"), height=0.1)
    board["notes"]["tried"] = [1, 2]
    environment.restore(snapshot)
    assert environment.api is api and environment.public_state is board
    assert board["poses"] is poses and board["visited"] is visited and poses["item"] is item
    assert visited == [] and board["notes"] == {}


def test_a_snapshot_of_another_scene_is_refused(make):
    snapshot = make(seed=101).snapshot()
    with pytest.raises(UsageError, match=r"^This snapshot is of another scene; reset to its seed, then restore it\.$"):
        make(seed=102).restore(snapshot)


def test_an_environment_without_a_reset_says_so():
    with pytest.raises(UsageError, match=r"^The desk is empty before its first reset; call reset\(seed\)\.$"):
        TASKS["desk/place"].make().telemetry()


def test_effects_write_on_the_board_in_place(make):
    environment = make()
    board = environment.public_state
    item, visited = board["poses"]["item"], board["visited"]
    target = environment.api.locate("item")
    environment.api.move_to(target, height=0.1)
    environment.api.move_to(target, height=0.02)
    environment.api.grip(40.0)
    environment.api.move_to([-0.2, 0.1], height=0.12)
    assert board["poses"]["item"] is item and board["visited"] is visited
    assert [visit.tolist() for visit in visited] == [[*target, 0.1], [*target, 0.02], [-0.2, 0.1, 0.12]]
    assert item.tolist() == environment.api.locate("item").tolist()


def test_the_board_keeps_the_last_seen_pose_of_what_is_hidden(make):
    environment = make("desk/occlusion")
    seen = environment.api.locate("item")
    environment.api.move_to(seen, height=0.02)
    assert environment.api.recall("item").tolist() == seen.tolist()
    assert environment.api.recall("item") is environment.public_state["poses"]["item"]


def test_what_a_program_notes_on_the_board_is_recalled(make):
    environment = make()
    environment.public_state["poses"]["item"] = note = np.array([0.1, 0.2])
    assert environment.api.recall("item") is note


@pytest.mark.parametrize("junk", ["text", None, np.zeros(3), np.zeros(2, dtype=np.float32), np.array([[1.0]])])
def test_a_pose_that_a_program_spoiled_is_written_anew(make, junk):
    environment = make()
    environment.public_state["poses"]["item"] = junk
    environment.api.release()
    assert environment.api.recall("item").tolist() == environment.api.locate("item").tolist()


def test_a_graft_gives_equal_content_with_the_aliases_of_its_source():
    shared = np.array([1.0, 2.0])
    source = {"a": shared, "b": shared, "deep": {"list": [1, [2, shared]]}, "new": (1, {2})}
    source["self"] = source
    one, kept = np.zeros(2), [0, [0, None], 9]
    board = {"old": 1, "b": one, "a": one, "deep": {"list": kept}}
    graft(board, source)
    assert list(board) == list(source)
    assert board["self"] is board and board["a"] is board["b"] is board["deep"]["list"][1][1] is one
    assert board["deep"]["list"] is kept and one.tolist() == [1.0, 2.0] and board["new"] == (1, {2})


def test_a_graft_parts_aliases_that_its_source_does_not_have():
    one = np.zeros(2)
    board = {"a": one, "b": one}
    graft(board, {"a": np.array([1.0, 1.0]), "b": np.array([2.0, 2.0])})
    assert board["a"] is one and [board["a"].tolist(), board["b"].tolist()] == [[1.0, 1.0], [2.0, 2.0]]
