"""What goes wrong on the desk, and how it shows."""

from __future__ import annotations

import pytest

from surefoot.boundary.environment import StepLimitReachedError
from surefoot.environments.desk.environment import DeskEnvironment
from surefoot.environments.desk.scene import Setting


def desk_with(shape: str, obstacle: str | None = None, seed: int = 3) -> DeskEnvironment:
    """A desk with one shape of item and one obstacle, or none."""
    setting = Setting({shape: 1.0}, walls=float(obstacle == "wall"), lamps=float(obstacle == "lamp"))
    environment = DeskEnvironment("desk/test", setting)
    environment.reset(seed)
    return environment


def pick(environment: DeskEnvironment, force: float = 10.0) -> bool:
    """Grip the item about its centre."""
    target = environment.api.locate("item")
    environment.api.move_to(target, height=0.1)
    environment.api.move_to(target, height=0.02)
    return environment.api.grip(force)


def test_a_mug_is_not_gripped_about_its_centre():
    environment = desk_with("mug")
    assert not pick(environment)
    assert environment.api.get_hand()["holding"] is None


@pytest.mark.parametrize(("force", "lifted"), [(20.0, False), (30.0, True)])
def test_a_brick_stays_behind_a_weak_grip(force, lifted):
    environment = desk_with("brick")
    assert pick(environment, force)
    assert environment.api.move_to(environment.api.locate("item"), height=0.2)
    now = environment.telemetry()
    assert (now["position.item"][2] > 0.1, now["held.item"], now["intact.item"]) == (lifted, lifted, True)


def test_a_block_breaks_in_a_firm_grip():
    environment = desk_with("block")
    assert pick(environment, 20.5)
    assert not environment.telemetry()["intact.item"]


@pytest.mark.parametrize(("height", "intact"), [(0.16, True), (0.18, False)])
def test_an_item_breaks_when_it_falls_far(height, intact):
    environment = desk_with("block")
    pick(environment)
    environment.api.move_to(environment.api.locate("item"), height=height)
    environment.api.release()
    assert environment.telemetry()["intact.item"] is intact


@pytest.mark.parametrize(("obstacle", "height"), [("wall", 0.1), ("lamp", 0.3)])
def test_an_obstacle_stops_the_hand_and_costs_the_item(obstacle, height):
    environment = desk_with("block", obstacle)
    pick(environment)
    environment.api.move_to(environment.api.locate("item"), height=height)
    goal = environment.api.locate("bin")
    assert not environment.api.move_to(goal, height=height)
    now = environment.telemetry()
    assert now[f"displacement.{obstacle}"] == pytest.approx(0.02)
    assert (now["held.item"], now["upright.item"]) == (False, False)


@pytest.mark.parametrize("obstacle", ["wall", "lamp"])
@pytest.mark.parametrize("seed", range(20))
def test_free_heights_are_the_heights_at_which_nothing_is_touched(obstacle, seed):
    lowest, highest = desk_with("block", obstacle, seed).api.free_heights([-0.2, 0.0], [0.2, 0.0])
    for height in (lowest - 0.01, lowest + 0.01, highest - 0.01, highest + 0.01):
        if not 0.06 < height < 0.4:
            continue
        api = desk_with("block", obstacle, seed).api
        api.move_to([-0.2, 0.0], height=height)
        assert api.move_to([0.2, 0.0], height=height) is bool(lowest < height < highest)


def test_an_item_met_from_the_side_topples():
    environment = desk_with("block")
    item = environment.api.locate("item")
    environment.api.move_to(item - [0.08, 0.0], height=0.02)
    assert not environment.api.move_to(item, height=0.02)
    assert not environment.telemetry()["upright.item"]
    assert environment.telemetry()["displacement.item"] == pytest.approx(0.02)


def test_a_low_hand_pushes_the_bin():
    environment = desk_with("block")
    goal = environment.api.locate("bin")
    environment.api.move_to([0.0, goal[1]], height=0.03)
    assert not environment.api.move_to(goal, height=0.03)
    assert environment.telemetry()["displacement.bin"] == pytest.approx(0.02)


def test_a_wall_pressed_from_above_gives_way():
    environment = desk_with("block", "wall")
    wall = environment.api.locate("wall")
    environment.api.move_to(wall, height=0.35)
    assert not environment.api.move_to(wall, height=0.0)
    assert environment.telemetry()["displacement.wall"] == pytest.approx(0.02)


def test_a_blocked_hand_stays_blocked():
    environment = desk_with("block", "wall")
    for _ in range(3):
        environment.api.move_to([0.3, environment.api.locate("wall")[1]], height=0.05)
        assert environment.api.get_hand()["position"][0] < environment.api.locate("wall")[0]


def test_motion_advances_the_clock_at_half_a_metre_per_second():
    environment = desk_with("block")
    environment.api.move_to([-0.35, 0.2], height=0.30)
    assert (environment.steps, environment.clock) == (20, pytest.approx(0.4))
    environment.api.move_to([-0.35, 0.2], height=0.30)
    assert environment.steps == 21
    environment.api.grip()
    assert environment.steps == 31


@pytest.mark.parametrize(("seconds", "steps"), [(0.0, 0), (0.02, 1), (0.03, 2), (0.1, 5), (1.0, 50)])
def test_sleep_takes_whole_steps(seconds, steps):
    environment = desk_with("block")
    environment.sleep(seconds)
    assert environment.steps == steps


@pytest.mark.parametrize("seconds", [-0.1, float("nan"), float("inf")])
def test_sleep_refuses_what_is_no_length_of_time(seconds):
    with pytest.raises(ValueError, match="sleep takes a finite number of seconds, not less than 0; asked was"):
        desk_with("block").sleep(seconds)


def test_an_episode_ends_at_its_step_limit_midway():
    environment = desk_with("block")
    environment.sleep(599 * 0.02)
    with pytest.raises(StepLimitReachedError, match=r"^The episode's 600 environment steps are used up\.$"):
        environment.api.move_to([-0.35, 0.2], height=0.30)
    assert environment.steps == 600
    assert environment.api.get_hand()["position"].tolist() == pytest.approx([-0.35, 0.01])
    for effect in (environment.api.grip, environment.api.release, lambda: environment.sleep(1e300)):
        with pytest.raises(StepLimitReachedError):
            effect()
    assert environment.steps == 600
