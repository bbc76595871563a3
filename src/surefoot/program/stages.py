"""Staged programs: closed top-level functions marked `@stage`, called with object names.

A stage is closed: its parameters are object roles, its free names only API functions, builtins and imports
inside it, and no data passes between stages except through the environment. So it can be taken out of one
program and put into another, with its roles bound anew.
"""

from __future__ import annotations

import ast
import builtins
import symtable
import textwrap
from collections.abc import Iterable

import msgspec

from surefoot.program.source import Program


class Constant(msgspec.Struct, frozen=True):
    """A constant that may be varied: `name = vary(value, low, high)`."""

    name: str
    value: float
    low: float
    high: float


class Stage(msgspec.Struct, frozen=True):
    """One stage's text, from its decorator to its last line, dedented; lines count within the text."""

    name: str
    parameters: tuple[str, ...]
    source: str

    @property
    def function(self) -> ast.FunctionDef:
        """The stage's syntax tree."""
        node = ast.parse(self.source).body[0]
        assert isinstance(node, ast.FunctionDef)
        return node

    @property
    def constants(self) -> tuple[Constant, ...]:
        """Constants declared with `vary`, in order."""
        found = (_constant(node) for node in ast.walk(self.function))
        return tuple(constant for constant in found if constant is not None)

    def free_names(self) -> tuple[str, ...]:
        """Names that the stage reads from its module, builtins excepted, sorted."""
        table = symtable.symtable(self.source, self.name, "exec").get_children()[0]
        names = {name for name in _globals_of(table) if not hasattr(builtins, name)}
        return tuple(sorted(names - {"stage", "vary"}))

    def is_closed(self, functions: Iterable[str]) -> bool:
        """Whether the stage depends on nothing but the given API names."""
        return set(self.free_names()) <= set(functions)


class StageCall(msgspec.Struct, frozen=True):
    """A module-level call of a stage with object names, in program order."""

    stage: str
    objects: tuple[str, ...]


class StagedProgram(msgspec.Struct, frozen=True):
    """A program seen as stages and the calls that run them."""

    stages: tuple[Stage, ...]
    calls: tuple[StageCall, ...]

    def stage(self, name: str) -> Stage:
        """The stage called `name`."""
        return next(stage for stage in self.stages if stage.name == name)


def staged(program: Program) -> StagedProgram | None:
    """The program's stages and calls; None unless that is all there is in it."""
    stages: list[Stage] = []
    calls: list[StageCall] = []
    lines = program.source.splitlines()
    for node in program.tree.body:
        if isinstance(node, ast.FunctionDef) and _is_stage(node):
            first = min(decorator.lineno for decorator in node.decorator_list) - 1
            text = textwrap.dedent("\n".join(lines[first : node.end_lineno])) + "\n"
            stages.append(Stage(node.name, tuple(argument.arg for argument in node.args.args), text))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # a docstring
        else:
            call = _stage_call(node)
            if call is None:
                return None
            calls.append(call)
    names = {stage.name for stage in stages}
    if not calls or len(names) != len(stages) or any(call.stage not in names for call in calls):
        return None
    return StagedProgram(tuple(stages), tuple(calls))


def _is_stage(node: ast.FunctionDef) -> bool:
    return any(isinstance(decorator, ast.Name) and decorator.id == "stage" for decorator in node.decorator_list)


def _stage_call(node: ast.stmt) -> StageCall | None:
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call) or node.value.keywords:
        return None
    call = node.value
    objects = [item.value for item in call.args if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    if not isinstance(call.func, ast.Name) or len(objects) != len(call.args):
        return None
    return StageCall(call.func.id, tuple(objects))


def _constant(node: ast.AST) -> Constant | None:
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
        return None
    call = node.value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != "vary":
        return None
    try:
        values = [ast.literal_eval(argument) for argument in call.args]
    except ValueError:
        return None
    return Constant(node.targets[0].id, *values) if len(values) == 3 else None


def _globals_of(table: symtable.SymbolTable) -> set[str]:
    names = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
    for child in table.get_children():
        names |= _globals_of(child)
    return names
