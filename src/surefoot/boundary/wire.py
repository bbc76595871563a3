"""Messages between host and program process: length-prefixed msgpack, typed, data only."""

from __future__ import annotations

import contextlib
import math
import socket
import struct
import time
from typing import Any

import msgspec

from surefoot.boundary.surface import ExceptionSpec, FunctionSpec

PREFIX = struct.Struct("<I")
MAX_FRAME = 256 << 20
SLEEP = "time.sleep"
"""Reserved function name under which a program's `time.sleep` reaches the host."""


class Limits(msgspec.Struct, frozen=True):
    """Budgets of one run. All but `program_seconds` are counts and may decide a verdict.

    `program_seconds` is wall-clock time waited for the program alone; exceeding it is a timeout, reported
    apart and never taken for a result.
    """

    calls: int = 2_000
    cpu_seconds: int = 60
    memory_mb: int = 4_096
    output_mb: int = 16
    program_seconds: float = 120.0


class Begin(msgspec.Struct, tag="begin", array_like=True, frozen=True):
    """Host to program: everything a run starts from.

    `watch` names places whose local values are to be reported: `line:12` before that line runs, `end:pick`
    when that function returns. `modules` are texts that the program may import, by name; a package's own is
    under `name.__init__`.
    """

    source: str
    functions: tuple[FunctionSpec, ...]
    exceptions: tuple[ExceptionSpec, ...]
    state: bytes
    seed: int
    clock: float
    trace_lines: bool
    watch: tuple[str, ...] = ()
    modules: dict[str, str] = {}
    profile: str = "strict"


class Call(msgspec.Struct, tag="call", array_like=True, frozen=True):
    """Program to host: a call. `table` is what is compared; line and stage only explain."""

    number: int
    function: str
    table: bytes
    line: int
    stage: str


class Answer(msgspec.Struct, tag="answer", array_like=True, frozen=True):
    """Host to program: the result of a call and the environment's clock after it, in seconds."""

    table: bytes
    raised: bool
    clock: float


class Ended(msgspec.Struct, tag="ended", array_like=True, frozen=True):
    """Program to host: how it ended. `error` is empty for a normal end."""

    error: str
    line: int
    traceback: str
    lines: tuple[int, ...]

    @property
    def normal(self) -> bool:
        """Whether the program ran to its end."""
        return not self.error


Scalar = bool | int | float | str


class Watched(msgspec.Struct, tag="watched", array_like=True, frozen=True):
    """Program to host, without an answer: values of local names at a watched place, by expression."""

    place: str
    values: dict[str, Scalar]


ToProgram = Begin | Answer
FromProgram = Call | Ended | Watched
_encode = msgspec.msgpack.Encoder().encode
decode_to_program = msgspec.msgpack.Decoder(ToProgram).decode
decode_from_program = msgspec.msgpack.Decoder(FromProgram).decode


class ConnectionClosedError(Exception):
    """The other side closed the connection."""


class FrameTooLargeError(ValueError):
    """A message larger than any that may cross."""

    def __init__(self, size: int):
        super().__init__(f"A message of {size >> 20} MB can't cross the boundary: {MAX_FRAME >> 20} MB are the most.")


class Connection:
    """Frames over a stream socket."""

    def __init__(self, stream: socket.socket):
        self._stream = stream
        self._receive = stream.recv
        self._send = stream.sendall
        self._deadline = math.inf

    def send(self, message: ToProgram | FromProgram) -> None:
        """Send one message; TimeoutError after the time allowed, FrameTooLargeError where it can't cross."""
        data = _encode(message)
        if len(data) > MAX_FRAME:
            raise FrameTooLargeError(len(data))
        try:
            self._send(PREFIX.pack(len(data)) + data)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise ConnectionClosedError from error

    def receive(self) -> bytes:
        """The next frame; TimeoutError after the time allowed, ConnectionClosedError at the connection's end."""
        head = self._exactly(PREFIX.size)
        (size,) = PREFIX.unpack(head)
        if size > MAX_FRAME:
            raise FrameTooLargeError(size)
        return self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        try:
            data = self._receive(size)
        except ConnectionResetError as error:
            raise ConnectionClosedError from error
        if len(data) == size:
            return data
        parts = [data]
        missing = size - len(data)
        while missing:
            if not parts[-1]:
                raise ConnectionClosedError
            if self._deadline < math.inf:  # a sender that trickles must not reset the time allowed
                self._stream.settimeout(max(self._deadline - time.monotonic(), 0.001))
            try:
                parts.append(self._receive(min(missing, 1 << 20)))
            except ConnectionResetError as error:
                raise ConnectionClosedError from error
            missing -= len(parts[-1])
        return b"".join(parts)

    def allow(self, seconds: float) -> None:
        """How long the next `receive` may take, and a `send` after it."""
        self._deadline = time.monotonic() + seconds
        self._stream.settimeout(seconds)

    def close(self) -> None:
        """Close the socket."""
        with contextlib.suppress(OSError):
            self._stream.close()


def as_data(message: Any) -> bytes:
    """A message as bytes, for sockets that carry more than messages."""
    return _encode(message)
