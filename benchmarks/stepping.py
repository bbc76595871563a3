"""The stepping core against robosuite's own `env.step`: control steps a second, and the same ends of the same episodes.

    python benchmarks/stepping.py [TASK=PROGRAM …] [--scenes 201-210] [--write FILE]

Each scene is one episode of a program, run as `surefoot record` runs it (own process, boundary, tape, telemetry
after each effect). Its commands are then given again, from the state in which the program started, to the bare
core, and as actions to `env.step` with robosuite's default observables and without any; motions in joint space
go through robosuite's JOINT_POSITION controller. The four take turns on every scene, and the figures are medians
over scenes: ratios within one run mean something, single speeds depend on the machine.
"""

from __future__ import annotations

import argparse
import io
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from surefoot.boundary.process import Zygote
from surefoot.cli.arguments import parse_seeds
from surefoot.environments.base import Task
from surefoot.environments.registry import find_task
from surefoot.program.source import Program
from surefoot.tape.recording import Origin, execute

ROOT = Path(__file__).parent.parent
PROGRAMS = {
    "robosuite/cube-lift": ROOT / "examples/lift.py",
    "robosuite/cube-stack": ROOT / "benchmarks/programs/robosuite_stack.py",
    "robosuite/two-arm-lift": ROOT / "benchmarks/programs/robosuite_two_arm_lift.py",
}
WAYS = ("env.step", "without observables", "core", "episode")
COLUMNS = (*WAYS, "episode and reset")


class End(NamedTuple):
    """How one way through an episode ended: seconds of stepping, joint positions (nq,), the verdict."""

    seconds: float
    positions: np.ndarray
    succeeded: bool


class Episode(NamedTuple):
    """One program on one scene: its end, what each arm was commanded to do in each control step, reset seconds."""

    end: End
    reset_seconds: float
    state: bytes
    commands: list[tuple[Any, ...]]


class Bench:
    """One task's simulator, on which episodes are run and their commands given again."""

    def __init__(self, task: Task, zygote: Zygote):
        self.task = task
        self.environment: Any = task.make()
        self._zygote = zygote

    def run(self, program: Program, seed: int, folder: Path) -> Episode:
        """An episode as `surefoot record` runs it."""
        task, seconds = self.task, []
        origin = Origin(task.name, task.tier, task.protocol, task.surface, task.revision())
        with recorded_commands() as commands:
            reset = self.environment.reset

            def timed_reset(configuration: int) -> Any:
                started = time.perf_counter()
                scene = reset(configuration)
                seconds.append(time.perf_counter() - started)
                commands.clear()
                return scene

            with mock.patch.object(self.environment, "reset", timed_reset):
                path = folder / f"{seed}.mcap"
                execution = execute(program, self.environment, origin, seed, self._zygote, path=path)
            path.unlink()
        plant = self.plant
        end = End(execution.seconds - seconds[0], plant.data.qpos.copy(), self.environment.succeeded())
        return Episode(end, seconds[0], plant.integration_state().tobytes(), commands)

    def core(self, seed: int, commands: Sequence[tuple[Any, ...]]) -> tuple[End, bytes]:
        """The commands given to the bare core; MuJoCo's state in which it ends."""
        self.environment.reset(seed)
        plant = self.plant

        def step(orders: tuple[Any, ...]) -> None:
            for arm, command in zip(plant.arms, orders, strict=True):
                arm.command = command
            plant.step()

        seconds = timed(step, commands)
        end = End(seconds, plant.data.qpos.copy(), self.environment.succeeded())
        return end, plant.integration_state().tobytes()

    def plain(self, seed: int, commands: Sequence[tuple[Any, ...]], observables: bool) -> End:
        """The commands given to robosuite's `env.step`, with its default observables or without any."""
        self.environment.reset(seed)
        simulator, plant = self.environment._simulator, self.plant
        simulator.sim.data._data = plant.data  # surefoot's readings had it look at a copy
        drivers = [Driver(robot, arm) for robot, arm in zip(simulator.robots, plant.arms, strict=True)]
        seen = simulator._observables if observables else {}

        def step(orders: tuple[Any, ...]) -> None:
            pairs = zip(drivers, orders, strict=True)
            action = np.concatenate([driver.action(command, plant.data) for driver, command in pairs])
            simulator._action_dim = action.size  # a joint more than in OSC_POSE while an arm is under joint control
            simulator.step(action)

        quietly = redirect_stdout(io.StringIO())  # robosuite prints that a joint is near its limit
        with mock.patch.object(simulator, "_observables", seen), quietly:
            seconds = timed(step, commands)
        simulator.sim.forward()
        return End(seconds, plant.data.qpos.copy(), bool(simulator._check_success()))

    @property
    def plant(self) -> Any:
        """The live simulation of the present episode."""
        return self.environment._running.plant


