"""The other commands: output, exit codes, whole error texts."""

from __future__ import annotations

import dataclasses
import os
import re
import signal
import subprocess
import sys

import pytest

import surefoot as package
from surefoot.cli import doctor, show
from surefoot.cli import main as cli
from surefoot.cli.arguments import parse_seeds
from surefoot.errors import UsageError


def test_tasks_are_listed_with_their_configurations(surefoot):
    rows = surefoot("tasks", "--json").json
    desk = next(row for row in rows if row["name"] == "desk/place")
    assert desk["tier"] == "state"
    assert desk["development"] == list(range(101, 126))
    assert desk["held_out"] == list(range(1, 101))
    assert [row["name"] for row in rows] == sorted(row["name"] for row in rows)
    said = surefoot("tasks")
    assert said.code == 0
    assert re.search(r"^desk/place +state +101-125 +1-100 +Put the item", said.out, re.MULTILINE)


def test_a_task_is_shown_with_its_seeds_and_its_demonstrations(surefoot):
    said = surefoot("tasks", "desk/occlusion").out
    assert "Seeds:    101-125 for development, 1-100 held out\n" in said
    assert re.search(r"^Demonstrations: .*place_naive \(desk/place\)", said, re.MULTILINE)


def test_run_says_how_it_ended(surefoot, naive, written, tmp_path):
    tape = tmp_path / "t.mcap"
    said = surefoot("run", "desk/place", written(naive.source), "--seed", 101, "--tape", tape)
    assert said.code == 0
    assert re.fullmatch(
        r"item: block, 0\.11 kg\nfree from 0\.00 to 0\.18 m\n"
        r"success  \(seed 101, 14 events, 116 steps, \d+\.\d\d s\)\n",
        said.out,
    )
    assert said.err.splitlines()[0] == "    0  line 7    describe"
    assert said.err.splitlines()[-1] == f"Tape: {tape}  Replay it with 'surefoot replay {tape}'."


def test_run_on_a_scene_that_fails_is_exit_code_1(surefoot, naive, written):
    data = surefoot("run", "desk/place", written(naive.source), "--seed", 103, "--json")
    assert data.code == 1
    assert (data.json["success"], data.json["outcome"]["type"], data.json["outcome"]["kind"]) == (
        False,
        "failure",
        "normal",
    )
    assert data.json["task"] == "desk/place"
    assert data.json["seed"] == 103


def test_a_program_s_error_is_shown_with_its_traceback(surefoot, written):
    said = surefoot("run", "desk/place", written("x = 1\n1 / 0\n"), "--seed", 101)
    assert said.code == 1
    assert said.out.startswith("failure: raised at line 2: ZeroDivisionError: division by zero  (seed 101, 0 events")
    assert 'File "<program>", line 2, in <module>' in said.err


def test_replay_certifies_and_diverges(surefoot, desk_tape, naive, written):
    said = surefoot("replay", desk_tape)
    assert said.code == 0
    assert re.fullmatch(r"certified \(14 events\) in \d+ ms; the recording took \d+\.\d\d s\n", said.out)
    data = surefoot("replay", desk_tape, "--json").json
    assert (data["verdict"], data["events"], data["task"], data["seed"]) == ("certified", 14, "desk/place", 101)
    edited = written(naive.source.replace("height=0.20", "height=0.21"))
    said = surefoot("replay", desk_tape, edited)
    assert said.code == 1
    assert said.out.splitlines()[:8] == [
        "Diverged at event 13: a request differs from the recorded one.",
        "    26 |     release()",
        "  > 27 |     move_to(target, height=0.21)",
        "    28 |",
        "  stage:    place",
        "  field:    height",
        "  expected: 0.2",
        "  got:      0.21",
    ]
    data = surefoot("replay", desk_tape, edited, "--json").json
    assert (data["verdict"], data["kind"], data["event"], data["last"]["event"]) == ("diverged", "argument", 13, 12)


def test_replay_of_a_tape_that_certifies_nothing_is_exit_code_3(surefoot, desk_tape, tmp_path):
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(desk_tape.read_bytes()[:-200])
    said = surefoot("replay", cut, "--json")
    assert said.code == 3
    assert (said.json["verdict"], said.json["reason"]) == ("unavailable", "truncated")
    (tmp_path / "junk.mcap").write_bytes(b"junk")
    said = surefoot("replay", tmp_path / "junk.mcap")
    assert (said.code, said.out) == (3, "")
    assert said.err == (
        f"surefoot: {tmp_path / 'junk.mcap'} is not a surefoot tape. "
        "Tapes are made by 'surefoot record' and 'surefoot run --tape'.\n"
    )


def test_show_lists_header_events_and_end(surefoot, desk_tape):
    said = surefoot("show", desk_tape)
    assert said.code == 0
    assert re.search(
        r"^   11 +1\.88 +25 +place +move_to\(position=\[0\.18.*, 0\.006.*\], height=0\.08\) +True *$",
        said.out,
        re.MULTILINE,
    )
    data = surefoot("show", desk_tape, "--json").json
    assert (data["task"], data["seed"], data["truncated"], len(data["events"])) == ("desk/place", 101, False, 14)
    assert data["events"][4] == {
        "number": 4, "call": "grip(force=10.0)", "kind": "effect", "raised": False, "clock": 1.0, "line": 12, "stage": "pick",
    }  # fmt: skip


