"""One world's measurements: which cells there are, what they average, and that frozen means frozen."""

from __future__ import annotations

import pytest

from surefoot.environments.tables.worlds import DOMAIN
from surefoot.pi import experiment
from surefoot.pi.compositions import COMPOSITIONS, PI
from surefoot.pi.controller import Controller, Episode
from surefoot.pi.experiment import (
    CHECKPOINTS,
    FOLLOW_UP_CHECKPOINTS,
    FOLLOW_UP_CONTROLLERS,
    Key,
    Measure,
    StateChangedError,
    frozen,
    run_world,
)
from surefoot.pi.streams import GROUPS


def test_there_is_a_cell_for_each_setting_group_budget_and_controller(worlds):
    wanted = set()
    for name in COMPOSITIONS:
        wanted |= {Key("cold", group, 3, name) for group in GROUPS}
        wanted |= {Key("acquired", group, budget, name) for group in GROUPS for budget in (1, 3, 6)}
        wanted |= {Key(f"probe {seen}", "composition", 3, name) for seen in (0, 24, 48, 96)}
    wanted |= {Key("reset", group, 3, "pi") for group in GROUPS}
    wanted |= {
        Key(f"follow-up {seen}", "revision-C", 3, name) for seen in (0, 6, 12, 24) for name in FOLLOW_UP_CONTROLLERS
    }
    assert set(worlds[0]) == wanted
    assert set(FOLLOW_UP_CONTROLLERS) == {"pi", "compositional", "self_trial", "pi_no_incentive"}


def test_a_measure_is_the_means_of_its_episodes():
    episodes = [
        Episode((0,), True, True, False, 0, (), 12),
        Episode((0,), False, True, False, 2, ("trial",) * 3, 40),
        Episode((0,), False, False, True, 0, ("trial",), 20),
        Episode((0,), False, False, False, 0, (), 24),
    ]
    assert Measure.of(episodes) == Measure(final=50, first=25, collateral=25, tentative=0.5, trials=1, visits=24)


def test_the_same_seed_gives_the_same_results(worlds):
    assert run_world(11) == worlds[0]
    assert worlds[0] != worlds[1]


def test_three_trials_while_acquiring_give_the_same_frozen_results_as_six(worlds, monkeypatch):
    monkeypatch.setattr(experiment, "ACQUISITION_BUDGET", 3)
    (_, results) = worlds
    fewer = run_world(29)
    different = {key for key in results if results[key] != fewer[key]}
    # on the way there, who enumerates knows less
    assert {(key.setting.partition(" ")[0], key.controller) for key in different} <= {("probe", "self_trial")}


def test_reset_pi_is_cold_pi(worlds):
    for results in worlds:
        for group in GROUPS:
            assert results[Key("reset", group, 3, "pi")] == results[Key("cold", group, 3, "pi")]


def test_what_is_acquired_is_seen_at_the_checkpoints_of_the_probe(worlds):
    for results in worlds:
        first = [results[Key(f"probe {seen}", "composition", 3, "pi")].first for seen in CHECKPOINTS]
        assert first == sorted(first)
        assert first[-1] == pytest.approx(100)
        assert len({results[Key(f"probe {seen}", "composition", 3, "pi_no_incentive")] for seen in CHECKPOINTS}) == 1


def test_acquisition_on_the_familiar_revisions_does_not_reach_revision_c_before_the_follow_up(worlds):
    for results in worlds:
        cold = results[Key("cold", "revision-C", 3, "pi")]
        assert results[Key("acquired", "revision-C", 3, "pi")].first == cold.first
        assert results[Key("follow-up 0", "revision-C", 3, "pi")] == results[Key("acquired", "revision-C", 3, "pi")]
        learned = [results[Key(f"follow-up {seen}", "revision-C", 3, "pi")].first for seen in FOLLOW_UP_CHECKPOINTS]
        assert learned[-1] > learned[0]


def test_a_controller_that_learns_while_frozen_is_caught(streams):
    class Writing(Controller):
        def run(self, task, budget, *, learn):
            return super().run(task, budget, learn=True)

    with pytest.raises(StateChangedError) as error:
        frozen(Writing(PI, DOMAIN, streams.templates()), streams.probe, 3)
    assert str(error.value) == "The frozen evaluation of pi changed what it has learned."
    assert error.value.exit_code == 2


def test_a_controller_that_reads_only_passes_the_guard(streams):
    made = Controller(PI, DOMAIN, streams.templates())
    assert frozen(made, streams.probe, 3) == frozen(made, streams.probe, 3)
