"""The story is what it says it is, and the files are clean."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import vendor
from clean import DAYS, clean, story
from cleaning import cleaning, first_lines
from suppliers import FORMATS, send

from surefoot.pi.learner import Learner

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """The folder after all days, and the outcomes by day."""
    folder = tmp_path_factory.mktemp("files")
    return folder, {day.number: clean(folder, day) for day in DAYS}


def at_first(outcomes):
    return sum(outcome.first_accepted for outcome in outcomes)


def test_every_file_is_accepted_on_its_day_and_first_submissions_rise_in_every_version(work):
    _, days = work
    assert all(outcome.accepted for outcomes in days.values() for outcome in outcomes)
    assert [at_first(days[number]) for number in range(1, 12)] == [0, 0, 3, 4, 0, 1, 4, 4, 0, 1, 4]
    trials = [sum(len(outcome.trials) for outcome in outcomes) for outcomes in days.values()]
    assert trials == [20, 10, 0, 0, 20, 6, 0, 0, 17, 6, 0]


def test_no_file_needs_more_trials_than_the_bound(work):
    folder, days = work
    assert cleaning(folder).bound == 12
    assert max(len(outcome.trials) for outcomes in days.values() for outcome in outcomes) <= 12


def test_nothing_known_of_an_old_version_goes_into_a_first_submission(work):
    _, days = work
    for first in (1, 5, 9):
        assert set(days[first][0].submitted.values()) == {"m0"}


def test_the_newcomer_s_first_file_is_accepted_though_no_file_had_its_combination(work):
    _, days = work
    newcomer = days[4][-1]
    assert (newcomer.task, newcomer.first_accepted) == ("dogwood-04", True)
    assert newcomer.program not in [outcome.program for outcome in days[1] + days[2] + days[3]]


def test_clean_files_have_the_totals_of_their_notes(work):
    folder, _ = work
    notes = sorted(folder.glob("*.note.json"))
    assert len(notes) == 41
    for path in notes:
        note = json.loads(path.read_text())
        rows = [
            line.split(",") for line in (folder / path.name.replace("note.json", "clean.csv")).read_text().splitlines()
        ]
        assert len(rows) == note["orders"]
        assert sum(int(row[3].replace(".", "")) for row in rows) == note["cents"]
        assert (min(row[1] for row in rows), max(row[1] for row in rows)) == (note["from"], note["to"])


def test_the_micro_task_identifies_for_every_file(work):
    folder, days = work
    pipeline = cleaning(folder)
    for day in DAYS:
        for supplier, outcome in zip(day.suppliers, days[day.number], strict=True):
            content = (folder / f"{outcome.task}.csv").read_bytes()
            task = pipeline.task(outcome.task, day.version, FORMATS[supplier], content, first_lines)
            assert task.ambiguous(outcome.program) == {}


def test_one_program_in_256_is_accepted_and_contracts_agree_with_the_audit(tmp_path):
    pipeline = cleaning(tmp_path)
    name = send(tmp_path, "birch", 1)
    content = (tmp_path / f"{name}.csv").read_bytes()
    task = pipeline.task(name, "1", FORMATS["birch"], content, first_lines)
    programs = [(a, b, c, d) for a in range(4) for b in range(4) for c in range(4) for d in range(4)]
    accepted = [program for program in programs if task.full(program).accepted]
    assert accepted == [pipeline.places(Learner(pipeline).solve(task).program)]


def test_the_audit_rejects_what_contracts_were_told_wrongly(tmp_path):
    """A supplier that keeps first rows, where its contract says last: contracts pass, and the note does not agree."""
    pipeline = cleaning(tmp_path)
    name = send(tmp_path, "birch", 1)
    content = (tmp_path / f"{name}.csv").read_bytes()
    task = pipeline.task(name, "1", {**FORMATS["birch"], "duplicates": "last"}, content, first_lines)
    outcome = Learner(pipeline).solve(task)
    assert not outcome.accepted
    assert outcome.final.startswith("audit: cents ")
    assert outcome.advice.startswith("Every contract passes and the audit does not")


def test_version_3_changed_the_numbers_alone():
    same = [stage for stage in FORMATS["alder"] if vendor.modes(stage)["2"] == vendor.modes(stage)["3"]]
    assert same == ["parse", "dates", "duplicates"]


def test_the_story_is_the_same_each_time_and_known_when_told_again(tmp_path):
    (tmp_path / "once").mkdir()
    (tmp_path / "again").mkdir()
    lines = list(story(tmp_path / "once"))
    assert list(story(tmp_path / "again")) == lines
    assert (tmp_path / "once" / "evidence.json").read_bytes() == (tmp_path / "again" / "evidence.json").read_bytes()
    known = [line for line in story(tmp_path / "once") if "files, " in line]
    assert all(" 0 trials" in line for line in known)


def test_it_runs_by_hand(tmp_path):
    done = subprocess.run(
        [sys.executable, HERE / "clean.py", tmp_path / "files"], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert (tmp_path / "files" / "dogwood-11.clean.csv").exists()
