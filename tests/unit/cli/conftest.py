"""The command line in this process, and a bank to certify against."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from surefoot.cli.main import main
from surefoot.program.source import Program

MAIN = """
import signal
from surefoot.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
main()
"""


class Said(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.out)


@pytest.fixture
def surefoot(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Run a command: `surefoot("replay", path)`."""

    def run(*arguments: object) -> Said:
        monkeypatch.setattr(sys, "argv", ["surefoot", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main()
        return Said(int(stop.value.code or 0), *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def command() -> list[str]:
    """`surefoot` in a process of its own, which Ctrl-C reaches."""
    return [sys.executable, "-c", MAIN]


@pytest.fixture(scope="session")
def bank(naive: Program, command: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The naive program's successes on desk/place 101-106 (four of six); not to be changed."""
    folder = tmp_path_factory.mktemp("cli")
    program = folder / "naive.py"
    program.write_text(naive.source)
    record = ["record", "desk/place", str(program), "--seeds", "101-106", "--bank", str(folder / "bank")]
    done = subprocess.run([*command, *record], check=False, capture_output=True)
    assert done.returncode == 1
    return folder / "bank"


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    """A program file with this text."""

    def write(source: str) -> Path:
        path = tmp_path / "edited.py"
        path.write_text(source)
        return path

    return write
