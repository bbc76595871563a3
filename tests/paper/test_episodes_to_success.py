"""The headline benchmark: its arithmetic, and a tiny run of it on desk/place."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks import episodes_to_success as benchmark
from benchmarks.episodes_to_success import Run, compare, levels_of, timing

from surefoot.evaluation.progress import Progress
from surefoot.search.loop import Acceptance

WAYS = ("certify", "rerun-all", "minibatch", "none")


def rises(*starts: int) -> Progress:
    """One more of four configurations solved at each start."""
    return Progress.of([(start, [place <= step for place in range(4)]) for step, start in enumerate((0, *starts))])


CURVES = {
    "certify": {0: rises(2, 4, 6), 1: rises(3, 6, 9)},
    "none": {0: rises(1, 3), 1: rises(2, 5, 12)},
}


def run(way: str, run_seed: int, episodes: int, seconds: float = 1.0) -> Run:
    history = [Acceptance("a", 0), Acceptance("b", 5)]
    return Run("desk/place", way, run_seed, history, "b", episodes, 4, {"entry": episodes}, 0, 0, 0, seconds)


def test_equal_success_is_the_lowest_final_mean_and_nine_tenths_of_the_highest():
    assert levels_of(CURVES) == {"common": 0.875, "high": 0.9}


def test_times_are_paired_by_run_seed_and_a_run_that_never_gets_there_stands_at_the_horizon():
    found = timing(CURVES, "none", 0.75, 20, settled=False)
    assert (found.mean, found.censored) == ((3 + 5) / 2, 0)
    assert found.against_certify.mean == ((3 - 4) + (5 - 6)) / 2
    found = timing(CURVES, "none", 1.0, 20, settled=True)
    assert (found.mean, found.censored) == ((20 + 12) / 2, 1)
    assert found.against_certify.mean == ((20 - 6) + (12 - 9)) / 2
    assert (found.against_certify.first_smaller, found.against_certify.second_smaller) == (0, 2)


def test_a_run_that_gets_there_after_the_budget_counts_at_the_budget():
    assert timing(CURVES, "none", 1.0, 10, settled=False).mean == 10


def test_times_are_ratios_within_a_run_seed():
    runs = [run("certify", 0, 8, 2.0), run("certify", 1, 9, 4.0), run("none", 0, 6, 5.0), run("none", 1, 14, 2.0)]
    found = compare("desk/place", runs, CURVES, [1, 2, 3, 4], 20)
    assert found.horizon == 20
    assert (found.ways["certify"].seconds_ratio, found.ways["none"].seconds_ratio) == (1.0, 1.5)
    assert (found.ways["none"].solved, found.ways["none"].tested, found.ways["none"].episodes) == (7, 8, 20)


def test_the_best_program_counts_with_the_episodes_that_it_took_to_find_it():
    runs = [run(way, seed, 9) for way in ("certify", "none") for seed in (0, 1)]
    found = compare("desk/place", runs, CURVES, [1, 2, 3, 4], 20).ways
    assert (found["certify"].best_success, found["none"].best_success) == ((0.75 + 0.5) / 2, 0.75)
    assert found["none"].freeze == 8


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A run on three development configurations, made twice into one folder."""
    out = tmp_path_factory.mktemp("headline")
    script = Path(benchmark.__file__)
    command = [sys.executable, str(script), "--out", str(out), "--run-seeds", "0-1", "--development", "101-103"]
    command += ["--held-out", "3,15", "--ways", ",".join(WAYS), "--workers", "1"]
    written = []
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        written.append((out / "episodes-to-success.json").read_bytes())
    assert written[0] == written[1]
    return out, json.loads(written[0])


def test_a_benchmark_that_is_started_again_runs_nothing_anew_and_says_the_same(results):
    out, data = results
    (tests,) = (out / "tests").glob("desk-place-*.jsonl")
    rows = [tuple(json.loads(line)) for line in tests.read_text().splitlines() if line]
    programs = {item["program"] for run in data["runs"] for item in run["history"]}
    assert sorted(row[:2] for row in rows) == sorted((program, seed) for program in programs for seed in (3, 15))
    assert (out / "episodes-to-success.png").stat().st_size > 10_000
    assert "desk/place" in (out / "episodes-to-success.md").read_text()


def test_every_episode_of_a_search_is_counted_and_each_way_runs_what_it_says(results):
    _, data = results
    runs = {(run["way"], run["run_seed"]): run for run in data["runs"]}
    assert set(runs) == {(way, seed) for way in WAYS for seed in (0, 1)}
    for (way, _), run in runs.items():
        assert run["episodes"] == sum(run["roles"].values())
        assert (run["roles"]["gate"] > 0) <= (way == "minibatch")
        assert (run["roles"]["diagnostic"] > 0) <= (way in ("certify", "rerun-all"))
        assert (run["checks"] > 0) <= (way == "certify")
        assert [item["episodes"] for item in run["history"]] == sorted(item["episodes"] for item in run["history"])
    for seed in (0, 1):
        first = {runs[way, seed]["history"][0]["program"] for way in WAYS}
        assert len(first) == 1, "the ways of one run seed start from one program"
