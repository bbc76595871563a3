"""How much a program has written to its folder."""

from __future__ import annotations

import os
from pathlib import Path

MOST_BYTES = 256 << 20
MOST_ENTRIES = 10_000
"""A program that takes more room than this is killed."""


def room_taken(folder: Path) -> tuple[int, int]:
    """Bytes and entries below a folder, counted no further than the limits."""
    written = entries = 0
    waiting = [os.fspath(folder)]
    while waiting and written <= MOST_BYTES and entries <= MOST_ENTRIES:
        try:
            with os.scandir(waiting.pop()) as found:
                for entry in found:
                    entries += 1
                    if entries > MOST_ENTRIES:
                        break
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        written += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError:
            continue  # the program removes it meanwhile, or closed it to all but itself
    return written, entries
