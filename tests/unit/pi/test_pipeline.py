"""A user's own pipeline: what it takes, what running it gives, and what it refuses."""

from __future__ import annotations

import re

import numpy as np
import pytest

from surefoot.errors import UsageError
from surefoot.pi.learner import Learner
from surefoot.pi.pipeline import Pipeline, Stage

EFFECTS = {
    "scale": {"same": lambda rows: list(rows), "double": lambda rows: [2 * row for row in rows],
              "negate": lambda rows: [-row for row in rows]},
    "pick": {"all": lambda rows: list(rows), "positive": lambda rows: [row for row in rows if row > 0]},
}  # fmt: skip


def agrees(stage):
    return lambda before, after, goal: after == EFFECTS[stage][goal](before) or f"not {goal}"


def wanted(task, output):
    state = task.data
    for stage, goal in zip(EFFECTS, task.request, strict=True):
        state = EFFECTS[stage][goal](state)
    return output == state or f"{output} instead of {state}"


def stage(name="scale", actions=None, contract=None, **more):
    return Stage(name, actions=actions or EFFECTS[name], contract=contract or agrees(name), **more)


@pytest.fixture
def pipeline():
    return Pipeline([stage("scale"), stage("pick")], audit=wanted)


def task_of(pipeline, name="t1", request=("double", "positive"), data=(1, -2, 3, 4), revision="1"):
    return pipeline.task(name, revision, request, list(data), micro=lambda rows: rows[:2])


def refused(text, call, *arguments, **named):
    with pytest.raises(UsageError, match=f"^{re.escape(text)}$"):
        call(*arguments, **named)


def test_a_task_is_repaired_on_the_micro_task_and_gives_its_output(pipeline):
    outcome = Learner(pipeline).solve(task_of(pipeline))
    assert (outcome.first_accepted, outcome.accepted, outcome.data) == (False, True, [2, 6, 8])
    assert outcome.program == {"scale": "double", "pick": "positive"}
    assert str(outcome).splitlines() == [
        "t1: submits (same, all): scale: not double; pick: not positive",
        "  trial 1: double for scale: kept, incentive 0.97",
        "  trial 2: positive for pick: kept, incentive 0.97",
        "  submits (double, positive): accepted",
        "  34 rows visited",  # 4+4+4 and 4+4+3 in full, 2+2+2 and 2+2+1 in trials
    ]


def test_two_accepted_tasks_promote_for_their_revision_alone(pipeline):
    learner = Learner(pipeline)
    firsts = [learner.solve(task_of(pipeline, name)).first_accepted for name in ("t1", "t2", "t3")]
    assert firsts == [False, False, True]
    other = learner.solve(task_of(pipeline, "t4", revision="2"))
    assert other.submitted == {"scale": "same", "pick": "all"}
    assert (other.accepted, len(other.trials)) == (True, 2)
    assert [(known.revision, known.action, known.confirmations, known.promoted) for known in learner.known()] == [
        ("1", "double", 3, True),
        ("1", "positive", 3, True),
        ("2", "double", 1, False),
        ("2", "positive", 1, False),
    ]


def test_the_same_task_twice_promotes_nothing(pipeline):
    learner = Learner(pipeline)
    for _ in range(3):
        assert not learner.solve(task_of(pipeline)).first_accepted


def test_solving_without_learning_changes_nothing(pipeline):
    learner = Learner(pipeline)
    learner.solve(task_of(pipeline))
    before = learner.digest()
    learner.solve(task_of(pipeline, "t2", request=("negate", "all")), learn=False)
    assert learner.digest() == before
    learner.reset()
    assert learner.known() == []


def test_every_task_is_solved_within_the_bound_where_the_micro_task_identifies(pipeline):
    assert pipeline.bound == 3
    for scale in EFFECTS["scale"]:
        for pick in EFFECTS["pick"]:
            task = task_of(pipeline, request=(scale, pick))
            assert task.ambiguous((scale, pick)) == {}
            assert Learner(pipeline).solve(task).accepted


