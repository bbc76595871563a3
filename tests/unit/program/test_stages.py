"""Programs seen as stages: what a stage's text is, what it depends on, what may be varied in it."""

from __future__ import annotations

import pytest

from surefoot.program.source import Program, lines_of
from surefoot.program.stages import Constant, Stage, StageCall, staged

FUNCTIONS = ("locate", "move_to", "grip", "state")
PICK = "@stage\ndef pick(item):\n    move_to(locate(item))\n"


def one(source: str) -> Stage:
    parts = staged(Program(source + '\n\npick("item")\n'))
    assert parts is not None
    return parts.stage("pick")


def test_a_staged_program_is_its_stages_and_their_calls_in_order():
    parts = staged(Program(f'"""Doc."""\n{PICK}\npick("item")\npick("bin")\n'))
    assert parts is not None
    assert parts.stages == (Stage("pick", ("item",), PICK),)
    assert parts.calls == (StageCall("pick", ("item",)), StageCall("pick", ("bin",)))


@pytest.mark.parametrize(
    "rest",
    [
        "x = 1\n",
        "import numpy\n",
        "pick(item='a')\n",
        "pick(1)\n",
        "pick(*'ab')\n",
        "pick.now('a')\n",
        "locate('a')\n",
        "if True:\n    pick('a')\n",
        PICK,
        "def helper():\n    pass\n",
    ],
)
def test_a_program_with_anything_else_at_its_top_level_is_not_staged(rest):
    assert staged(Program(f"{PICK}\npick('item')\n{rest}")) is None


def test_a_program_without_calls_is_not_staged():
    assert staged(Program(PICK)) is None


def test_a_stage_keeps_its_comments_blank_lines_and_strings_as_they_are():
    source = '@stage\ndef pick(item):\n    # why\n\n    text = """\n   \n\tx\n"""\n    move_to(text)\n'
    assert one(source).source == source


def test_a_stage_ends_where_python_ends_it_not_at_a_form_feed_or_line_separator():
    source = "@stage\ndef pick(item):\n    a = '\u2028'  # \x0c\n    move_to(a)\n"
    assert one(source).source == source
    assert len(lines_of(source)) == 4


@pytest.mark.parametrize(
    "source",
    [
        PICK,
        "@stage\ndef pick(item):\n    import numpy as np\n    move_to(np.array(locate(item)))\n",
        "@stage\ndef pick(item):\n    values = [n for n in range(3) if (m := n)]\n    move_to(values, m)\n",
        "@stage\ndef pick(item):\n    def near(x):\n        return f'{x}{item}'\n    move_to(near(state))\n",
    ],
)
def test_a_stage_that_reads_only_its_objects_and_the_api_is_closed(source):
    assert one(source).is_closed(FUNCTIONS)


@pytest.mark.parametrize(
    "source",
    [
        "@stage\ndef pick(item):\n    move_to(height)\n",
        "@stage\ndef pick(item, h=HEIGHT):\n    move_to(item)\n",
        "@stage\ndef pick(item, h=1):\n    move_to(item)\n",
        "@stage\ndef pick(item: Kind):\n    move_to(item)\n",
        "@stage\ndef pick(*items):\n    move_to(items)\n",
        "@stage\ndef pick(item, /):\n    move_to(item)\n",
        "@stage\ndef pick(item, *, h):\n    move_to(item)\n",
        "@stage\n@traced\ndef pick(item):\n    move_to(item)\n",
        "@stage\ndef pick(item):\n    global height\n    height = 1\n    move_to(height)\n",
        "@stage\ndef pick(item):\n    pick(item)\n",
        "@stage\ndef pick(item):\n    move_to((lambda: secret)())\n",
    ],
)
def test_a_stage_that_reads_anything_else_is_not_closed(source):
    assert not one(source).is_closed(FUNCTIONS)


@pytest.mark.parametrize("name", ["grip", "range", "stage", "vary", "state"])
def test_a_stage_whose_name_hides_what_others_call_is_not_closed(name):
    stage = Stage(name, ("item",), f"@stage\ndef {name}(item):\n    move_to(item)\n")
    assert not stage.is_closed(FUNCTIONS)


def test_constants_are_those_declared_once_in_the_stage_itself():
    stage = one(
        "@stage\ndef pick(item):\n"
        "    a = vary(1.0, 0.0, 2.0)\n"
        "    def inner():\n        a = vary(5.0, 0.0, 9.0)\n        hidden = vary(1.0, 0.0, 2.0)\n"
        "    if item:\n        b = vary(0.1, 0.0, 1.0)\n    else:\n        b = vary(0.2, 0.0, 1.0)\n"
        "    c = vary(3, 1, 5)\n    d = vary(-1, -2, +0)\n    move_to(a)\n"
    )
    assert stage.constants == (Constant("a", 1.0, 0.0, 2.0), Constant("c", 3, 1, 5), Constant("d", -1, -2, 0))


@pytest.mark.parametrize(
    "call", ["vary('a', 'b', 'c')", "vary(True, 0, 1)", "vary(1)", "vary(x, 0, 1)", "vary(1e999, 0, 1)", "vary(*y)"]
)
def test_what_is_not_three_finite_numbers_is_no_constant(call):
    assert one(f"@stage\ndef pick(item):\n    a = {call}\n    move_to(a)\n").constants == ()


def test_a_constant_of_whole_numbers_stays_one():
    whole, real = Constant("n", 3, 1, 5), Constant("x", 3.0, 1, 5)
    assert (whole.text(4.0), whole.fitted(3.6), whole.text(2.5)) == ("4", 4.0, "2")
    assert (real.text(4), real.fitted(3.6)) == ("4.0", 3.6)
