"""Whether a replay's values can depend on the machine's numerics: BLAS kernel, CPU features, NumPy, libm.

A script that orders goods over HTTP computes nothing that differs between two machines, so its tapes hold on both. What
is not plainly so counts as numeric.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from surefoot.boundary.table import unpack_table
from surefoot.program.given import without_given
from surefoot.program.source import Program
from surefoot.tape.file import Tape

NUMERIC_KEYS = frozenset({"blas", "cpu", "numpy", "scipy", "libm"})
"""Parts of the numeric platform that only numerics depend on; machine and Python version count in any case."""
_PLAIN_MODULES = frozenset(
    ("__future__", "abc", "argparse", "base64", "bisect", "collections", "contextlib", "copy", "csv", "dataclasses",
     "datetime", "decimal", "enum", "fractions", "functools", "hashlib", "heapq", "io", "itertools", "json", "logging",
     "os", "pathlib", "pprint", "re", "string", "sys", "textwrap", "time", "types", "typing", "uuid")
)  # fmt: skip
"""Modules that call neither NumPy nor the C library's mathematics."""
_DYNAMIC = frozenset(
    ("__import__", "eval", "exec", "compile", "globals", "locals", "vars", "modules", "complex", "pow", "__pow__",
     "__rpow__", "getattr", "attrgetter", "methodcaller", "__builtins__", "__dict__", "__getattribute__", "__subclasses__",
     "f_globals", "f_builtins", "__globals__", "math", "operator", "builtins", "bltns", "import_module", "importlib", "inspect")
)  # fmt: skip
"""Names through which a program may reach more than its text shows; `fractions` holds `math`, and `dataclasses` `inspect`."""
_ARRAYS = frozenset("avwbnc")
"""Tags of nodes that hold arrays, NumPy scalars or complex numbers."""


def is_numeric(programs: Iterable[Program], tape: Tape) -> bool:
    """Whether one of the programs, or what is on the tape, may use numerics. InvalidProgramError for no program."""
    given = {function.name.partition(".")[0] for function in tape.header.surface.functions}
    trees = [without_given(program.tree, given) for program in programs]
    return any(_is_numeric_node(node) for tree in trees for node in ast.walk(tree)) or _holds_arrays(tape)


def _is_numeric_node(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            return any(alias.name.partition(".")[0] not in _PLAIN_MODULES for alias in names)
        case ast.ImportFrom(module=module, names=names):
            plain = (module or "").partition(".")[0] in _PLAIN_MODULES
            return not plain or any(alias.name in {"*", *_DYNAMIC} for alias in names)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in _DYNAMIC
        case ast.Constant(value=complex()) | ast.Pow():
            return True
    return False


def _holds_arrays(tape: Tape) -> bool:
    tables = [tape.header.opening, *(data for event in tape.events for data in (event.request, event.answer))]
    return any(_has_array(unpack_table(table)) for table in tables)


def _has_array(part: object) -> bool:
    """Whether a node that holds an array stands anywhere in an unpacked table."""
    waiting = [part]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            if item and isinstance(item[0], str) and item[0] in _ARRAYS:
                return True
            waiting += item
    return False
