"""What a replay says, whole, for each kind of divergence, and which edits are certified."""

from __future__ import annotations

import pytest

from surefoot.boundary.wire import Limits
from surefoot.tape.certificate import Certified, Diverged

BASE = """x = 0.1 + 0.2
grow([1, 2], item=x)
bump("a", amount=2.0)
bump("a", amount=3.0)
"""


def test_an_argument_that_differs_is_named_with_its_field_and_both_values(diverge):
    found = diverge(BASE, BASE.replace("amount=3.0", "amount=4.0"))
    assert found.page() == (
        "Diverged at event 2: a request differs from the recorded one.\n"
        '  line 4: bump("a", amount=4.0)\n'
        "  field:    amount\n"
        "  expected: 3.0\n"
        "  got:      4.0\n"
        "  last agreeing event: 1, bump(name='a', amount=2.0) (line 3 of the recording)"
    )
    assert found.text == "diverged at line 4, event 2: amount: expected 3.0, got 4.0"


def test_another_call_shows_both_calls_and_where_the_new_one_was_recorded(diverge):
    found = diverge(BASE, BASE.replace("grow([1, 2], item=x)\n", ""))
    assert found.page() == (
        "Diverged at event 0: another function is called than was recorded.\n"
        '  line 2: bump("a", amount=2.0)\n'
        "  expected: grow(items=[1, 2], item=0.30000000000000004)\n"
        "  got:      bump(name='a', amount=2.0)\n"
        "  no event agreed before\n"
        "  nearest recorded call: 1, bump(name='a', amount=2.0) (line 3 of the recording)"
    )


def test_a_call_beyond_the_end_of_the_recording_is_an_extra_call(diverge):
    assert diverge(BASE, BASE, after="peek('a')\n").page() == (
        "Diverged at event 4: a call beyond the end of the recording.\n"
        "  line 7: peek('a')\n"
        "  expected: the end of the program\n"
        "  got:      peek(name='a')\n"
        "  last agreeing event: 3, step() (line 6 of the recording)"
    )


def test_a_dropped_last_call_leaves_missing_calls(diverge):
    assert diverge(BASE, BASE, ending="").page() == (
        "Diverged at event 3: the program ended before all recorded calls were made.\n"
        "  expected: 1 more call: step()\n"
        "  got:      the end of the program\n"
        "  last agreeing event: 2, bump(name='a', amount=3.0) (line 4 of the recording)"
    )


def test_public_state_that_differs_before_a_call_is_named(diverge):
    assert diverge(BASE, BASE.replace("x = ", "state['log'].append(5); x = ")).page() == (
        "Diverged at event 0: the public state differs before a call.\n"
        "  line 2: grow([1, 2], item=x)\n"
        "  field:    len(state['log'])\n"
        "  expected: 1\n"
        "  got:      2\n"
        "  no event agreed before"
    )


def test_another_object_in_the_same_place_of_the_public_state_is_a_difference(diverge):
    found = diverge(BASE, BASE.replace("x = ", "state['log'] = state['log'][:]; x = "))
    assert (found.kind, found.field, found.expected, found.got) == (
        "shared state",
        "shared objects",
        "the same objects as after the call before",
        "other objects",
    )


def test_a_program_that_raises_does_not_end_normally(diverge):
    assert diverge(BASE, BASE.replace('bump("a", amount=3.0)', "1 / 0")).page() == (
        "Diverged at event 2: the program does not end normally.\n"
        "  line 4: 1 / 0\n"
        "  expected: bump(name='a', amount=3.0)\n"
        "  got:      ZeroDivisionError: division by zero\n"
        "  last agreeing event: 1, bump(name='a', amount=2.0) (line 3 of the recording)"
    )


def test_a_program_that_raises_after_its_last_call_is_not_certified(diverge):
    assert diverge(BASE, BASE, after="raise ValueError('late')\n").page() == (
        "Diverged at event 4: the program does not end normally.\n"
        "  line 7: raise ValueError('late')\n"
        "  expected: a normal end\n"
        "  got:      ValueError: late\n"
        "  last agreeing event: 3, step() (line 6 of the recording)"
    )


def test_a_program_that_uses_up_its_processor_time_has_reached_a_limit(diverge):
    found = diverge(BASE, BASE + "while True: pass\n", limits=Limits(cpu_seconds=1))
    assert found.page() == (
        "Diverged at event 3: the program used up a counted limit.\n"
        "  expected: a normal end\n"
        "  got:      more than 1 s of processor time\n"
        "  last agreeing event: 2, bump(name='a', amount=3.0) (line 4 of the recording)"
    )


@pytest.mark.parametrize(
    "edited",
    [
        BASE,
        BASE.replace("x", "renamed"),
        "import time\n" + BASE + "print('took', time.time())\n",
        BASE.replace("x = 0.1 + 0.2", "y = 3\nx = 0.2 + 0.1"),
        BASE.replace("item=x", "x").replace('"a", amount=2.0', "amount=2.0, name='a'"),
        "# a remark\n\n" + BASE.replace("\n", "  \n"),
        BASE.replace("x = 0.1 + 0.2", "import random; random.random(); x = 0.1 + 0.2"),
    ],
)
def test_edits_that_send_the_same_requests_are_certified(diverge, edited):
    assert diverge(BASE, edited) == Certified(4)