def test_record_keeps_successes_and_counts_them(surefoot, naive, written, tmp_path):
    said = surefoot(
        "record", "desk/place", written(naive.source), "--seeds", "101,103", "--bank", tmp_path / "b", "--json"
    )
    assert said.code == 1
    assert (said.json["successes"], [run["self_match"] for run in said.json["runs"]]) == (1, [True, None])
    said = surefoot("record", "desk/place", written(naive.source), "--seeds", "102", "--bank", tmp_path / "b")
    assert said.code == 0
    assert said.err == ""
    assert said.out.splitlines()[-2:] == [
        f"1/1 successes kept in {tmp_path / 'b'}",
        f"After an edit: surefoot certify {written(naive.source)} --bank {tmp_path / 'b'}",
    ]
    assert sorted(path.name for path in (tmp_path / "b").glob("*.mcap")) == [
        "desk-place.seed-101.mcap", "desk-place.seed-102.mcap",
    ]  # fmt: skip


def test_doctor_probes_and_says_what_it_found(surefoot, monkeypatch, desk):
    monkeypatch.setattr(doctor, "all_tasks", lambda: {desk.name: desk})
    said = surefoot("doctor", "--json")
    assert said.code == 0
    assert [probe["name"] for probe in said.json["probes"]] == [
        "machine", "program process", "record and replay", "tasks desk/…", "sandbox", "run --video",
    ]  # fmt: skip


def test_doctor_reports_what_does_not_work(surefoot, monkeypatch, desk):
    lame = dataclasses.replace(desk, make=lambda: 1 / 0)
    monkeypatch.setattr(doctor, "all_tasks", lambda: {desk.name: lame})
    said = surefoot("doctor", "--json")
    assert said.code == 1
    broken = {probe["name"]: probe["detail"] for probe in said.json["probes"] if not probe["works"]}
    broken.pop("run --video")  # in the words of whatever is missing first
    assert broken == {
        "record and replay": "The environment of desk/place can't be started: ZeroDivisionError: division by zero. "
                             "Run 'surefoot doctor' to see what is missing.",
        "tasks desk/…": "ZeroDivisionError: division by zero",
    }  # fmt: skip


def test_doctor_does_not_ask_for_extras(surefoot, monkeypatch, desk):
    monkeypatch.setattr(doctor, "all_tasks", lambda: {desk.name: desk})
    monkeypatch.setitem(sys.modules, "av", None)
    said = surefoot("doctor", "--json")
    assert said.code == 0
    assert "pip install" in next(probe["detail"] for probe in said.json["probes"] if probe["extra"])


ERRORS = [
    (("run", "desk/plac", "{program}", "--seed", "1"), 2,
     "surefoot: There is no task 'desk/plac'. Did you mean 'desk/place'? Available: "),
    (("run", "desk/place", "{program}"), 2, "surefoot: Missing option '--seed'.\nTry 'surefoot run --help'.\n"),
    (("run", "desk/place", "{program}", "--seed", "1", "--tpae", "x"), 2,
     "surefoot: No such option: --tpae"),
    (("run", "desk/place", "{folder}", "--seed", "1"), 2,
     "surefoot: The program {folder} can't be read: Is a directory.\nTry 'surefoot run --help'.\n"),
    (("run", "desk/place", "{program}", "--seed", "1", "--tape", "{program}"), 3,
     "surefoot: There is already a file at {program}. Tapes are never overwritten; name another.\n"),
    (("record", "desk/place", "{program}", "--seeds", "5-1", "--bank", "b"), 2,
     "surefoot: '5-1' names no configurations. Write them like 101-125, or 3, or 1-5,9.\nTry 'surefoot record --help'.\n"),
    (("record", "desk/place", "{program}", "--seeds", "1", "--bank", "{program}"), 2,
     "surefoot: {program} is not a folder. Name a folder for the bank.\nTry 'surefoot record --help'.\n"),
    (("show", "{folder}/no.mcap"), 3, "surefoot: There is no tape at {folder}/no.mcap. Check the path.\n"),
    (("certif", "x"), 2, "surefoot: No such command 'certif'."),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "code", "text"), ERRORS)
def test_errors_are_sentences_with_their_exit_code(surefoot, written, tmp_path, arguments, code, text):
    names = {"{program}": str(written("x = 1\n")), "{folder}": str(tmp_path)}
    for name, value in names.items():
        arguments, text = tuple(item.replace(name, value) for item in arguments), text.replace(name, value)
    said = surefoot(*arguments)
    assert (said.code, said.out) == (code, "")
    assert said.err.startswith(text)
    assert "Traceback" not in said.err


@pytest.mark.parametrize("text", ["", "x", "1-", "-3", "1-2-3", "²", "1,,2", "5-4", "9" * 30])
def test_texts_that_name_no_configurations_are_refused(text):
    with pytest.raises(UsageError, match="names no configurations"):
        parse_seeds(text)