class Driver:
    """Turns the commands of one arm into actions for robosuite's robot, at the state in which it is."""

    def __init__(self, robot: Any, arm: Any):
        self._robot = robot
        self._arm = arm
        self._pose_control = robot.controller
        self._joint_control: Any = None
        robot.gripper.current_action = arm.state.fingers

    def action(self, command: Any, data: Any) -> np.ndarray:
        """The action that does what `command` does; the robot's controller is the one that understands it."""
        from surefoot.environments.robosuite.actions import action_of

        fingers = self._robot.gripper.dof > 0
        self._arm.command = command
        self._arm.aim(data)  # says which posture the null space is drawn to
        self._pose_control.initial_joint = self._arm._record["posture"].copy()
        if command.joints is None:
            self._robot.controller = self._pose_control
            return action_of(command, self._arm.hand(data), fingers)
        self._robot.controller = self._joint_control = self._joint_control or self._joint_controller()
        shift = command.joints - self._arm.joints(data)
        return np.concatenate([shift, [1.0 if command.closing else -1.0] * fingers])

    def _joint_controller(self) -> Any:
        """Robosuite's JOINT_POSITION with our stiffness, its actions in radians."""
        from robosuite.controllers.joint_pos import JointPositionController

        from surefoot.environments.robosuite.control import JOINT_STIFFNESS

        pose, reach = self._pose_control, 2 * np.pi
        places = {"joints": pose.joint_index, "qpos": pose.qpos_index, "qvel": pose.qvel_index}
        limits = {"input_max": reach, "input_min": -reach, "output_max": reach, "output_min": -reach}
        torques = (pose.actuator_min, pose.actuator_max)
        return JointPositionController(pose.sim, pose.eef_name, places, torques, kp=JOINT_STIFFNESS, **limits)


@contextmanager
def recorded_commands() -> Iterator[list[tuple[Any, ...]]]:
    """A list that grows by what every arm is commanded to do, with each control step of the core."""
    from surefoot.environments.robosuite.plant import Plant

    commands: list[tuple[Any, ...]] = []
    step = Plant.step

    def recorded(plant: Plant) -> None:
        commands.append(tuple(arm.command for arm in plant.arms))
        step(plant)

    with mock.patch.object(Plant, "step", recorded):
        yield commands


def timed(step: Callable[[Any], None], items: Sequence[Any]) -> float:
    """Seconds that `step` takes for all items."""
    started = time.perf_counter()
    for item in items:
        step(item)
    return time.perf_counter() - started


class Comparison(NamedTuple):
    """One scene: control steps, steps a second by way, and what the ways agree in."""

    steps: int
    speeds: dict[str, float]
    succeeded: bool
    same_verdict: bool
    same_bits: bool
    apart: float


def compare(bench: Bench, program: Program, seed: int, folder: Path) -> Comparison:
    """All ways through one scene."""
    episode = bench.run(program, seed, folder)
    core, state = bench.core(seed, episode.commands)
    bare = bench.plain(seed, episode.commands, observables=False)
    plain = bench.plain(seed, episode.commands, observables=True)
    steps = len(episode.commands)
    ends = dict(zip(WAYS, (plain, bare, core, episode.end), strict=True))
    speeds = {way: steps / end.seconds for way, end in ends.items()}
    speeds["episode and reset"] = steps / (episode.end.seconds + episode.reset_seconds)
    return Comparison(
        steps,
        speeds,
        episode.end.succeeded,
        all(end.succeeded == episode.end.succeeded for end in ends.values()),
        state == episode.state,
        float(np.abs(plain.positions - episode.end.positions).max()),
    )


def row(name: str, scenes: Sequence[Comparison]) -> str:
    """One task's line of the table."""
    speeds = {way: statistics.median(scene.speeds[way] for scene in scenes) for way in COLUMNS}
    ratios = {
        way: statistics.median(scene.speeds[way] / scene.speeds["env.step"] for scene in scenes) for way in COLUMNS
    }
    cells = [f"{speeds['env.step']:.0f}", *(f"{speeds[way]:.0f} ({ratios[way]:.2f}x)" for way in COLUMNS[1:])]
    cells += [f"{sum(scene.succeeded for scene in scenes)}/{len(scenes)}"]
    cells += [f"{sum(scene.same_verdict for scene in scenes)}/{len(scenes)}"]
    cells += [f"{sum(scene.same_bits for scene in scenes)}/{len(scenes)}"]
    apart = sorted(scene.apart for scene in scenes)
    cells += [f"{statistics.median(apart):.0e}, {apart[-1]:.0e}"]
    return f"| {name} | {statistics.median(scene.steps for scene in scenes):.0f} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="TASK=PROGRAM")
    parser.add_argument("--scenes", default="201-210")
    parser.add_argument("--write", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    chosen = dict(pair.split("=", 1) for pair in arguments.programs) or PROGRAMS
    seeds = parse_seeds(arguments.scenes)
    lines = [
        "# Stepping",
        "",
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; scenes {arguments.scenes}.",
        "Control steps a second, medians over scenes; in brackets the median of the scenes' ratios to `env.step` (with",
        "default observables, its reset not counted). `episode` is a whole recorded episode without its reset.",
        "`same verdict`: all four ways succeed, or all fail. `same bits`: the core, given the episode's commands alone,",
        "ends in its state to the bit. `apart`: largest difference of a position (m or rad) between episode and",
        "`env.step` at the end, median and maximum.",
        "",
        f"| task | steps | {' | '.join(COLUMNS)} | succeeded | same verdict | same bits | apart |",
        "| --- " * 11 + "|",
    ]
    with Zygote() as zygote, tempfile.TemporaryDirectory() as folder:
        for name, path in chosen.items():
            bench, program = Bench(find_task(name), zygote), Program.read(Path(path))
            begun = bench.run(program, seeds[0], Path(folder)).commands[:2]
            bench.plain(seeds[0], begun, observables=True)  # now all is compiled
            lines.append(row(name, [compare(bench, program, seed, Path(folder)) for seed in seeds]))
            bench.environment.close()
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if arguments.write:
        arguments.write.write_text(text)


if __name__ == "__main__":
    main()