@pytest.mark.parametrize(
    ("recorded", "edited", "field", "expected", "got"),
    [
        ("1", "1.0", "value", "1", "1.0"),
        ("1", "True", "value", "1", "True"),
        ("0.0", "-0.0", "value", "0.0", "-0.0"),
        ("nan", "-nan", "value", "nan (bits 7ff8000000000000)", "nan (bits fff8000000000000)"),
        ("np.float32(1)", "np.float64(1)", "value", "np.float32(1.0)", "np.float64(1.0)"),
        ("[1, [2, 3]]", "[1, [2, 4]]", "value[1][1]", "3", "4"),
        ("[1, 2]", "[1, 2, 3]", "len(value)", "2", "3"),
        ("[1, 2]", "(1, 2)", "value", "[1, 2]", "(1, 2)"),
        ("{'a': 1}", "{'a': 1, 'c': 1}", "keys of value", "no further key", "'c'"),
        ("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}", "order of keys of value", "'a', 'b'", "'b', 'a'"),
        ("{'a': 1}", "{'a': 2}", "value['a']", "1", "2"),
        ("{'k' * 500: 1}", "{'k' * 501: 1}", "keys of value", repr("k" * 500), repr("k" * 501)),
        ("{3, 1}", "{3, 2}", "value", "{1, 3}", "{2, 3}"),
        ("ValueError(1)", "ValueError(2)", "value.args[0]", "1", "2"),
        ("ValueError(1)", "TypeError(1)", "value", "ValueError(1)", "TypeError(1)"),
        ("np.zeros(3)", "np.zeros(3, np.float32)", "value.dtype", "<f8", "<f4"),
        ("np.zeros(3)", "np.zeros((3, 1))", "value.shape", "(3,)", "(3, 1)"),
        ("np.zeros((2, 2))", "np.zeros((2, 2)).T", "memory order of value", "C", "F"),
        ("np.zeros((2, 2))", "np.array([[0, 0], [0.5, 0]])", "value[1][0]", "0.0", "0.5"),
        ("np.array(nan)", "np.array(-nan)", "value", "nan (bits 7ff8000000000000)", "nan (bits fff8000000000000)"),
        ("np.zeros(1)", "np.broadcast_to(0.0, (1,))", "value.flags.writeable", "True", "False"),
        ("[x, x]", "[x, [7.0]]", "value[1]", "the same object as value[0]", "object of its own"),
        ("[x, [7.0]]", "[x, x]", "value[1]", "object of its own", "the same object as value[0]"),
        (
            "[v, v[:1]]",
            "[v, v[:1].copy()]",
            "value[0]",
            "memory that another value in the request shares",
            "memory of its own",
        ),
        ("[v, v[:1]]", "[v, v[1:]]", "value[1].shape", "(1,)", "(3,)"),
        ("[v, v[:2]]", "[v, v[1:3]]", "value[1][0]", "0.0", "1.0"),
        ("[z, z[:2]]", "[z, z[1:3]]", "offset in memory of value[1]", "0", "8"),
        ("[z, z[:1], y, y[:1]]", "[z, z[:1], y, z[:1]]", "value[2]", "memory that another value in the request shares", "memory of its own"),
        ("[[z, y], z[:2], y[:2]]", "[[z, y], y[:2], z[:2]]", "value[1]", "the same memory as value[0][0]", "memory of its own"),
    ],
)  # fmt: skip
def test_the_first_differing_value_of_a_request_is_named(diverge, recorded, edited, field, expected, got):
    source = "import numpy as np\nnan, x, v, z, y = float('nan'), [7.0], np.arange(4.0), np.zeros(4), np.zeros(4)\n"
    found = diverge(f"{source}keep('k', {recorded})\n", f"{source}keep('k', {edited})\n")
    assert isinstance(found, Diverged)
    assert (found.kind, found.field, found.expected, found.got) == ("argument", field, expected, got)


@pytest.mark.parametrize("made", ["10 ** 5000", "deep", "cyclic", "'y' * 10**6", "[0.5] * 10**5", "'\\ud800'"])
def test_a_huge_deep_or_odd_value_still_gives_a_short_text(diverge, made):
    source = "deep, cyclic = [], []\nfor _ in range(5000): deep = [deep]\ncyclic.append(cyclic)\n"
    found = diverge(f"{source}keep('k', 1)\n", f"{source}keep('k', {made})\n")
    assert isinstance(found, Diverged)
    assert found.field == "value"
    assert 0 < len(found.got) <= 130
    found.text.encode()


def test_a_repeated_equal_call_is_matched_by_position(diverge):
    found = diverge("bump('a')\nbump('a')\n", "bump('a')\nbump('a')\nbump('a')\n")
    assert (found.kind, found.event, found.line) == ("other call", 2, 3)
