"""Compiled MuJoCo models, kept from one reset to the next."""

from __future__ import annotations

import mujoco
import numpy as np

from surefoot.environments.robosuite.poses import Array

CONSTANT_SIZE = 1 << 20
"""Arrays of a model from this size on are meshes and textures, which nothing writes to [bytes]."""


class ModelKeeper:
    """Gives out the model that an XML text describes, and compiles it only if the last text was another one.

    Compiling is four fifths of a hard reset. The arrays of a model given out again are as they were when compiled, whatever has been
    written to them since, and is the same object: what still simulates the last episode must be given up.
    """

    def __init__(self) -> None:
        self._xml = ""
        self._model: mujoco.MjModel | None = None
        self._compiled: dict[str, Array] = {}

    def model(self, xml: str) -> mujoco.MjModel:
        """The model of `xml`, its arrays as compiled."""
        if self._model is None or xml != self._xml:
            self._model, self._xml = mujoco.MjModel.from_xml_string(xml), xml
            self._compiled = {name: array.copy() for name, array in variable_arrays(self._model).items()}
        else:
            for name, array in variable_arrays(self._model).items():
                array[...] = self._compiled[name]
        return self._model


def variable_arrays(model: mujoco.MjModel) -> dict[str, Array]:
    """All arrays of a model that are small enough to be anything but a mesh or a texture, by name."""
    values = {name: getattr(model, name) for name in dir(model) if not name.startswith("_")}
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    return {name: array for name, array in arrays.items() if array.nbytes < CONSTANT_SIZE}
