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
    "scene changed",
    "no snapshot",
    "shared objects",
    "own object",
]
DivergenceKind = Literal[
    "argument", "other call", "extra call", "missing calls", "shared state", "exception", "abnormal end", "limit"
]
_HEADS: dict[DivergenceKind, str] = {
    "argument": "a request differs from the recorded one",
    "other call": "another function is called than was recorded",
    "extra call": "a call beyond the end of the recording",
    "missing calls": "the program ended before all recorded calls were made",
    "shared state": "the public state differs before a call",
    "exception": "the program raises an exception",
    "abnormal end": "the program does not end normally",
    "limit": "the program used up a counted limit",
}


class Certified(msgspec.Struct, tag="certified", frozen=True):
    """Every request matched, every event was consumed, and the program ended normally.

    Under faithful recording and determinism the edited program succeeds on the recorded scene. It says
    nothing about any other scene. `lines` are the program lines that ran.

    `modulo` names a weaker grade: with "queries" the program made pure queries otherwise than recorded,
    `dropped` of the recorded ones not at all and `added` beyond them (docs/certificates.md).
    """

    events: int
    lines: tuple[int, ...] = ()
    modulo: Literal["", "queries"] = ""
    dropped: int = 0
    added: int = 0

    @property
    def text(self) -> str:
        """One line for a person."""
        return f"{verdict(self)} ({self.detail})"

    @property
    def detail(self) -> str:
        """What was replayed: the number of recorded events, and what became of the queries."""
        events = f"{self.events} event{'s' if self.events != 1 else ''}"
        changed = [f"{count} {what}" for count, what in ((self.dropped, "dropped"), (self.added, "added")) if count]
        return f"{events}; queries: {', '.join(changed) or 'in another order'}" if self.modulo else events


class Place(msgspec.Struct, frozen=True):
    """A recorded event as shown to a person; `line` is that of the program that recorded it.

    `raised` is the exception that was the call's answer, or empty.
    """

    event: int
    call: str
    line: int
    raised: str = ""

    @property
    def text(self) -> str:
        """One line for a person."""
        raised = f" raised {self.raised}" if self.raised else ""
        return f"{self.event}, {self.call}{raised} (line {self.line} of the recording)"


class SourceLine(msgspec.Struct, frozen=True):
    """A line of a program, with its indentation."""

    number: int
    text: str


class Diverged(msgspec.Struct, tag="diverged", frozen=True):
    """The first point where the program's behaviour differs from the tape. Not a failure: it is unknown.

    `event` counts from 0. `field` names the differing value inside the request (empty where the whole call
    differs). `line`, `source`, `excerpt` (that line between its neighbours) and `stage` are the edited
    program's; `line` is 0 where none is to blame, and then `called` says which line called last.
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
    stage: str = ""
    excerpt: tuple[SourceLine, ...] = ()
    called: int = 0

    @property
    def text(self) -> str:
        """One line for a person."""
        where = f" at line {self.line}" if self.line else ""
        field = f" {self.field}:" if self.field else ""
        return f"diverged{where}, event {self.event}:{field} expected {self.expected}, got {self.got}"

    def page(self) -> str:
        """The divergence in full: excerpt, stage, field, both values, last agreeing event, nearest recorded call."""
        width = len(str(self.excerpt[-1].number)) if self.excerpt else 0
        return "\n".join(
            [
                f"Diverged at event {self.event}: {_HEADS[self.kind]}.",
                *(
                    f"  {'>' if item.number == self.line else ' '} {item.number:{width}} | {item.text}".rstrip()
                    for item in self.excerpt
                ),
                *([f"  stage:    {self.stage}"] if self.stage else []),
                *([f"  field:    {self.field}"] if self.field else []),
                f"  expected: {self.expected}",
                f"  got:      {self.got}",
                *([f"  the program's last call: line {self.called}"] if self.called and not self.line else []),
                f"  last agreeing event: {self.last.text}" if self.last else "  no event agreed before",
                *([f"  nearest recorded call: {self.nearest.text}"] if self.nearest else []),
            ]
        )


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
    """The certificate's kind, as it is counted; `certified modulo queries` is a kind of its own."""
    if isinstance(certificate, Certified) and certificate.modulo:
        return f"certified modulo {certificate.modulo}"
    return certificate.__struct_config__.tag  # type: ignore[return-value]
