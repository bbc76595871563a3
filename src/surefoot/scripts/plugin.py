"""The pytest plugin: the fixture `certified` replays tapes, and a divergence is the failure's text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from surefoot.program.source import Program
    from surefoot.scripts.replaying import Replayer


@pytest.fixture(scope="session")
def _surefoot_replayer() -> Iterator[Replayer]:
    """One interpreter for all tests of a session, from which programs are forked."""
    from surefoot.scripts.replaying import Replayer  # NumPy and the tape format, only where a test asks for them

    with Replayer() as replayer:
        yield replayer


@pytest.fixture
def certified(_surefoot_replayer: Replayer, pytestconfig: pytest.Config) -> Certified:
    """Replay a script on recorded tapes: `certified("scripts/restock.py", "tapes/")`.

    Fails the test, with the divergence in full, unless every tape certifies the script.
    """
    return Certified(_surefoot_replayer, pytestconfig.rootpath)


class Certified:
    """Checks a script against a tape or a folder of tapes; paths are relative to pytest's root folder."""

    def __init__(self, replayer: Replayer, root: Path):
        self._replayer = replayer
        self._root = root

    def __call__(
        self,
        program: str | os.PathLike[str],
        tapes: str | os.PathLike[str],
        obj: object | None = None,
        *,
        revision: str | None = None,
        modulo: bool = False,
    ) -> None:
        """Fail the test unless each tape certifies the script, and list all that do not.

        `obj`, `revision` and `modulo` are those of `surefoot.replay`.
        """
        __tracebackhide__ = True
        from surefoot.errors import SurefootError, UsageError
        from surefoot.program.source import Program

        refusal = ""
        try:
            if not (self._root / program).is_file():
                raise UsageError(
                    f"There is no program at {self._root / program}. Check the path; it is relative to pytest's root folder."
                )
            text = Program.read(self._root / program, "trusted")
            text.check()
            paths = self._paths(self._root / tapes)
            problems = [(path, self._problem(text, path, obj, revision=revision, modulo=modulo)) for path in paths]
        except SurefootError as error:
            refusal = f"surefoot: {error}"
        if refusal:
            pytest.fail(refusal, pytrace=False)  # outside the handler, which pytest would show as well
        found = [(path, problem) for path, problem in problems if problem]
        if found:
            head = f"surefoot: {self._shown(self._root / program)} is certified on {len(paths) - len(found)} of {len(paths)} tapes."
            pages = [f"{self._shown(path)}\n{problem}" for path, problem in found]
            pytest.fail("\n\n".join([head, *pages]), pytrace=False)

    def _paths(self, place: Path) -> list[Path]:
        """The tapes at a place, none of them unfinished. UsageError where there are none."""
        from surefoot.errors import UsageError

        if not place.is_dir():
            return [place]
        paths = sorted(path for path in place.glob("*.mcap") if not path.name.startswith("."))
        if not paths:
            raise UsageError(f"The folder {self._shown(place)} holds no tapes. Make one with surefoot.record.")
        return paths

    def _problem(self, program: Program, path: Path, obj: object | None, **options: Any) -> str:
        """Why a tape does not certify the program; empty where it does."""
        from surefoot.errors import TapeError
        from surefoot.scripts.replaying import REMEDIES
        from surefoot.tape.certificate import Diverged, Unavailable
        from surefoot.tape.file import load_tape

        try:
            certificate = self._replayer.replay(program, load_tape(path), obj, **options)
        except TapeError as error:
            return str(error)
        if isinstance(certificate, Diverged):
            return certificate.page()
        if isinstance(certificate, Unavailable):
            return f"{certificate.text.capitalize()}.\n{REMEDIES.get(certificate.reason, '')}".rstrip()
        return ""

    def _shown(self, path: Path) -> str:
        """A path as short as it goes without doubt."""
        return str(path.relative_to(self._root) if path.is_relative_to(self._root) else path)
