"""PI's propositions on random finite worlds, and for each premise a world without it where the conclusion fails.

Premises: on the small trial exactly one action of a stage passes its contract (identifiability); a patch changes no
other action (locality); a later change of its inputs can't invalidate a correct action (stability). They hold in
every `FiniteTask` that replaces no bits, for every controller that changes one action at a time.
"""

from __future__ import annotations

import pytest
from finite_worlds import FiniteTask, FiniteWorld, controller, demonstration, domain_of, requests, streams, worlds
from hypothesis import given
from hypothesis import strategies as st

from surefoot.memory.evidence import SCORE, Tally

pytestmark = pytest.mark.property

LOCAL = ("pi", "compositional", "self_trial", "no_goal", "pi_no_incentive")
"""Controllers that change one action at a time, try it first, and come to all typed actions at last."""


@st.composite
def tallies(draw: st.DrawFn) -> Tally:
    """Evidence from anywhere, right or wrong."""
    names = draw(st.sets(st.sampled_from("uvw")))
    successes, failures = draw(st.integers(len(names), 6)), draw(st.integers(0, 6))
    return Tally(successes, failures, draw(st.floats(-3, 3)), set(names))


def prejudiced(draw, world, name, templates):
    """A controller with arbitrary evidence: neither bound nor safety depends on what it believes."""
    made = controller(name, world.domain, templates)
    for stage, actions in enumerate(world.domain.actions):
        for goal in range(len(actions)):
            for action in draw(st.sets(st.integers(0, len(actions) - 1), max_size=2)):
                made.evidence.merge(("A", stage, goal), action, draw(tallies()))
    return made


@st.composite
def episodes(draw: st.DrawFn):
    """A local controller with arbitrary demonstrations and evidence, and a task."""
    world: FiniteWorld = draw(worlds())
    shown = draw(streams(world, "ABC", 4))
    templates = [demonstration(f"source-{number}", task) for number, task in enumerate(shown)]
    made = prejudiced(draw, world, draw(st.sampled_from(LOCAL)), templates)
    return world, made, world.task("now", "A", draw(requests(world)))


@given(episodes())
def test_query_bound_trials_are_at_most_the_alternatives_of_the_stages_that_failed_at_first(drawn):
    world, made, task = drawn
    failed = task.full(made.initial(task)).failed
    bound = sum(len(world.domain.actions[stage]) - 1 for stage in failed)
    episode = made.run(task, bound, learn=False)
    assert episode.accepted
    assert episode.program == task.right
    assert len(episode.trials) <= bound
    assert episode == made.run(task, 10 * bound + 10, learn=False)
    for stage in failed:
        assert sum(trial.stage == stage for trial in episode.trials) <= len(world.domain.actions[stage]) - 1


@given(episodes(), st.integers(0, 12))
def test_no_repaired_stage_breaks_again_and_none_that_held_breaks_whatever_the_budget(drawn, budget):
    _, made, task = drawn
    initial = made.initial(task)
    bits = task.full(initial).bits
    episode = made.run(task, budget, learn=False)
    for trial in episode.trials:
        assert not bits[trial.stage]
        if trial.committed:
            assert all(now or not then for then, now in zip(bits, trial.bits, strict=True))
            assert trial.bits[trial.stage]
            bits = trial.bits
    assert bits == task.full(episode.program).bits
    assert (episode.collateral, episode.tentative_regressions) == (False, 0)


@st.composite
def histories(draw: st.DrawFn):
    """A world, a stream to learn from, and a last task."""
    world: FiniteWorld = draw(worlds())
    return world, draw(streams(world, "AB", 10)), draw(st.lists(requests(world), min_size=1, max_size=3))


@given(histories(), st.sampled_from(["pi", "self_trial", "no_goal"]))
def test_eligibility_two_confirmations_without_a_failure_promote_and_here_nothing_confirmed_ever_failed(drawn, name):
    world, stream, _ = drawn
    made = controller(name, world.domain)
    for task in stream:
        made.run(task, world.bound, learn=True)
    for ((revision, stage, goal), action), tally in made.evidence.items():
        if tally.failures == 0 and len(tally.confirmed) >= 2:
            assert tally.successes >= 2
            assert tally.score >= 3 / 4 > SCORE
            assert tally.promoted
        if tally.confirmed:
            assert tally.failures == 0
            assert world.tools[revision][stage][action] == goal


@given(histories())
def test_what_two_accepted_tasks_asked_for_is_right_at_the_first_submission(drawn):
    world, stream, _ = drawn
    made = controller("pi", world.domain)
    for task in stream:
        made.run(task, world.bound, learn=True)
    for task in stream:
        for stage, goal in enumerate(task.request):
            if sum((other.revision, other.request[stage]) == (task.revision, goal) for other in stream) >= 2:
                assert made.initial(task)[stage] == task.right[stage]


@given(histories(), st.booleans(), st.integers(1, 6))
def test_pi_and_compositional_tie_where_fragments_come_from_one_revision(drawn, shown, budget):
    world, stream, asked = drawn
    templates = [demonstration(f"source-{number}", world.task("-", "A", each)) for number, each in enumerate(asked)]
    pair = [controller(name, world.domain, templates if shown else []) for name in ("pi", "compositional")]
    for task in stream:
        first, second = (each.run(task, budget, learn=True) for each in pair)
        assert first == second
    for revision in "ABC":
        for number, request in enumerate(asked):
            task = world.task(f"frozen-{number}", revision, request)
            first, second = (each.run(task, budget, learn=False) for each in pair)
            assert first == second