def test_an_action_that_raises_fails_its_contract_and_the_rest_is_not_run():
    def broken(rows):
        raise ValueError("no such mode\nsecond line")

    given = []
    pick = {"all": lambda rows: given.append(1) or list(rows), "positive": EFFECTS["pick"]["positive"]}
    pipeline = Pipeline([stage(actions={"broken": broken, **EFFECTS["scale"]}), stage("pick", pick)], audit=wanted)
    task = task_of(pipeline, request=("double", "all"))
    submission = task.submission(pipeline.places(("broken", "all")))
    assert submission.wrong == (
        "broken failed (ValueError: no such mode)",
        "not run, as 'scale' gave nothing to work on",
    )
    assert (submission.feedback.work, submission.feedback.failed, given) == (4, (0, 1), [])
    assert Learner(pipeline).solve(task).accepted


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (lambda rows: None, "odd failed (TypeError: object of type 'NoneType' has no len())"),
        (lambda rows: (row for row in rows), "odd failed (TypeError: object of type 'generator' has no len())"),
        (lambda rows: {1: (each for each in rows)}, "odd failed (TypeError: cannot pickle 'generator' object)"),
        (lambda rows: exit(3), "odd failed (SystemExit: 3)"),
        (lambda rows: 1 / 0, "odd failed (ZeroDivisionError: division by zero)"),
        (lambda rows: [][7 + len("x" * 1000)], "odd failed (IndexError: list index out of range)"),
        (lambda rows: {}["x" * 1000], f"odd failed (KeyError: '{'x' * 288}…)"),
    ],
)
def test_whatever_an_action_does_is_a_diagnostic(action, text):
    pipeline = Pipeline([stage(actions={"odd": action, **EFFECTS["scale"]}), stage("pick")], audit=wanted)
    task = task_of(pipeline)
    assert task.submission((0, 0)).wrong[0] == text
    assert Learner(pipeline).solve(task).accepted


def test_an_interrupt_is_no_diagnostic(pipeline):
    def interrupted(rows):
        raise KeyboardInterrupt

    task = task_of(Pipeline([stage(actions={"odd": interrupted}), stage("pick")], audit=wanted))
    with pytest.raises(KeyboardInterrupt):
        task.full((0, 0))


def test_an_action_that_works_in_place_hides_nothing_from_its_contract():
    def double(rows):
        for place, row in enumerate(rows):
            rows[place] = 2 * row
        return rows

    pipeline = Pipeline([stage(actions={"same": lambda rows: rows, "double": double}), stage("pick")], audit=wanted)
    task = task_of(pipeline, request=("same", "all"))
    assert task.submission(pipeline.places(("double", "all"))).wrong == ("not same", "")
    outcome = Learner(pipeline).solve(task_of(pipeline))
    assert outcome.data == [2, 6, 8]
    assert task.data == [1, -2, 3, 4]


def test_a_contract_or_an_audit_that_raises_rejects():
    def contract(before, after, goal):
        raise KeyError("date")

    task = task_of(Pipeline([stage(contract=contract), stage("pick")], audit=wanted))
    assert task.submission((0, 0)).wrong[0] == "the contract can't judge what same gave (KeyError: 'date')"

    def audit(task, output):
        raise OSError("no note")

    pipeline = Pipeline([stage(), stage("pick")], audit=audit)
    outcome = Learner(pipeline).solve(task_of(pipeline))
    assert (outcome.accepted, outcome.data) == (False, None)
    assert outcome.final == "audit: it can't judge the output (OSError: no note)"
    assert outcome.advice.startswith("Every contract passes and the audit does not")


@pytest.mark.parametrize("verdict", [None, 1, "", [], np.float64(1)])
def test_a_contract_or_an_audit_that_says_neither_yes_nor_why_not_is_refused(verdict):
    task = task_of(Pipeline([stage(contract=lambda before, after, goal: verdict), stage("pick")], audit=wanted))
    refused(f"The contract of stage 'scale' gave {verdict!r}. Let it give True where all is right, and a text that says "
            "what is wrong (or False) where it is not.", task.full, (0, 0))  # fmt: skip
    pipeline = Pipeline([stage(), stage("pick")], audit=lambda task, output: verdict)
    with pytest.raises(UsageError, match="The audit gave"):
        Learner(pipeline).solve(task_of(pipeline, request=("same", "all")))


