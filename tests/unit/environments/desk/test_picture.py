"""The desk from above."""

from __future__ import annotations

import numpy as np

from surefoot.environments.desk.picture import COLOURS, FINGERS, HEIGHT, SCALE, SURFACE, WIDTH


def pixel(frame, x, y):
    """Colour at a place of the desk [m]."""
    row, column = HEIGHT / 2 - y * SCALE, WIDTH / 2 + x * SCALE
    return tuple(frame[int(row), int(column)].tolist())


def test_things_are_drawn_where_they_are(make):
    environment = make()
    frame = environment.frame()
    assert (frame.shape, frame.dtype) == ((HEIGHT, WIDTH, 3), np.uint8)
    for name in ("item", "bin"):
        x, y, _ = environment.telemetry()[f"position.{name}"]
        assert pixel(frame, x, y) == COLOURS[environment.api.describe(name)["shape"]]
    assert pixel(frame, -0.45, 0.3) == SURFACE


def test_an_item_in_the_bin_is_seen_in_it(make):
    environment = make()
    item, goal = environment.api.locate("item"), environment.api.locate("bin")
    for position, height in ((item, 0.15), (item, 0.03)):
        environment.api.move_to(position, height)
    environment.api.grip()
    for position, height in ((item, 0.15), (goal, 0.15), (goal, 0.08)):
        assert environment.api.move_to(position, height)
    environment.api.release()
    assert environment.succeeded()
    shape = environment.api.describe("item")["shape"]
    assert pixel(environment.frame(), *environment.api.locate("item")) == COLOURS[shape]


def test_what_breaks_is_darker_and_what_topples_paler(make):
    environment = make()
    x, y, _ = environment.telemetry()["position.item"]
    whole = sum(pixel(environment.frame(), x, y))
    environment._world.bodies["item"].intact = False
    assert sum(pixel(environment.frame(), x, y)) < whole
    environment._world.bodies["item"].intact = True
    environment._world.bodies["item"].upright = False
    assert sum(pixel(environment.frame(), x, y)) > whole


def test_the_hand_s_height_shows_at_the_right_edge_and_its_fingers_close(make):
    environment = make()
    heights, widths = [], []
    for height in (0.1, 0.4):
        environment.api.move_to((0.0, 0.25), height)
        heights.append(int((environment.frame()[:, -1] == FINGERS).all(axis=1).sum()))
    assert heights == [HEIGHT / 4, HEIGHT]
    for act in (environment.api.release, environment.api.grip):
        act()
        dark = np.flatnonzero((environment.frame()[:, : WIDTH - 20] == FINGERS).all(axis=2).any(axis=0))
        widths.append(int(np.ptp(dark)))
    assert widths[1] < widths[0]
