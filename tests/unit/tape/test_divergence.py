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


CATCH = "try:\n    fail('toy')\nexcept ToyError:\n    bump('a')\n"
STAGED = "@stage\ndef lift(name):\n    echo(name)\n    bump(name, amount=float('nan'))\n\n\nlift('a')\n"

PAGES = {
    "an argument that differs, with its field and both values": (
        (BASE, BASE.replace("amount=3.0", "amount=4.0"), {}),
        """Diverged at event 2: a request differs from the recorded one.
    3 | bump("a", amount=2.0)
  > 4 | bump("a", amount=4.0)
    5 | state['done'] = True
  field:    amount
  expected: 3.0
  got:      4.0
  last agreeing event: 1, bump(name='a', amount=2.0) (line 3 of the recording)""",
    ),
    "numbers that print alike, in a stage": (
        (STAGED, STAGED.replace("float", "-float"), {}),
        """Diverged at event 1: a request differs from the recorded one.
    3 |     echo(name)
  > 4 |     bump(name, amount=-float('nan'))
    5 |
  stage:    lift
  field:    amount
  expected: nan (bits 7ff8000000000000)
  got:      nan (bits fff8000000000000)
  last agreeing event: 0, echo(values=('a',), named={}) (line 3 of the recording)""",
    ),
    "another call, and where it was recorded": (
        (BASE, BASE.replace("grow([1, 2], item=x)\n", ""), {}),
        """Diverged at event 0: another function is called than was recorded.
    1 | x = 0.1 + 0.2
  > 2 | bump("a", amount=2.0)
    3 | bump("a", amount=3.0)
  expected: grow(items=[1, 2], item=0.30000000000000004)
  got:      bump(name='a', amount=2.0)
  no event agreed before
  nearest recorded call: 1, bump(name='a', amount=2.0) (line 3 of the recording)""",
    ),
    "a call beyond the end of the recording": (
        (BASE, BASE, {"after": "peek('a')\n"}),
        """Diverged at event 4: a call beyond the end of the recording.
    6 | step()
  > 7 | peek('a')
  expected: the end of the program
  got:      peek(name='a')
  last agreeing event: 3, step() (line 6 of the recording)""",
    ),
    "a dropped last call": (
        (BASE, BASE, {"ending": ""}),
        """Diverged at event 3: the program ended before all recorded calls were made.
  expected: 1 more call: step()
  got:      the end of the program
  the program's last call: line 4
  last agreeing event: 2, bump(name='a', amount=3.0) (line 4 of the recording)""",
    ),
    "public state that differs before a call": (
        (BASE, BASE.replace("x = ", "state['log'].append(5); x = "), {}),
        """Diverged at event 0: the public state differs before a call.
    1 | state['log'].append(5); x = 0.1 + 0.2
  > 2 | grow([1, 2], item=x)
    3 | bump("a", amount=2.0)
  field:    len(state['log'])
  expected: 1
  got:      2
  no event agreed before""",
    ),
    "an exception of the program's own instead of a call": (
        (BASE, BASE.replace('bump("a", amount=3.0)', "1 / 0"), {}),
        """Diverged at event 2: the program raises an exception.
    3 | bump("a", amount=2.0)
  > 4 | 1 / 0
    5 | state['done'] = True
  expected: bump(name='a', amount=3.0)
  got:      ZeroDivisionError: division by zero
  last agreeing event: 1, bump(name='a', amount=2.0) (line 3 of the recording)""",
    ),
    "a recorded exception that the edited program no longer catches": (
        (CATCH, CATCH.replace("ToyError", "KeyError"), {}),
        """Diverged at event 1: the program raises an exception.
    1 | try:
  > 2 |     fail('toy')
    3 | except KeyError:
  expected: bump(name='a', amount=3.0)
  got:      tests.conftest.ToyError: code 7 (event 0 raised it, as it did when recorded; the recording's program went on)
  last agreeing event: 0, fail(kind='toy', items=None) raised ToyError('code 7') (line 2 of the recording)""",
    ),
    "another call after a recorded exception": (
        (CATCH, CATCH.replace("bump('a')", "bump('b')"), {}),
        """Diverged at event 1: a request differs from the recorded one.
    3 | except ToyError:
  > 4 |     bump('b')
    5 | state['done'] = True
  field:    name
  expected: 'a'
  got:      'b'
  last agreeing event: 0, fail(kind='toy', items=None) raised ToyError('code 7') (line 2 of the recording)""",
    ),
    "an exception after the last call": (
        (BASE, BASE, {"after": "raise ValueError('late')\n"}),
        """Diverged at event 4: the program raises an exception.
    6 | step()
  > 7 | raise ValueError('late')
  expected: a normal end
  got:      ValueError: late
  last agreeing event: 3, step() (line 6 of the recording)""",
    ),
    "an exit code that is no normal end": (
        (BASE, BASE, {"after": "raise SystemExit(3)\n"}),
        """Diverged at event 4: the program does not end normally.
    6 | step()
  > 7 | raise SystemExit(3)
  expected: a normal end
  got:      SystemExit: 3
  last agreeing event: 3, step() (line 6 of the recording)""",
    ),
    "a process that is killed": (
        (BASE, BASE + "import os; os.kill(os.getpid(), 9)\n", {}),
        """Diverged at event 3: the program does not end normally.
  expected: a normal end
  got:      its process was killed by signal 9
  the program's last call: line 4
  last agreeing event: 2, bump(name='a', amount=3.0) (line 4 of the recording)""",
    ),
    "processor time that is used up": (
        (BASE, BASE + "while True: pass\n", {"limits": Limits(cpu_seconds=1)}),
        """Diverged at event 3: the program used up a counted limit.
  expected: a normal end
  got:      more than 1 s of processor time
  the program's last call: line 4
  last agreeing event: 2, bump(name='a', amount=3.0) (line 4 of the recording)""",
    ),
    "calls that are used up": (
        (BASE, BASE, {"limits": Limits(calls=4), "after": "bump('b')\n"}),
        """Diverged at event 4: the program used up a counted limit.
    6 | step()
  > 7 | bump('b')
  expected: no more than 4 calls
  got:      call 5: bump(name='b', amount=3.0)
  last agreeing event: 3, step() (line 6 of the recording)""",
    ),
}


