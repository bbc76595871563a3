"""Filming an episode: which picture is due when."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from surefoot.boundary.environment import Environment, Frame
from surefoot.errors import EnvironmentFaultError, SurefootError, UsageError
from surefoot.report.video import VideoFile

FRAMES_PER_SECOND = 20
"""Of environment time: one picture for each control step of robosuite's tasks."""


class Film:
    """Films one episode to a new mp4 file.

    Picture n shows the state at n / 20 s of environment time, so there is one more than the episode has
    twentieths of a second; the last shows the state in which the program ended. Filming only looks, and what goes
    wrong with it after the beginning does not disturb the episode: `check` tells it then. `begun` says whether there is
    a file.
    """

    def __init__(self, path: Path):
        self.path = path
        self._video = VideoFile(path, FRAMES_PER_SECOND)
        self._problem: Exception | None = None
        self.begun = False

    @contextmanager
    def shoot(self, environment: Environment) -> Iterator[None]:
        """Film `environment`, which was just reset, until the block ends.

        Raises at once, as SurefootError, if it has no pictures, if they can't be drawn here, or if the file
        can't be created.
        """
        self._environment = environment
        self._held, self._due = _first_picture(environment), 0
        self._video.begin(*self._held.shape[:2])
        self.begun = True
        environment.watch(self._look)
        try:
            yield
        finally:
            with self._undisturbed():
                self._held = self._picture()
                self._video.add(self._held)
            with self._undisturbed():
                self._video.close()

    def check(self) -> None:
        """UsageError if the video is not whole."""
        if self._problem is not None:
            kind = type(self._problem).__name__
            raise UsageError(f"The video {self.path} is not whole; filming stopped with {kind}: {self._problem}.")

    def _look(self) -> None:
        if self._problem is not None:
            return
        with self._undisturbed():
            due = math.floor(self._environment.clock * FRAMES_PER_SECOND + 1e-6)
            for _ in range(due - self._due):
                self._video.add(self._held)
            if due > self._due:
                self._held, self._due = self._picture(), due

    def _picture(self) -> Frame:
        frame = self._environment.frame()
        assert frame is not None
        return frame

    @contextmanager
    def _undisturbed(self) -> Iterator[None]:
        """Keep what is raised for `check`."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever a renderer or an encoder raises
            self._problem = self._problem or error


def _first_picture(environment: Environment) -> Frame:
    try:
        frame = environment.frame()
    except SurefootError:
        raise
    except Exception as error:  # whatever a renderer raises
        raise EnvironmentFaultError(
            f"The environment can't be drawn: {type(error).__name__}: {error}. Run it without --video."
        ) from error
    if frame is None:
        raise UsageError("This task's environment has no pictures. Run it without --video.")
    return frame
