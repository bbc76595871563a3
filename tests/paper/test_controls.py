"""The controls' benchmark: what it must not count, and what it must not take for its own."""

from __future__ import annotations

import pytest
from benchmarks import controls

from surefoot.boundary.outcome import Infrastructure, Success
from surefoot.evaluation.pool import Episode
from surefoot.program.source import Program


def test_an_episode_that_the_environment_lost_is_no_failure_of_a_program(desk, monkeypatch):
    episodes = [Episode(3, Success(), None, 0, 0.0), Episode(15, Infrastructure("gone"), None, 0, 0.0)]
    monkeypatch.setattr(controls, "run_episodes", lambda *_: enumerate(episodes))
    with pytest.raises(SystemExit, match="desk/place seed 15: infrastructure: gone; run it again"):
        controls.solved(desk, Program(""), [3, 15])


def test_a_finished_run_of_other_options_is_not_read_as_this_one(desk, tmp_path):
    controls.learned(desk, "random", [3], 0, 2, tmp_path)
    report, _ = controls.learned(desk, "random", [15], 0, 2, tmp_path)
    assert report.held_out == (3,)
    (tmp_path / "random-0-2").rename(tmp_path / "random-1-2")
    with pytest.raises(SystemExit, match="was made with other code or options"):
        controls.learned(desk, "random", [3], 1, 2, tmp_path)
