"""How an execution ended: a sum type. Infrastructure is never counted as the program's."""

from __future__ import annotations

from typing import Literal

import msgspec


class Success(msgspec.Struct, tag="success", frozen=True):
    """The program ended normally and the environment's evaluator accepts the state."""

    @property
    def text(self) -> str:
        """One line for a person."""
        return "success"


class Failure(msgspec.Struct, tag="failure", frozen=True):
    """The program's own failure: it ended normally without success, raised, or used up a counted limit."""

    kind: Literal["normal", "raised", "limit"]
    detail: str = ""
    line: int = 0

    @property
    def text(self) -> str:
        """One line for a person."""
        if self.kind == "normal":
            return "failure: the program ended, but the evaluator does not accept the state"
        where = f" at line {self.line}" if self.line else ""
        return f"failure: {'limit' if self.kind == 'limit' else 'raised'}{where}: {self.detail}"


class Timeout(msgspec.Struct, tag="timeout", frozen=True):
    """Wall-clock time ran out while waiting for the program; decides nothing, is never cached."""

    seconds: float

    @property
    def text(self) -> str:
        """One line for a person."""
        return f"timeout: no call and no end within {self.seconds:g} s"


class Infrastructure(msgspec.Struct, tag="infrastructure", frozen=True):
    """The environment or the machine failed."""

    detail: str

    @property
    def text(self) -> str:
        """One line for a person."""
        return f"infrastructure: {self.detail}"


class InvalidProgram(msgspec.Struct, tag="invalid", frozen=True):
    """The program could not be run at all; the detail names line and remedy."""

    detail: str

    @property
    def text(self) -> str:
        """One line for a person."""
        return f"invalid program: {self.detail}"


Outcome = Success | Failure | Timeout | Infrastructure | InvalidProgram


def is_success(outcome: Outcome) -> bool:
    """Whether the outcome counts as a success (Y = 1)."""
    return isinstance(outcome, Success)
