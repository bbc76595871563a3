"""A program must see the same on the API itself, across the boundary, and from the tape."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.property

PREAMBLE = """
import numpy as np

def arrays(value, path, found, done):
    if id(value) in done:
        return
    done.add(id(value))
    if isinstance(value, np.ndarray):
        found.append((path, value))
    elif isinstance(value, dict):
        for key, item in value.items():
            arrays(item, f"{path}.{key}", found, done)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            arrays(item, f"{path}.{index}", found, done)

def show():
    names = {"x": x, "y": y, "r": r, "state": state}
    found, done = [], set()
    for name, value in names.items():
        print(name, repr(value), type(value).__name__)
        arrays(value, name, found, done)
    print([(p, q) for p, a in found for q, b in found if p < q and np.shares_memory(a, b)])
    print([(p, q) for p, a in names.items() for q, b in names.items() if p < q and a is b and isinstance(a, (list, dict, set, bytearray, np.ndarray))])
    print([(p, a.dtype.str, a.flags.writeable, a.flags.c_contiguous) for p, a in found])

x, y, r = [1, 2.5, "three"], np.arange(6.0), None
"""
VALUES = [
    "[1, [2], 1]", "{'k': x, 'l': x}", "np.arange(6.0)", "(1, [2])", "np.float32(0.1)", "-0.0", "1 << 70", "{3, 1, 2}",
    "'\\u00e9\\ud800'", "y[1:4] if isinstance(y, np.ndarray) else [y]", "x", "r", "[x, x]", "np.eye(3)[:, 1]",
    "bytearray(b'ab')", "np.arange(4, dtype='>i2')", "float('nan')", "state['a']", "state['log']",
    "state['a'][1:]", "np.array(['a', 'bc'])", "b'x'", "np.str_('s')", "complex(0, -0.0)",
]  # fmt: skip
CALLS = [
    "echo({0})", "echo({0}, {1})", "echo({0}, k={1})", "peek('a')", "peek('log')", "part('a')", "part('a', 1, 3)",
    "part('b', 0, 1)", "same({0}, {1})", "same({0}, {0})", "same({0}, state['a'])", "grow({0}, {1})", "grow(state['log'], {0})",
    "scale({0})", "scale(state['a'])", "scale(state['a'][1:3])", "keep('k', {0})", "bump('a')", "bump('k')", "drop('k')",
    "fail()", "fail('toy', {0})", "fail('key')", "fail('file')", "part('k')",
]  # fmt: skip
OTHERS = [
    "state['k'] = {0}", "state.pop('k', None)", "state['a'][0] = 9.0", "state['log'].append({0})", "state['a'] = np.arange(3.0)",
    "x.append(5)", "y[0] = 7.0", "r[0] = 3.0", "state['b'][1, 1] = 2.0", "state['log'] = state['log'][:]", "x[1] = x",
]  # fmt: skip
NAMES = st.sampled_from(["x", "y", "r"])
OPERANDS = st.one_of(NAMES, NAMES, st.sampled_from(VALUES))


def _filled(template: str, operands: tuple[str, str]) -> str:
    return template.replace("{0}", operands[0]).replace("{1}", operands[1])


STATEMENTS = st.one_of(
    st.builds(lambda name, value: f"{name} = {value}", NAMES, st.sampled_from(VALUES)),
    st.builds(lambda name, call, two: f"{name} = {_filled(call, two)}", NAMES, st.sampled_from(CALLS), st.tuples(OPERANDS, OPERANDS)),
    st.builds(lambda name, call, two: f"{name} = {_filled(call, two)}", NAMES, st.sampled_from(CALLS), st.tuples(OPERANDS, OPERANDS)),
    st.builds(_filled, st.sampled_from(OTHERS), st.tuples(OPERANDS, OPERANDS)),
)  # fmt: skip


def program(statements: list[str]) -> str:
    guarded = [
        f"try:\n    {line}\nexcept Exception as error:\n    print(type(error).__name__, error, error.args, vars(error))\nshow()"
        for line in statements
    ]
    return PREAMBLE + "\n".join(guarded) + "\n"


@settings(max_examples=150)
@given(st.lists(STATEMENTS, min_size=1, max_size=8))
def test_a_program_sees_the_same_in_process_live_and_from_the_tape(seen, statements):
    in_process, live, replayed = seen(program(statements))
    assume("UnsupportedValueError" not in live[0])  # a refusal is a sentence, not a difference
    assert live == in_process
    assert replayed == live
