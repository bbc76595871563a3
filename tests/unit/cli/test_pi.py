"""`surefoot pi`: what it prints, its JSON, its exit codes, and the same bytes whatever the workers."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from surefoot.cli import pi as command
from surefoot.pi import check, streams
from surefoot.pi import experiment as experiments
from surefoot.pi.figures import FIGURES
from surefoot.pi.integrity import Checked
from surefoot.pi.trace import tell


@pytest.fixture
def two_worlds(monkeypatch):
    """The paper on two of its ten seeds."""
    monkeypatch.setattr(command, "PUBLISHED_SEEDS", (11, 29))


@pytest.fixture(scope="session")
def results():
    return [experiments.run_world(seed) for seed in (1_000, 1_001)]


@pytest.fixture
def ten_worlds(monkeypatch, results):
    """Ten worlds at the price of two, and few groups of them."""
    monkeypatch.setattr(command, "run_world", lambda seed: results[seed % 2])
    monkeypatch.setattr(check, "GROUPS_DRAWN", 50)


def test_paper_writes_the_same_bytes_with_one_worker_and_with_two(surefoot, two_worlds, tmp_path):
    said = surefoot("pi", "paper", "--out", tmp_path / "one", "--workers", 1)
    data = surefoot("pi", "paper", "--out", tmp_path / "two", "--workers", 2, "--json")
    assert (said.code, data.code) == (0, 0)
    assert set(data.json) == {"seconds", "out"}
    assert data.json["out"] == str(tmp_path / "two")
    assert 0 < data.json["seconds"] < 600
    assert re.search(rf"^12 tables \(Markdown, CSV, JSON\), 2 plots \(PNG, SVG\) and a trace in {tmp_path / 'one'}, \d+\.\d s\.$", said.out, re.M)  # fmt: skip
    assert f"Read {tmp_path / 'one' / 'report.md'} first." in said.out
    one, two = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "two"))
    assert len(one) == 2 * 12 + 3 + 4
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []


def test_paper_refuses_a_folder_that_can_t_be_made_before_it_measures(surefoot, monkeypatch, tmp_path):
    monkeypatch.setattr(command, "run_world", pytest.fail)
    (tmp_path / "file").write_text("")
    said = surefoot("pi", "paper", "--out", tmp_path / "file" / "inside", "--workers", 1)
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        f"surefoot: {tmp_path / 'file' / 'inside'} can't be made: Not a directory. Name another with --out.\n"
        "Try 'surefoot pi --help'.\n"
    )


def test_check_s_json_is_figures_and_invariants(surefoot, ten_worlds):
    said = surefoot("pi", "check", "--worlds", 10, "--workers", 1, "--json")
    assert set(said.json) == {"figures", "invariants"}
    assert [each["name"] for each in said.json["figures"]] == [figure.name for figure in FIGURES]
    for each in said.json["figures"]:
        assert [*each] == ["name", "published", "mean", "percentile", "inside"]
        assert type(each["inside"]) is bool
        assert 0 <= each["percentile"] <= 100
    for each in said.json["invariants"]:
        assert [*each] == ["name", "holds"]
        assert each["holds"] is True
    assert said.code == 1  # ten times the same two worlds: some figures lie outside
    assert not all(each["inside"] for each in said.json["figures"])


def test_check_is_exit_code_0_if_every_figure_is_inside(surefoot, ten_worlds, monkeypatch):
    monkeypatch.setattr(check, "FIGURES", FIGURES[:1])
    said = surefoot("pi", "check", "--worlds", 10, "--workers", 1)
    assert said.code == 0
    assert re.search(r"^cold, pi, final +100\.00 +100\.00 +50\.0 +yes *$", said.out, re.M)
    assert re.search(r"^1 of 1 published figures inside; (\d+) of \1 invariants hold in each of 10 worlds\.$", said.out, re.M)  # fmt: skip


def test_check_names_what_does_not_hold_and_is_exit_code_1(surefoot, ten_worlds, monkeypatch):
    monkeypatch.setattr(check, "FIGURES", FIGURES[:1])
    held = check.held
    monkeypatch.setattr(check, "held", lambda worlds: [*held(worlds), check.Held("the moon is full", False)])
    said = surefoot("pi", "check", "--worlds", 10, "--workers", 1)
    assert said.code == 1
    assert said.out.splitlines()[-1] == "does not hold: the moon is full"


def test_integrity_lists_its_checks(surefoot, monkeypatch):
    monkeypatch.setattr(command, "PUBLISHED_SEEDS", (11, 29))
    monkeypatch.setattr(streams, "GROUP_SIZE", 8)
    monkeypatch.setattr(streams, "ACQUISITIONS_PER_REQUEST", 1)
    said = surefoot("pi", "integrity", "--workers", 1)
    data = surefoot("pi", "integrity", "--workers", 1, "--json")
    assert (said.code, data.code) == (0, 0)
    assert set(data.json) == {"checks"}
    checks = {each["name"]: each for each in data.json["checks"]}
    assert checks["contracts agree on the full table and on the micro-task"] == {
        "name": "contracts agree on the full table and on the micro-task",
        "cases": 2 * (12 + 24 + 4 * 8) * 18,
        "failures": 0,
    }
    assert re.search(r"^exactly one program is accepted +136 +0 *$", said.out, re.M)


def test_integrity_with_a_failure_is_exit_code_1(surefoot, monkeypatch):
    monkeypatch.setattr(command.suite, "check_world", lambda seed: [Checked("a", 5, int(seed == 11))])
    said = surefoot("pi", "integrity", "--workers", 1)
    assert said.code == 1
    assert re.search(r"^a +50 +1 *$", said.out, re.M)
    assert surefoot("pi", "integrity", "--workers", 1, "--json").code == 1


def test_trace_tells_one_episode(surefoot):
    said = surefoot("pi", "trace", "--seed", 11)
    assert (said.code, said.out) == (0, "\n".join(tell(11).lines) + "\n")
    data = surefoot("pi", "trace", "--seed", 11, "--json").json
    assert [*data] == ["seed", "task", "revision", "request", "trials", "program", "accepted", "visits"]
    assert [[*each] for each in data["trials"]] == [["stage", "program", "committed", "incentive"]] * 3


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["check", "--worlds", "3"], "Invalid value for '--worlds': Input should be greater than or equal to 10"),
        (["check", "--workers", "0"], "Invalid value for '--workers': Input should be greater than or equal to 1"),
        (["trace", "--seed", "-1"], "Invalid value for '--seed': Input should be greater than or equal to 0"),
        (["trace", "--budget", "-2"], "Invalid value for '--budget': Input should be greater than or equal to 0"),
        (["trace", "--seed", "eleven"], "Invalid value for '--seed': "),
        (["integrity", "extra"], "Got unexpected extra argument(s) (extra)"),
        (["nothing"], "No such command 'nothing'."),
    ],
)
def test_a_bad_command_line_is_a_sentence_and_exit_code_2(surefoot, arguments, text):
    said = surefoot("pi", *arguments)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"surefoot: {text}")
    assert said.err.splitlines()[-1].startswith("Try 'surefoot pi ")


def test_pi_alone_lists_its_commands(surefoot):
    said = surefoot("pi")
    assert said.code == 2
    for name in ("paper", "check", "integrity", "trace"):
        assert re.search(rf"^  {name} ", said.out + said.err, re.M)


def test_the_commands_of_the_paper_load_no_plots_no_statistics_and_no_columns():
    script = "import sys, surefoot.cli.pi; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"matplotlib", "scipy", "polars"} & set(done.stdout.split())
