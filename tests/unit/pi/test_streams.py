"""The tasks of one world: how many, of what, and with ids of their own."""

from __future__ import annotations

from collections import Counter

import pytest

from surefoot.environments.tables.worlds import ATOMIC, COMPOSED, World
from surefoot.pi.sources import fragments_of
from surefoot.pi.streams import GROUPS, Streams


def keys(tasks):
    return Counter((task.revision, task.request) for task in tasks)


def every(revisions, requests, times):
    return {(revision, request): times for revision in revisions for request in requests}


def test_each_stream_has_the_paper_s_tasks(streams):
    assert keys(streams.sources) == every("AB", ATOMIC, 2)
    assert keys(streams.acquisition) == every("AB", ATOMIC, 8)
    assert keys(streams.probe) == every("AB", COMPOSED, 1)
    assert keys(streams.follow_up) == every("C", COMPOSED, 2)
    assert {name: len(tasks) for name, tasks in streams.final.items()} == dict.fromkeys(GROUPS, 60)
    assert len(streams.tasks) == 96 + 24 + 240


@pytest.mark.parametrize(
    ("group", "revisions", "requests", "rows"),
    [("atomic", "AB", ATOMIC, 12), ("composition", "AB", COMPOSED, 12), ("schema-shift", "AB", COMPOSED, 24), ("revision-C", "C", COMPOSED, 12)],
)  # fmt: skip
def test_final_groups_draw_revision_and_request_from_their_own(streams, group, revisions, requests, rows):
    tasks = streams.final[group]
    assert {task.revision for task in tasks} == set(revisions)
    assert {task.request for task in tasks} <= set(requests)
    assert len({task.request for task in tasks}) > len(requests) / 2
    assert {len(task.rows) for task in tasks} == {rows}
    assert all(task.tools == streams.world.tools[task.revision] for task in tasks)


def test_compositions_are_withheld_from_demonstrations_and_acquisition(streams):
    assert not {task.request for task in streams.sources + streams.acquisition} & set(COMPOSED)


def test_acquisition_and_follow_up_are_shuffled(streams):
    for tasks in (streams.acquisition, streams.follow_up):
        assert [task.id for task in tasks] != sorted(task.id for task in tasks)


def test_ids_are_disjoint_over_all_streams(streams):
    tasks = streams.sources + streams.tasks + streams.follow_up
    assert len({task.id for task in tasks}) == len(tasks)
    rows = [row.row for task in tasks for row in task.rows]
    assert len(set(rows)) == len(rows)


def test_demonstrations_are_accepted_programs_with_the_effects_of_the_tools(streams):
    templates = streams.templates()
    assert [template.id for template in templates] == [task.id for task in streams.sources]
    for task, template in zip(streams.sources, templates, strict=True):
        assert task.full(template.program).accepted
        assert (template.revision, template.request, template.effects) == (task.revision, task.request, task.request)
    assert len(fragments_of(templates)) == 16


def test_streams_are_a_function_of_the_seed(streams):
    again, other = Streams.of(11), Streams.of(29)
    assert (again.world, again.final["schema-shift"], again.follow_up) == (
        World.drawn(11),
        streams.final["schema-shift"],
        streams.follow_up,
    )
    assert other.final["composition"][0].rows != streams.final["composition"][0].rows
