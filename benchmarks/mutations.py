"""Edits of real programs, by chance: some keep what a program asks for, some shift it early, some late.

An edit works on one statement of one function; its name says what it did. Nothing here knows whether a
tape will still match.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable, Sequence
from typing import NamedTuple


class Edit(NamedTuple):
    """An edited program and the names of the mutations that made it."""

    source: str
    names: tuple[str, ...]


class Place(NamedTuple):
    """A statement: the list that holds it, and where."""

    body: list[ast.stmt]
    index: int

    @property
    def statement(self) -> ast.stmt:
        return self.body[self.index]


def edits(source: str, queries: Sequence[str], seed: int, count: int) -> list[Edit]:
    """`count` different edits of a program. `queries` are calls that the task answers without an effect."""
    chance = random.Random(f"{seed} {source}")
    found: dict[str, Edit] = {}
    while len(found) < count:
        tree, names = ast.parse(source), []
        for _ in range(chance.choice((1, 1, 2))):
            mutate = chance.choice(MUTATIONS)
            if mutate(tree, chance, queries):
                names.append(mutate.__name__)
        text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        if names and text != ast.unparse(ast.parse(source)) + "\n":
            found.setdefault(text, Edit(text, tuple(names)))
    return list(found.values())


def _places(tree: ast.Module) -> list[Place]:
    """All statements inside functions, with those in loops and branches."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Module):
            continue
        for name in ("body", "orelse"):
            body = getattr(node, name, None)
            if isinstance(body, list):
                found += [Place(body, index) for index in range(len(body))]
    return [place for place in found if not isinstance(place.statement, ast.Import | ast.ImportFrom)]


def _insert(tree: ast.Module, chance: random.Random, *lines: str) -> bool:
    place = chance.choice(_places(tree))
    place.body[place.index : place.index] = [statement for line in lines for statement in ast.parse(line).body]
    return True


def _numbers(tree: ast.Module) -> list[ast.Constant]:
    return [
        node
        for place in _places(tree)
        for node in ast.walk(place.statement)
        if isinstance(node, ast.Constant) and type(node.value) is float
    ]


def _locals_read(statement: ast.stmt) -> list[ast.Name]:
    calls = {id(node.func) for node in ast.walk(statement) if isinstance(node, ast.Call)}
    return [
        node
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in calls
    ]


def _assigned(function: ast.FunctionDef) -> list[str]:
    names = [node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return sorted(set(names))


def _replace(tree: ast.Module, old: ast.expr, new: str) -> None:
    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return ast.parse(new, mode="eval").body if node is old else self.generic_visit(node)

    Replace().visit(tree)


def _rewrite_a_number(tree: ast.Module, chance: random.Random, text: Callable[[float], str]) -> bool:
    numbers = _numbers(tree)
    if not numbers:
        return False
    number = chance.choice(numbers)
    assert isinstance(number.value, float)
    _replace(tree, number, text(number.value))
    return True


def rename_a_local(tree: ast.Module, chance: random.Random, queries: Sequence[str]) -> bool:
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and _assigned(node)]
    if not functions:
        return False
    function = chance.choice(functions)
    old = chance.choice(_assigned(function))
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == old:
            node.id = old + "_renamed"
    return True


def compute_aside(tree: ast.Module, chance: random.Random, queries: Sequence[str]) -> bool:
    return _insert(tree, chance, "aside = sum(index * 0.5 for index in range(20))")


def print_the_time(tree: ast.Module, chance: random.Random, queries: Sequence[str]) -> bool:
    return _insert(tree, chance, "import time", "print('at', time.time(), time.perf_counter_ns())")


def draw_once_more(tree: ast.Module, chance: random.Random, queries: Sequence[str]) -> bool:
    line = chance.choice(
        ("random.random()", "numpy.random.rand()", "uuid.uuid4()", "numpy.random.default_rng().normal()")
    )
    return _insert(tree, chance, f"import {line.partition('.')[0]}", line)


def write_a_constant_otherwise(tree: ast.Module, chance: random.Random, queries: Sequence[str]) -> bool:
    return _rewrite_a_number(tree, chance, lambda value: f"({value!r} * 2 / 2)")


def nudge_a_constant(tree: ast.Module, chance: random.Random, queries: Sequence[str]) -> bool:
    return _rewrite_a_number(tree, chance, lambda value: repr(value * 1.02))


