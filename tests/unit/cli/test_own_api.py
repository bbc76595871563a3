"""`surefoot certify` and `replay` on tapes of a user's own object."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as library

CLIENT = """
class Counter:
    def __init__(self):
        self.total = 0

    def add(self, amount: int) -> int:
        self.total += amount
        return self.total
"""
SCRIPT = "for amount in (1, 2):\n    total = client.add(amount)\nprint(total)\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with client, script and one tape, which is the working folder."""
    monkeypatch.chdir(tmp_path)
    Path("counter_client.py").write_text(CLIENT)
    Path("script.py").write_text(SCRIPT)
    monkeypatch.syspath_prepend(str(tmp_path))
    import counter_client

    library.record(counter_client.Counter(), "script.py", "tapes/day.mcap")
    monkeypatch.delitem(__import__("sys").modules, "counter_client")
    return tmp_path


def test_a_tidied_script_is_certified_and_the_client_is_said_to_be_taken_as_unchanged(surefoot, project, written):
    edited = written("print([client.add(amount) for amount in (1, 2)][-1])")
    said = surefoot("certify", edited, "--bank", "tapes", "--json")
    assert (said.code, said.json["certified"]) == (0, 1)
    assert said.err == (
        "counter_client:Counter is taken as unchanged since the recording; --api counter_client:Counter checks that.\n"
    )


def test_with_the_client_s_class_nothing_is_taken_for_granted(surefoot, project, written):
    arguments = ("--bank", "tapes", "--api", "counter_client:Counter", "--json")
    said = surefoot("certify", "script.py", *arguments)
    assert (said.code, said.err, said.json["certified"]) == (0, "", 1)
    (project / "counter_client.py").write_text(CLIENT + "\n# changed\n")
    said = surefoot("certify", "script.py", *arguments)
    assert (said.code, said.json["scenes"][0]["reason"]) == (3, "environment changed")
    said = surefoot("replay", "tapes/day.mcap", "--api", "counter_client:Counter")
    assert (said.code, said.out.partition(":")[0]) == (3, "unavailable (environment changed)")


def test_a_script_that_differs_is_not_run_and_the_remedy_is_to_record_it_anew(surefoot, project, written):
    edited = written("client.add(3)")
    said = surefoot("certify", edited, "--bank", "tapes", "--run-uncertified")
    assert said.code == 1
    assert "diverged  line 1, event 0: amount: 1 → 3" in said.out
    assert said.out.endswith(
        "If the others are meant to differ, record them anew with surefoot.record (see docs/own-api.md).\n"
    )


def test_forks_and_runs_on_a_user_s_object_are_unavailable_with_a_reason(surefoot, project, written):
    options = ("--bank", "tapes", "--fork", "--run-uncertified")
    said = surefoot("certify", written("client.add(3)"), *options)
    reason = "unavailable (own object): record it anew"
    assert said.code == 1
    assert said.out.splitlines()[1].rstrip().endswith(f"1 → 3  {reason}  {reason}")
    assert "Forked: 0 to success, 0 to failure, 1 unavailable, " in said.out
    data = surefoot("certify", written("client.add(3)"), *options, "--json").json
    assert (data["forks_unavailable"], data["rerun_successes"]) == (1, 0)
    assert data["scenes"][0]["fork"] == {"reason": "own object", "text": reason}


@pytest.mark.parametrize(
    ("api", "text"),
    [
        ("counter_client", "--api takes module:name, such as shop:ShopClient, not 'counter_client'."),
        ("counter_client:Counting", "counter_client:Counting can't be imported: AttributeError: module 'counter_client' has "
                                    "no attribute 'Counting'."),
        ("no_such:Thing", "no_such:Thing can't be imported: ModuleNotFoundError: No module named 'no_such'."),
        ("pathlib:Path", "tapes/day.mcap was recorded on counter_client:Counter, not on pathlib:Path. Give the object or class "
                         "that it was recorded with."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["certify", "replay"])
def test_a_client_that_does_not_fit_is_a_sentence(surefoot, project, command, api, text):
    subject = ("script.py", "--bank", "tapes") if command == "certify" else ("tapes/day.mcap",)
    said = surefoot(command, *subject, "--api", api)
    assert (said.code, said.out, said.err) == (2, "", f"surefoot: {text}\nTry 'surefoot {command} --help'.\n")


def test_a_script_is_read_with_what_lies_beside_it_without_being_asked_to(surefoot, project):
    Path("amounts.py").write_text("AMOUNTS = (1, 2)\n")
    Path("edited.py").write_text(
        "from amounts import AMOUNTS\nfor amount in AMOUNTS:\n    total = client.add(amount)\n"
    )
    said = surefoot("certify", "edited.py", "--bank", "tapes", "--json")
    assert (said.code, said.json["certified"]) == (0, 1)
    said = surefoot("replay", "tapes/day.mcap", "edited.py")
    assert (said.code, said.out.partition(" ")[0]) == (0, "certified")
