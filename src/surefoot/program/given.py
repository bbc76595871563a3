"""What a script does only where it runs by hand: `if "client" not in globals(): client = ShopClient()`."""

from __future__ import annotations

import ast
import copy
from collections.abc import Set as AbstractSet


def without_given(tree: ast.Module, given: AbstractSet[str] | None = None) -> ast.Module:
    """The syntax tree without what never runs where the host gives these names; None stands for all names."""
    return _Pruned(given).visit(copy.deepcopy(tree))  # type: ignore[no-any-return]


class _Pruned(ast.NodeTransformer):
    def __init__(self, given: AbstractSet[str] | None):
        self._given = given

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        match node.test:
            case ast.Compare(
                left=ast.Constant(value=name), ops=[ast.NotIn()], comparators=[ast.Call(func=ast.Name("globals"))]
            ) if self._given is None or name in self._given:
                return node.orelse or ast.copy_location(ast.Pass(), node)
        return node
