"""A test of the tests: every planted fault is caught, and without a fault nothing is."""

from __future__ import annotations

import json

import pytest
from tests.faults.checks import CHECKS
from tests.faults.faults import FAULTS
from tests.faults.planted import CASES, CAUGHT, patched_text, run, run_all

KNOWN = json.loads(CASES.read_text(encoding="utf-8"))
BY = json.loads(CAUGHT.read_text(encoding="utf-8"))


def order_for(name):
    return {"checks": [name]} if name in CHECKS else {"cases": {name: KNOWN[name]}}


def test_every_fault_has_a_name_of_its_own_and_a_place_that_occurs_once():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert set(BY) == {fault.name for fault in FAULTS}
    for fault in FAULTS:
        compile(patched_text(fault), fault.file, "exec")


def test_without_a_fault_no_case_and_no_check_finds_anything():
    assert run(None, {"cases": KNOWN, "checks": True}) == ("", "")


@pytest.mark.property
def test_every_planted_fault_is_caught():
    found = run_all({fault: order_for(BY[fault.name]) for fault in FAULTS})
    assert [name for name, result in found.items() if result.by != BY[name]] == []
    print(f"{len(found)} caught of {len(FAULTS)}")
