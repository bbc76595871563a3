"""Edits of one stage, as text to text: vary a constant, guard an alternative, retry within a bound.

All edits keep the lines that they do not concern, so that a recorded success whose guard does not fire
still matches its tape.
"""

from __future__ import annotations

import ast
import builtins
import io
import tokenize
from collections.abc import Callable, Iterable, Mapping

import msgspec

from surefoot.program.source import lines_of
from surefoot.program.stages import Stage, constant_of, own_nodes


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
    lines = lines_of(stage.source)
    tokens = iter(tokenize.generate_tokens(io.StringIO(stage.source).readline))
    next(token for token in tokens if token.string == "def")
    old = next(token for token in tokens if token.type == tokenize.NAME)
    (row, start), (_, stop) = old.start, old.end
    lines[row - 1] = lines[row - 1][:start] + name + lines[row - 1][stop:]
    return _with_lines(stage, lines, name)


def with_constants(stage: Stage, values: Mapping[str, float]) -> Stage:
    """The stage with other values for some of its varied constants; their ranges stay."""
    lines = lines_of(stage.source)
    known = {constant.name: constant for constant in stage.constants if constant.name in values}
    for node in reversed(list(own_nodes(stage.function))):  # from the end, so that earlier places stay
        constant = constant_of(node)
        if constant is None or constant.name not in known:
            continue
        assert isinstance(node, ast.Assign)
        assert isinstance(node.value, ast.Call)
        first = node.value.args[0]
        row = lines[first.lineno - 1].encode()
        value = constant.text(values[constant.name]).encode()
        lines[first.lineno - 1] = (row[: first.col_offset] + value + row[first.end_col_offset :]).decode()
    return _with_lines(stage, lines)


def dispatch_line(stage: Stage, is_effect: Callable[[str], bool]) -> int | None:
    """Line of the first top-level statement that names an effect: guards stand before it.

    Until there the stage has only read; what it has read can decide. None if it has no effect, or if no line
    can stand before that statement.
    """
    lines = lines_of(stage.source)
    for statement in stage.function.body:
        if any(is_effect(name) for node in ast.walk(statement) for name in _read(node)):
            return _first_line(statement) if _begins_its_line(statement, lines) else None
    return None


def can_read(stage: Stage, expression: str, line: int | None = None) -> bool:
    """Whether all names of an expression are parameters or set at the stage's top level (before `line`, if given)."""
    known = set(stage.parameters)
    for statement in stage.function.body:
        if line is None or statement.lineno < line:
            nodes = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
            known |= {node.id for node in nodes if isinstance(node.ctx, ast.Store)}
    names = (node.id for node in ast.walk(ast.parse(expression, mode="eval")) if isinstance(node, ast.Name))
    return all(name in known or hasattr(builtins, name) for name in names)


def takes_effect(stage: Stage, line: int, name: str) -> bool:
    """Whether setting a constant before `line` is the same as declaring it so: nothing reads it earlier, or sets it later."""
    uses = [node for node in ast.walk(stage.function) if isinstance(node, ast.Name) and node.id == name]
    stores = sum(isinstance(node.ctx, ast.Store) for node in uses)
    return stores == 1 and all((node.lineno < line) == isinstance(node.ctx, ast.Store) for node in uses)


def nestable(inner: Stage, outer: Stage) -> bool:
    """Whether `inner` means the same as a function inside `outer`: no name that it reads is a local one there."""
    return not inner.global_names() & outer.local_names()


def with_branches(stage: Stage, line: int, branches: tuple[Branch, ...]) -> Stage:
    """The stage with branches before `line`, first match first; a branch with a stage returns from it."""
    lines = lines_of(stage.source)
    known = {constant.name: constant for constant in stage.constants}
    indent = _indentation(stage)
    inserted: list[str] = []
    for branch in branches:
        inserted.append(f"{indent}if {branch.condition}:")
        alternative = branch.alternative
        settings = [f"{name} = {known[name].text(value)}" for name, value in alternative.constants]
        if alternative.stage is not None:
            inserted += _nested(alternative.stage, stage, indent * 2)
        else:
            inserted += [indent * 2 + setting for setting in settings or ["pass"]]
    return _with_lines(stage, [*lines[: line - 1], *inserted, *lines[line - 1 :]])


def _nested(inner: Stage, outer: Stage, indent: str) -> list[str]:
    """Another stage as a function inside a branch, called with the outer stage's objects in place."""
    body = _indented(inner.source, inner.function.lineno, indent)
    return [*body, f"{indent}return {inner.name}({', '.join(outer.parameters[: len(inner.parameters)])})"]


def can_retry(stage: Stage) -> bool:
    """Whether the stage's body can stand in a loop and always comes to its end."""
    returns = any(isinstance(node, ast.Return) for node in own_nodes(stage.function))
    return not returns and _begins_its_line(_body(stage)[0], lines_of(stage.source))


def with_retry(stage: Stage, condition: str, attempts: int = 2) -> Stage:
    """The stage's body again while `condition` (over its local values at the end) holds, at most `attempts` times."""
    first = _first_line(_body(stage)[0])
    indent = _indentation(stage)
    body = _indented(stage.source, first, indent)
    loop = [f"{indent}for _ in range({attempts}):"]
    check = [f"{indent * 2}if not ({condition}):", f"{indent * 3}break"]
    return _with_lines(stage, [*lines_of(stage.source)[: first - 1], *loop, *body, *check])


def _with_lines(stage: Stage, lines: Iterable[str], name: str | None = None) -> Stage:
    return Stage(name or stage.name, stage.parameters, "\n".join(lines) + "\n")


def _read(node: ast.AST) -> list[str]:
    """The name that an expression reads, `move_to` or `time.sleep`."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return [f"{node.value.id}.{node.attr}"]
    return []


def _body(stage: Stage) -> list[ast.stmt]:
    """The stage's statements without its docstring, where there are others."""
    body = stage.function.body
    return body[1:] if len(body) > 1 and ast.get_docstring(stage.function, clean=False) is not None else body


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _begins_its_line(statement: ast.stmt, lines: list[str]) -> bool:
    before = lines[statement.lineno - 1].encode()[: statement.col_offset]
    return not before.strip()


def _indentation(stage: Stage) -> str:
    """What the body's lines begin with; the text's own kind of indentation goes on."""
    line = lines_of(stage.source)[_first_line(stage.function.body[0]) - 1]
    return line[: len(line) - len(line.lstrip())]


def _indented(source: str, first: int, indent: str) -> list[str]:
    """Lines from line `first` on, moved to the right; a line that begins inside a string stays as it is."""
    inside: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)):
            assert node.end_lineno is not None
            inside.update(range(node.lineno + 1, node.end_lineno + 1))
    return [
        indent + line if line.strip() and number not in inside else line
        for number, line in enumerate(lines_of(source), start=1)
        if number >= first
    ]