def task_of(tools, request, **bits):
    return FiniteTask("task", "A", request, tools, **bits)


def test_with_less_than_the_bound_an_unlucky_order_does_not_get_there():
    task = task_of(((0, 1, 2), (0, 1, 2)), (2, 2))
    made = controller("self_trial", domain_of(3, 3))
    assert made.run(task, 3, learn=False).accepted is False
    assert made.run(task, 4, learn=False).accepted is True


def test_without_identifiability_a_wrong_action_is_committed_and_no_budget_helps():
    # the small trial can't tell actions 1 and 2 apart: its rows show no difference
    task = task_of(((0, 1, 2),), (2,), trial=lambda program: (program[0] != 0,))
    episode = controller("pi", domain_of(3)).run(task, 100, learn=False)
    assert [trial.committed for trial in episode.trials] == [True]
    assert (episode.program, episode.accepted) == ((1,), False)


def test_without_identifiability_a_stage_that_no_action_satisfies_on_the_trial_is_never_repaired():
    task = task_of(((0, 1, 2),), (2,), trial=lambda program: (False,))
    episode = controller("pi", domain_of(3)).run(task, 100, learn=False)
    assert (len(episode.trials), episode.accepted) == (2, False)


def test_without_locality_a_repaired_stage_breaks_again():
    # whole programs: the one that repairs the second stage undoes the first
    task = task_of(((0, 1), (0, 1)), (1, 1))
    templates = [
        demonstration("first", task_of(task.tools, (1, 0))),
        demonstration("second", task_of(task.tools, (0, 1))),
    ]
    broken = controller("no_localization", domain_of(2, 2), templates).run(task, 100, learn=False)
    assert [(trial.stage, trial.committed, trial.bits) for trial in broken.trials][:2] == [
        (0, True, (True, False)),
        (1, True, (False, True)),
    ]
    assert (broken.accepted, broken.tentative_regressions) == (False, 1)
    local = controller("pi", domain_of(2, 2), templates).run(task, 2, learn=False)
    assert (local.accepted, local.tentative_regressions) == (True, 0)


def test_without_locality_a_stage_that_held_at_first_fails_at_last():
    task = task_of(((0, 1), (0, 1)), (0, 1))
    templates = [demonstration("only", task_of(task.tools, (1, 1)))]
    broken = controller("no_localization", domain_of(2, 2), templates).run(task, 100, learn=False)
    assert (broken.collateral, broken.accepted) == (True, False)


def downstream(program):
    """The second stage's right action depends on the first's: what it gets is another input."""
    return program[0] == 1, program[1] == program[0]


def test_without_stability_trials_exceed_the_bound_of_the_stages_that_failed_at_first():
    task = task_of(((0, 1), (0, 1)), (1, 1), contracts=downstream)
    made = controller("pi", domain_of(2, 2))
    assert task.full((0, 0)).failed == (0,)  # so the bound says one trial
    assert made.run(task, 1, learn=False).accepted is False
    assert made.run(task, 1, learn=False).collateral is True
    assert len(made.run(task, 2, learn=False).trials) == 2


def upstream(program):
    """The first stage's right action depends on the second's."""
    return program[0] != program[1], program[1] == 1


def test_without_stability_a_repaired_stage_breaks_again():
    task = task_of(((0, 1), (0, 1)), (1, 1), contracts=upstream)
    episode = controller("pi", domain_of(2, 2)).run(task, 100, learn=False)
    assert [(trial.stage, trial.bits) for trial in episode.trials[:2]] == [(0, (True, False)), (1, (False, True))]
    assert episode.tentative_regressions == 1


def test_with_a_failure_two_confirmations_do_not_make_an_action_eligible():
    # a trial that lies once about the right action: f = 1
    tally = Tally(2, 1, 2.0, {"x", "y"})
    assert tally.score == pytest.approx(0.6)
    assert not tally.promoted
    domain, task = domain_of(2), task_of(((0, 1),), (1,))
    pair = [controller(name, domain) for name in ("pi", "compositional")]
    for made in pair:
        made.evidence.merge(("A", 0, 1), 1, tally)
    assert [made.initial(task) for made in pair] == [(0,), (1,)]


def test_with_fragments_of_two_revisions_and_unequal_experience_pi_and_compositional_part():
    # the paper's streams give both familiar revisions equal experience; here only B has been met
    tools = {"A": ((0, 1, 2, 3),), "B": ((0, 2, 1, 3),), "C": ((0, 3, 1, 2),)}
    world = FiniteWorld(domain_of(4), tools)
    templates = [demonstration("a", world.task("-", "A", (1,))), demonstration("b", world.task("-", "B", (1,)))]
    pair = [controller(name, world.domain, templates) for name in ("pi", "compositional")]
    tried = []
    for made in pair:
        for number in range(2):
            made.run(world.task(f"b{number}", "B", (1,)), 3, learn=True)
        tried.append([trial.program for trial in made.run(world.task("c", "C", (1,)), 3, learn=False).trials])
    assert tried == [[(2,)], [(1,), (2,)]]
