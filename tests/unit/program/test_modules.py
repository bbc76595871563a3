"""Trusted programs: modules beside them and installed packages belong to their identity."""

from __future__ import annotations

import pytest

from surefoot.errors import InvalidProgramError
from surefoot.program.source import Program
from surefoot.tape.certificate import Certified, Diverged
from surefoot.tape.recording import execute
from surefoot.tape.replay import certify, program_of

ENDING = "state['done'] = True\nstep()\n"


@pytest.fixture
def script(tmp_path):
    """A script with a module and a package beside it; returns a function that reads it anew."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "__init__.py").write_text("from . import inner\n")
    (tmp_path / "tools" / "inner.py").write_text("from helpers import GAIN\nVALUE = 2 * GAIN\n")
    (tmp_path / "helpers.py").write_text("GAIN = 3\n\n\ndef fail():\n    raise ValueError('deep')\n")
    (tmp_path / "unused.py").write_text("GAIN = 4\n")
    (tmp_path / "script.py").write_text(f"import helpers\nimport tools\necho(tools.inner.VALUE)\n{ENDING}")
    return lambda: Program.read(tmp_path / "script.py", "trusted")


def test_modules_are_found_from_the_imports_and_through_them(script):
    assert list(script().modules) == ["helpers", "tools.__init__", "tools.inner"]


def test_a_module_is_part_of_the_identity_and_an_unused_one_is_not(script, tmp_path):
    first = script()
    (tmp_path / "unused.py").write_text("GAIN = 5\n")
    assert script().digest == first.digest
    (tmp_path / "helpers.py").write_text("GAIN = 5\n")
    assert script().digest != first.digest
    assert script() != first
    assert Program("x = 1").digest == Program("x = 1", profile="trusted").digest


def test_a_trusted_program_runs_and_its_tape_needs_no_file(script, tmp_path, toy, zygote):
    program = script()
    execution = execute(program, toy.environment(), toy.origin, 1, zygote)
    assert execution.outcome.text == "success"
    for path in (tmp_path / "helpers.py", tmp_path / "tools" / "inner.py"):
        path.unlink()
    own = program_of(execution.tape)
    assert (own, own.digest) == (program, program.digest)
    assert isinstance(certify(own, execution.tape, zygote), Certified)


def test_an_edit_of_a_module_diverges_where_the_program_calls(script, tmp_path, toy, zygote):
    tape = execute(script(), toy.environment(), toy.origin, 1, zygote).tape
    (tmp_path / "helpers.py").write_text("GAIN = 5\n")
    found = certify(script(), tape, zygote)
    assert isinstance(found, Diverged)
    assert (found.line, found.source, found.expected, found.got) == (3, "echo(tools.inner.VALUE)", "6", "10")


def test_an_error_in_a_module_is_shown_with_its_own_file_and_the_program_s_line(script, tmp_path, toy, zygote):
    (tmp_path / "script.py").write_text("import helpers\n\n\nhelpers.fail()\n")
    execution = execute(script(), toy.environment(), toy.origin, 1, zygote)
    assert execution.outcome.text == "failure: raised at line 4: ValueError: deep"
    (tmp_path / "helpers.py").write_text("x = 1\n\n\n\n\nx = (\n")
    with pytest.raises(InvalidProgramError) as error:
        script()
    assert str(error.value) == f"{tmp_path / 'helpers.py'}, line 6: not valid Python: '(' was never closed."


def test_what_is_refused_in_a_program_is_refused_in_its_modules(script, tmp_path):
    (tmp_path / "helpers.py").write_text("import socket\nGAIN = 3\n")
    with pytest.raises(InvalidProgramError) as error:
        script().check()
    assert str(error.value).startswith(f"helpers (imported by {tmp_path / 'script.py'}), line 1: it imports socket: ")


def test_a_module_with_the_name_of_one_of_python_s_own_is_refused(script, tmp_path):
    (tmp_path / "script.py").write_text("import random\n")
    (tmp_path / "random.py").write_text("")
    with pytest.raises(InvalidProgramError) as error:
        script()
    assert str(error.value) == (
        f"{tmp_path / 'script.py'}, line 1: random.py beside the program has the name of a module that is already loaded "
        "where programs run. Give it another name."
    )


def test_installed_packages_are_for_trusted_programs_and_their_versions_identify(tmp_path, perform):
    text = "import rich\n"
    (tmp_path / "script.py").write_text(text)
    trusted = Program.read(tmp_path / "script.py", "trusted")
    trusted.check()
    assert {"rich", "pygments"} <= set(trusted.packages)
    assert trusted.digest != Program(text).digest
    with pytest.raises(
        InvalidProgramError, match=r"it imports rich, which is neither Python's own nor NumPy nor SciPy\."
    ):
        Program(text).check()
    hidden = perform("name = 'rich'\n__import__(name)")
    assert hidden.outcome.text == (
        "failure: raised at line 2: ModuleNotFoundError: No module named 'rich': strict programs import Python's own "
        "modules, NumPy and SciPy; run your own script with --trusted"
    )
