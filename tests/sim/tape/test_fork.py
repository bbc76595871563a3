"""Forks on the real simulator are full runs, and snapshots go on in another process."""

import importlib.util

import pytest

from surefoot.environments.host import TaskHost
from surefoot.environments.registry import find_task
from surefoot.program.source import Program

INSTALLED = importlib.util.find_spec("robosuite") is not None  # importing it here would choose a renderer
pytestmark = [pytest.mark.sim, pytest.mark.skipif(not INSTALLED, reason="needs the extra robosuite")]

EDITS = {
    "another height at the end": lambda text: text.replace("0.15", "0.16"),
    "a slip at the start": lambda text: text.replace("z_approach=approach", "z_approach=0.07"),
    "a query more": lambda text: text.replace("close_gripper()", "get_observation()\nclose_gripper()"),
    "a hand that opens again": lambda text: text + "\nopen_gripper()\n",
    "a last call less": lambda text: text[: text.rindex("goto_pose(")],
    "an end that raises": lambda text: text + "\n1 / 0\n",
    "time that passes": lambda text: text.replace("close_gripper()", "import time; time.sleep(0.5)\nclose_gripper()"),
}
LIFT = """position, quaternion = sample_grasp_pose("cube")
approach = 0.10
open_gripper()
goto_pose(position, quaternion, z_approach=approach)
close_gripper()
position[2] += 0.15
goto_pose(position, quaternion)
"""


@pytest.fixture(scope="module")
def hosts():
    task = find_task("robosuite/cube-lift")
    with TaskHost(task) as forking, TaskHost(task) as running:
        yield forking, running


@pytest.mark.parametrize("edit", EDITS)
def test_a_fork_on_robosuite_is_a_full_run(hosts, edit, tmp_path):
    forking, running = hosts
    program = Program(EDITS[edit](LIFT))
    witness = running.execute(Program(LIFT), 101).tape
    forked = forking.fork(program, witness, path=tmp_path / "forked.mcap")
    full = running.execute(program, 101, path=tmp_path / "full.mcap")
    assert (forked.outcome, forked.steps, forked.scene) == (full.outcome, full.steps, full.scene)
    assert (forked.tape.events, forked.tape.telemetry) == (full.tape.events, full.tape.telemetry)
    assert forked.tape.id == full.tape.id
    assert forked.live_steps < full.steps or forked.event < 2
