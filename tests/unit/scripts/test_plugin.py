"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

import shutil

import pytest

import surefoot

pytest_plugins = ["pytester"]

EDITED = """
for name in client.list():
    there = client.left(name)
    client.buy(name, COUNT)
try:
    client.buy("tea")
except SoldOutError:
    pass
"""


@pytest.fixture
def project(pytester, recorded, store):
    """A project whose tests check `script.py` against `tapes/`: `project(script)` runs them."""

    def run(script, body="certified('script.py', 'tapes')", setup=""):
        (pytester.path / "script.py").write_text(script)
        pytester.makepyfile(test_it=f"{setup}\ndef test_it(certified):\n    {body}\n")
        result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
        return result, result.stdout.str()

    shutil.copytree(recorded.tape.path.parent, pytester.path / "tapes")
    return run


def test_a_script_that_every_tape_certifies_passes(project):
    result, _ = project(EDITED.replace("COUNT", "there"))
    result.assert_outcomes(passed=1)


def test_one_tape_may_be_named_instead_of_a_folder(project):
    result, _ = project(EDITED.replace("COUNT", "there"), "certified('script.py', 'tapes/day.mcap')")
    result.assert_outcomes(passed=1)


def test_the_failure_is_the_page_of_each_tape_that_diverged_and_nothing_of_the_plugin_s_own(project, pytester):
    shutil.copy(pytester.path / "tapes" / "day.mcap", pytester.path / "tapes" / "week.mcap")
    (pytester.path / "tapes" / ".recording-1-day.mcap").write_bytes(b"cut")
    result, text = project(EDITED.replace("COUNT", "3"))
    result.assert_outcomes(failed=1)
    page = surefoot.replay(pytester.path / "script.py", pytester.path / "tapes" / "day.mcap").page()
    assert page.startswith("Diverged at event 2: a request differs from the recorded one.\n")
    assert "  expected: 10\n  got:      3\n" in page
    head = "surefoot: script.py is certified on 0 of 2 tapes."
    assert f"{head}\n\ntapes/day.mcap\n{page}\n\ntapes/week.mcap\n{page}\n" in text
    assert "plugin.py" not in text


def test_an_unavailable_tape_fails_with_its_reason_and_the_remedy(project, pytester):
    data = (pytester.path / "tapes" / "day.mcap").read_bytes()
    (pytester.path / "tapes" / "cut.mcap").write_bytes(data[:-300])
    (pytester.path / "tapes" / "junk.mcap").write_bytes(b"junk")
    result, text = project(EDITED.replace("COUNT", "there"))
    result.assert_outcomes(failed=1)
    assert "surefoot: script.py is certified on 1 of 3 tapes." in text
    assert "tapes/cut.mcap\nUnavailable (truncated): the recording was cut after 5 events; record it anew.\n" in text
    assert f"tapes/junk.mcap\n{pytester.path / 'tapes' / 'junk.mcap'} is" in text


def test_a_changed_client_fails_where_its_class_is_given(project, store, pytester):
    script, setup = EDITED.replace("COUNT", "there"), "import store"
    result, _ = project(script, "certified('script.py', 'tapes', store.Store)", setup)
    result.assert_outcomes(passed=1)
    store.edit('"tea": 3', '"tea": 4')
    result, text = project(script, "certified('script.py', 'tapes', store.Store)", setup)
    result.assert_outcomes(failed=1)
    assert (
        "Unavailable (environment changed): the environment's code or versions differ from the recording's; record it "
        "anew.\n" in text
    )


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            "certified('none.py', 'tapes')",
            "surefoot: There is no program at {path}/none.py. Check the path; it is relative to pytest's root folder.",
        ),
        ("certified('script.py', '.')", "surefoot: The folder . holds no tapes. Make one with surefoot.record."),
        ("certified('script.py', 'no')", "no\nThere is no tape at {path}/no. Check the path."),
    ],
)
def test_what_is_not_there_is_a_sentence(project, pytester, body, text):
    result, shown = project(EDITED, body)
    result.assert_outcomes(failed=1)
    assert "During handling" not in shown
    assert text.format(path=pytester.path) in shown


def test_one_interpreter_serves_all_tests_of_a_session_and_starts_only_when_asked(project, pytester, monkeypatch):
    from surefoot.boundary.process import Zygote

    started = []
    start = Zygote.start
    monkeypatch.setattr(Zygote, "start", lambda zygote: (started.append(zygote), start(zygote)))
    check = "certified('script.py', 'tapes')\n\ndef test_more(certified):\n    certified('script.py', 'tapes')"
    result, _ = project(EDITED.replace("COUNT", "there"), check)
    result.assert_outcomes(passed=2)
    assert len(started) == 1
    result, _ = project(EDITED, "pass")
    assert len(started) == 1


def test_the_plugin_alone_loads_nothing_heavy(pytester):
    pytester.makepyfile("import sys\ndef test_it():\n    assert not {'numpy', 'msgspec', 'mcap'} & set(sys.modules)\n")
    pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:hypothesispytest").assert_outcomes(passed=1)