def test_false_and_numpy_s_booleans_are_verdicts():
    contract = lambda before, after, goal: np.bool_(after == EFFECTS["scale"][goal](before))  # noqa: E731
    pipeline = Pipeline([stage(contract=contract), stage("pick")], audit=wanted)
    assert task_of(pipeline).submission((0, 1)).wrong[0] == "same does not give 'double'"
    assert Learner(pipeline).solve(task_of(pipeline)).accepted


def test_a_micro_task_that_does_not_identify_is_noticed_and_nothing_is_promoted(pipeline):
    learner = Learner(pipeline)
    for name in ("t1", "t2", "t3"):
        task = pipeline.task(name, "1", ("double", "positive"), [1, -2, 3], micro=lambda rows: rows[:1])
        outcome = learner.solve(task)
        assert not outcome.accepted
        assert outcome.advice == (
            "All contracts pass on the micro-task, but on the data not that of pick: the micro-task does not tell its "
            "actions apart. Let micro take more rows, or more telling ones."
        )
    assert task.ambiguous(("double", "positive")) == {"pick": ("all", "positive")}
    assert not any(known.confirmations for known in learner.known())


def test_the_other_reasons_for_not_solving_a_task_are_told(pipeline):
    short = Learner(pipeline).solve(task_of(pipeline, request=("negate", "positive")), budget=1)
    assert short.advice == ("The budget of 1 trials is used up at scale; 3 are always enough where the premises hold.")
    blind = Pipeline([stage(), stage("pick", {"all": list, "none": lambda rows: []})], audit=wanted)
    hidden = blind.task("t1", "1", ("same", "positive"), [1, -2, 3], micro=lambda rows: rows[:1])
    assert Learner(blind).solve(hidden).advice.startswith("The micro-task does not show what fails at pick")
    unable = Pipeline([stage(actions={"same": list, "negate": EFFECTS["scale"]["negate"]}), stage("pick")], wanted)
    assert Learner(unable).solve(task_of(unable)).advice.startswith("No action of scale passes on the micro-task")


def test_an_action_that_easy_data_confirmed_is_overtaken_by_the_right_one(pipeline):
    """Data that can't tell two actions apart promote the wrong one; data that can reject and repair it."""
    learner = Learner(pipeline)
    for name in ("easy1", "easy2"):
        assert learner.solve(task_of(pipeline, name, ("same", "positive"), (1, 2, 3))).first_accepted
    hard = [learner.solve(task_of(pipeline, f"hard{number}", ("same", "positive"))) for number in range(4)]
    assert [outcome.first_accepted for outcome in hard] == [False, False, True, True]
    assert all(outcome.accepted for outcome in hard)


def test_a_demonstration_is_a_candidate_and_not_a_first_submission(pipeline):
    shown = pipeline.demonstrate(
        task_of(pipeline, "d", ("negate", "positive")), {"pick": "positive", "scale": "negate"}
    )
    assert shown.effects == ("negate", "positive")
    learner = Learner(pipeline, demonstrations=[shown])
    outcome = learner.solve(task_of(pipeline, request=("negate", "positive")))
    assert (outcome.first_accepted, [trial.action for trial in outcome.trials]) == (False, ["negate", "positive"])


def test_effects_can_be_recognized_from_transitions(pipeline):
    seen = []

    def recognize(stage, before, after):
        seen.append((stage, before, after))
        return "negate" if after == [-row for row in before] else "all"

    task = task_of(pipeline, "d", ("negate", "all"))
    assert pipeline.demonstrate(task, ("negate", "all"), recognize).effects == ("negate", "all")
    assert seen == [("scale", [1, -2, 3, 4], [-1, 2, -3, -4]), ("pick", [-1, 2, -3, -4], [-1, 2, -3, -4])]


