"""Laws of stumps and of assignment: what is known to work is not undone."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from surefoot.proposer.skills.assignment import SceneEvidence, assign, without_idle_guards
from surefoot.proposer.skills.sketch import Condition, Guard, Slot, Variant
from surefoot.proposer.skills.stumps import fit_stump

pytestmark = pytest.mark.property

SCALARS = st.one_of(st.floats(), st.integers(-5, 5), st.booleans(), st.sampled_from(["mug", "block"]), st.floats(-1, 1))
NAMES = ("x", "about['shape']", "y[0]")
VALUES = st.dictionaries(st.sampled_from(NAMES), SCALARS)
VARIANTS = st.sampled_from([Variant("a"), Variant("b"), Variant("b", (("h", 0.5),)), Variant("c")])


def python(condition: Condition, values: dict) -> bool:
    """The condition as the program decides it."""
    plain = {name: values[name] for name in values}
    return bool(
        eval(condition.text.replace(condition.expression, "_value", 1), {"_value": plain[condition.expression]})
    )


@given(
    st.lists(VALUES, min_size=1, max_size=4),
    st.lists(VALUES, min_size=1, max_size=4),
    st.lists(VALUES, max_size=3),
    st.booleans(),
)
def test_a_stump_holds_on_all_wanted_and_on_no_kept_scene_and_can_be_read_on_all(wanted, kept, others, generous):
    stump = fit_stump(wanted, kept, others, generous)
    if stump is None:
        return
    condition = stump.condition
    assert isinstance(condition.value, str) or math.isfinite(condition.value)
    assert all(condition.holds(values) and python(condition, values) for values in wanted)
    assert not any(condition.holds(values) or python(condition, values) for values in kept)
    assert all(condition.expression in values for values in others)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=6, unique=True), st.booleans())
def test_numbers_that_a_threshold_separates_are_separated(numbers, generous):
    numbers.sort()
    assume(all(b - a > 1e-6 for a, b in itertools.pairwise(numbers)))
    low, high = numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]
    for wanted, kept in ((low, high), (high, low)):
        assert fit_stump([{"x": n} for n in wanted], [{"x": n} for n in kept], [], generous) is not None


NUMBERS = st.fixed_dictionaries({"x": st.integers(0, 9).map(float), "shape": st.sampled_from(["mug", "block"])})


@st.composite
def scenes(draw: st.DrawFn) -> SceneEvidence:
    worked = draw(st.sets(VARIANTS, max_size=2))
    return SceneEvidence(draw(NUMBERS), worked, draw(st.sets(VARIANTS, max_size=2)) - worked)


CONDITIONS = st.one_of(
    st.builds(Condition, st.just("x"), st.sampled_from("<>"), st.integers(0, 9).map(float)),
    st.builds(Condition, st.just("shape"), st.just("=="), st.sampled_from(["mug", "block"])),
)
SLOTS = st.builds(
    Slot, st.just("pick"), st.just(("item",)), st.just(("item",)), st.just(("grasped",)), VARIANTS,
    st.lists(st.builds(Guard, CONDITIONS, VARIANTS), max_size=3).map(tuple),
)  # fmt: skip


@settings(max_examples=1000)
@given(SLOTS, scenes(), st.lists(scenes(), max_size=4), VARIANTS, st.booleans())
def test_assigning_a_variant_sends_the_scene_to_it_and_no_settled_scene_to_one_that_failed_there(
    slot, scene, others, variant, trusting
):
    assume(variant not in scene.failed)
    changed = assign(slot, scene, others, variant, lambda item: float(trusting == (item == variant)))
    if changed is None:
        return
    assert changed.chosen(scene.values) == variant
    for other in others:
        settled = other.settled(slot)
        if settled is not None and changed.chosen(other.values) != settled:
            assert changed.chosen(other.values) not in other.failed
            assert changed.chosen(other.values) == variant


@given(SLOTS, st.lists(scenes(), max_size=4))
def test_dropping_idle_guards_changes_no_settled_scene_for_one_that_is_not(slot, others):
    kept = without_idle_guards(slot, others)
    assert [guard for guard in slot.guards if guard in kept.guards] == list(kept.guards)
    assert {guard.variant for guard in kept.guards} <= {other.settled(slot) for other in others}
    assert without_idle_guards(slot, []).guards == ()
