"""Resets: pure where they are steady, different where they are not."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from surefoot.environments.desk.tasks import TASKS

STEADY = ["desk/place", "desk/occlusion"]


@pytest.mark.parametrize("task", STEADY)
def test_a_reset_follows_from_its_seed_in_any_order_and_instance(task):
    one, other = TASKS[task].make(), TASKS[task].make()
    seeds = [*range(1, 21), *range(101, 126)]
    forwards = {seed: (one.reset(seed), one.state_digest()) for seed in seeds}
    backwards = {seed: (other.reset(seed), other.state_digest()) for seed in reversed(seeds)}
    assert forwards == backwards


def test_a_reset_follows_from_its_seed_after_a_program_ran(desk, make, full):
    environment = make(seed=101)
    scene, state = environment.reset(101), environment.state_digest()
    desk.run(environment, full)
    assert environment.state_digest() != state
    assert (environment.reset(101), environment.state_digest()) == (scene, state)


def test_a_reset_follows_from_its_seed_in_another_process():
    code = (
        "from surefoot.environments.desk.tasks import TASKS; e = TASKS['desk/place'].make();"
        "print(e.reset(7).digest, e.state_digest())"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    environment = TASKS["desk/place"].make()
    assert printed.split() == [environment.reset(7).digest, environment.state_digest()]


def test_the_digests_of_scenes_are_pinned():
    # They are the same on every machine; a change here is a new protocol.
    digests = {name: task.make().reset(101).digest for name, task in TASKS.items()}
    assert digests == PINNED


def test_no_two_seeds_share_a_scene():
    for task in TASKS.values():
        environment = task.make()
        digests = [environment.reset(seed).digest for seed in task.development + task.held_out]
        assert len(set(digests)) == 125


def test_the_development_scenes_hold_every_kind_of_item_and_obstacle(make):
    environment = make()
    kinds = set()
    for seed in TASKS["desk/place"].development:
        environment.reset(seed)
        obstacle = [name for name in environment.api.list_objects() if name in ("wall", "lamp")]
        kinds.add((environment.api.describe("item")["shape"], *obstacle))
    shapes, obstacles = ("block", "mug", "brick"), ((), ("wall",), ("lamp",))
    assert kinds == {(shape, *obstacle) for shape in shapes for obstacle in obstacles}


def test_unsteady_resets_of_one_seed_differ_by_millimetres():
    environment = TASKS["desk/place-unsteady"].make()
    first, second = environment.reset(101), environment.reset(101)
    assert first.digest != second.digest
    gaps = [abs(np.subtract(first.layout[name], second.layout[name])).max() for name in ("item", "bin")]
    assert 0.0 < max(gaps) <= 0.010


def test_the_nth_unsteady_reset_of_a_new_instance_is_the_same_again():
    one, other = TASKS["desk/place-unsteady"].make(), TASKS["desk/place-unsteady"].make()
    assert [one.reset(seed) for seed in (101, 101, 7)] == [other.reset(seed) for seed in (101, 101, 7)]


def test_no_scene_is_solved_at_the_start():
    for task in TASKS.values():
        environment = task.make()
        for seed in task.development + task.held_out:
            environment.reset(seed)
            assert not environment.succeeded()


PINNED = {
    "desk/place": "906828459f5639595bdbb9697496887c",
    "desk/place-unsteady": "5f9599f54c85a83246c2ea144d936c26",
    "desk/occlusion": "6b2c277efb0458ed1ade29f183a2541d",
}
