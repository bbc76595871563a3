"""What a trusted program imports: modules beside it, found from its imports, and installed distributions."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from surefoot.errors import InvalidProgramError

PERMITTED = frozenset(sys.stdlib_module_names) | {"numpy", "scipy"}
"""What a strict program may import."""


def imported_names(tree: ast.Module, package: str = "") -> Iterator[tuple[str, int]]:
    """Absolute names that a text may import, each with its line; `from a import b` may mean `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")[: len(package.split(".")) - node.level + 1] if package else []
                base = ".".join(filter(None, [*parts, base]))
            if base:
                yield base, node.lineno
                yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names if alias.name != "*")


def modules_beside(tree: ast.Module, folder: Path, name: str) -> dict[str, str]:
    """Texts of the modules in `folder` that the program needs, by name; a package's own is under `name.__init__`.

    InvalidProgramError for one that can't be read, or that has the name of one of Python's own.
    """
    found: dict[str, str] = {}
    waiting = [(tree, "", name)]
    while waiting:
        text, package, place = waiting.pop()
        for wanted, line in imported_names(text, package):
            parts = wanted.split(".")
            for depth in range(1, len(parts) + 1):
                module = ".".join(parts[:depth])
                key, path = _place_of(module, folder)
                if not key:
                    break
                if key in found:
                    continue
                if parts[0] in PERMITTED:
                    if path.suffix == ".py":
                        raise InvalidProgramError(
                            f"{place}, line {line}: {path.name} beside the program has the name of a module that is "
                            "already loaded where programs run. Give it another name."
                        )
                    break
                found[key] = _read(path) if path.suffix == ".py" else ""
                inner = key.removesuffix(".__init__") if key.endswith(".__init__") else module.rpartition(".")[0]
                waiting.append((_parsed(found[key], str(path)), inner, str(path)))
    return dict(sorted(found.items()))


def _place_of(module: str, folder: Path) -> tuple[str, Path]:
    """The key and the file of a module beside the program; a folder without `__init__.py` is a package, too."""
    path = folder.joinpath(*module.split("."))
    if (path / "__init__.py").is_file():
        return f"{module}.__init__", path / "__init__.py"
    if path.with_name(f"{path.name}.py").is_file():
        return module, path.with_name(f"{path.name}.py")
    if path.is_dir() and any(path.glob("*.py")):
        return f"{module}.__init__", path
    return "", path


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InvalidProgramError(f"The module {path} can't be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise InvalidProgramError(f"{path} is not UTF-8 text (byte {error.start}). Save it as UTF-8.") from None


def _parsed(source: str, name: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        where = f", line {line}" if line else ""
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise InvalidProgramError(f"{name}{where}: not valid Python: {reason}.") from None


def versions(top_level: set[str]) -> dict[str, str]:
    """Versions of the installed distributions that hold these modules, and of those that they require."""
    wanted = {name for name in top_level if name not in PERMITTED and importlib.util.find_spec(name) is not None}
    if not wanted:
        return {}
    providers = metadata.packages_distributions()
    waiting = sorted({provider for name in wanted for provider in providers.get(name, ())})
    found: dict[str, str] = {}
    while waiting:
        name = waiting.pop()
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # an optional requirement
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in found:
            continue
        found[key] = distribution.version
        for requirement in distribution.requires or ():
            waiting.append(re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0])
    return dict(sorted(found.items()))
