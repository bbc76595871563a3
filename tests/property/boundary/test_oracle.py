"""A program must see the same on the API itself, across the boundary, and from the tape; see `oracle`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.property.boundary.oracle import Case, Oracle, search

pytestmark = pytest.mark.property
REGRESSIONS = {path.stem: path for path in sorted(Path(__file__).with_name("regressions").glob("*.json"))}


@pytest.fixture(scope="module")
def oracle():
    with Oracle() as started:
        yield started


@pytest.mark.parametrize("name", REGRESSIONS)
def test_what_once_differed_agrees(oracle, name):
    oracle.check(Case(**json.loads(REGRESSIONS[name].read_text(encoding="utf-8"))))


def test_generated_programs_see_the_same_in_process_live_and_from_the_tape(oracle):
    before = oracle.calls
    found = search(oracle, programs=60, seed=0)
    assert found is None, f"{found[1]}\n{found[0].program}"
    assert oracle.calls - before > 300
