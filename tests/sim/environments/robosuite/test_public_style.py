"""Programs in the style of public code-as-policy programs run unchanged, and the checks agree with robosuite."""

import importlib.util
from pathlib import Path

import pytest

from surefoot.boundary.outcome import Success
from surefoot.environments.host import TaskHost
from surefoot.environments.registry import find_task
from surefoot.environments.robosuite.suites import SUITES
from surefoot.program.source import Program
from surefoot.tape.certificate import Certified

INSTALLED = importlib.util.find_spec("robosuite") is not None  # importing it here would choose a renderer
pytestmark = [pytest.mark.sim, pytest.mark.skipif(not INSTALLED, reason="needs the extra robosuite")]

FOLDER = Path(__file__).parents[4] / "examples" / "public_style"
SCENES = (101, 102)


def program_of(task):
    return Program.read(FOLDER / f"{task.partition('/')[2].replace('-', '_')}.py")


def test_there_is_one_program_for_each_task():
    assert {path.name for path in FOLDER.glob("*.py")} == {program_of(name).name for name in SUITES["robosuite"]}


@pytest.mark.parametrize("name", SUITES["robosuite"])
def test_a_program_in_public_style_solves_its_task_reaches_its_goal_check_and_certifies_itself(name):
    task, program = find_task(name), program_of(name)
    with TaskHost(task) as host:
        for seed in SCENES:
            execution = host.execute(program, seed)
            assert execution.outcome == Success(), seed
            last = execution.tape.telemetry[-1].values
            assert all(task.graph[goal].holds(last, task.roles) for goal in task.goal)
        assert isinstance(host.certify(program, execution.tape), Certified)
