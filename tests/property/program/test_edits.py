"""Laws of edits, over generated stages: what is not concerned stays, and what comes out is Python."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.program.edits import (
    Alternative,
    Branch,
    can_retry,
    dispatch_line,
    renamed,
    with_branches,
    with_constants,
    with_retry,
)
from surefoot.program.source import lines_of
from surefoot.program.stages import Stage

pytestmark = pytest.mark.property

STATEMENTS = st.sampled_from(
    [
        "a = 1", "b = vary(2.0, 0.0, 9.0)", "größe = f'{item}'", "c = '''x\n   y\n\n\tz'''", "# a remark", "",
        "d = (1,\n  2)", "if a:\n{0}e = 1\nelse:\n{0}e = 2", "def f(g):\n{0}b = 3\n{0}return g", "@staticmethod\n{0}def h():\n{0}{0}return 1",
        "act('one')", "for k in range(2):\n{0}act(k)", "print('\u2028', end='\x0c')", "z = [w for w in (1, 2) if (v := w)]",
        "n = vary(3, 1, 5); m = 4", "act(\n  'wide',\n)", "text = 'a\\\nb'",
    ]
)  # fmt: skip


@st.composite
def stages(draw: st.DrawFn, name: str = "pick") -> Stage:
    unit = draw(st.sampled_from(["    ", "  ", "\t"]))
    body = ["a = 0", *draw(st.lists(STATEMENTS, max_size=6)), "act('last')"]
    lines = []
    for statement in body:
        text = (
            statement.replace("{0}def h", "def h").replace("{0}{0}return 1", "{0}return 1").format(unit)
            if "{0}" in statement
            else statement
        )
        inside = 0
        for row in text.split("\n"):
            lines.append(row if inside else (unit + row if row else row))
            inside = "'''" in statement or "\\\n" in statement
    source = f"@stage\ndef {name}(item):\n" + "\n".join(lines) + "\n"
    ast.parse(source)
    return Stage(name, ("item",), source)


def acted(stage: Stage) -> tuple[list[object], str]:
    """What a stage does when it runs, and how it ends."""
    seen: list[object] = []
    scope = {"stage": lambda f: f, "vary": lambda *v: v[0], "act": lambda x=None: seen.append(x), "print": seen.append}
    scope["print"] = lambda *values, **named: seen.append((values, sorted(named.items())))
    exec(compile(stage.source, "<stage>", "exec"), scope)
    scope[stage.name]("item")
    return seen, stage.name


@given(stages(), stages("other"))
def test_a_guard_that_does_not_fire_leaves_every_line_and_all_behaviour(stage, other):
    line = dispatch_line(stage, {"act"}.__contains__)
    if line is None:
        return
    guarded = with_branches(stage, line, (Branch("a == 'never'", Alternative(stage=other)),))
    before, after = lines_of(stage.source), lines_of(guarded.source)
    added = len(after) - len(before)
    assert after[: line - 1] + after[line - 1 + added :] == before
    assert acted(guarded) == acted(stage)


@given(stages(), stages("other"))
def test_a_guard_that_fires_does_what_the_other_stage_does(stage, other):
    line = dispatch_line(stage, {"act"}.__contains__)
    if line is None:
        return
    guarded = with_branches(stage, line, (Branch("True", Alternative(stage=other)),))
    seen = acted(guarded)[0]
    assert seen[len(seen) - len(acted(other)[0]) :] == acted(other)[0]
    assert guarded.free_names() == ("act",)


@given(stages())
def test_a_retry_that_is_not_wanted_changes_nothing_and_one_that_is_does_all_again(stage):
    assert can_retry(stage)
    assert acted(with_retry(stage, "a == 'never'")) == acted(stage)
    assert acted(with_retry(stage, "True", attempts=3))[0] == acted(stage)[0] * 3


@given(stages(), st.floats(0.0, 9.0))
def test_setting_a_constant_changes_its_lines_alone_and_back_again_none(stage, value):
    constants = {constant.name: constant for constant in stage.constants}
    changed = with_constants(stage, dict.fromkeys(constants, value))
    different = [
        one for one, other in zip(lines_of(stage.source), lines_of(changed.source), strict=True) if one != other
    ]
    assert all("vary(" in line for line in different)
    assert [constant.name for constant in changed.constants] == list(constants)
    back = with_constants(changed, {name: constant.value for name, constant in constants.items()})
    assert ast.dump(ast.parse(back.source)) == ast.dump(ast.parse(stage.source))


@given(stages(), st.sampled_from(["place", "größe", "x"]))
def test_renaming_there_and_back_is_nothing(stage, name):
    assert renamed(renamed(stage, name), "pick") == stage
    assert acted(renamed(stage, name))[0] == acted(stage)[0]
