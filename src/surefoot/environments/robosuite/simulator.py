"""Robosuite's own environments: how they are made and how they are reset."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from surefoot.environments.robosuite.importing import load_robosuite
from surefoot.environments.robosuite.models import ModelKeeper
from surefoot.environments.robosuite.restack import register_restack
from surefoot.environments.robosuite.setups import CONTROL_PERIOD, Setup


def make_robosuite(setup: Setup) -> Any:
    """A plain robosuite environment (`robosuite.environments.base.MujocoEnv`) without rendering.

    Its `step` works as robosuite left it, with all default observables; surefoot's own stepping is in
    `surefoot.environments.robosuite.plant`.
    """
    robosuite = load_robosuite()
    register_restack()
    simulator = robosuite.make(
        setup.environment,
        robots=list(setup.robots),
        controller_configs=robosuite.load_controller_config(default_controller="OSC_POSE"),
        has_renderer=False,
        has_offscreen_renderer=False,
        use_camera_obs=False,
        control_freq=round(1 / CONTROL_PERIOD),
        ignore_done=True,
        hard_reset=True,
        **setup.options,
    )
    keep_model(simulator)
    return simulator


def keep_model(simulator: Any) -> None:
    """Have hard resets compile a model only if it differs from the last one; all else of them stays."""
    keeper = ModelKeeper()

    def initialize_sim() -> None:
        from robosuite.utils.binding_utils import MjSim

        simulator.sim = MjSim(keeper.model(simulator.model.get_xml()))
        simulator.sim.forward()
        simulator.initialize_time(simulator.control_freq)

    simulator._initialize_sim = initialize_sim


def reset_robosuite(simulator: Any, seed: int) -> None:
    """Build configuration `seed`; robosuite draws it from the two global generators."""
    np.random.seed(seed)
    random.seed(seed)
    simulator.sim = None  # its last reference goes; robosuite's own release first collects all garbage, 60 ms
    simulator.reset()
