"""Edits of a stage: they change what they say, leave every other line, and give valid Python."""

from __future__ import annotations

import ast

import pytest

from surefoot.program.edits import (
    Alternative,
    Branch,
    can_retry,
    dispatch_line,
    nestable,
    renamed,
    takes_effect,
    with_branches,
    with_constants,
    with_retry,
)
from surefoot.program.source import lines_of
from surefoot.program.stages import Stage

EFFECTS = {"move_to", "grip", "time.sleep"}


def stage(body: str, head: str = "@stage\ndef pick(item):\n") -> Stage:
    source = head + body
    ast.parse(source)
    return Stage("pick", ("item",), source)


def line_of(made: Stage) -> int | None:
    return dispatch_line(made, EFFECTS.__contains__)


def ran(made: Stage, **names: object) -> list[object]:
    """What a stage hands to `grip` when it runs."""
    seen: list[object] = []
    scope = {"stage": lambda function: function, "vary": lambda *v: v[0], "grip": seen.append, **names}
    exec(compile(made.source, "<stage>", "exec"), scope)
    scope[made.name]("item")
    return seen


@pytest.mark.parametrize(
    "head",
    ["@stage\ndef pick(item):\n", "@stage\ndef  pick ( item ) :\n", "@stage\ndef \\\n  pick(item):\n"],
)
def test_renaming_changes_the_name_and_nothing_else(head):
    made = renamed(stage("    pick_up = 'def pick('\n    grip(pick_up)\n", head), "place")
    assert made.name == "place"
    assert made.function.name == "place"
    assert made.source == (head + "    pick_up = 'def pick('\n    grip(pick_up)\n").replace("pick", "place", 1)


def test_renaming_reaches_a_name_that_python_normalizes():
    made = Stage("find", ("item",), "@stage\ndef \ufb01nd(item):\n    grip(item)\n")
    assert renamed(made, "lift").source == "@stage\ndef lift(item):\n    grip(item)\n"


def test_two_constants_on_one_line_are_both_set():
    made = with_constants(
        stage("    a = vary(1.0, 0.0, 2.0); b = vary(3.0, 0.0, 9.0)\n    grip([a, b])\n"), {"a": 0.125, "b": 7}
    )
    assert "    a = vary(0.125, 0.0, 2.0); b = vary(7.0, 0.0, 9.0)\n" in made.source
    assert ran(made) == [[0.125, 7.0]]


def test_a_constant_behind_letters_of_several_bytes_is_set():
    made = with_constants(stage("    größe = 'äöü'; a = vary(1.0, 0.0, 2.0)\n    grip(a)\n"), {"a": 2.0})
    assert "größe = 'äöü'; a = vary(2.0, 0.0, 2.0)" in made.source


def test_a_constant_of_the_same_name_in_a_nested_function_is_left_alone():
    body = "    a = vary(1.0, 0.0, 2.0)\n    def inner():\n        a = vary(5.0, 0.0, 9.0)\n        return a\n    grip([a, inner()])\n"
    assert ran(with_constants(stage(body), {"a": 2.0})) == [[2.0, 5.0]]


def test_a_whole_number_stays_usable_as_one():
    made = with_constants(stage("    n = vary(3, 1, 5)\n    grip(list(range(n)))\n"), {"n": 2.0})
    assert ran(made) == [[0, 1]]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("    a = 1\n    grip(a)\n", 4),
        ("    a = grip\n    a(1)\n", 3),
        ("    if item:\n        b = 2\n        grip(b)\n", 3),
        ("    import time\n    time.sleep(1)\n", 4),
        ("    @staticmethod\n    def act():\n        grip(1)\n    act()\n", 3),
        ("    a = 1; grip(a)\n", None),
        ("    a = f(\n        1); grip(a)\n", None),
        ("    print(item)\n", None),
    ],
)
def test_guards_stand_before_the_first_statement_that_names_an_effect(body, line):
    assert line_of(stage(body)) == line


def test_a_stage_on_one_line_has_no_place_for_guards_and_no_retry():
    made = stage(" grip(item)\n", "@stage\ndef pick(item):")
    assert line_of(made) is None
    assert not can_retry(made)


@pytest.mark.parametrize("unit", ["    ", "  ", "\t"])
def test_a_branch_takes_on_the_indentation_of_the_stage(unit):
    made = stage(f"{unit}a = vary(1.0, 0.0, 2.0)\n{unit}grip(a)\n")
    other = stage("   b = '''\n x\n'''\n   grip(b)\n", "@stage\ndef other(thing):\n")
    line = line_of(made)
    assert line is not None
    branches = (
        Branch("item == 'x'", Alternative((("a", 2.0),))),
        Branch("item == 'item'", Alternative(stage=Stage("other", ("thing",), other.source))),
    )
    guarded = with_branches(made, line, branches)
    assert ran(guarded) == ["\n x\n"]
    assert [text for text in lines_of(guarded.source) if text in lines_of(made.source)] == lines_of(made.source)


def test_a_branch_that_sets_nothing_is_still_valid():
    assert ran(with_branches(stage("    grip(item)\n"), 3, (Branch("item", Alternative()),))) == ["item"]


def test_a_nested_stage_keeps_its_strings_of_several_lines_and_its_tabs():
    inner = Stage(
        "other",
        ("item",),
        '@stage\ndef other(item):\n\ta = """one\n\n  two"""\n\tb = f"""{item}\n  three"""\n\tgrip(a + b)\n',
    )
    made = with_branches(stage("    grip(1)\n"), 3, (Branch("True", Alternative(stage=inner)),))
    assert ran(made) == ["one\n\n  twoitem\n  three"]


@pytest.mark.parametrize(
    ("body", "effective"),
    [
        ("    a = vary(1.0, 0.0, 2.0)\n    grip(a)\n", True),
        ("    a = vary(1.0, 0.0, 2.0)\n    b = a + 1\n    grip(b)\n", False),
        ("    grip(1)\n    a = vary(1.0, 0.0, 2.0)\n    grip(a)\n", False),
        ("    a = vary(1.0, 0.0, 2.0)\n    a += 1\n    grip(a)\n", False),
    ],
)
def test_a_constant_can_be_set_in_place_only_where_it_is_declared_before_and_used_after(body, effective):
    made = stage(body)
    assert takes_effect(made, line_of(made) or 0, "a") is effective


def test_a_stage_can_not_stand_inside_one_that_hides_what_it_reads():
    outer = stage("    grip = 10.0\n    move_to(grip)\n")
    assert not nestable(stage("    grip(item)\n"), outer)
    assert not nestable(stage("    move_to(max(1, 2))\n"), stage("    max = 3\n    move_to(max)\n"))
    assert nestable(stage("    move_to(item)\n"), outer)


def test_a_retry_runs_the_body_again_while_its_condition_holds():
    made = with_retry(stage('    """Doc."""\n    text = """a\nb"""\n    grip(text)\n'), "text == 'a\\nb'", attempts=3)
    assert ran(made) == ["a\nb"] * 3
    assert ast.get_docstring(made.function) == "Doc."
    assert ran(with_retry(stage("    text = 1\n    grip(text)\n"), "text != 1")) == [1]


def test_a_stage_that_returns_is_not_retried_since_it_would_leave_the_loop():
    assert not can_retry(stage("    if item:\n        return\n    grip(item)\n"))
    assert can_retry(stage("    def near():\n        return 1\n    grip(near())\n"))
