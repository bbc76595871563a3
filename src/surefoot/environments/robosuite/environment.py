"""Robosuite behind surefoot's environment contract."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from surefoot.boundary.environment import Environment, Frame, Scene, checked_duration
from surefoot.environments.offscreen import Offscreen
from surefoot.environments.robosuite.plant import Plant, Snapshot
from surefoot.environments.robosuite.reach import prepare
from surefoot.environments.robosuite.readings import Readings
from surefoot.environments.robosuite.rig import Rig
from surefoot.environments.robosuite.servo import Servo
from surefoot.environments.robosuite.setups import CONTROL_PERIOD, SETTLING_STEPS, Setup
from surefoot.environments.robosuite.simulator import make_robosuite, reset_robosuite
from surefoot.errors import UsageError

RESOLUTION = 1e-9
"""What a scene's numbers are rounded to, so that the digest is the same on every machine."""


class Episode(NamedTuple):
    """What one reset builds: the live simulation, the eyes on it, the motions, and the scene's digest."""

    plant: Plant
    readings: Readings
    servo: Servo
    scene: str


class RobosuiteEnvironment(Environment):
    """One robosuite simulator, serving a task called `name`. Call `reset` before anything else."""

    def __init__(self, setup: Setup, name: str):
        self._setup = setup
        self._name = name
        self._simulator = make_robosuite(setup)
        self._running: Episode | None = None
        self._offscreen: Offscreen | None = None

    def reset(self, seed: int) -> Scene:
        """Start configuration `seed`, a pure function of task and seed, and let it settle."""
        self._stop_drawing()
        reset_robosuite(self._simulator, seed)
        sim = self._simulator.sim
        plant = Plant(sim.model._model, sim.data._data, self._simulator.robots, self.step_limit)
        readings = Readings(self._simulator, plant, self._setup)
        if readings.spill is not None:
            plant.ledger = readings.spill
        scene = self._scene(seed, plant, readings)
        self._running = Episode(plant, readings, Servo(plant), scene.digest)
        self.api = self._setup.api(Rig(readings, self._running.servo), self._setup.objects)
        for arm in plant.arms:
            prepare(arm.chain, arm.rest)
        plant.settle(SETTLING_STEPS)
        readings.mark_start()
        return scene

    def succeeded(self) -> bool:
        """Robosuite's own check of the state as it is now."""
        return self._episode.readings.succeeded()

    def telemetry(self) -> dict[str, Any]:
        """Hand, gripper, joints, and each object's pose, height, displacement, grasp and contacts.

        Robot-base frame, metres, quaternions wxyz; `height.<object>` is the centre's height above the table,
        `displacement.<object>` its distance from where it had settled.
        """
        return self._episode.readings.telemetry()

    @property
    def step_limit(self) -> int:
        """Control steps that an episode may take."""
        return self._setup.step_limit

    @property
    def clock(self) -> float:
        """Simulated seconds since the reset."""
        return self.steps * CONTROL_PERIOD

    @property
    def steps(self) -> int:
        """Control steps of 0.05 s since the reset."""
        return self._episode.plant.steps

    def sleep(self, seconds: float) -> None:
        """Hold still for as many control steps as cover `seconds`; ValueError unless finite and not negative."""
        within = min(checked_duration(seconds) / CONTROL_PERIOD, self.step_limit + 1)
        self._episode.servo.hold(math.ceil(within - 1e-9))

    def state_digest(self) -> str:
        """Exact hash of MuJoCo's integration state, the arms' commands, the steps taken and the dirt wiped off."""
        return self._episode.plant.snapshot().digest

    def snapshot(self) -> dict[str, Any]:
        """The whole state; continuing after `restore` is equal to the bit."""
        return {"scene": self._episode.scene, "plant": self._episode.plant.snapshot().to_value()}

    def restore(self, snapshot: Any) -> None:
        """Return to a snapshot of this scene. UsageError for any other."""
        if not isinstance(snapshot, dict) or snapshot.get("scene") != self._episode.scene:
            raise UsageError("This snapshot is of another scene; reset to its seed, then restore it.")
        self._episode.plant.restore(Snapshot.from_value(snapshot["plant"]))

    def watch(self, on_step: Callable[[], None]) -> None:
        """Call `on_step` after each control step of this episode."""
        self._episode.plant.on_step = on_step

    def frame(self) -> Frame:
        """What the setup's camera sees now, drawn from copies; UsageError where this machine can't draw."""
        plant = self._episode.plant
        if self._offscreen is None:
            self._offscreen = Offscreen(plant.model, self._setup.camera)
        return self._offscreen.frame(plant.data)

    def close(self) -> None:
        """Release the simulator's memory."""
        self._stop_drawing()
        self._running = None
        self._simulator.close()

    @property
    def _episode(self) -> Episode:
        if self._running is None:
            raise UsageError("The environment has no episode yet; call reset(seed) first.")
        return self._running

    def _stop_drawing(self) -> None:
        offscreen, self._offscreen = self._offscreen, None
        if offscreen is not None:
            offscreen.close()

    def _scene(self, seed: int, plant: Plant, readings: Readings) -> Scene:
        """Identity of the scene before it settles."""
        digest = hashlib.blake2b(f"{self._name}\0{self._setup.protocol}\0".encode(), digest_size=16)
        for values in (*readings.constants(), plant.data.qpos, plant.data.qvel):
            digest.update(np.rint(values / RESOLUTION).astype("<i8").tobytes())
        positions = {name: readings.object_pose(name).position.tolist() for name in readings.names}
        layout = {name: tuple(round(part, 9) for part in at) for name, at in positions.items()}
        return Scene(seed, digest.hexdigest(), layout)
