"""The grade `certified modulo queries`: which edits of queries it allows, and which recorded events are pure."""

from __future__ import annotations

import msgspec
import pytest

from surefoot.boundary.wire import Limits
from surefoot.program.source import Program
from surefoot.tape.certificate import Certified, Diverged, verdict
from surefoot.tape.epochs import pure_events
from surefoot.tape.replay import certify

SOURCE = """echo(1)
peek('log')
echo(2)
bump('a')
echo(3)
echo(1)
"""
"""Epochs of three and two queries; then `state['done'] = True` and `step()`."""


@pytest.fixture
def modulo(tape_of, zygote):
    """The verdict, modulo queries, of an edited program on the tape of SOURCE, both with the same last step."""
    tape = tape_of(SOURCE)
    ending = tape.header.program.removeprefix(SOURCE)
    return lambda edited: certify(Program(edited + ending), tape, zygote, modulo=True)


@pytest.mark.parametrize(
    ("old", "new", "dropped", "added", "text"),
    [
        ("echo(2)\n", "", 1, 0, "7 events; queries: 1 dropped"),
        ("echo(1)\npeek('log')\necho(2)\n", "", 3, 0, "7 events; queries: 3 dropped"),
        ("echo(2)\n", "echo(2)\n" * 3, 0, 2, "7 events; queries: 2 added"),
        ("echo(2)\n", "echo(1)\n", 1, 1, "7 events; queries: 1 dropped, 1 added"),
        ("echo(1)\npeek('log')", "peek('log')\necho(1)", 0, 0, "7 events; queries: in another order"),
        ("echo(3)\necho(1)\n", "echo(1)\necho(1)\necho(3)\necho(3)\n", 0, 2, "7 events; queries: 2 added"),
    ],
)
def test_queries_may_be_dropped_repeated_added_and_swapped_within_an_epoch(modulo, old, new, dropped, added, text):
    found = modulo(SOURCE.replace(old, new))
    assert found == Certified(7, (), "queries", dropped, added)
    assert found.text == f"certified modulo queries ({text})"
    assert verdict(found) == "certified modulo queries"


def test_a_program_that_matches_strictly_has_the_strict_grade(modulo):
    assert modulo(SOURCE) == modulo("# a remark\n" + SOURCE) == Certified(7)


def test_the_grade_is_given_only_where_it_is_asked_for(tape_of, zygote):
    tape = tape_of(SOURCE)
    edited = Program(tape.header.program.replace("echo(2)\n", ""))
    assert isinstance(certify(edited, tape, zygote), Diverged)


@pytest.mark.parametrize(
    ("old", "new", "kind", "event", "expected", "got"),
    [
        # read in another epoch, or nowhere in the tape
        ("echo(2)\n", "echo(3)\n", "argument", 2, "2", "3"),
        ("echo(3)\n", "echo(2)\n", "argument", 4, "3", "2"),
        ("echo(3)\n", "part('a')\n", "other call", 4, "echo(values=(3,), named={})", "part(name='a', start=0, stop=2)"),
        # an effect that is dropped, repeated, changed or moved
        ("bump('a')\n", "", "other call", 3, "bump(name='a', amount=3.0)", "echo(values=(3,), named={})"),
        ("bump('a')\n", "bump('a')\nbump('a')\n", "other call", 4, "echo(values=(3,), named={})", "bump(name='a', amount=3.0)"),
        ("bump('a')\n", "bump('a', 5.0)\n", "argument", 3, "3.0", "5.0"),
        ("echo(2)\nbump('a')\n", "bump('b')\n", "argument", 3, "'a'", "'b'"),
        # the program's own change of the public state travels with the first call after it
        ("echo(2)\n", "state['x'] = 1\necho(2)\n", "shared state", 2, "no further key", "'x'"),
        ("echo(2)\n", "raise ValueError(1)\n", "exception", 3, "bump(name='a', amount=3.0)", "ValueError: 1"),
    ],
)  # fmt: skip
def test_what_the_tape_does_not_hold_diverges(modulo, old, new, kind, event, expected, got):
    found = modulo(SOURCE.replace(old, new))
    assert isinstance(found, Diverged)
    assert (found.kind, found.event, found.expected, found.got) == (kind, event, expected, got)


def test_missing_effects_are_missing_and_missing_queries_are_not(tape_of, perform, zygote):
    tape = tape_of("echo(1)\n")
    source = tape.header.program
    found = certify(Program(source.replace("step()\n", "")), tape, zygote, modulo=True)
    assert (found.kind, found.expected) == ("missing calls", "1 more call: step()")
    trailing = perform("state['done'] = True\nstep()\necho(1)\necho(2)\n").tape
    shorter = Program(trailing.header.program.replace("echo(2)\n", ""))
    assert certify(shorter, trailing, zygote, modulo=True) == Certified(3, (), "queries", 1, 0)


def test_the_counted_limit_is_of_the_calls_that_the_edited_program_makes(tape_of, zygote):
    tape = tape_of(SOURCE, limits=Limits(calls=8))
    once, twice = (Program(tape.header.program.replace("echo(2)\n", "echo(2)\n" * more)) for more in (2, 3))
    assert certify(once, tape, zygote, modulo=True) == Certified(7, (), "queries", 0, 1)
    found = certify(twice, tape, zygote, modulo=True)
    assert (found.kind, found.expected, found.got) == ("limit", "no more than 8 calls", "call 9: step()")


@pytest.mark.parametrize(
    ("source", "pure"),
    [
        ("echo(1)\npeek('a')\npart('a')\n", [True, True, True]),
        ("bump('a')\necho(1)\n", [False, True]),
        # a query that raises is one, too
        ("try:\n    peek('none')\nexcept KeyError:\n    pass\n", [True]),
        # what carries the program's change of the public state is not pure
        ("state['x'] = 1\necho(1)\necho(1)\n", [False, True]),
        ("state['log'] = list(state['log'])\necho(1)\necho(1)\n", [False, True]),
        ("state['a'], state['c'] = state['a'].copy(), state['a']\necho(1)\n", [False]),
        ("echo(1)\ndel state['b']\necho(1)\n", [True, False]),
        # passing time is an effect
        ("import time\necho(1)\ntime.sleep(1.0)\necho(1)\n", [True, False, True]),
    ],
)
def test_pure_are_queries_that_change_and_carry_nothing(tape_of, source, pure):
    tape = tape_of(source)
    assert pure_events(tape.header, tape.events) == [*pure, False]


def test_a_query_that_answers_otherwise_in_one_epoch_is_not_pure_in_this_tape(tape_of):
    tape = tape_of("echo(1)\npeek('log')\necho(1)\nbump('a')\npeek('log')\necho(5)\n")
    events = list(tape.events)
    answer = events[5].answer
    events[2] = msgspec.structs.replace(events[2], answer=answer)
    assert pure_events(tape.header, events) == [False, True, False, False, True, False, False]
    events[2] = msgspec.structs.replace(events[2], answer=tape.events[2].answer, clock=0.25)
    assert pure_events(tape.header, events)[:3] == [True, True, False]
