"""The tape file: one unchunked MCAP, written through, its records in a digest chain; see docs/tape.md.

Every message's data is a msgpack array whose last item, the chain, is the digest of the file's bytes up to
the chain itself, so each message vouches for everything before it, metadata included. An event's message
holds call, answer and what the host observed after it. A file without an end is `truncated`: its finished
events can be read, but it certifies nothing. The tape's id is the digest of everything up to the wall-clock
seconds, which come last, so equal executions have equal ids.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

import msgspec
import xxhash

from surefoot.errors import NoTapeError, TapeError
from surefoot.tape.records import FEATURES, FORMAT, End, Event, Header, Telemetry

_MAGIC = b"\x89MCAP0\r\n"
_HEADER, _FOOTER, _CHANNEL, _MESSAGE, _DATA_END = 0x01, 0x02, 0x04, 0x05, 0x0F
_TOPICS = ("surefoot/header", "surefoot/observation", "surefoot/event", "surefoot/end")
_OF_HEADER, _OF_OBSERVATION, _OF_EVENT, _OF_END = range(1, len(_TOPICS) + 1)
"""Channels by number, in the order of the topics."""
_RECORD = struct.Struct("<BQ")
_FRAME = struct.Struct("<BQHIQQ")
"""A message record up to its data: opcode, length, channel, sequence, two times [ns]."""
_CHAIN = b"\xc4\x10"
"""msgpack's mark of 16 bytes."""
_CHAIN_SIZE = len(_CHAIN) + 16
_SECONDS_SIZE = 9
_BLOB = struct.Struct(">BI")
_ARRAY = b"\x90"[0]
_NANOSECONDS = 1_000_000_000
_encode = msgspec.msgpack.Encoder().encode


class Tape(msgspec.Struct, frozen=True):
    """A whole tape in memory. `end` is None for a truncated one, which has no id either.

    `telemetry[0]` is what was observed before the first event, `telemetry[i + 1]` after event i.
    """

    header: Header
    events: tuple[Event, ...]
    telemetry: tuple[Telemetry, ...]
    end: End | None
    id: str
    seconds: float
    path: Path | None = None

    @property
    def truncated(self) -> bool:
        """Whether the recording was cut before its end."""
        return self.end is None


class _EventHead(msgspec.Struct, frozen=True):
    """An event's message but for its blobs: request, answer, snapshot."""

    number: int
    function: str
    kind: str
    raised: bool
    clock: float
    line: int
    stage: str
    telemetry: dict[str, Any]


def _opening(version: int) -> bytes:
    """What every tape of a format begins with: magic, MCAP header, channels."""
    records = [_record(_HEADER, _text("surefoot") + _text(f"surefoot tape {version}"))]
    for number, topic in enumerate(_TOPICS, 1):
        records.append(_record(_CHANNEL, struct.pack("<HH", number, 0) + _text(topic) + _text("msgpack") + bytes(4)))
    return _MAGIC + b"".join(records)


def _record(opcode: int, content: bytes) -> bytes:
    return _RECORD.pack(opcode, len(content)) + content


