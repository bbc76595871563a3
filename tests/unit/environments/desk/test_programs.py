"""What the demonstrations and a full program solve."""

from __future__ import annotations

import ast
import time

import pytest

from surefoot.environments.desk.errors import NotVisibleError
from surefoot.environments.desk.tasks import TASKS

SOURCES = {demo.name: demo.source for task in TASKS.values() for demo in task.demonstrations}
HELD_OUT = TASKS["desk/place"].held_out
ALL = TASKS["desk/place"].development + HELD_OUT


def stage_source(source: str, name: str) -> str:
    """The text of one stage, decorator included."""
    found = next(node for node in ast.parse(source).body if getattr(node, "name", None) == name)
    return f"@stage\n{ast.get_source_segment(source, found)}\n"


@pytest.mark.parametrize("task", ["desk/place", "desk/place-unsteady"])
def test_the_naive_program_solves_a_good_part_of_the_scenes(desk, task):
    assert len(desk.solved(task, SOURCES["place_naive"])) == 12
    assert len(desk.solved(task, SOURCES["place_naive"], HELD_OUT)) == 39


@pytest.mark.parametrize("task", TASKS)
def test_a_full_program_solves_every_scene(desk, full, task):
    assert desk.solved(task, full, ALL) == list(ALL)


@pytest.mark.parametrize(("name", "solved"), [("place_mug", 2), ("place_brick", 4), ("place_high", 8)])
def test_each_other_demonstration_solves_its_own_part(desk, name, solved):
    seeds = desk.solved("desk/place", SOURCES[name])
    assert len(seeds) == solved
    assert set(seeds) - set(desk.solved("desk/place", SOURCES["place_naive"]))


@pytest.mark.parametrize(
    ("constant", "values"),
    [
        ('0.05 if about["shape"] == "mug" else 0.0', [0.0, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06]),
        ('40.0 if about["weight"] > 1.0 else 10.0', [5.0, 10.0, 20.0, 21.0, 25.0, 30.0, 40.0]),
        ("0.30 if free_heights(start, target)[0] > 0.09 else 0.10", [0.1, 0.13, 0.16, 0.2, 0.24, 0.3, 0.38]),
    ],
)
def test_no_single_constant_replaces_a_guard(desk, full, constant, values):
    assert constant in full
    for value in values:
        assert len(desk.solved("desk/place", full.replace(constant, str(value)))) < 25


def test_looking_again_beside_the_item_never_works_under_occlusion(desk, make):
    assert desk.solved("desk/occlusion", SOURCES["occlusion_naive"], ALL) == []
    error = desk.run(make("desk/occlusion"), SOURCES["occlusion_naive"])
    assert isinstance(error, NotVisibleError)


def test_reading_the_position_before_approaching_solves_occlusion(desk):
    naive, cached = SOURCES["occlusion_naive"], SOURCES["occlusion_cached"]
    pick = stage_source(naive, "pick")
    assert pick in naive
    edited = naive.replace(pick, stage_source(cached, "pick"))
    assert desk.solved("desk/occlusion", edited, ALL) == list(ALL)
    assert 0 < len(desk.solved("desk/occlusion", cached)) < 25


def test_moving_back_shows_the_item_again_out_of_reach(make):
    environment = make("desk/occlusion")
    item = environment.api.locate("item")
    environment.api.move_to(item, height=0.1)
    assert not environment.telemetry()["visible.item"]
    environment.api.move_to(item - [0.1, 0.0], height=0.1)
    assert environment.api.locate("item").tolist() == item.tolist()
    environment.api.move_to(item - [0.1, 0.0], height=0.02)
    assert not environment.api.grip()


def test_an_episode_takes_less_than_two_milliseconds(desk, make, full):
    environment = make()
    start = time.perf_counter()
    for seed in HELD_OUT:
        environment.reset(seed)
        desk.run(environment, full)
    assert (time.perf_counter() - start) / len(HELD_OUT) < 0.002


@pytest.mark.parametrize("name", SOURCES)
def test_demonstrations_are_staged_and_closed(name):
    functions = {function.name for function in TASKS["desk/place"].surface.functions}
    body = ast.parse(SOURCES[name]).body
    stages = [node for node in body if isinstance(node, ast.FunctionDef)]
    assert [node.name for node in stages] == ["pick", "place"]
    for node in stages:
        assert [ast.unparse(decorator) for decorator in node.decorator_list] == ["stage"]
        names = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name)]
        bound = {inner.id for inner in names if isinstance(inner.ctx, ast.Store)}
        bound |= {argument.arg for argument in node.args.args}
        bound |= {alias.asname or alias.name for i in ast.walk(node) if isinstance(i, ast.Import) for alias in i.names}
        free = {inner.id for inner in names} - bound - functions
        assert free <= {"vary", "print", "stage"}
