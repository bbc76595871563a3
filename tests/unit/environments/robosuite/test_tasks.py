import subprocess
import sys

from surefoot.environments.robosuite.tasks import TASKS

FORBIDDEN = ("robosuite", "mujoco", "numba", "cv2")


def test_importing_the_tasks_loads_no_simulator():
    code = (
        "import sys; import surefoot.environments.robosuite.tasks; "
        f"print([name for name in {FORBIDDEN} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_every_task_offers_the_functions_of_public_programs():
    for task in TASKS.values():
        kinds = {function.name: function.kind for function in task.surface.functions}
        assert kinds == {
            "get_object_pose": "query",
            "sample_grasp_pose": "query",
            "goto_pose": "effect",
            "open_gripper": "effect",
            "close_gripper": "effect",
            "home_pose": "effect",
            "get_observation": "query",
        }
        assert all(function.doc for function in task.surface.functions)


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
