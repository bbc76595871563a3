"""What a replay shows: certified, diverged or unavailable (SCOPE section 3.3)."""

from __future__ import annotations

from typing import Literal

import msgspec

Reason = Literal[
    "truncated",
    "not a success",
    "environment changed",
    "surface changed",
    "numeric platform",
    "not self-matching",
    "timeout",
    "unreadable",
]
DivergenceKind = Literal[
    "argument", "other call", "extra call", "missing calls", "shared state", "abnormal end", "limit"
]


class Certified(msgspec.Struct, tag="certified", frozen=True):
    """Every request matched, every event was consumed, and the program ended normally.

    Under faithful recording and determinism the edited program succeeds on the recorded scene. It says
    nothing about any other scene. `lines` are the program lines that ran.
    """

    events: int
    lines: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """One line for a person."""
        return f"certified ({self.events} event{'s' if self.events != 1 else ''})"


class Place(msgspec.Struct, frozen=True):
    """A recorded event as shown to a person; `line` is that of the program that recorded it."""

    event: int
    call: str
    line: int


class Diverged(msgspec.Struct, tag="diverged", frozen=True):
    """The first point where the program's behaviour differs from the tape. Not a failure: it is unknown.

    `event` counts from 0. `field` names the differing value inside the request (empty where the whole call
    differs). `line` and `source` are the edited program's.
    """

    kind: DivergenceKind
    event: int
    field: str
    expected: str
    got: str
    line: int
    source: str
    last: Place | None
    nearest: Place | None
    lines: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """One line for a person."""
        where = f" at line {self.line}" if self.line else ""
        field = f" {self.field}:" if self.field else ""
        return f"diverged{where}, event {self.event}:{field} expected {self.expected}, got {self.got}"

    def page(self) -> str:
        """The divergence in full: excerpt, field, both values, last agreeing event, nearest recorded call."""
        heads = {
            "argument": "a request differs from the recorded one",
            "other call": "another function is called than was recorded",
            "extra call": "a call beyond the end of the recording",
            "missing calls": "the program ended before all recorded calls were made",
            "shared state": "the public state differs before a call",
            "abnormal end": "the program does not end normally",
            "limit": "the program used up a counted limit",
        }
        rows = [f"Diverged at event {self.event}: {heads[self.kind]}."]
        if self.line:
            rows.append(f"  line {self.line}: {self.source}")
        if self.field:
            rows.append(f"  field:    {self.field}")
        rows += [f"  expected: {self.expected}", f"  got:      {self.got}"]
        rows.append(f"  last agreeing event: {_placed(self.last)}" if self.last else "  no event agreed before")
        if self.nearest:
            rows.append(f"  nearest recorded call: {_placed(self.nearest)}")
        return "\n".join(rows)


class Unavailable(msgspec.Struct, tag="unavailable", frozen=True):
    """No statement can be made from this tape here, and why."""

    reason: Reason
    detail: str = ""

    @property
    def text(self) -> str:
        """One line for a person."""
        return f"unavailable ({self.reason})" + (f": {self.detail}" if self.detail else "")


Certificate = Certified | Diverged | Unavailable


def verdict(certificate: Certificate) -> str:
    """The certificate's kind as one word."""
    return certificate.__struct_config__.tag  # type: ignore[return-value]


def _placed(place: Place) -> str:
    return f"{place.event}, {place.call} (line {place.line} of the recording)"
