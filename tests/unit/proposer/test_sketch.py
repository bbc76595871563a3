"""Sketches and the programs they stand for: valid Python, closed stages, every guard in force."""

from __future__ import annotations

import pytest

from surefoot.program.source import lines_of
from surefoot.program.stages import Stage, staged
from surefoot.proposer.skills.fragments import Fact, StageFragment
from surefoot.proposer.skills.library import Library, Skill, SkillLibrary
from surefoot.proposer.skills.sketch import Condition, Guard, Sketch, Slot, Variant, dispatch_place, legible, render

EFFECTS = {"grip"}.__contains__
LATE = "@stage\ndef pick(item):\n    grip(1)\n    h = vary(0.1, 0.0, 1.0)\n    grip(h)\n"
EARLY = "@stage\ndef pick(item):\n    h = vary(0.1, 0.0, 1.0)\n    k = vary(2, 1, 9)\n    grip([h, k])\n"
CONDITION = Condition("item", "==", "item")


def sketch(source: str, default: Variant, *guards: Variant, objects: tuple[str, ...] = ("item",)) -> Sketch:
    slot = Slot("pick", ("item",), objects, ("grasped",), default, tuple(Guard(CONDITION, guard) for guard in guards))
    return Sketch((slot,), {"f": Stage("pick", ("item",), source)})


def ran(made: Sketch) -> list[object]:
    """What a program hands to `grip`."""
    program = render(made, EFFECTS)
    parts = staged(program)
    assert parts is not None
    assert all(stage.is_closed(["grip"]) for stage in parts.stages)
    seen: list[object] = []
    exec(program.source, {"stage": lambda function: function, "vary": lambda *v: v[0], "grip": seen.append})
    return seen


@pytest.mark.parametrize(
    ("default", "guard", "expected"),
    [
        (Variant("f"), Variant("f", (("h", 0.5),)), [[0.5, 2]]),
        (Variant("f", (("h", 0.5),)), Variant("f"), [[0.1, 2]]),
        (Variant("f", (("h", 0.5),)), Variant("f", (("k", 3.0),)), [[0.1, 3]]),
        (Variant("f"), Variant("f"), [[0.1, 2]]),
    ],
)
def test_a_guard_gives_its_variant_whatever_the_default_has_set(default, guard, expected):
    assert ran(sketch(EARLY, default, guard)) == expected


def test_a_guard_on_a_constant_that_is_declared_after_the_first_effect_takes_effect_too():
    assert ran(sketch(LATE, Variant("f"), Variant("f", (("h", 0.5),)))) == [1, 0.5]


@pytest.mark.parametrize("name", ["item", "it's", 'a"b', "größe", "a\\b", "\u2028"])
def test_object_names_of_any_letters_stay_what_they_are(name):
    parts = staged(render(sketch(EARLY, Variant("f"), objects=(name,)), EFFECTS))
    assert parts is not None
    assert parts.calls[0].objects == (name,)


def test_the_dispatch_place_is_the_line_of_the_first_guard():
    strange = EARLY.replace("    grip", "    s = '\u2028\x0c'\n    grip")
    slots = [
        Slot(
            name,
            ("item",),
            ("item",),
            ("grasped",),
            Variant("f"),
            (Guard(CONDITION, Variant("f", (("h", 0.5),))),),
            retry,
        )
        for name, retry in (("one", None), ("two", CONDITION), ("three", None))
    ]
    made = Sketch(tuple(slots), {"f": Stage("pick", ("item",), strange)})
    lines = lines_of(render(made, EFFECTS).source)
    for index in range(3):
        place = dispatch_place(made, index, EFFECTS)
        assert place is not None
        assert lines[int(place.removeprefix("line:")) - 1].strip() == "if item == 'item':"


def fragment(*parameters: str, **effect: tuple[str, ...]) -> StageFragment:
    types = {"item": "cube", "base": "cube", "goal": "bin"}
    facts = tuple(Fact(name, roles, tuple(types[role] for role in roles)) for name, roles in effect.items())
    return StageFragment("demo", facts, Stage("pick", parameters, "@stage\ndef pick():\n    pass\n"), parameters)