@pytest.mark.parametrize("kind", PAGES)
def test_the_page_of_a_divergence_shows(diverge, kind):
    (recorded, edited, options), page = PAGES[kind]
    assert diverge(recorded, edited, **options).page() == page


def test_a_divergence_in_one_line(diverge):
    found = diverge(BASE, BASE.replace("amount=3.0", "amount=4.0"))
    assert found.text == "diverged at line 4, event 2: amount: expected 3.0, got 4.0"


def test_a_long_or_indented_line_is_shown_where_it_stands_and_cut(diverge):
    long = f"\tbump('a', amount=4.0)  # {'x' * 200}"
    found = diverge("if True:\n\tbump('a')\n", f"if True:\n{long}\n")
    assert [(item.number, item.text) for item in found.excerpt] == [
        (1, "if True:"),
        (2, "    bump('a', amount=4.0)  # " + "x" * 110 + "…"),
        (3, "state['done'] = True"),
    ]


def test_another_object_in_the_same_place_of_the_public_state_is_a_difference(diverge):
    found = diverge(BASE, BASE.replace("x = ", "state['log'] = state['log'][:]; x = "))
    assert (found.kind, found.field, found.expected, found.got) == (
        "shared state",
        "shared objects",
        "the same objects as after the call before",
        "other objects",
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


def test_an_exception_that_the_program_had_sent_is_shown_where_it_is_raised_again(diverge):
    kept = "keep('error', ValueError('old', 1))\n"
    again = "try:\n    again('error')\nexcept ValueError:\n    pass\n"
    found = diverge(kept + again + "step()\n", kept + again + "raise SystemExit(3)\n")
    assert found.last is not None
    assert "ValueError('old', 1)" in found.page()