def test_the_paper_s_other_controllers_run_on_it(pipeline):
    shown = [pipeline.demonstrate(task_of(pipeline, "d", ("double", "positive")), ("double", "positive"))]
    for name in ("trajectory", "no_localization", "no_goal", "no_trial", "compositional", "self_trial"):
        learner = Learner(pipeline, composition=name, demonstrations=shown)
        assert learner.solve(task_of(pipeline)).accepted


def test_versions_of_a_tool_are_called_by_the_task_s_revision():
    versions = {"1": dict(EFFECTS["scale"]), "2": dict(zip(EFFECTS["scale"], list(EFFECTS["scale"].values())[::-1], strict=True))}  # fmt: skip
    pipeline = Pipeline([Stage("scale", versions=versions, contract=agrees("scale")), stage("pick")], audit=wanted)
    request = ("negate", "all")
    programs = [Learner(pipeline).solve(task_of(pipeline, request=request, revision=each)).program for each in "12"]
    assert [program["scale"] for program in programs] == ["negate", "same"]
    refused("There is no version of stage 'scale' '3'. Available: 1, 2.", task_of, pipeline, revision="3")


def test_a_request_can_be_given_by_names(pipeline):
    assert task_of(pipeline, request={"pick": "all", "scale": "double"}).request == ("double", "all")


def test_wrong_stages_are_refused():
    holds = lambda before, after, goal: True  # noqa: E731
    refused("Stage 's' has no action; give at least one, for instance actions={\"m0\": function}.", Stage, "s", contract=holds)  # fmt: skip
    refused("Stage 's' has both actions and versions; give one of them, for instance actions={\"m0\": function}.",
            Stage, "s", contract=holds, actions={"a": list}, versions={"1": {"a": list}})  # fmt: skip
    refused("Stage 's' got of type list as actions. Give a mapping from names.", Stage, "s", contract=holds, actions=[list])  # fmt: skip
    refused("A stage's name is ''. Give a text that is not empty.", stage, "", {"a": list}, holds)
    refused("Action 'a' of stage 's' is of type int. Give a function(data).", stage, "s", {"a": 3}, holds)
    refused("The name of an action of stage 's' is 3. Give a text that is not empty.", stage, "s", {3: list}, holds)
    refused("Action 'a' of stage 's' is called as function(data), but takes (x, y). Change its parameters.",
            stage, "s", {"a": lambda x, y: x}, holds)  # fmt: skip
    refused("The contract of stage 's' is called as function(before, after, goal), but takes (after). Change its parameters.",
            stage, "s", {"a": list}, lambda after: True)  # fmt: skip
    refused("The contract of stage 's' is of type NoneType. Give a function(before, after, goal).",
            Stage, "s", contract=None, actions={"a": list})  # fmt: skip
    refused("The versions of stage 's' differ in their actions: b. Give every version the same names; for an action that "
            "a version lacks, a function that raises.",
            Stage, "s", contract=holds, versions={"1": {"a": list, "b": list}, "2": {"a": list}})  # fmt: skip
    refused("A version of stage 's' has no action. Give a mapping from names to functions.",
            Stage, "s", contract=holds, versions={"1": {}})  # fmt: skip
    refused("The name of a version of stage 's' is 1. Give a text that is not empty.",
            Stage, "s", contract=holds, versions={1: {"a": list}})  # fmt: skip
    refused("Stage 's' got a text as goals. Give a list: goals=['all'].", stage, "s", {"a": list}, holds, goals="all")


def test_wrong_pipelines_are_refused():
    refused("A pipeline needs stages. Give at least one: stages=[Stage(…), …].", Pipeline, [], wanted)
    refused(
        "2 stages are called 'pick'. Give each a name of its own.", Pipeline, [stage("pick"), stage("pick")], wanted
    )
    refused("The audit is called as function(task, output), but takes (output). Change its parameters.",
            Pipeline, [stage()], lambda output: True)  # fmt: skip


