"""Noise: what lies, what is missing, what repetition does."""

from __future__ import annotations

import random

import pytest

from surefoot.environments.tables.worlds import COMPOSED, ORDINARY_SIZE, PROGRAMS, World, generate
from surefoot.memory.evidence import Tally
from surefoot.pi.beyond import noise
from surefoot.pi.beyond.noise import NoisyTask, run_world, surely_better_than_even

TASK = generate(World.drawn(7), random.Random(7), "t", "A", COMPOSED[3], ORDINARY_SIZE)


def noisy(lies=0.0, missing=0.0, repeats=1):
    return NoisyTask(TASK, lies, missing, repeats, random.Random(1))


def test_without_noise_the_task_says_what_it_says():
    assert [noisy().full(program) for program in PROGRAMS] == [TASK.full(program) for program in PROGRAMS]
    assert [noisy().small(program) for program in PROGRAMS] == [TASK.small(program) for program in PROGRAMS]


def test_contracts_lie_at_their_rate_and_the_audit_never():
    task = noisy(lies=0.2)
    seen = [task.full(PROGRAMS[0]) for _ in range(2_000)]
    true = TASK.full(PROGRAMS[0])
    wrong = sum(bit != own for each in seen for bit, own in zip(each.bits, true.bits, strict=True)) / (3 * len(seen))
    assert wrong == pytest.approx(0.2, abs=0.02)
    assert {each.accepted for each in seen} == {true.accepted}


def test_missing_diagnostics_leave_the_bits_alone():
    task = noisy(missing=0.5)
    wrong = next(program for program in PROGRAMS if not any(TASK.full(program).bits))
    seen = [task.full(wrong) for _ in range(1_000)]
    assert {each.bits for each in seen} == {(False, False, False)}
    assert sum(len(each.failed) for each in seen) / (3 * len(seen)) == pytest.approx(0.5, abs=0.04)


def test_repetition_is_paid_for_and_lies_less():
    one, three = noisy(lies=0.2), noisy(lies=0.2, repeats=3)
    assert three.small(PROGRAMS[0]).work == 3 * one.small(PROGRAMS[0]).work
    true = TASK.small(PROGRAMS[0]).bits

    def share(task):
        return sum(task.small(PROGRAMS[0]).bits != true for _ in range(2_000)) / 2_000

    assert share(three) < 0.7 * share(one)


@pytest.mark.parametrize(
    ("successes", "failures", "promoted"), [(2, 0, False), (3, 0, False), (4, 0, True), (6, 2, False), (9, 2, True)]
)
def test_the_bound_asks_for_more_than_the_threshold(successes, failures, promoted):
    assert surely_better_than_even(Tally(successes, failures, 0.0, {"a", "b"})) is promoted


def test_a_world_without_noise_is_the_paper_s(monkeypatch):
    monkeypatch.setattr(noise, "LIES", (0.0,))
    monkeypatch.setattr(noise, "MISSING", (0.0,))
    found = run_world(11)
    assert found[0.0, 0.0, "pi"].first == found[0.0, 0.0, "compositional"].first == 100.0
    assert found[0.0, 0.0, "pi_no_incentive"].final == 100.0
    assert all(each.wrong == 0 for each in found.values())
    assert noise.tables([found, found])[0].rows[0][:3] == (0.0, 0.0, "pi")
