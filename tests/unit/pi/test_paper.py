"""The folder of the paper: which files there are, that they agree, and that what can't be written is a sentence."""

from __future__ import annotations

import csv
import json
import re

import pytest

from surefoot.errors import UsageError
from surefoot.pi import paper
from surefoot.pi.tables import tables
from surefoot.pi.trace import tell

PLOTS = {f"{name}.{suffix}" for name in ("acquisition", "transfer-and-follow-up") for suffix in ("png", "svg")}


@pytest.fixture(scope="module")
def folder(worlds, tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper")
    paper.write(folder, worlds)
    return folder


def test_every_table_has_its_files_beside_report_trace_and_plots(folder, worlds):
    names = {f"{table.name}.{suffix}" for table in tables(worlds) for suffix in ("md", "csv")}
    assert {path.name for path in folder.iterdir()} == names | PLOTS | {"report.md", "trace.json", "tables.json"}


def test_the_three_forms_of_each_table_agree(folder):
    for data in json.loads((folder / "tables.json").read_text()):
        rows = list(csv.DictReader((folder / f"{data['name']}.csv").read_text().splitlines()))
        assert rows == [{key: "" if cell is None else str(cell) for key, cell in row.items()} for row in data["rows"]]
        text = (folder / f"{data['name']}.md").read_text()
        assert text.startswith(f"### {data['title']}\n")
        assert text.count("\n| ") == len(rows) + 2
        assert text in (folder / "report.md").read_text()


def test_the_report_says_what_its_figures_do_not_show(folder):
    report = " ".join((folder / "report.md").read_text().split())
    for finding in (
        "`compositional`, without the incentive threshold, ties with `pi`",
        "`self_trial`, without demonstrations, does better than `pi` on revision C at K=3",
        "`no_trial` is cheaper on cold familiar compositions",
        "Demonstrations are not necessary",
        "Localization is supplied by a public lineage map, not inferred",
        "it is no ablation of the reward",
        "not tokens, time or money",
    ):
        assert finding in report


def test_the_report_tells_the_trace_of_seed_11(folder):
    assert "\n".join(tell(11).lines) in (folder / "report.md").read_text()
    assert json.loads((folder / "trace.json").read_text())["task"] == tell(11).data["task"]


def test_plots_are_pictures_without_a_date(folder):
    for name in PLOTS:
        content = (folder / name).read_bytes()
        if name.endswith("png"):
            assert content.startswith(b"\x89PNG")
            assert b"Software" not in content
        else:
            assert re.match(rb"<\?xml", content)
            assert b"dc:date" not in content


def test_a_folder_that_can_t_be_made_is_a_usage_error(tmp_path):
    (tmp_path / "file").write_text("")
    for path, why in ((tmp_path / "file", "File exists"), (tmp_path / "file" / "inside", "Not a directory")):
        with pytest.raises(UsageError) as error:
            paper.prepare(path)
        assert str(error.value) == f"{path} can't be made: {why}. Name another with --out."


def test_a_folder_that_is_there_is_used(tmp_path):
    paper.prepare(tmp_path / "new" / "folder")
    paper.prepare(tmp_path / "new" / "folder")
    assert (tmp_path / "new" / "folder").is_dir()


@pytest.mark.parametrize("name", ["report.md", "reset.csv", "tables.json"])
def test_results_that_can_t_be_written_are_a_usage_error(tmp_path, worlds, monkeypatch, name):
    monkeypatch.setattr("surefoot.pi.plots.draw", lambda worlds, folder: [])
    (tmp_path / name).mkdir()
    with pytest.raises(UsageError) as error:
        paper.write(tmp_path, worlds)
    assert str(error.value) == f"The results can't be written to {tmp_path}: Is a directory."
