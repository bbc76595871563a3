"""The other side of the boundary: what surefoot asks of an environment while a program runs."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from surefoot.errors import UsageError

Frame = npt.NDArray[np.uint8]
"""A picture, (height, width, 3), red, green and blue."""


class Scene(msgspec.Struct, frozen=True):
    """What one reset gave.

    `digest` identifies the scene: task, protocol, model constants drawn at load and the state before
    settling (rounded to 1e-9), so it is the same on every machine. `layout` gives object positions in
    metres by object name, for distances between scenes.
    """

    seed: int
    digest: str
    layout: Mapping[str, tuple[float, ...]]


class StepLimitReachedError(Exception):
    """Raised by an environment when the episode's budget of environment steps is used up."""


def checked_duration(seconds: float) -> float:
    """A duration that `sleep` may be asked for [s]; ValueError unless it is finite and not negative."""
    if not (math.isfinite(seconds) and seconds >= 0.0):
        raise ValueError(f"sleep takes a finite number of seconds, not less than 0; asked was {seconds!r}.")
    return seconds


class Environment(abc.ABC):
    """One simulator or service that can be reset to configurations and serves one program at a time.

    `api` is the object whose `@api` methods the program calls. `public_state` is a dict shared with the
    program and mutated in place by calls, or None. Both are there after the first reset and may be other
    objects after the next; the host reads them anew each time.
    """

    api: object
    public_state: dict[str, Any] | None = None

    @abc.abstractmethod
    def reset(self, seed: int) -> Scene:
        """Start a new episode on configuration `seed`, settled and ready for the first call."""

    @abc.abstractmethod
    def succeeded(self) -> bool:
        """The evaluator's verdict on the state as it is now; out of the program's reach."""

    @abc.abstractmethod
    def telemetry(self) -> dict[str, Any]:
        """Declared observables of the state as it is now, read without changing it.

        Values are floats, bools, or lists of floats. Never sent to the program, never compared.
        """

    @property
    @abc.abstractmethod
    def clock(self) -> float:
        """Seconds of environment time since the reset."""

    @property
    @abc.abstractmethod
    def steps(self) -> int:
        """Environment steps taken since the reset."""

    @abc.abstractmethod
    def sleep(self, seconds: float) -> None:
        """Let environment time pass while the robot holds still.

        Raises ValueError, by `checked_duration`, for one that is negative or not finite; the program sees it.
        """

    @abc.abstractmethod
    def state_digest(self) -> str:
        """Exact hash of the whole state, for this machine only."""

    def snapshot(self) -> Any | None:
        """The whole state as a value for `restore`, or None where it can't be had.

        It holds all that decides what happens next: public state, steps and clock as well. The value must be
        one that `surefoot.boundary.encoding.encode_value` carries, and share nothing with the live state.
        """
        return None

    def restore(self, snapshot: Any) -> None:
        """Return to a snapshot taken in an episode of the same scene, in this process or in another.

        What follows is equal to the bit. `api` and `public_state` stay the same objects; the public state
        has the same structure again, the order of dicts included. UsageError for what is no such snapshot.
        """
        raise UsageError(f"{type(self).__name__} cannot restore snapshots.")

    def watch(self, on_step: Callable[[], None]) -> None:
        """Call `on_step` after each environment step of this episode, until the next reset.

        It only looks: `frame`, `clock` and `telemetry` may be read in it. Without effect where `frame` gives None.
        """
        return

    def frame(self) -> Frame | None:
        """A picture of the state as it is now, read without changing it; None where there are no pictures.

        All of one episode have one size. UsageError, naming what to install, where this machine can't draw them.
        """
        return None

    def close(self) -> None:  # noqa: B027 - most environments hold nothing to release
        """Release what the environment holds."""
