import subprocess
import sys

from surefoot.environments.robosuite.suites import SUITES
from surefoot.environments.robosuite.tasks import TASKS

FORBIDDEN = ("robosuite", "mujoco", "numba", "cv2")


def test_importing_the_tasks_loads_no_simulator():
    code = (
        "import sys; import surefoot.environments.robosuite.tasks; "
        f"print([name for name in {FORBIDDEN} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


ONE_ARM = {"get_object_pose": "query", "goto_pose": "effect", "home_pose": "effect", "get_observation": "query"}
GRIPPER = ONE_ARM | {"sample_grasp_pose": "query", "open_gripper": "effect", "close_gripper": "effect"}
TWO_ARMS = {"get_object_pose": "query", "goto_pose_both": "effect"} | {
    name.format(arm): kind
    for arm in ("arm0", "arm1")
    for name, kind in (
        ("get_{}_gripper_pose", "query"), ("goto_pose_{}", "effect"), ("open_gripper_{}", "effect"),
        ("close_gripper_{}", "effect"), ("home_pose_{}", "effect"),
    )
}  # fmt: skip
POT = TWO_ARMS | {"get_pot_pose": "query", "get_handle0_pos": "query", "get_handle1_pos": "query"}
OFFERED = {
    "robosuite/cube-lift": GRIPPER,
    "robosuite/cube-stack": GRIPPER,
    "robosuite/cube-restack": GRIPPER,
    "robosuite/spill-wipe": ONE_ARM,
    "robosuite/two-arm-handover": TWO_ARMS | {"get_hammer_pose": "query"},
    "robosuite/two-arm-lift": POT,
    "robosuite/nut-assembly": GRIPPER,
}


def test_the_suite_names_every_task_once():
    assert sorted(SUITES["robosuite"]) == sorted(TASKS) == sorted(OFFERED)


def test_every_task_offers_the_functions_of_public_programs_and_says_what_they_do():
    for task in TASKS.values():
        assert {function.name: function.kind for function in task.surface.functions} == OFFERED[task.name]
        assert all(function.doc for function in task.surface.functions)


def test_demonstrations_are_of_at_most_four_tasks():
    assert len({item.task for task in TASKS.values() for item in task.demonstrations}) <= 4
    for task in TASKS.values():
        assert task.demonstrations
        assert all(item.task in TASKS and item.source for item in task.demonstrations)


def test_development_and_held_out_seeds_share_nothing_and_stay_clear_of_the_sealed_ones():
    for task in TASKS.values():
        assert not set(task.development) & set(task.held_out)
        assert max(*task.development, *task.held_out) < 10_001


def test_checks_are_over_declared_roles_and_the_goal_comes_last():
    for task in TASKS.values():
        assert {role for check in task.graph for role in check.roles} == set(task.roles) == set(task.role_types)
        assert task.goal == (task.graph.checks[-1].name,)


def test_a_grasp_is_sustained_while_lifting_but_not_until_the_cube_stands():
    lift, stack = TASKS["robosuite/cube-lift"].graph, TASKS["robosuite/cube-stack"].graph
    assert [check.name for check in lift if check.invariant] == ["grasped"]
    assert [check.name for check in stack if check.invariant] == ["still"]
    assert set(stack.descendants["still"]) == {"reached", "grasped", "lifted", "above", "on"}


def test_a_protocol_names_versions_robot_limits_and_how_success_is_judged():
    assert TASKS["robosuite/cube-lift"].protocol == (
        "robosuite 1.4.0 Lift, Panda, OSC_POSE at 20 Hz; hard reset seeded through numpy.random and random, "
        "10 control steps of holding still while the hand opens; at most 1500 control steps; success is "
        "robosuite's own check of the state in which the program ended, with no steps after it"
    )


def test_the_protocol_of_two_arms_names_both():
    assert TASKS["robosuite/two-arm-lift"].protocol.startswith(
        "robosuite 1.4.0 TwoArmLift, Panda+Panda, OSC_POSE at 20 Hz"
    )


def test_roles_name_things_and_arms_that_the_task_has():
    for task in TASKS.values():
        setup = task.make.args[0]
        named = {spec.name for spec in setup.objects} | {setup.spill} | set(setup.arms)
        assert set(task.roles.values()) <= named
