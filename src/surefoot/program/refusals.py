"""Sources of nondeterminism that can't be closed at run time: found in the source, refused by a sentence."""

from __future__ import annotations

import ast
import importlib.util
import re

from surefoot.errors import InvalidProgramError
from surefoot.program.modules import PERMITTED

_THREADS = "threads and processes run in an order that a replay can't repeat; call the functions one after another"
_OUTSIDE = "what it reaches is not on the tape; use the task's functions, or declare one with @api"
_OWN_CHANCE = "it has chance and clocks of its own, which a replay can't repeat; use random and numpy.random"
_REAL_TIME = "it measures the machine's time, which a replay can't repeat; use time.perf_counter()"
_INSIDE = "it goes round what surefoot closes, and a replay can't repeat what it finds; use Python's public modules"
_MODULES = {
    **dict.fromkeys(("threading", "_thread", "multiprocessing", "concurrent", "asyncio", "_asyncio"), _THREADS),
    **dict.fromkeys(
        (
            "subprocess", "_posixsubprocess", "socket", "_socket", "socketserver", "selectors", "urllib", "requests",
            "httpx", "aiohttp", "http", "ftplib", "smtplib", "poplib", "imaplib", "xmlrpc", "ctypes", "_ctypes",
            "cffi", "pty", "syslog", "webbrowser", "fcntl", "dbm",
        ),
        _OUTSIDE,
    ),
    **dict.fromkeys(("sqlite3", "_sqlite3", "ssl", "_ssl"), _OWN_CHANCE),
    **dict.fromkeys(("cProfile", "profile", "_lsprof"), _REAL_TIME),
    **dict.fromkeys(("posix", "_random", "_datetime", "_pydatetime", "_uuid", "_signal"), _INSIDE),
}  # fmt: skip
_PROCESSES = ("fork", "exec", "spawn", "posix_spawn", "popen", "system")
_TIMERS = ("alarm", "setitimer", "set_wakeup_fd", "pthread_kill", "pidfd_send_signal", "siginterrupt")
_NAMES = {
    "gc.callbacks": "gc.callbacks runs when Python collects garbage, which a replay can't repeat; do without",
}
_MOMENTS = ("now", "today")
_DATE_TYPES = re.compile(r"(.*,)?\s*[\d()]*[<>=|]?(M8?|datetime64)\s*([\[,].*)?", re.DOTALL)
_DATE_NAMES = re.compile(
    r"datetime64|DateTime64DType|is_busday|busday_(count|offset)|busdaycalendar|typecodes|sctypeDict"
)
"""What of NumPy is, makes or takes dates; business days take text without naming its type."""


def refuse_unclosable(tree: ast.Module, name: str) -> None:
    """Raise InvalidProgramError at the first construct whose result a tape can't hold."""
    imported = _imported(tree)
    dates = any(_is_date_type(node) for node in ast.walk(tree))
    for node in ast.walk(tree):
        reason = _reason(node, imported) or (_moment_reason(node) if dates else "")
        if reason:
            raise InvalidProgramError(f"{name}, line {getattr(node, 'lineno', 0)}: {reason}.")


def refuse_missing_modules(
    tree: ast.Module, name: str, own: frozenset[str] = frozenset(), trusted: bool = False
) -> None:
    """Raise InvalidProgramError for an unconditional import of what a program of this profile doesn't find."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module]
        else:
            continue
        for module in modules:
            reason = _missing_reason(module, own, trusted)
            if reason:
                raise InvalidProgramError(f"{name}, line {node.lineno}: it imports {module}, {reason}.")


def _missing_reason(module: str, own: frozenset[str], trusted: bool) -> str:
    top = module.partition(".")[0]
    if top in own:
        return ""
    installed = importlib.util.find_spec(top) is not None
    if not installed and trusted:
        return "which is neither installed here nor beside the program. Install it beside surefoot, or do without"
    if trusted or (installed and top in {*PERMITTED, "surefoot"}):
        return ""
    if top in PERMITTED:
        return "which is not installed here. Install it beside surefoot, or do without"
    return (
        "which is neither Python's own nor NumPy nor SciPy. Add --trusted (to run, record, replay or certify) if this is "
        "a script of your own: then it may import what is installed and what lies beside it"
    )


def _imported(tree: ast.Module) -> dict[str, str]:
    """What each imported name stands for, absolutely: `dt` for `datetime.datetime`; a plain `b = a` passes it on."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update({alias.asname: alias.name for alias in node.names if alias.asname})
        elif isinstance(node, ast.ImportFrom):
            names.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name | ast.Attribute):
            full = _full_name(node.value, names)
            if full.partition(".")[0] in ("os", "signal", "gc"):
                names.update({target.id: full for target in node.targets if isinstance(target, ast.Name)})
    return names


def _reason(node: ast.AST, imported: dict[str, str]) -> str:
    if isinstance(node, ast.Import):
        return next(filter(None, (_module_reason(alias.name) for alias in node.names)), "")
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        reasons = [_name_reason(f"{module}.{alias.name}") for alias in node.names]
        return next(filter(None, ["" if node.level else _module_reason(module), *reasons]), "")
    if isinstance(node, ast.Attribute):
        return _name_reason(_full_name(node, imported))
    if isinstance(node, ast.Call):
        return _indirect_reason(node, imported)
    return ""


def _indirect_reason(call: ast.Call, imported: dict[str, str]) -> str:
    """`importlib.import_module("socket")`, `__import__("socket")`, `getattr(os, "fork")`."""
    called = _full_name(call.func, imported)
    texts = [item.value for item in call.args if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    if called in ("__import__", "importlib.import_module", "importlib.__import__") and texts:
        return _module_reason(texts[0])
    if called == "getattr" and texts and call.args:
        return _name_reason(f"{_full_name(call.args[0], imported)}.{texts[0]}")
    return ""


def _full_name(node: ast.AST, imported: dict[str, str]) -> str:
    """The dotted name that an expression reads, through imports; empty for anything else."""
    if isinstance(node, ast.Name):
        return imported.get(node.id, node.id)
    owner = _full_name(node.value, imported) if isinstance(node, ast.Attribute) else ""
    return f"{owner}.{node.attr}" if owner and isinstance(node, ast.Attribute) else ""


def _name_reason(name: str) -> str:
    module, _, function = name.rpartition(".")
    if module == "os" and function.startswith(_PROCESSES):
        return f"{name} starts a process, and what it does is not on the tape; use the task's functions"
    if module == "signal" and function in _TIMERS:
        return f"{name} interrupts the program at no point that a replay can repeat; count steps or read time.time()"
    return _NAMES.get(name, "")


def _module_reason(module: str) -> str:
    reason = _MODULES.get(module.partition(".")[0])
    return f"it imports {module}: {reason}" if reason else ""


def _is_date_type(node: ast.AST) -> bool:
    """Whether a node names NumPy's dates: `datetime64`, `busday_count`, `"datetime64[s]"`, `"M8"`, `f"M8[{unit}]"`."""
    if isinstance(node, ast.ImportFrom):
        return any(_DATE_NAMES.fullmatch(alias.name) for alias in node.names)
    named = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
    return (_DATE_NAMES.fullmatch(named) or _DATE_TYPES.fullmatch(text)) is not None


def _moment_reason(node: ast.AST) -> str:
    value = node.value if isinstance(node, ast.Constant) else None
    text = value.decode("ascii", "replace") if isinstance(value, bytes) else value
    if isinstance(text, str) and text.lower() in _MOMENTS:
        return "datetime64 of 'now' or 'today' reads the wall clock, which a replay can't repeat; use time.time()"
    return ""