def test_wrong_tasks_are_refused(pipeline):
    refused("The request of task 't1' has one goal for each of scale, pick; got 1.", task_of, pipeline, request=["all"])
    refused("The request of task 't1' has one goal for each of scale, pick; got of type str.", task_of, pipeline, request="ab")  # fmt: skip
    refused("The request of task 't1' has no goal for pick. Give one goal per stage.", task_of, pipeline, request={"scale": "same"})  # fmt: skip
    refused("There is no stage 'picks'. Did you mean 'pick'? Available: pick, scale.",
            task_of, pipeline, request={"scale": "same", "picks": "all"})  # fmt: skip
    refused("A goal of stage 'scale' is ['same']. Evidence is kept under goals: use texts, numbers, True, False, None, or "
            "tuples of them.", task_of, pipeline, request=[["same"], "all"])  # fmt: skip
    with pytest.raises(UsageError, match="A goal of stage 'scale' is nan"):
        task_of(pipeline, request=[float("nan"), "all"])
    refused("A task's id is ''. Give a text that is not empty.", task_of, pipeline, "")
    refused("The revision of task 't1' is 1. Give a text that is not empty.", task_of, pipeline, revision=1)
    refused(
        "The data of task 't1' has no rows. A task and its micro-task need at least one.", task_of, pipeline, data=()
    )
    request = ("same", "all")
    refused("The micro-task of 't1' has 4 rows and its data 2. Let micro take a part of the data.",
            pipeline.task, "t1", "1", request, [1, 2], lambda rows: rows + rows)  # fmt: skip
    refused("The micro-task of 't1' has no rows. A task and its micro-task need at least one.",
            pipeline.task, "t1", "1", request, [1, 2], lambda rows: rows[:0])  # fmt: skip
    refused("micro can't take a part of the data of task 't1' (KeyError: 'x').",
            pipeline.task, "t1", "1", request, [1, 2], lambda rows: {}["x"])  # fmt: skip
    refused(
        "micro of task 't1' is of type list. Give a function(data).", pipeline.task, "t1", "1", request, [1, 2], [1]
    )
    refused("The data of task 't1' can't be counted (TypeError: object of type 'int' has no len()). Give "
            "Pipeline(size=function).", pipeline.task, "t1", "1", request, 3, lambda rows: rows)  # fmt: skip
    refused("The data of task 't1' can't be copied (TypeError: cannot pickle 'generator' object). Give "
            "Pipeline(copy=function).", pipeline.task, "t1", "1", request, [iter(()), (x for x in ())], list)  # fmt: skip
    halves = Pipeline([stage(), stage("pick")], audit=wanted, size=lambda rows: len(rows) / 2)
    refused("The data of task 't1' has size 2.0. Let size give a whole number of rows.", task_of, halves)


def test_declared_goals_are_all_that_may_be_requested():
    pipeline = Pipeline([stage(goals=["same", "double"]), stage("pick")], audit=wanted)
    refused("There is no goal of stage 'scale' 'doubel'. Did you mean 'double'? Available: double, same.",
            task_of, pipeline, request=("doubel", "all"))  # fmt: skip


def test_wrong_programs_and_demonstrations_are_refused(pipeline):
    refused("There is no action of stage 'scale' 'dubble'. Did you mean 'double'? Available: double, negate, same.",
            pipeline.places, ("dubble", "all"))  # fmt: skip
    refused("The demonstration on 't1' is not accepted (scale: not double). Give a program that is.",
            pipeline.demonstrate, task_of(pipeline), ("same", "positive"))  # fmt: skip


def test_wrong_questions_to_a_learner_are_refused(pipeline):
    learner = Learner(pipeline)
    refused("The budget is -1. Give a whole number of trials, 0 or more.", learner.solve, task_of(pipeline), budget=-1)
    other = task_of(Pipeline([stage(), stage("pick")], audit=wanted))
    refused("Task 't1' is one of another pipeline. Make it with this learner's pipeline.task.", learner.solve, other)
    with pytest.raises(UsageError, match=r"There is no controller 'pie'\. Did you mean 'pi'\?"):
        Learner(pipeline, composition="pie")