def test_configurations_are_ranges_and_lists_without_repeats():
    assert parse_seeds("101-103, 2,102") == [101, 102, 103, 2]
    with pytest.raises(UsageError, match="names more than 100000 configurations"):
        parse_seeds("1-999999999")
    with pytest.raises(UsageError, match=r"^Configuration 4294967296 is too large; they go from 0 to 4294967295\.$"):
        parse_seeds("4294967296")


def test_version_and_help(surefoot):
    assert surefoot("--version").out == f"surefoot {package.__version__}\n"
    said = surefoot()
    assert said.code == 2
    assert said.out.startswith("Usage: surefoot [OPTIONS] COMMAND")


def test_interrupted_commands_say_so_and_end_with_130(surefoot, monkeypatch, written):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("surefoot.environments.host.TaskHost.execute", interrupt)
    said = surefoot("run", "desk/place", written("x = 1\n"), "--seed", 1)
    assert (said.code, said.err) == (cli.INTERRUPTED, "Interrupted. There is no result.\n")


def test_an_interrupted_recording_is_set_aside_and_so_is_one_whose_process_is_gone(
    surefoot, monkeypatch, naive, written, tmp_path
):
    bank = tmp_path / "b"

    def interrupt(*_, path, **__):
        path.write_bytes(b"cut")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("surefoot.environments.host.TaskHost.execute", interrupt)
        said = surefoot("record", "desk/place", written(naive.source), "--seeds", "101", "--bank", bank)
    assert (said.code, said.err) == (cli.INTERRUPTED, "Interrupted. What was recorded until now is kept.\n")
    assert list(bank.glob(".recording-*")) == []
    with subprocess.Popen(["true"]) as gone:
        pass
    (bank / f".recording-{gone.pid}-9.mcap").write_bytes(b"killed")
    (bank / f".recording-{os.getppid()}-9.mcap").write_bytes(b"at work")
    assert surefoot("record", "desk/place", written(naive.source), "--seeds", "101", "--bank", bank).code == 0
    assert sorted(path.read_bytes() for path in (bank / "unfinished").iterdir()) == [b"cut", b"killed"]
    assert [path.read_bytes() for path in bank.glob(".recording-*")] == [b"at work"]


def test_a_bank_is_shown_as_a_list_of_its_tapes(surefoot, bank, desk_tape, tmp_path):
    said = surefoot("show", bank)
    assert said.code == 0
    assert re.match(
        r"scene +events +written +outcome *\ndesk-place\.seed-101 +14 +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S+ +success *\n",
        said.out,
    )
    rows = surefoot("show", bank, "--json").json["tapes"]
    assert [(row["scene"], row["outcome"]) for row in rows] == [
        (f"desk-place.seed-{seed}", "success") for seed in (101, 102, 104, 106)
    ]
    said = surefoot("show", tmp_path)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"surefoot: {tmp_path} holds no run, no campaign and no tapes.")


def test_answers_are_shown_where_there_is_room_and_exceptions_by_their_type(surefoot, tape_of, tmp_path, monkeypatch):
    tape_of("same([1], 2)\ntry:\n    fail('key')\nexcept KeyError:\n    pass\n", path=tmp_path / "t.mcap")

    def calls():
        lines = surefoot("show", tmp_path / "t.mcap").out.splitlines()
        return [re.split(r"  +", line.strip())[3:] for line in lines if re.match(r" +[01]  ", line)]

    assert calls() == [
        ["same(first=[1], second=2)", "[False, False]"],
        ["fail(kind='key', items=None)", "raised KeyError"],
    ]
    monkeypatch.setattr(show.out, "width", 80)
    assert calls() == [["same(first=[1], second=2)"], ["fail(kind='key', items=None) raised KeyError"]]


def test_a_long_run_s_progress_shows_one_call_in_a_hundred_after_the_first_ones(surefoot, written):
    said = surefoot("run", "desk/place", written("for _ in range(250): list_objects()\n"), "--seed", 101)
    numbers = [int(line.split()[0]) for line in said.err.splitlines() if "list_objects" in line]
    assert numbers == [*range(20), 100, 200]
    assert said.err.splitlines()[20] == "  … from here on one call in 100"


def test_ctrl_c_in_the_middle_of_a_recording_leaves_a_readable_tape_and_no_process(
    surefoot, command, written, tmp_path
):
    tape = tmp_path / "t.mcap"
    program = written("import signal\nlist_objects()\nsignal.pause()\n")
    run = ["run", "desk/place", str(program), "--seed", "1", "--tape", str(tape)]
    with subprocess.Popen([*command, *run], stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr.readline() == "    0  line 2    list_objects\n"
        running.send_signal(signal.SIGINT)
        assert running.stderr.read().endswith("Interrupted. What was recorded until now is kept.\n")
    assert running.returncode == 130
    assert surefoot("show", tape, "--json").json["truncated"] is True


def test_a_reader_that_has_gone_gets_no_traceback_and_its_command_is_not_called_good(command):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*command, "tasks", "--json"], stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (cli.NOBODY_READS, b"")
