"""Video files, encoded by PyAV, which is an extra."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from types import ModuleType

from surefoot.boundary.environment import Frame
from surefoot.errors import UsageError

SUFFIX = ".mp4"
CODEC = "h264"
PIXELS = "yuv420p"
"""What all players show; it wants even numbers of rows and columns."""


class VideoFile:
    """A new mp4 file of pictures of one size. `begin` creates it, `close` makes it whole.

    UsageError for a name that does not end in .mp4, and where PyAV or its encoder is missing.
    """

    def __init__(self, path: Path, rate: int):
        if path.suffix.lower() != SUFFIX:
            raise UsageError(f"A video's name ends in {SUFFIX}; '{path.name}' does not. Name another.")
        self.path = path
        self._av = require_encoder()
        self._rate = rate

    def begin(self, height: int, width: int) -> None:
        """Create the file for pictures of this size [pixels]. UsageError where that can't be."""
        try:
            self._file = self.path.open("xb")
        except FileExistsError:
            what = "folder" if self.path.is_dir() else "file"
            raise UsageError(
                f"There is already a {what} at {self.path}. Videos are never overwritten; name another."
            ) from None
        except OSError as error:
            raise UsageError(f"No video can be written at {self.path}: {os.strerror(error.errno or 0)}.") from None
        self._container = self._av.open(self._file, "w", format="mp4")
        self._stream = self._container.add_stream(CODEC, rate=self._rate)
        self._stream.pix_fmt = PIXELS
        self._stream.height, self._stream.width = height // 2 * 2, width // 2 * 2

    def add(self, frame: Frame) -> None:
        """Append a picture; an odd last row or column is left out."""
        picture = frame[: self._stream.height, : self._stream.width]
        self._container.mux(self._stream.encode(self._av.VideoFrame.from_ndarray(picture, format="rgb24")))

    def close(self) -> None:
        """Write what the encoder still holds, and the end."""
        try:
            self._container.mux(self._stream.encode(None))
            self._container.close()
        finally:
            self._file.close()


def require_encoder() -> ModuleType:
    """PyAV; UsageError if it or its encoder is missing."""
    try:
        av = importlib.import_module("av")
        av.Codec(CODEC, "w")
    except (ImportError, ValueError):  # ValueError: PyAV was built without the encoder
        raise UsageError(
            "Videos are encoded by the Python package av (PyAV), which is not installed or has no H.264 encoder. "
            'Install it with: pip install ".[video]" in the checkout of surefoot'
        ) from None
    return av
