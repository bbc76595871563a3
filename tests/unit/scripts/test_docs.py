"""docs/own-api.md and the README's five lines, run as they stand."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from surefoot.cli.main import COMMANDS, build
from surefoot.environments.registry import find_task

pytest_plugins = ["pytester"]
ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "own-api.md").read_text()
README = (ROOT / "README.md").read_text()


def blocks(text, language):
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def timeless(text):
    """Without durations, which differ, and without spaces at line ends."""
    return [re.sub(r"\d+\.\d+ s\b", "… s", line.rstrip()) for line in text.strip().splitlines()]


@pytest.fixture
def project(pytester, monkeypatch):
    """The example's folder as working folder; `run(code)` runs a snippet against its service."""
    from shop import service

    for path in (ROOT / "examples" / "http").glob("*.py"):
        shutil.copy(path, pytester.path)
    (pytester.path / "test_restock.py").unlink()

    def run(code):
        with service() as server:
            exec(code.replace("http://127.0.0.1:8000", server.url), {"__name__": "snippet"})

    return run


def test_the_readme_s_lines_print_what_they_say(project, capsys):
    (code,) = [block for block in blocks(README, "python") if "surefoot.record" in block]
    project(code)
    assert capsys.readouterr().out == "certified (9 events)\n"


def test_the_guide_s_handle_is_recorded_as_it_says(project, capsys, monkeypatch, pytester):
    _, _, client, script, record, *_ = blocks(GUIDE, "python")
    (pytester.path / "thermo.py").write_text(client)
    (pytester.path / "bake.py").write_text(script)
    monkeypatch.syspath_prepend(str(pytester.path))
    project(record)
    assert capsys.readouterr().out == "stopped at 70.0 95.0 degrees\n\n"
    sys.modules.pop("thermo")


def test_the_guide_s_snippets_and_commands_do_what_they_say(project, capsys, monkeypatch, pytester):
    record, _, *_, replay, test, _ = blocks(GUIDE, "python")
    project(record)
    assert capsys.readouterr().out == "success\n"
    project("from shop import ShopClient\nimport surefoot\n" + replay)
    assert capsys.readouterr().out == "certified (9 events)\n"
    commands, failure = blocks(GUIDE, "console")
    for session in commands.split("$ ")[1:]:
        command, _, shown = session.partition("\n")
        arguments = shlex.split(command)
        build(COMMANDS)(arguments[1:], standalone_mode=False)
        assert timeless(capsys.readouterr().out) == timeless(shown)
    (pytester.path / "test_tapes.py").write_text(test)
    command, _, shown = failure.partition("\n")
    result = pytester.runpytest_inprocess(*shlex.split(command)[2:], "-p", "no:cacheprovider")
    result.assert_outcomes(failed=1)
    assert shown in result.stdout.str()


def test_the_guide_s_one_change_to_a_script_is_the_example_s():
    (change,) = [block for block in blocks(GUIDE, "python") if "not in globals()" in block]
    script = (ROOT / "examples" / "http" / "restock.py").read_text()
    assert change in re.sub(r"  # run by hand.*", "", script)


def test_the_guide_s_optimisation_runs(tmp_path, naive, capsys):
    pytest.importorskip("gepa", reason="GEPA is not installed; pip install '.[gepa]'")
    prompts = []

    def language_model(prompt):
        prompts.append(prompt)
        return f"```\n{naive.source.replace('target', 'where')}```"

    code = blocks(GUIDE, "python")[-1]
    exec(code, {"folder": tmp_path, "first_program": naive.source, "language_model": language_model})
    counts = re.search(r"Counts\(certified=(\d+), repeated=\d+, executed=(\d+), refused=0\)", capsys.readouterr().out)
    assert int(counts[1]) > 0
    assert find_task("desk/place").description in prompts[0]
    assert naive.source in prompts[0]
    assert "configuration" in prompts[0]
