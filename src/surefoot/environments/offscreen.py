"""Pictures of a MuJoCo simulation, drawn off screen from copies of its model and state.

Import it after mujoco has been imported the way its user needs it.
"""

from __future__ import annotations

import copy
import importlib
import os
import subprocess
import sys
from functools import cache

import mujoco
import numpy as np

from surefoot.boundary.environment import Frame
from surefoot.errors import UsageError

HEIGHT, WIDTH = 480, 640
"""Size of a picture [pixels]; MuJoCo's own default for the largest."""

STATE = mujoco.mjtState.mjSTATE_INTEGRATION
HIDDEN_GROUP = 0
"""The group of geoms that robots and objects collide with; what they look like is in another."""

CHOICES = ("egl", "osmesa", "glfw", "cgl")
"""Renderers that `MUJOCO_GL` may name, each a package of mujoco."""

TRIED = {"linux": ("egl", "osmesa"), "darwin": ("cgl",)}
"""Those that are tried where it names none, by platform; elsewhere it is glfw."""

PROBE = """
import mujoco
context = mujoco.GLContext(8, 8)
context.make_current()
mujoco.MjrContext(mujoco.MjModel.from_xml_string("<mujoco/>"), mujoco.mjtFontScale.mjFONTSCALE_150).free()
context.free()
"""
PROBE_SECONDS = 60.0


class Offscreen:
    """Draws what one camera of a model sees, state by state.

    Colours are always those that the live model has now, so that what an environment hides is hidden.
    UsageError if this machine has no renderer that works.
    """

    def __init__(self, model: mujoco.MjModel, camera: str):
        # mujoco.Renderer looks its context class up here; there is none if mujoco was imported without GL.
        mujoco.gl_context.GLContext = importlib.import_module(f"mujoco.{renderer()}").GLContext
        self._live = model
        self._model = copy.copy(model)
        self._data = mujoco.MjData(self._model)
        self._camera = camera
        self._renderer = mujoco.Renderer(self._model, HEIGHT, WIDTH)
        self._option = mujoco.MjvOption()
        self._option.geomgroup[HIDDEN_GROUP] = 0

    def frame(self, data: mujoco.MjData) -> Frame:
        """The state of `data`, which is only read, as a picture of 640 x 480."""
        state = np.empty(mujoco.mj_stateSize(self._live, STATE))
        mujoco.mj_getState(self._live, data, state, STATE)
        mujoco.mj_setState(self._model, self._data, state, STATE)
        self._model.geom_rgba[:] = self._live.geom_rgba
        mujoco.mj_forward(self._model, self._data)
        self._renderer.update_scene(self._data, self._camera, self._option)
        frame: Frame = self._renderer.render()
        return frame

    def close(self) -> None:
        """Release the GL context."""
        self._renderer.close()


def renderer() -> str:
    """The renderer that works here: the one that `MUJOCO_GL` names, else the first of those tried.

    UsageError, naming what to install, if none does.
    """
    wish = os.environ.get("MUJOCO_GL", "").strip().lower()
    names = (wish,) if wish in CHOICES else TRIED.get(sys.platform, ("glfw",))
    for name in names:
        if works(name):
            return name
    raise UsageError(
        f"No renderer works on this machine (tried {' and '.join(names)}): install a GL library, such as Debian's "
        "libosmesa6 (MUJOCO_GL=osmesa), or libegl1 with libgl1-mesa-dri or the graphics card's driver (MUJOCO_GL=egl)."
    )


@cache
def works(name: str) -> bool:
    """Whether mujoco can draw by this renderer.

    Tried in a process of its own: PyOpenGL can be loaded for one renderer only, and drivers crash.
    """
    environment = {**os.environ, "MUJOCO_GL": name}
    environment.pop("PYOPENGL_PLATFORM", None)
    command = [sys.executable, "-c", PROBE]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, timeout=PROBE_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0
