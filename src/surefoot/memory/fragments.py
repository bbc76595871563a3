"""What can be taken from one accepted program into another: a piece, and the effect that it was seen to have."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

import msgspec

E = TypeVar("E", bound=Hashable)


class Fragment(msgspec.Struct, Generic[E], frozen=True):
    """A piece of an accepted program (PI, section 3.1). Subclasses say what the piece is.

    `origin` names the program that it was taken from; `effect` was inferred from what happened while it ran,
    never from its text or its name.
    """

    origin: str
    effect: E
