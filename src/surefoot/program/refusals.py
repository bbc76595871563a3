"""Sources of nondeterminism that can't be closed at run time: found in the source, refused by a sentence."""

from __future__ import annotations

import ast

from surefoot.errors import InvalidProgramError

_MODULES = {
    **dict.fromkeys(
        ("threading", "_thread", "multiprocessing", "concurrent", "asyncio"),
        "threads and processes run in an order that a replay can't repeat; call the functions one after another",
    ),
    **dict.fromkeys(
        ("subprocess", "socket", "urllib", "requests", "http", "ctypes"),
        "what it reaches is not on the tape; use the task's functions, or declare one with @api",
    ),
}
_CLOCKS = {("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today"), ("date", "today")}


def refuse_unclosable(tree: ast.Module, name: str) -> None:
    """Raise InvalidProgramError at the first construct whose result a tape can't hold."""
    for node in ast.walk(tree):
        reason = _reason(node)
        if reason:
            raise InvalidProgramError(f"{name}, line {getattr(node, 'lineno', 0)}: {reason}.")


def _reason(node: ast.AST) -> str:
    if isinstance(node, ast.Import):
        return next(filter(None, (_module_reason(alias.name) for alias in node.names)), "")
    if isinstance(node, ast.ImportFrom):
        return _module_reason(node.module or "")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        owner = node.func.value
        last = owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else ""
        if (last, node.func.attr) in _CLOCKS:
            return f"{last}.{node.func.attr}() reads the wall clock, which a replay can't repeat; use time.time()"
        if node.func.attr == "datetime64" and _says_now(node):
            return "datetime64 of 'now' or 'today' reads the wall clock, which a replay can't repeat; use time.time()"
    return ""


def _module_reason(module: str) -> str:
    reason = _MODULES.get(module.partition(".")[0])
    return f"it imports {module}: {reason}" if reason else ""


def _says_now(call: ast.Call) -> bool:
    first = call.args[0] if call.args else None
    return isinstance(first, ast.Constant) and first.value in ("now", "today")