def _text(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode()


_OPENING = _opening(FORMAT)
_ANY_OPENING = re.compile(re.escape(_MAGIC) + rb"\x01.{8}\x08\0\0\0surefoot....surefoot tape ([0-9]{1,9})", re.DOTALL)
_CLOSING = _record(_DATA_END, bytes(4)) + _record(_FOOTER, bytes(20)) + _MAGIC
"""What every tape ends with; no checksums and no summary, which the chain makes needless."""


class TapeWriter:
    """Writes one tape; never over an existing file. Closing without `end` leaves a truncated tape."""

    def __init__(self, path: Path, header: Header):
        self.path = path
        try:
            self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        except FileExistsError:
            what = "folder" if path.is_dir() else "file"
            raise TapeError(
                f"There is already a {what} at {path}. Tapes are never overwritten; name another."
            ) from None
        except OSError as error:
            raise TapeError(f"No tape can be written at {path}: {error.strerror}.") from None
        self._digest = xxhash.xxh3_128()
        self._sequence = 0
        try:
            self._write([_opening(header.format)])
            self._message(_OF_HEADER, header.clock, header, ())
        except BaseException:  # whatever it was goes on; only the descriptor is given back
            self.close()
            raise

    def observation(self, observed: Telemetry, clock: float) -> None:
        """Append what was observed before the first event. TypeError for values that msgpack can't hold."""
        self._message(_OF_OBSERVATION, clock, observed.values, (observed.snapshot,))

    def event(self, event: Event, observed: Telemetry) -> None:
        """Append a finished event with what was observed after it. TypeError as for `observation`."""
        head = _EventHead(
            event.number, event.function, event.kind, event.raised, event.clock, event.line, event.stage,
            observed.values,
        )  # fmt: skip
        self._message(_OF_EVENT, event.clock, head, (event.request, event.answer, observed.snapshot))

    def end(self, end: End, clock: float, seconds: float) -> str:
        """Write the end and close; returns the tape's id. `seconds` is the execution's wall-clock time."""
        body = bytes([_ARRAY + 3]) + _encode(end)
        self._write([self._frame(_OF_END, clock, len(body) + _SECONDS_SIZE) + body])
        identity = self._digest.hexdigest()
        self._write([_encode(float(seconds)) + _CHAIN])
        self._write([self._digest.digest() + _CLOSING])
        self.close()
        return identity

    def close(self) -> None:
        """Close the file; may be called again."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> TapeWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _message(self, channel: int, clock: float, head: Any, blobs: Sequence[bytes]) -> None:
        """Write `[head, *blobs, chain]` without copying the blobs, which may be images."""
        first = bytes([_ARRAY + 2 + len(blobs)]) + _encode(head)
        size = len(first) + sum(map(len, blobs)) + len(blobs) * _BLOB.size
        parts = [self._frame(channel, clock, size) + first]
        for blob in blobs:
            parts[-1] += _BLOB.pack(0xC6, len(blob))
            parts += [blob, b""]
        parts[-1] += _CHAIN
        for part in parts:
            self._digest.update(part)
        chain = self._digest.digest()
        self._digest.update(chain)
        self._through([*parts, chain])

    def _frame(self, channel: int, clock: float, size: int) -> bytes:
        time = round(clock * _NANOSECONDS)
        frame = _FRAME.pack(
            _MESSAGE, _FRAME.size - _RECORD.size + size + _CHAIN_SIZE, channel, self._sequence, time, time
        )
        self._sequence += 1
        return frame

    def _write(self, parts: list[bytes]) -> None:
        for part in parts:
            self._digest.update(part)
        self._through(parts)

    def _through(self, parts: Sequence[bytes | memoryview]) -> None:
        """Hand all parts to the system at once; a disk that takes no more ends the tape where it is."""
        missing = sum(map(len, parts))
        try:
            while missing > (written := os.writev(self._descriptor, parts)):
                missing -= written
                parts = _after(parts, written)
        except OSError as error:
            self.close()
            raise TapeError(
                f"The tape {self.path} can't be written further ({error.strerror}); what was recorded until then is kept."
            ) from None


def _after(parts: Sequence[bytes | memoryview], written: int) -> list[bytes | memoryview]:
    """What is left of parts of which the first bytes were written."""
    left: list[bytes | memoryview] = []
    for part in parts:
        if written < len(part):
            left.append(memoryview(part)[written:])
        written = max(written - len(part), 0)
    return left


def load_tape(path: Path) -> Tape:
    """Read and verify a tape.

    A tape cut short loads as truncated. NoTapeError for a file that is no tape, TapeError for one of a newer
    format, or changed after it was recorded (with the place).
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise TapeError(f"There is no tape at {path}. Check the path.") from None
    except IsADirectoryError:
        raise NoTapeError(f"{path} is a folder, not a tape.") from None
    except OSError as error:
        raise TapeError(f"The tape {path} can't be read: {error.strerror}.") from None
    if not data:
        raise NoTapeError(f"The tape {path} is empty: its recording never began, or its content was lost.")
    return _Loader(path, data).load()


_decode_header = msgspec.msgpack.Decoder(tuple[Header, bytes]).decode
_decode_observation = msgspec.msgpack.Decoder(tuple[dict[str, Any], bytes, bytes]).decode
_decode_event = msgspec.msgpack.Decoder(tuple[_EventHead, bytes, bytes, bytes, bytes]).decode
_decode_end = msgspec.msgpack.Decoder(tuple[End, float, bytes]).decode


class _Needs(msgspec.Struct, frozen=True):
    """What a header says of who can read the tape."""

    format: int
    features: tuple[str, ...]


_decode_needs = msgspec.msgpack.Decoder(tuple[_Needs, bytes]).decode


class _Loader:
    def __init__(self, path: Path, data: bytes):
        self._path = path
        self._data = memoryview(data)
        self._digest = xxhash.xxh3_128()
        self._digested = 0

    def load(self) -> Tape:
        self._check_opening()
        header: Header | None = None
        events: list[Event] = []
        telemetry: list[Telemetry] = []
        for channel, start, end in self._messages():
            if channel == _OF_END and header is not None:
                return self._ended(header, events, telemetry, start, end)
            data = self._verified(start, end)
            if channel == _OF_HEADER and header is None:
                header = self._header(data, start)
            elif channel == _OF_OBSERVATION and header is not None:
                values, snapshot, _ = self._decode(_decode_observation, data, start)
                telemetry.append(Telemetry(-1, values, snapshot))
            elif channel == _OF_EVENT and header is not None:
                event, observed = self._event(data, start)
                events.append(event)
                telemetry.append(observed)
            else:
                self._changed(start)
        if header is None:
            raise self._headless()
        return self._truncated(header, events, telemetry)

    def _check_opening(self) -> None:
        first = bytes(self._data[: len(_OPENING)])
        if first == _OPENING:
            return
        if _OPENING.startswith(first):
            raise self._headless()
        other = _ANY_OPENING.match(first)
        if other is None:
            raise NoTapeError(
                f"{self._path} is not a surefoot tape. Tapes are made by 'surefoot record' and 'surefoot run --tape'."
            )
        self._check_format(int(other[1]))
        self._changed(len(_MAGIC))

    def _check_format(self, version: int) -> None:
        if version > FORMAT:
            raise TapeError(
                f"The tape {self._path} has format {version}; this surefoot reads up to {FORMAT}. Upgrade surefoot."
            )

    def _messages(self) -> Iterator[tuple[int, int, int]]:
        """Channel and bounds of each whole message record, up to where the file is cut."""
        start = len(_OPENING)
        while start + _FRAME.size <= len(self._data):
            opcode, length, channel, *_ = _FRAME.unpack_from(self._data, start)
            end = start + _RECORD.size + length
            if opcode != _MESSAGE or length < _FRAME.size - _RECORD.size + _CHAIN_SIZE:
                self._changed(start)
            if end > len(self._data):
                return
            yield channel, start, end
            start = end

    def _verified(self, start: int, end: int) -> memoryview:
        """A message's data, once the file up to its chain is what the chain says."""
        before = end - _CHAIN_SIZE + len(_CHAIN)
        self._digest.update(self._data[self._digested : before])
        self._digested = before
        if self._digest.digest() != self._data[before:end] or self._data[end - _CHAIN_SIZE : before] != _CHAIN:
            self._changed(start)
        return self._data[start + _FRAME.size : end]

    def _header(self, data: memoryview, start: int) -> Header:
        needs, _ = self._decode(_decode_needs, data, start)
        self._check_format(needs.format)
        unknown = sorted(set(needs.features) - FEATURES)
        if unknown:
            raise TapeError(
                f"The tape {self._path} uses what this surefoot does not know: {', '.join(unknown)}. Upgrade surefoot."
            )
        header: Header = self._decode(_decode_header, data, start)[0]
        return header

    def _event(self, data: memoryview, start: int) -> tuple[Event, Telemetry]:
        head, request, answer, snapshot, _ = self._decode(_decode_event, data, start)
        event = Event(
            head.number, head.function, head.kind, request, answer, head.raised, head.clock, head.line, head.stage
        )
        return event, Telemetry(head.number, head.telemetry, snapshot)

    def _ended(self, header: Header, events: list[Event], telemetry: list[Telemetry], start: int, end: int) -> Tape:
        before = end - _CHAIN_SIZE - _SECONDS_SIZE
        if before < start + _FRAME.size:
            self._changed(start)
        self._digest.update(self._data[self._digested : before])
        self._digested = before
        identity = self._digest.hexdigest()
        finish, seconds, _ = self._decode(_decode_end, self._verified(start, end), start)
        closing = bytes(self._data[end:])
        if closing == _CLOSING:
            return Tape(header, tuple(events), tuple(telemetry), finish, identity, seconds, self._path)
        if not _CLOSING.startswith(closing):
            self._changed(end)
        return self._truncated(header, events, telemetry)

    def _truncated(self, header: Header, events: list[Event], telemetry: list[Telemetry]) -> Tape:
        return Tape(header, tuple(events), tuple(telemetry), None, "", 0.0, self._path)

    def _decode(self, decode: Any, data: memoryview, start: int) -> Any:
        try:
            return decode(data)
        except (msgspec.DecodeError, RecursionError):
            self._changed(start)

    def _changed(self, place: int) -> NoReturn:
        raise TapeError(
            f"The tape {self._path} was changed or damaged after it was recorded, in the record at byte {place}. "
            "Restore it from a copy or record it anew."
        )

    def _headless(self) -> TapeError:
        return TapeError(f"The tape {self._path} was cut before its header was whole; nothing can be read from it.")