ROLES, TYPES = {"item": "cubeA", "base": "cubeB", "goal": "tray"}, {"item": "cube", "base": "cube", "goal": "bin"}


def test_a_fragment_is_bound_to_the_objects_of_the_wanted_fact():
    made = fragment("item", "base", on=("item", "base"))
    assert made.bind(Fact("on", ("base", "item"), ("cube", "cube")), ROLES, TYPES) == ("cubeB", "cubeA")
    assert made.bind(Fact("above", ("base", "item"), ("cube", "cube")), ROLES, TYPES) is None


def test_a_fragment_never_gets_one_object_for_two_of_its_roles():
    made = fragment("item", "base", grasped=("item",))
    assert made.bind(Fact("grasped", ("base",), ("cube",)), ROLES, TYPES) is None


def test_a_role_of_the_same_name_but_another_type_does_not_fit():
    made = fragment("item", "goal", grasped=("item",), above=("item", "goal"))
    wanted = Fact("grasped", ("item",), ("cube",))
    assert made.bind(wanted, ROLES, TYPES) == ("cubeA", "tray")
    assert made.bind(wanted, ROLES, {**TYPES, "goal": "plate"}) is None


def test_libraries_merge_a_run_once_and_add_up_equal_skills():
    made, condition = fragment("item", grasped=("item",)), ("r", (("grasped", ("cube",)),))
    one = SkillLibrary(("one",), (Skill(made, condition, 2, 1, 2.0, ("x", "y")),))
    two = SkillLibrary(("two",), (Skill(made, condition, 1, 0, 1.0, ("y", "z")),))
    both = SkillLibrary().merged(one).merged(two)
    assert both == SkillLibrary(("one", "two"), (Skill(made, condition, 3, 1, 3.0, ("x", "y", "z")),))
    assert both.merged(one) == both.merged(two) == both


def test_fragments_keep_their_order_of_arrival():
    library = Library()
    sources = [f"@stage\ndef pick(item):\n    grip({number})\n" for number in (2, 1, 2)]
    for source in sources:
        library.add(StageFragment("demo", (), Stage("pick", ("item",), source), ("item",)))
    assert [item.stage.source for item in library] == sources[:2]


OTHER = "@stage\ndef pick(item):\n    w = 3\n    grip(w)\n    late = 4\n"


def changed_to(condition: Condition, retry: Condition | None = None) -> Slot | None:
    """A slot whose default became another fragment, while its conditions stayed."""
    guards = (Guard(condition, Variant("f")),) if condition is not CONDITION else ()
    slot = Slot("pick", ("item",), ("item",), ("grasped",), Variant("other"), guards, retry)
    return legible(slot, {"other": Stage("pick", ("item",), OTHER)}, EFFECTS)


@pytest.mark.parametrize(
    ("expression", "kept"),
    [("w", True), ("item", True), ("len(item)", True), ("h", False), ("late", False), ("w + h", False)],
)
def test_a_guard_must_ask_for_what_the_default_stage_has_read_before_it_acts(expression, kept):
    assert (changed_to(Condition(expression, ">", 1.0)) is not None) == kept


def test_a_retry_that_the_new_default_cannot_decide_is_dropped():
    kept, dropped = (changed_to(CONDITION, Condition(name, ">", 1.0)) for name in ("late", "h"))
    assert kept is not None and kept.retry is not None
    assert dropped is not None and dropped.retry is None


def test_an_effect_is_bound_role_by_role():
    facts = (Fact("grasped", ("upper",), ("block",)), Fact("on", ("upper", "lower"), ("block", "block")))
    fragment = StageFragment("demo", facts, Stage("place", ("upper",), LATE), ("upper",))
    wanted = Fact("on", ("item", "base"), ("block", "block"))
    assert fragment.effect_for(wanted) == {wanted, Fact("grasped", ("item",), ("block",))}
