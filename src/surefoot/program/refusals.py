"""Sources of nondeterminism that can't be closed at run time: found in the source, refused by a sentence."""

from __future__ import annotations

import ast
import importlib.util

from surefoot.errors import InvalidProgramError

_MODULES = {
    **dict.fromkeys(
        ("threading", "_thread", "multiprocessing", "concurrent", "asyncio"),
        "threads and processes run in an order that a replay can't repeat; call the functions one after another",
    ),
    **dict.fromkeys(
        ("subprocess", "socket", "urllib", "requests", "http", "ctypes", "pty"),
        "what it reaches is not on the tape; use the task's functions, or declare one with @api",
    ),
}
_CLOCKS = {
    "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today",
}  # fmt: skip
_PROCESSES = ("fork", "exec", "spawn", "posix_spawn", "popen", "system")


def refuse_unclosable(tree: ast.Module, name: str) -> None:
    """Raise InvalidProgramError at the first construct whose result a tape can't hold."""
    imported = _imported(tree)
    for node in ast.walk(tree):
        reason = _reason(node, imported)
        if reason:
            raise InvalidProgramError(f"{name}, line {getattr(node, 'lineno', 0)}: {reason}.")


def refuse_missing_modules(tree: ast.Module, name: str) -> None:
    """Raise InvalidProgramError for an unconditional import of what is not installed where programs run."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module]
        else:
            continue
        for module in modules:
            if importlib.util.find_spec(module.partition(".")[0]) is None:
                raise InvalidProgramError(
                    f"{name}, line {node.lineno}: it imports {module}, which is not installed here. Install it beside "
                    "surefoot, or do without; files beside the program can't be imported."
                )


def _imported(tree: ast.Module) -> dict[str, str]:
    """What each imported name stands for, absolutely: `dt` for `datetime.datetime`."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update({alias.asname: alias.name for alias in node.names if alias.asname})
        elif isinstance(node, ast.ImportFrom):
            names.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
    return names


def _reason(node: ast.AST, imported: dict[str, str]) -> str:
    if isinstance(node, ast.Import):
        return next(filter(None, (_module_reason(alias.name) for alias in node.names)), "")
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        return _module_reason(module) or next(
            filter(None, (_name_reason(f"{module}.{alias.name}") for alias in node.names)), ""
        )
    if isinstance(node, ast.Attribute):
        return _name_reason(_full_name(node, imported))
    if isinstance(node, ast.Call) and _says_now(node):
        called = _full_name(node.func, imported)
        if called.rpartition(".")[2] == "datetime64":
            return "datetime64 of 'now' or 'today' reads the wall clock, which a replay can't repeat; use time.time()"
    return ""


def _full_name(node: ast.AST, imported: dict[str, str]) -> str:
    """The dotted name that an expression reads, through imports; empty for anything else."""
    if isinstance(node, ast.Name):
        return imported.get(node.id, node.id)
    owner = _full_name(node.value, imported) if isinstance(node, ast.Attribute) else ""
    return f"{owner}.{node.attr}" if owner and isinstance(node, ast.Attribute) else ""


def _name_reason(name: str) -> str:
    if name in _CLOCKS:
        shown = name.removeprefix("datetime.")
        return f"{shown}() reads the wall clock, which a replay can't repeat; use time.time()"
    module, _, function = name.rpartition(".")
    if module == "os" and function.startswith(_PROCESSES):
        return f"{name} starts a process, and what it does is not on the tape; use the task's functions"
    return ""


def _module_reason(module: str) -> str:
    reason = _MODULES.get(module.partition(".")[0])
    return f"it imports {module}: {reason}" if reason else ""


def _says_now(call: ast.Call) -> bool:
    first = call.args[0] if call.args else None
    return isinstance(first, ast.Constant) and first.value in ("now", "today")
