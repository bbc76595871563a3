"""The one notion of a fragment, for PI's actions and for the skills proposer's stages."""

from __future__ import annotations

import msgspec
import pytest

from surefoot.memory.fragments import Fragment
from surefoot.pi.sources import ActionFragment
from surefoot.program.stages import Stage
from surefoot.proposer.skills.fragments import Fact, StageFragment


def test_a_fragment_is_a_frozen_value_of_its_origin_and_effect():
    fragment = Fragment("program-1", "grasped")
    assert fragment == Fragment("program-1", "grasped")
    assert len({fragment, Fragment("program-1", "grasped"), Fragment("program-2", "grasped")}) == 2
    with pytest.raises(AttributeError):
        fragment.origin = "program-2"


def test_subclasses_say_what_the_piece_is():
    fragment = ActionFragment("source-1", 2, "A", 1, 0)
    assert isinstance(fragment, Fragment)
    assert (fragment.origin, fragment.effect, fragment.revision, fragment.stage, fragment.action) == (
        "source-1",
        2,
        "A",
        1,
        0,
    )
    assert fragment != ActionFragment("source-1", 2, "B", 1, 0)


def test_a_stage_of_a_program_is_such_a_piece_too_and_is_stored_with_its_fields():
    stage = Stage("pick", ("item",), "@stage\ndef pick(item):\n    pass\n")
    fragment = StageFragment("demo", (Fact("grasped", ("item",), ("cube",)),), stage, ("item",))
    assert isinstance(fragment, Fragment)
    stored = msgspec.json.encode(fragment)
    assert set(msgspec.json.decode(stored)) == {"origin", "effect", "stage", "parameters"}
    assert msgspec.json.decode(stored, type=StageFragment) == fragment