def change_a_last_bit(tree: ast.Module, chance: random.Random, queries: Sequence[str]) -> bool:
    return _rewrite_a_number(tree, chance, lambda value: f"__import__('math').nextafter({value!r}, 10.0)")


def swap_two(tree: ast.Module, chance: random.Random, queries: Sequence[str]) -> bool:
    places = [place for place in _places(tree) if place.index + 1 < len(place.body)]
    body, index = chance.choice(places)
    body[index], body[index + 1] = body[index + 1], body[index]
    return True


def delete_one(tree: ast.Module, chance: random.Random, queries: Sequence[str]) -> bool:
    body, index = chance.choice(_places(tree))
    body[index] = ast.Pass()
    return True


def repeat_one(tree: ast.Module, chance: random.Random, queries: Sequence[str]) -> bool:
    places = [place for place in _places(tree) if isinstance(place.statement, ast.Expr | ast.Assign)]
    body, index = chance.choice(places)
    body.insert(index, copy.deepcopy(body[index]))
    return True


def ask_once_more(tree: ast.Module, chance: random.Random, queries: Sequence[str]) -> bool:
    return _insert(tree, chance, chance.choice(queries))


def try_again(tree: ast.Module, chance: random.Random, queries: Sequence[str]) -> bool:
    places = [
        place
        for place in _places(tree)
        if isinstance(place.statement, ast.Expr) and isinstance(place.statement.value, ast.Call)
    ]
    if not places:
        return False
    body, index = chance.choice(places)
    call = ast.unparse(body[index])
    body[index] = ast.parse(f"for _ in range(3):\n    if ({call}) is not False:\n        break").body[0]
    return True


def catch_everything(tree: ast.Module, chance: random.Random, queries: Sequence[str]) -> bool:
    body, index = chance.choice(_places(tree))
    wrapped = ast.parse("try:\n    pass\nexcept Exception as fault:\n    print('fault', fault)").body[0]
    assert isinstance(wrapped, ast.Try)
    wrapped.body = [body[index]]
    body[index] = wrapped
    return True


def copy_what_is_read(tree: ast.Module, chance: random.Random, queries: Sequence[str]) -> bool:
    names = [node for place in _places(tree) for node in _locals_read(place.statement)]
    if not names:
        return False
    name = chance.choice(names)
    _replace(tree, name, f"__import__('copy').deepcopy({name.id})")
    return True


def change_what_was_read(tree: ast.Module, chance: random.Random, queries: Sequence[str]) -> bool:
    line = "for kept in list(locals().values()):\n    if hasattr(kept, 'dtype') and kept.ndim and kept.dtype == float:\n        kept *= {}"
    return _insert(tree, chance, line.format(chance.choice(("1.0", "1.0", "1.001"))))


def walk_a_set(tree: ast.Module, chance: random.Random, queries: Sequence[str]) -> bool:
    return _insert(tree, chance, "for thing in {'left', 'right', 'above', ('behind', 2)}:\n    print(thing)")


def guard_by_what_was_read(tree: ast.Module, chance: random.Random, queries: Sequence[str]) -> bool:
    """One statement runs only where the first array at hand begins with a positive number."""
    body, index = chance.choice(_places(tree))
    test = "next((kept.flat[0] > 0 for kept in locals().values() if hasattr(kept, 'flat')), True)"
    guarded = ast.parse(f"if {test}:\n    pass").body[0]
    assert isinstance(guarded, ast.If)
    guarded.body = [body[index]]
    body[index] = guarded
    return True


def stop_here(tree: ast.Module, chance: random.Random, queries: Sequence[str]) -> bool:
    return _insert(tree, chance, chance.choice(("raise SystemExit(0)", "raise RuntimeError('stopped')", "return")))


MUTATIONS: tuple[Callable[[ast.Module, random.Random, Sequence[str]], bool], ...] = (
    rename_a_local, compute_aside, print_the_time, draw_once_more, write_a_constant_otherwise, nudge_a_constant,
    change_a_last_bit, swap_two, delete_one, repeat_one, ask_once_more, try_again, catch_everything,
    copy_what_is_read, change_what_was_read, walk_a_set, guard_by_what_was_read, stop_here,
)  # fmt: skip
"""All of them equally likely."""
