"""What the registry says about the desk."""

from __future__ import annotations

import pytest

from surefoot.environments.desk.tasks import TASKS


def test_the_desk_has_three_tasks():
    assert list(TASKS) == ["desk/place", "desk/place-unsteady", "desk/occlusion"]


@pytest.mark.parametrize("name", TASKS)
def test_seeds_goal_and_roles_fit_together(name):
    task = TASKS[name]
    assert task.name == name
    assert task.development == tuple(range(101, 126)) and task.held_out == tuple(range(1, 101))
    assert set(task.role_types) == set(task.roles)
    assert all(goal in task.graph.by_name for goal in task.goal)
    assert set(task.roles.values()) <= set(task.make().reset(101).layout)


@pytest.mark.parametrize("name", TASKS)
def test_demonstrations_name_the_task_they_were_written_for(name):
    for demonstration in TASKS[name].demonstrations:
        assert demonstration in TASKS[demonstration.task].demonstrations
        assert demonstration.name == demonstration.path.stem


def test_the_revision_is_one_for_all_tasks():
    assert len({task.revision() for task in TASKS.values()}) == 1


def test_the_surface_is_pinned():
    kinds = {function.name: function.kind for function in TASKS["desk/place"].surface.functions}
    assert kinds == {
        "list_objects": "query",
        "locate": "query",
        "describe": "query",
        "get_hand": "query",
        "free_heights": "query",
        "recall": "query",
        "move_to": "effect",
        "grip": "effect",
        "release": "effect",
    }
