"""Values of a node table as short text, read from the nodes themselves.

Nothing is rebuilt but arrays and scalars: so a deep, cyclic or huge value shows in bounded time, and a set
shows in the table's order whatever the hash seed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from surefoot.boundary.arrays import dtype_of
from surefoot.boundary.decoding import Decoder
from surefoot.boundary.exchange import UNCHANGED
from surefoot.boundary.surface import FunctionSpec, Surface
from surefoot.boundary.table import unpack_table
from surefoot.boundary.wire import SLEEP

Nodes = list[list[Any]]
_DEEPEST = 20
_LONGEST_NUMBER = 1_000
_NAMED = {"O": "OrderedDict", "C": "Counter", "D": "defaultdict", "q": "deque", "x": "", "N": "", "o": "", "E": ""}
_HEADS = {"O": 0, "C": 0, "D": 1, "q": 1}
_BRACKETS = {"l": "[]", "t": "()", "d": "{}", "s": "{}", "f": ("frozenset({", "})")}


def value_text(nodes: Nodes, cell: Any, width: int = 120) -> str:
    """A value of a table as text of at most `width` characters."""
    text = ""
    for piece in _pieces(nodes, cell, (), width):
        text += piece
        if len(text) > 2 * width:
            break
    return shortened(text, width)


def shortened(text: str, width: int) -> str:
    """`text` on one line, cut to `width` characters."""
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 1] + "…"


def array_of(nodes: Nodes, node: list[Any]) -> Any:
    """The content of an array node as an ndarray of the same dtype and shape, for reading."""
    if node[0] == "a":
        _, dtype, shape, order, data, _ = node
        if isinstance(order, str):
            return np.ndarray(shape, dtype_of(dtype), data, order="F" if order == "F" else "C")
        return np.ndarray(shape, dtype_of(dtype), data, 0, order)
    _, memory, dtype, shape, strides, offset, _ = node
    return np.ndarray(shape, dtype_of(dtype), nodes[memory[0]][1], offset, strides)


def request_text(surface: Surface, function: str, table: bytes) -> str:
    """A recorded request as a call, with short values."""
    _, root, nodes, *_ = unpack_table(table)
    cells = nodes[root[0]][1:]
    names = argument_names(surface, function)
    items = [f"{name}={value_text(nodes, cell, 48)}" for name, cell in zip(names, cells, strict=False)]
    return f"{function}({', '.join(items)})"


def argument_names(surface: Surface, function: str) -> list[str]:
    """Names of the values that requests of a function carry, in their order."""
    return ["seconds"] if function == SLEEP else parameter_names(surface[function])


def parameter_names(function: FunctionSpec) -> list[str]:
    """Names of a function's parameters, in the order in which requests carry them."""
    parsed = ast.parse(f"def _{function.signature}: pass").body[0]
    assert isinstance(parsed, ast.FunctionDef)
    arguments = parsed.args
    every = [*arguments.posonlyargs, *arguments.args, *filter(None, [arguments.vararg])]
    every += [*arguments.kwonlyargs, *filter(None, [arguments.kwarg])]
    return [argument.arg for argument in every]


def result_of(answer: bytes) -> tuple[Any, Nodes]:
    """The cell of an answer's result, and the nodes."""
    change, *parts = unpack_table(answer)
    cell, nodes = parts if change == UNCHANGED else parts[2:4]
    return cell, nodes


class Raised(NamedTuple):
    """The exception that a recorded answer holds: its qualified name, and its short text."""

    name: str
    text: str


def raised_in(request: bytes, answer: bytes) -> Raised:
    """What the answer of a call that raised holds; it may be an exception that the program had sent."""
    root, nodes = result_of(answer)
    place = root[0]
    if nodes[place][0] == "^":
        place, nodes = nodes[place][1], unpack_table(request)[2]
    name, arguments = nodes[place][1:3]
    items = "".join(_items(nodes, nodes[arguments[0]][1:], (place,), 100))
    return Raised(name.removeprefix("builtins."), shortened(f"{name.rpartition('.')[2]}({items})", 100))


def _pieces(nodes: Nodes, cell: Any, within: tuple[int, ...], width: int) -> Iterator[str]:
    if type(cell) is not list:
        yield _scalar_text(cell, width)
        return
    node = nodes[cell[0]]
    tag = node[0]
    if cell[0] in within or len(within) > _DEEPEST:
        yield "…"
    elif tag in _BRACKETS:
        yield from _container(nodes, node, (*within, cell[0]), width)
    elif tag in ("a", "v"):
        array = array_of(nodes, node)
        text = np.array2string(array, separator=", ", threshold=12, floatmode="unique")
        if array.dtype.kind in "biufc":  # NumPy fills up columns
            text = re.sub(r" +(?=[,\]])|(?<=\[) +", "", text)
        yield f"array({text})" if within else text
    elif tag in ("^", "w"):  # an object of another message
        yield "…"
    elif tag == "e":
        yield f"{node[1].removeprefix('builtins.')}("
        yield from _items(nodes, nodes[node[2][0]][1:], (*within, cell[0]), width)
        yield ")"
    elif tag in _NAMED:
        yield from _named(nodes, node, (*within, cell[0]), width)
    elif tag == "h":
        yield f"<{_short(node[1])} {node[2]}>"
    elif tag == "i" and len(node[1]) > _LONGEST_NUMBER:
        yield f"{node[1][:width]}…"
    else:
        yield _scalar_text(Decoder([node]).objects[0], width)


def _named(nodes: Nodes, node: list[Any], within: tuple[int, ...], width: int) -> Iterator[str]:
    """What shows as a name and what it holds: `deque([1, 2])`, `Pose(x=1.0, y=2.0)`, `Colour.RED`."""
    tag, cells = node[0], node[1:]
    if tag == "E":
        yield f"{_short(node[1])}."
        yield str(cells[1])
        return
    yield f"{_NAMED[tag] or _short(node[1])}("
    if tag in ("x", "N"):
        yield from _items(nodes, cells[1:], within, width)
    elif tag == "o":
        for place in range(1, len(cells), 2):
            yield f"{', ' if place > 1 else ''}{cells[place]}="
            yield from _pieces(nodes, cells[place + 1], within, width)
    else:
        if tag == "D":
            yield f"{cells[0]}, "
        yield from _container(nodes, ["l" if tag == "q" else "d", *cells[_HEADS[tag] :]], within, width)
        if tag == "q" and cells[0] is not None:
            yield f", maxlen={cells[0]}"
    yield ")"


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def _container(nodes: Nodes, node: list[Any], within: tuple[int, ...], width: int) -> Iterator[str]:
    tag, cells = node[0], node[1:]
    if not cells and tag in ("s", "f"):
        yield {"s": "set()", "f": "frozenset()"}[tag]
        return
    opening, closing = _BRACKETS[tag]
    yield opening
    if tag == "d":
        for place in range(0, len(cells), 2):
            yield ", " if place else ""
            yield from _pieces(nodes, cells[place], within, width)
            yield ": "
            yield from _pieces(nodes, cells[place + 1], within, width)
    else:
        yield from _items(nodes, cells, within, width)
    yield "," + closing if tag == "t" and len(cells) == 1 else closing


def _items(nodes: Nodes, cells: Sequence[Any], within: tuple[int, ...], width: int) -> Iterator[str]:
    for place, cell in enumerate(cells):
        yield ", " if place else ""
        yield from _pieces(nodes, cell, within, width)


def _scalar_text(value: Any, width: int) -> str:
    longer = isinstance(value, str | bytes | bytearray) and len(value) > 2 * width
    return repr(value[: 2 * width] if longer else value)
