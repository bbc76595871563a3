"""Messages between host and program process: length-prefixed msgpack, typed, data only."""

from __future__ import annotations

import contextlib
import math
import socket
import struct
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from surefoot.boundary.declared import TypeSpec
from surefoot.boundary.surface import FunctionSpec

PREFIX = struct.Struct("<II")
MAX_FRAME = 256 << 20
MAX_TABLE = MAX_FRAME - (1 << 20)
"""What a host's table may hold; the rest is for its message."""
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
    types: tuple[TypeSpec, ...]
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
_Result = TypeVar("_Result")
_APART = 32 << 10
"""Tables from this size on travel beside their message [bytes]."""
_TIMEVAL = struct.Struct("@ll")
_TRIES = 40
_SLACK = 0.05
"""How inexactly the system may keep the time allowed [s]."""
_encode = msgspec.msgpack.Encoder().encode


class Frame(NamedTuple):
    """A message as received: its bytes, and its table where that came apart."""

    head: bytes
    table: bytes | None


def _decoder(kind: Any) -> Callable[[Frame], Any]:
    decode = msgspec.msgpack.Decoder(kind).decode

    def decoded(frame: Frame) -> Any:
        head, table = frame
        try:
            message = decode(head)
        except RecursionError as error:
            raise msgspec.DecodeError(str(error)) from error
        if table is not None:
            if not isinstance(message, _CARRIERS):
                raise msgspec.ValidationError("a table with a message that has none")
            msgspec.structs.force_setattr(message, "table", table)  # nobody else has the message yet
        return message

    return decoded


_CARRIERS = (Call, Answer)
decode_to_program: Callable[[Frame], ToProgram] = _decoder(ToProgram)
"""A frame's message to a program; msgspec.DecodeError for what is none."""
decode_from_program: Callable[[Frame], FromProgram] = _decoder(FromProgram)
"""A frame's message from a program; msgspec.DecodeError for what is none."""


class ConnectionClosedError(Exception):
    """The other side closed the connection."""


class FrameTooLargeError(ValueError):
    """A message larger than any that may cross."""

    def __init__(self, size: int):
        super().__init__(f"A message of {size >> 20} MB can't cross the boundary: {MAX_FRAME >> 20} MB are the most.")


class Connection:
    """Frames over a blocking stream socket.

    A frame is the sizes of head and table, the head, and the table: what a large table holds is not copied
    into a message and out again. A small one stays in its message and has size 0 here.
    """

    def __init__(self, stream: socket.socket):
        self._stream = stream
        self._deadline = math.inf
        self._allowed = math.inf

    def send(self, message: ToProgram | FromProgram) -> None:
        """Send one message; TimeoutError after the time allowed, FrameTooLargeError where it can't cross."""
        table = message.table if isinstance(message, _CARRIERS) else b""
        if len(table) < _APART:
            table = b""
        head = _encode(msgspec.structs.replace(message, table=b"") if table else message)
        size = len(head) + len(table)
        if size > MAX_FRAME:
            raise FrameTooLargeError(size)
        sizes = PREFIX.pack(len(head), len(table))
        parts: Sequence[bytes | memoryview] = (sizes, head, table) if table else (sizes + head,)
        missing = size + PREFIX.size
        try:
            while missing > (sent := self._wait(self._stream.sendmsg, parts)):
                missing -= sent
                parts = _after(parts, sent)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise ConnectionClosedError from error

    def receive(self) -> Frame:
        """The next frame; TimeoutError after the time allowed, ConnectionClosedError at the connection's end."""
        try:
            size, apart = PREFIX.unpack(self._soon(PREFIX.size) or self._exactly(PREFIX.size))
            if size + apart > MAX_FRAME:
                raise FrameTooLargeError(size + apart)
            return Frame(self._exactly(size), self._exactly(apart) if apart else None)
        except ConnectionResetError as error:
            raise ConnectionClosedError from error

    def _soon(self, size: int) -> bytes:
        """What comes within some 50 us, asked for again and again: to sleep and be woken takes as long. Else nothing."""
        receive = self._stream.recv
        for _ in range(_TRIES):
            try:
                data = receive(size, socket.MSG_DONTWAIT)
            except BlockingIOError:
                continue
            return data if len(data) == size else data + self._exactly(size - len(data)) if data else data
        return b""

    def _exactly(self, size: int) -> bytes:
        data = self._wait(self._stream.recv, size, socket.MSG_WAITALL)
        if len(data) == size:
            return data
        parts = [data]
        missing = size - len(data)
        while missing:  # a signal, or time, has cut the waiting short
            if not parts[-1]:
                raise ConnectionClosedError
            parts.append(self._wait(self._stream.recv, missing, socket.MSG_WAITALL))
            missing -= len(parts[-1])
        return b"".join(parts)

    def _wait(self, action: Callable[..., _Result], *arguments: Any) -> _Result:
        """Send or receive within the time that is left, which the system keeps: it is told when that has changed."""
        left = self._deadline - time.monotonic()
        if abs(self._allowed - left) > _SLACK:
            self._limit(left)
        try:
            return action(*arguments)
        except BlockingIOError:
            raise TimeoutError from None

    def _limit(self, left: float) -> None:
        if left <= 0.0:
            raise TimeoutError
        limit = _TIMEVAL.pack(*divmod(max(int(left * 1e6), 1), 1_000_000))
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            self._stream.setsockopt(socket.SOL_SOCKET, option, limit)
        self._allowed = left

    def allow(self, seconds: float) -> None:
        """How long the next `receive` may take, and a `send` after it."""
        self._deadline = time.monotonic() + seconds

    def close(self) -> None:
        """Close the socket."""
        with contextlib.suppress(OSError):
            self._stream.close()


def _after(parts: Sequence[bytes | memoryview], sent: int) -> list[bytes | memoryview]:
    """What is left of parts of which the first bytes were sent."""
    left: list[bytes | memoryview] = []
    for part in parts:
        if sent < len(part):
            left.append(memoryview(part)[sent:])
        sent = max(sent - len(part), 0)
    return left


def as_data(message: Any) -> bytes:
    """A message as bytes, for sockets that carry more than messages."""
    return _encode(message)
