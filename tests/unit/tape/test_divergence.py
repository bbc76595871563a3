"""What a replay says, whole, for each kind of divergence."""

from __future__ import annotations

import pytest

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


def test_a_call_beyond_the_end_of_the_recording_is_an_extra_call(zygote, tape_of):
    from surefoot.program.source import Program
    from surefoot.tape.replay import certify

    tape = tape_of("echo(1)")
    found = certify(Program(tape.header.program + "echo(2)\n"), tape, zygote)
    assert found.page() == (
        "Diverged at event 2: a call beyond the end of the recording.\n"
        "  line 4: echo(2)\n"
        "  expected: the end of the program\n"
        "  got:      echo(values=(2,), named={})\n"
        "  last agreeing event: 1, step() (line 3 of the recording)\n"
        "  nearest recorded call: 0, echo(values=(1,), named={}) (line 1 of the recording)"
    )
