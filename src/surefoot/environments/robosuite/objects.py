"""What can be named in a scene: plain data, no simulator needed."""

from __future__ import annotations

import math
from typing import Literal

import msgspec

Part = tuple[str, str]
"""A robosuite object's name, and its attribute that lists names of collision geometries."""


class ObjectSpec(msgspec.Struct, frozen=True):
    """A thing that programs can name.

    `frame` says where its pose is read: a body, site or geometry of the model, by name. `aliases` are further
    names that public programs use, in lower case with blanks. `geoms` are its collision geometries; without,
    those of its body. `grasp_at` names the thing at which it is grasped, itself if empty; `grasp_period` is the
    turn about the vertical after which a top-down grasp repeats [rad]; `long_axis` is the own axis (0, 1, 2)
    across which fingers close, None where any level axis does. `lift_height` is the height of the frame above
    the table that counts as lifted, robosuite's own margin [m]. `holds` says where things that are put on it
    come to rest: on its top, or around its foot; None where nothing is.
    """

    name: str
    frame: tuple[Literal["body", "site", "geom"], str]
    aliases: tuple[str, ...] = ()
    geoms: Part | None = None
    grasp_at: str = ""
    grasp_period: float = math.pi / 2
    long_axis: int | None = None
    lift_height: float = 0.04
    holds: Literal["top", "foot"] | None = None

    @classmethod
    def of_model(
        cls, name: str, model: str, aliases: tuple[str, ...] = (), holds: Literal["top", "foot"] | None = None
    ) -> ObjectSpec:
        """A box that robosuite calls `model`."""
        return cls(name, ("body", f"{model}_main"), aliases, (model, "contact_geoms"), holds=holds)
