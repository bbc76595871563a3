"""A program: UTF-8 module text, run top to bottom; its identity is the hash of its bytes."""

from __future__ import annotations

import ast
import hashlib
import io
import warnings
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Literal

import msgspec

from surefoot.errors import InvalidProgramError, UsageError
from surefoot.program.given import without_given
from surefoot.program.modules import imported_names, modules_beside, versions
from surefoot.program.refusals import refuse_missing_modules, refuse_unclosable

Profile = Literal["strict", "trusted"]


class Program:
    """A program's text with its identity. `name` is only for messages.

    `modules` are texts that it may import, by name (a package's own under `name.__init__`), `packages` the
    versions of installed distributions that it uses; only a `trusted` program, a user's own script, has any.
    """

    def __init__(
        self,
        source: str,
        name: str = "program",
        modules: Mapping[str, str] | None = None,
        profile: Profile = "strict",
        packages: Mapping[str, str] | None = None,
    ):
        self.source = source
        self.name = name
        self.modules = dict(sorted((modules or {}).items()))
        self.profile: Profile = profile
        self.packages = dict(sorted((packages or {}).items()))

    @classmethod
    def read(cls, path: Path, profile: Profile = "strict") -> Program:
        """Read a program file; with the profile `trusted` also the modules beside it that it imports.

        What it imports only where it runs by hand (`if "client" not in globals():`) is not looked for.
        UsageError if there is none, or if it is not UTF-8 text.
        """
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise UsageError(f"There is no program at {path}. Check the path.") from None
        except OSError as error:
            raise UsageError(f"The program {path} can't be read: {error.strerror}.") from None
        try:
            source = data.decode("utf-8-sig")  # Python, too, passes over a byte order mark
        except UnicodeDecodeError as error:
            raise InvalidProgramError(f"{path} is not UTF-8 text (byte {error.start}). Save it as UTF-8.") from None
        if not source.strip():
            raise InvalidProgramError(f"{path} is empty. A program is Python text that calls the task's functions.")
        program = cls(source, str(path), profile=profile)
        return program if profile == "strict" else program._with_imports(path.absolute().parent)

    def _with_imports(self, folder: Path) -> Program:
        tree = without_given(self.tree)
        modules = modules_beside(tree, folder, self.name)
        own = {name.partition(".")[0] for name in modules}
        texts = [tree, *(ast.parse(text) for text in modules.values())]
        imported = {name.partition(".")[0] for text in texts for name, _ in imported_names(text)}
        return Program(self.source, self.name, modules, self.profile, versions(imported - own))

    @cached_property
    def digest(self) -> str:
        """Identity, 32 hex digits: hash of the text's bytes, and of its modules' and packages' where it has any."""
        data = self.source.encode("utf-8", "surrogatepass")
        if self.modules or self.packages:
            data = msgspec.json.encode([hashlib.blake2b(data).hexdigest(), self.modules, self.packages])
        return hashlib.blake2b(data, digest_size=16).hexdigest()

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree. InvalidProgramError with the line where there is none."""
        try:
            with warnings.catch_warnings():  # of doubtful escapes and comparisons: the program's own business
                warnings.simplefilter("ignore")
                return ast.parse(self.source)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = getattr(error, "lineno", None)
            where = f", line {line}" if line else ""
            reason = error.msg if isinstance(error, SyntaxError) else str(error)
            raise InvalidProgramError(f"{self.name}{where}: not valid Python: {reason}.") from None

    def check(self) -> None:
        """Raise InvalidProgramError if the program can't be run faithfully: its place and the remedy."""
        refuse_unclosable(self.tree, self.name)
        for name, text in self.modules.items():
            refuse_unclosable(ast.parse(text), f"{name.removesuffix('.__init__')} (imported by {self.name})")
        own = frozenset(name.partition(".")[0] for name in self.modules)
        refuse_missing_modules(self.tree, self.name, own, self.profile == "trusted")

    def line(self, number: int) -> str:
        """One line of the text, stripped; empty where there is none."""
        lines = lines_of(self.source)
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""

    @cached_property
    def imports(self) -> tuple[str, ...]:
        """Absolute names of the modules that the text imports, sorted."""
        names: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module)
        return tuple(sorted(names))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and self._whole == other._whole

    def __hash__(self) -> int:
        return hash(self.source)

    @property
    def _whole(self) -> tuple[str, dict[str, str], str]:
        return self.source, self.modules, self.profile

    def __repr__(self) -> str:
        return f"Program({self.name!r}, {self.digest[:12]})"


def lines_of(source: str) -> list[str]:
    """A text's lines without their ends, split where Python splits: not at form feeds or U+2028."""
    return [line.removesuffix("\n") for line in io.StringIO(source, newline=None)]
