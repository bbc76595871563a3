"""`surefoot certify`: the first-day promise, on the desk."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from surefoot.boundary.platform import numeric_platform
from surefoot.tape.certificate import Diverged

SEEDS = (101, 102, 104, 106)

SAME_REQUESTS = {
    "its own program": lambda text: text,
    "a renamed variable": lambda text: text.replace("target", "where"),
    "a timing print": lambda text: text.replace("    grip(", "    import time\n    print(time.time())\n    grip("),
    "a reordered pure computation": lambda text: text.replace(
        "    height = vary(0.10, 0.08, 0.32)\n    start = get_hand()[\"position\"]\n",
        "    start = get_hand()[\"position\"]\n    height = vary(0.10, 0.08, 0.32)\n",
    ),
    "a remark and a blank line": lambda text: "# edited\n\n" + text,
    "a guard that does not fire": lambda text: text.replace(
        "    grip(force=force)", "    if about['weight'] > 1.0:\n        force = 40.0\n    grip(force=force)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("edit", SAME_REQUESTS)
def test_edits_that_change_no_request_are_certified_on_every_scene(surefoot, bank, naive, written, edit):
    edited = SAME_REQUESTS[edit](naive.source)
    said = surefoot("certify", written(edited), "--bank", bank, "--json")
    assert said.code == 0
    assert [scene["verdict"] for scene in said.json["scenes"]] == ["certified"] * 4
    assert (said.json["certified"], said.json["diverged"], said.json["unavailable"]) == (4, 0, 0)


def test_a_changed_constant_diverges_at_that_call_with_line_and_field(surefoot, bank, naive, written):
    edited = written(naive.source.replace("move_to(target, height=0.08)", "move_to(target, height=0.09)"))
    said = surefoot("certify", edited, "--bank", bank, "--json")
    assert said.code == 1
    for seed, scene in zip(SEEDS, said.json["scenes"], strict=True):
        assert scene["scene"] == f"desk-place.seed-{seed}"
        named = {key: scene[key] for key in ("verdict", "kind", "event", "field", "expected", "got", "line", "source")}
        assert named == {
            "verdict": "diverged",
            "kind": "argument",
            "event": 11,
            "field": "height",
            "expected": "0.08",
            "got": "0.09",
            "line": 25,
            "source": "move_to(target, height=0.09)",
        }


def test_a_dropped_last_call_is_not_certified(surefoot, bank, naive, written):
    edited = written(naive.source.replace("    move_to(target, height=0.20)\n", ""))
    said = surefoot("certify", edited, "--bank", bank, "--json")
    assert said.code == 1
    assert {scene["kind"] for scene in said.json["scenes"]} == {"missing calls"}
    assert said.json["certified"] == 0


def test_the_table_names_each_scene_and_shows_the_first_divergence_in_full(surefoot, bank, naive, written):
    edited = written(naive.source.replace("force = vary(10.0", "force = vary(11.0"))
    lines = surefoot("certify", edited, "--bank", bank).out.splitlines()
    assert lines[0].split() == ["scene", "verdict", "where"]
    assert [line.split(None, 2) for line in lines[1:5]] == [
        [f"desk-place.seed-{seed}", "diverged", "line 12, event 4: force: 10.0 → 11.0"] for seed in SEEDS
    ]
    assert lines[6:13] == [
        "desk-place.seed-101",
        "Diverged at event 4: a request differs from the recorded one.",
        "    11 |     move_to(target, height=0.02)",
        "  > 12 |     grip(force=force)",
        "    13 |     move_to(target, height=0.10)",
        "  stage:    pick",
        "  field:    force",
    ]
    assert lines[-2].startswith("edited.py: 0 of 4 recorded scenes certified in ")
    assert lines[-1] == "Add --fork or --run-uncertified to run the program on the others."


def test_uncertified_scenes_are_rerun_when_asked_for(surefoot, bank, naive, written):
    edited = written(naive.source.replace("move_to(target, height=0.08)", "move_to(target, height=0.09)"))
    said = surefoot("certify", edited, "--bank", bank, "--run-uncertified", "--json")
    assert said.code == 0
    assert [scene["rerun"] for scene in said.json["scenes"]] == ["success"] * 4
    assert said.json["rerun_successes"] == 4


def test_forked_scenes_show_what_became_of_them_and_a_success_is_no_finding(surefoot, bank, naive, written):
    edited = written(naive.source.replace("move_to(target, height=0.08)", "move_to(target, height=0.09)"))
    said = surefoot("certify", edited, "--bank", bank, "--fork")
    lines = said.out.splitlines()
    assert said.code == 0
    assert lines[0].split() == ["scene", "verdict", "where", "forked", "there"]
    assert [re.split(r"  +", line.strip())[-1] for line in lines[1:5]] == [
        f"22 of {steps} steps: success" for steps in (114, 122, 121, 117)
    ]
    assert re.fullmatch(
        r"Forked: 4 to success, 0 to failure, 0 unavailable, in \d\.\d\d s with the simulator's start "
        r"\(\d\.\d\d s without\); 88 of 474 environment steps run",
        lines[-1],
    )


def test_a_fork_s_time_is_told_with_and_without_the_simulator_s_start(surefoot, bank, naive, written):
    edited = written(naive.source.replace("move_to(target, height=0.08)", "move_to(target, height=0.09)"))
    data = surefoot("certify", edited, "--bank", bank, "--fork", "--json").json
    assert data["fork_wall_seconds"] > data["fork_seconds"] > 0


def test_a_fork_names_its_beginning_where_the_divergence_modulo_queries_comes_later(surefoot, bank, naive, written):
    text = naive.source.replace("    about = describe(item)\n", "    about = describe(item)\n    describe(item)\n")
    edited = written(text.replace("move_to(target, height=0.08)", "move_to(target, height=0.09)"))
    options = ("--bank", bank, "--modulo", "queries", "--fork")
    scenes = surefoot("certify", edited, *options, "--json").json["scenes"]
    assert [(scene["event"], scene["fork"]["event"]) for scene in scenes] == [(11, 1)] * 4
    lines = surefoot("certify", edited, *options).out.splitlines()
    assert re.split(r"  +", lines[0].strip())[-1] == "forked"
    assert re.fullmatch(r"from event 1, \d+ of 114 steps: success", re.split(r"  +", lines[1].strip())[-1])


def test_a_forked_failure_is_a_regression(surefoot, bank, naive, written):
    edited = written(naive.source.replace("vary(10.0", "vary(30.0"))  # breaks what it grips
    said = surefoot("certify", edited, "--bank", bank, "--fork", "--run-uncertified", "--json")
    assert said.code == 1
    for scene in said.json["scenes"]:
        fork = scene["fork"]
        assert (scene["verdict"], scene["holds"], scene["rerun"]) == ("diverged", False, None)
        assert (fork["success"], fork["event"]) == (False, 4)
        assert fork["text"] == "failure: the program ended, but the evaluator does not accept the state"
        assert 0 < fork["live_steps"] < fork["steps"]
    counts = (
        "certified",
        "certified_modulo_queries",
        "diverged",
        "fork_successes",
        "fork_failures",
        "forks_unavailable",
    )
    assert [said.json[name] for name in counts] == [0, 0, 4, 0, 4, 0]


def test_certified_modulo_queries_is_asked_for_and_counted_apart(surefoot, bank, naive, written):
    text = naive.source.replace("    about = describe(item)\n", "    about = describe(item)\n    describe(item)\n")
    assert surefoot("certify", written(text), "--bank", bank).code == 1
    said = surefoot("certify", written(text), "--bank", bank, "--modulo", "queries")
    lines = said.out.splitlines()
    assert said.code == 0
    assert [re.split(r"  +", line.strip()) for line in lines[1:5]] == [
        [f"desk-place.seed-{seed}", "certified modulo queries", "14 events; queries: 1 added"] for seed in SEEDS
    ]
    start = "edited.py: 0 of 4 recorded scenes certified and 4 certified modulo queries in "
    assert lines[-1].startswith(start)
    data = surefoot("certify", written(text), "--bank", bank, "--modulo", "queries", "--json").json
    assert (data["certified"], data["certified_modulo_queries"], data["diverged"]) == (0, 4, 0)
    assert {(scene["verdict"], scene["holds"], scene["added"], scene["dropped"]) for scene in data["scenes"]} == {
        ("certified modulo queries", True, 1, 0)
    }
    strict = surefoot("certify", written(naive.source), "--bank", bank, "--modulo", "queries", "--json").json
    assert (strict["certified"], strict["certified_modulo_queries"]) == (4, 0)


def test_another_numeric_platform_is_unavailable_and_never_diverged(command, bank, naive, written):
    def certified(edit, **environment):
        options = ["certify", str(written(edit(naive.source))), "--bank", str(bank), "--fork", "--json"]
        done = subprocess.run(
            [*command, *options], env=os.environ | environment, capture_output=True, text=True, check=False
        )
        return msgspec.json.decode(done.stdout)["scenes"]

    here = numeric_platform()["blas"]
    other = "Prescott" if here.endswith("Haswell") else "Haswell"
    if not here.startswith("openblas") or platform.machine() != "x86_64":
        pytest.skip("needs OpenBLAS with kernels of its own for several processors")
    for edit in (lambda text: text, lambda text: text.replace("vary(10.0", "vary(11.0")):
        for scene in certified(edit, OPENBLAS_CORETYPE=other):
            assert (scene["verdict"], scene["reason"], scene["fork"]) == ("unavailable", "numeric platform", None)
            assert scene["text"].startswith(f"unavailable (numeric platform): blas ({here} then, openblas ")
    assert {scene["verdict"] for scene in certified(lambda text: text)} == {"certified"}


def test_texts_that_look_like_markup_are_shown_as_they_are(surefoot, bank, naive, written):
    edited = written(naive.source.replace('pick("item")', 'locate("[/bold] [red]x[/red]")', 1))
    said = surefoot("certify", edited, "--bank", bank)
    assert said.code == 1
    assert "locate(name='[/bold] [red]x[/red]')" in said.out.replace("\n", "")


def test_broken_foreign_and_unfinished_tapes_are_named_and_the_others_are_certified(
    surefoot, bank, naive, written, tmp_path
):
    copy = tmp_path / "bank"
    shutil.copytree(bank, copy)
    whole = (copy / "desk-place.seed-101.mcap").read_bytes()
    (copy / "desk-place.seed-102.mcap").write_bytes(whole[:-300])
    (copy / "desk-place.seed-104.mcap").write_bytes(b"junk")
    (copy / ".recording-1-9.mcap").write_bytes(whole[:500])
    said = surefoot("certify", written(naive.source), "--bank", copy, "--json")
    assert said.code == 3
    assert [(scene["verdict"], scene.get("reason")) for scene in said.json["scenes"]] == [
        ("certified", None),
        ("unavailable", "truncated"),
        ("unavailable", "unreadable"),
        ("certified", None),
    ]
    assert said.err == (
        f"Ignored: {copy / '.recording-1-9.mcap'} is no finished recording. Where its process has gone, the next "
        f"'surefoot record' moves it to {copy / 'unfinished'}.\n"
    )


def test_files_that_are_no_tapes_are_counted_apart_from_recorded_scenes(surefoot, bank, naive, written, tmp_path):
    copy = tmp_path / "bank"
    shutil.copytree(bank, copy)
    (copy / "empty.mcap").touch()
    (copy / "notes.mcap").write_text("a shopping list")
    (copy / "sub.mcap").mkdir()
    assert surefoot("export", min(bank.glob("*.mcap")), copy / "view.mcap").code == 0
    said = surefoot("certify", written(naive.source), "--bank", copy)
    counts, foreign = said.out.splitlines()[-2:]
    assert said.code == 3
    assert counts.startswith("edited.py: 4 of 4 recorded scenes certified in ")
    assert foreign == "4 files are no tapes of a program."
    data = surefoot("certify", written(naive.source), "--bank", copy, "--json").json
    assert (data["certified"], data["unavailable"], data["foreign_files"]) == (4, 4, 4)


def test_a_divergence_is_exit_code_1_whatever_else_is_unavailable(surefoot, bank, naive, written, tmp_path):
    copy = tmp_path / "bank"
    shutil.copytree(bank, copy)
    (copy / "notes.mcap").write_text("a shopping list")
    edited = written(naive.source.replace("move_to(target, height=0.08)", "move_to(target, height=0.09)"))
    assert surefoot("certify", edited, "--bank", copy).code == 1
    assert surefoot("certify", edited, "--bank", copy, "--fork").code == 3


def test_one_tape_is_no_bank_and_the_sentence_names_the_command_for_it(surefoot, bank, naive, written):
    tape = min(bank.glob("*.mcap"))
    said = surefoot("certify", written(naive.source), "--bank", tape)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(
        f"surefoot: {tape} is a file; a bank is a folder. For one tape: 'surefoot replay {tape} PROGRAM'.\n"
    )


def test_a_tape_of_a_task_that_is_not_installed_is_unavailable(surefoot, bank, naive, written, tape_of, tmp_path):
    copy = tmp_path / "bank"
    shutil.copytree(bank, copy)
    tape_of("", path=copy / "toy.seed-1.mcap")
    said = surefoot("certify", written(naive.source), "--bank", copy, "--json")
    assert said.json["certified"] == 4
    assert said.json["scenes"][-1]["text"].startswith("unavailable (environment changed): There is no task 'toy'.")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("no.py", "--bank", "b"), "surefoot: There is no program at no.py. Check the path.\nTry 'surefoot certify --help'.\n"),
        (("{program}", "--bank", "no"), "surefoot: There is no bank at no. Make one with 'surefoot record … --bank no'.\n"
                                        "Try 'surefoot certify --help'.\n"),
        (("{program}",), "surefoot: Missing option '--bank'.\nTry 'surefoot certify --help'.\n"),
    ],
)  # fmt: skip
def test_a_wrong_command_line_is_a_sentence_and_exit_code_2(surefoot, naive, written, arguments, text):
    program = str(written(naive.source))
    said = surefoot("certify", *[argument.replace("{program}", program) for argument in arguments])
    assert (said.code, said.out, said.err) == (2, "", text)


def test_a_program_that_ran_without_end_on_one_scene_is_not_tried_on_the_others(
    surefoot, bank, naive, written, monkeypatch
):
    asked = []

    def endless(host, program, tape, modulo):
        asked.append(tape.id)
        return Diverged("limit", 0, "", "a normal end", "more than 60 s of processor time", 0, "", None, None)

    monkeypatch.setattr("surefoot.environments.host.TaskHost.certify", endless)
    said = surefoot("certify", written(naive.source), "--bank", bank, "--json")
    first, *others = said.json["scenes"]
    assert (said.code, len(asked), first["verdict"]) == (1, 1, "diverged")
    expected = f"unavailable (timeout): not tried: the program used up its time on {first['scene']}"
    assert {scene["text"] for scene in others} == {expected}


def test_an_output_that_cannot_be_written_is_a_sentence(command, bank, naive, written):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*command, "certify", str(written(naive.source)), "--bank", str(bank), "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (4, "surefoot: the output can't be written: No space left on device.\n")
