"""Imports of what the host gives a script: the imported class would be another than the one that calls give and raise."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from surefoot.boundary.declared import TypeSpec
from surefoot.errors import InvalidProgramError
from surefoot.program.given import without_given
from surefoot.program.source import Program


def refuse_given_imports(program: Program, types: Iterable[TypeSpec], given: str) -> None:
    """Raise InvalidProgramError at the first import of a declared type; `given` is a name that only the host gives.

    Imports under `if "client" not in globals():` and `if TYPE_CHECKING:` do not run, and are as they should be.
    """
    modules = {spec.name: spec.module for spec in types if spec.module != "builtins"}
    for line, module, name in _uses(without_given(program.tree), modules):
        raise InvalidProgramError(
            f"{program.name}, line {line}: it takes {name} from {module}, which would be another class than the {name} "
            f"that the host gives the script. Use {name} as it is, and import it only under "
            f'if "{given}" not in globals():.'
        )
    for key, text in program.modules.items():
        others = {name: module for name, module in modules.items() if _top(module) != _top(key)}
        for line, module, name in _uses(ast.parse(text), others):
            raise InvalidProgramError(
                f"{key.removesuffix('.__init__')} (imported by {program.name}), line {line}: it takes {name} from "
                f"{module}, which would be another class than the {name} that the host gives the script. Hand it over "
                "from the script instead."
            )


def _uses(tree: ast.Module, modules: dict[str, str]) -> Iterator[tuple[int, str, str]]:
    """Line, module and name of each declared type that a text imports, or reads from an imported module."""
    nodes = list(_nodes(tree))
    aliases: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                aliases[alias.asname or _top(alias.name)] = alias.name if alias.asname else _top(alias.name)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if alias.name in modules and _top(node.module) == _top(modules[alias.name]):
                    yield node.lineno, node.module, alias.name
                if alias.name == "*" and node.module in modules.values():
                    yield node.lineno, node.module, next(key for key in modules if modules[key] == node.module)
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in modules:
            first, _, rest = ast.unparse(node.value).partition(".")
            module = ".".join(filter(None, [aliases.get(first, ""), rest]))
            if first in aliases and _top(module) == _top(modules[node.attr]):
                yield node.lineno, module, node.attr


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those under `if TYPE_CHECKING:`."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            for other in child.orelse:
                yield from [other, *_nodes(other)]
            continue
        yield child
        yield from _nodes(child)


def _top(module: str) -> str:
    return module.partition(".")[0]
