"""Staged programs: closed top-level functions marked `@stage`, called with object names.

A stage is closed: its parameters are object roles, its free names only API functions, builtins and imports
inside it, and no data passes between stages except through the environment. So it can be taken out of one
program and put into another, with its roles bound anew.
"""

from __future__ import annotations

import ast
import builtins
import math
import symtable
from collections.abc import Iterable, Iterator

import msgspec

from surefoot.program.source import Program, lines_of

_MARKS = ("stage", "vary")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class Constant(msgspec.Struct, frozen=True):
    """A constant that may be varied: `name = vary(value, low, high)`; of whole numbers if all three are."""

    name: str
    value: float
    low: float
    high: float

    def fitted(self, value: float) -> float:
        """`value` as the constant may take it: a whole number where the constant is one."""
        return float(round(value)) if self._whole else float(value)

    def text(self, value: float) -> str:
        """A value as Python text."""
        return repr(round(value) if self._whole else float(value))

    @property
    def _whole(self) -> bool:
        return all(isinstance(number, int) for number in (self.value, self.low, self.high))


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
        """Constants declared once with `vary` in the stage itself, in order; those of nested functions are theirs."""
        found = [constant for node in own_nodes(self.function) if (constant := constant_of(node)) is not None]
        names = [constant.name for constant in found]
        return tuple(constant for constant in found if names.count(constant.name) == 1)

    def global_names(self) -> frozenset[str]:
        """All names that the stage reads from outside itself: in its body, defaults, annotations and decorators."""
        module = symtable.symtable(self.source, self.name, "exec")
        head = {symbol.get_name() for symbol in module.get_symbols() if symbol.is_referenced()}
        return frozenset(head.union(*map(_globals_of, module.get_children())) - set(_MARKS))

    def local_names(self) -> frozenset[str]:
        """Parameters and names that the stage itself assigns."""
        function = symtable.symtable(self.source, self.name, "exec").get_children()[0]
        return frozenset(symbol.get_name() for symbol in function.get_symbols() if symbol.is_local())

    def free_names(self) -> tuple[str, ...]:
        """Names that the stage reads from its module, builtins excepted, sorted."""
        return tuple(sorted(name for name in self.global_names() if not hasattr(builtins, name)))

    def is_closed(self, functions: Iterable[str]) -> bool:
        """Whether the stage depends on nothing but its objects and the given API names, and hides none of them."""
        known = set(functions)
        node = self.function
        arguments = node.args
        special = arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg or arguments.kwarg
        if special or arguments.defaults or len(node.decorator_list) > 1:
            return False
        hides = self.name in known or self.name in _MARKS or hasattr(builtins, self.name)
        return not hides and set(self.free_names()) <= known


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
    lines = lines_of(program.source)
    for node in program.tree.body:
        if isinstance(node, ast.FunctionDef) and _is_stage(node):
            first = min(decorator.lineno for decorator in node.decorator_list) - 1
            text = "\n".join(lines[first : node.end_lineno]) + "\n"
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


def constant_of(node: ast.AST) -> Constant | None:
    """The constant that an assignment declares with `vary`; None for anything else."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
        return None
    call = node.value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != "vary":
        return None
    try:
        values = [ast.literal_eval(argument) for argument in call.args]
    except (ValueError, TypeError):
        return None
    if len(values) != 3 or not all(type(value) in (int, float) and math.isfinite(value) for value in values):
        return None
    return Constant(node.targets[0].id, *values)


def own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Nodes of a function's body in order of the text, without what nested functions and classes hold."""
    waiting: list[ast.AST] = [*reversed(function.body)]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _SCOPES):
            waiting.extend(list(ast.iter_child_nodes(node))[::-1])


def _globals_of(table: symtable.SymbolTable) -> set[str]:
    names = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
    for child in table.get_children():
        names |= _globals_of(child)
    return names
