"""Edits of one stage, as text to text: vary a constant, guard an alternative, retry within a bound.

All edits keep the lines that they do not concern, so that a recorded success whose guard does not fire
still matches its tape.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Mapping

import msgspec

from surefoot.program.stages import Stage

INDENT = "    "


class Alternative(msgspec.Struct, frozen=True):
    """What a branch does instead: set constants (then go on), or run another stage's body (then return)."""

    constants: tuple[tuple[str, float], ...] = ()
    stage: Stage | None = None


class Branch(msgspec.Struct, frozen=True):
    """`if condition: alternative`; the condition is a Python expression over values already read."""

    condition: str
    alternative: Alternative


def renamed(stage: Stage, name: str) -> Stage:
    """The stage under another name."""
    lines = stage.source.splitlines()
    row = stage.function.lineno - 1
    lines[row] = lines[row].replace(f"def {stage.name}(", f"def {name}(", 1)
    return Stage(name, stage.parameters, "\n".join(lines) + "\n")


def with_constants(stage: Stage, values: Mapping[str, float]) -> Stage:
    """The stage with other values for some of its varied constants; their ranges stay."""
    lines = stage.source.splitlines()
    for node in ast.walk(stage.function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in values:
            call = node.value
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "vary":
                first = call.args[0]
                assert first.end_col_offset is not None
                row = lines[first.lineno - 1].encode()
                value = repr(float(values[node.targets[0].id])).encode()
                lines[first.lineno - 1] = (row[: first.col_offset] + value + row[first.end_col_offset :]).decode()
    return Stage(stage.name, stage.parameters, "\n".join(lines) + "\n")


def dispatch_line(stage: Stage, is_effect: Callable[[str], bool]) -> int | None:
    """Line of the first top-level statement that calls an effect: guards stand before it.

    Until there the stage has only read; what it has read can decide. None if it has no effect.
    """
    for statement in stage.function.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and is_effect(node.func.id):
                return statement.lineno
    return None


def with_branches(stage: Stage, line: int, branches: tuple[Branch, ...]) -> Stage:
    """The stage with branches before `line`, first match first; a branch with a stage returns from it."""
    lines = stage.source.splitlines()
    inserted: list[str] = []
    for branch in branches:
        inserted.append(f"{INDENT}if {branch.condition}:")
        inserted += [f"{INDENT * 2}{name} = {value!r}" for name, value in branch.alternative.constants]
        if branch.alternative.stage is not None:
            inserted += _nested(branch.alternative.stage, stage)
    return Stage(stage.name, stage.parameters, "\n".join([*lines[: line - 1], *inserted, *lines[line - 1 :]]) + "\n")


def _nested(inner: Stage, outer: Stage) -> list[str]:
    """Another stage as a function inside a branch, called with the outer stage's objects in place."""
    function = inner.function
    text = "\n".join(inner.source.splitlines()[function.lineno - 1 :])
    call = f"return {inner.name}({', '.join(outer.parameters[: len(inner.parameters)])})"
    return textwrap.indent(f"{text}\n{call}", INDENT * 2).splitlines()


def with_retry(stage: Stage, condition: str, attempts: int = 2) -> Stage:
    """The stage's body again while `condition` (over its local values at the end) holds, at most `attempts` times."""
    function = stage.function
    lines = stage.source.splitlines()
    first = function.body[0].lineno - 1
    body = [INDENT + line if line.strip() else line for line in lines[first:]]
    loop = [f"{INDENT}for _ in range({attempts}):"]
    check = [f"{INDENT * 2}if not ({condition}):", f"{INDENT * 3}break"]
    return Stage(stage.name, stage.parameters, "\n".join([*lines[:first], *loop, *body, *check]) + "\n")
