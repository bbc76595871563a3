"""The integrity suite passes as things are, and each check notices the fault that it is there for."""

from __future__ import annotations

import pytest

from surefoot.environments.tables import worlds as generator
from surefoot.pi import controller as controllers
from surefoot.pi import integrity
from surefoot.pi import streams as streaming
from surefoot.pi.controller import Controller
from surefoot.pi.integrity import Checked, check_world, total

AGREE = "contracts agree on the full table and on the micro-task"
UNIQUE = "exactly one program is accepted"
CORRUPT = "corrupted totals and provenance are rejected"
EFFECTS = "source effects are inferred, 16 fragments"
IDS = "ids of tasks and rows are disjoint"
SCOPE = "a local trial changes one stage of the current program"
BUDGET = "no episode uses more trials than its budget"
FROZEN = "frozen evaluation leaves the learned state as it was"


@pytest.fixture
def failing(monkeypatch):
    """Names of checks that fail in a small form of the world of seed 11."""
    monkeypatch.setattr(streaming, "GROUP_SIZE", 8)
    monkeypatch.setattr(streaming, "ACQUISITIONS_PER_REQUEST", 2)
    return lambda: {each.name for each in check_world(11) if each.failures}


def test_a_world_has_no_failure_and_every_case_of_the_paper():
    assert check_world(29) == [
        Checked(AGREE, 360 * 18, 0),
        Checked(UNIQUE, 360, 0),
        Checked(CORRUPT, 3 * 360, 0),
        Checked(EFFECTS, 3 * 24 + 1, 0),
        Checked(IDS, 24 + 360 + 24, 0),
        Checked(SCOPE, 6 * 96, 0),
        Checked(BUDGET, 8 * 96, 0),
        Checked(FROZEN, 3 * 8, 0),
    ]


def test_checks_add_up_over_worlds():
    assert total([[Checked("a", 2, 0), Checked("b", 3, 1)], [Checked("a", 5, 1), Checked("b", 7, 1)]]) == [
        Checked("a", 7, 1),
        Checked("b", 10, 2),
    ]


def test_the_small_form_has_no_failure(failing):
    assert failing() == set()


def test_tables_on_which_effects_agree_are_noticed(failing, monkeypatch):
    monkeypatch.setattr(generator, "distinguishes", lambda rows: True)
    assert {AGREE, UNIQUE} <= failing()


def test_a_micro_task_that_tells_less_than_the_table_is_noticed(failing, monkeypatch):
    distinguishes = generator.distinguishes
    monkeypatch.setattr(generator, "micro_of", lambda rows: rows[:1])
    monkeypatch.setattr(generator, "distinguishes", lambda rows: len(rows) == 1 or distinguishes(rows))
    assert failing() == {AGREE}


@pytest.mark.parametrize(
    "lenient",
    [
        lambda trace, wanted: trace.supporting == wanted.supporting,
        lambda trace, wanted: trace.total == wanted.total,
        lambda trace, wanted: trace.total == wanted.total and sorted(trace.supporting) == sorted(wanted.supporting),
        lambda trace, wanted: trace.total == wanted.total and set(trace.supporting) <= set(wanted.supporting),
    ],
)
def test_an_audit_that_looks_away_is_noticed(failing, monkeypatch, lenient):
    monkeypatch.setattr(integrity, "accepts", lenient)
    assert failing() == {CORRUPT}


def test_an_audit_that_rejects_what_is_right_is_noticed(failing, monkeypatch):
    monkeypatch.setattr(integrity, "accepts", lambda trace, wanted: False)
    assert failing() == {CORRUPT}


def test_a_recognizer_that_errs_is_noticed(failing, monkeypatch):
    monkeypatch.setattr(streaming, "recognize", lambda stage, before, after: 0)
    assert failing() == {EFFECTS}


def test_ids_that_recur_are_noticed(failing, monkeypatch):
    def generate(world, chance, identity, *rest):
        return generator.generate(world, chance, identity.partition("-")[2], *rest)

    monkeypatch.setattr(streaming, "generate", generate)
    assert failing() == {IDS}


def test_a_patch_that_changes_another_stage_is_noticed(failing, monkeypatch):
    def patched(program, stage, action):
        other = (stage + 1) % len(program)
        changed = {stage: action, other: 1 - min(1, program[other])}
        return tuple(changed.get(number, kept) for number, kept in enumerate(program))

    monkeypatch.setattr(controllers, "_with", patched)
    assert failing() == {SCOPE}


def test_a_controller_that_overdraws_its_budget_is_noticed(failing, monkeypatch):
    repair = Controller._repair
    monkeypatch.setattr(
        Controller,
        "_repair",
        lambda self, task, initial, first, budget, learn: repair(self, task, initial, first, budget + 5, learn),
    )
    assert failing() == {BUDGET}


def test_a_controller_that_learns_while_frozen_is_noticed(failing, monkeypatch):
    run = Controller.run
    monkeypatch.setattr(Controller, "run", lambda self, task, budget, *, learn: run(self, task, budget, learn=True))
    assert failing() == {FROZEN}
