"""The tape file: one unchunked MCAP, written through, sealed by a digest chain.

Every message's data is `[chain, body]`, where chain is the digest of the file's bytes up to the end of the
message before (for the first: of the opening record), so the file is checked as a whole, metadata included. The end message is
`[chain, body, seconds, seal]`: the seal covers what the chain can't, the end itself. The tape's id is the
digest of everything but the wall-clock seconds, so equal executions have equal ids. A file without an end
is `truncated`: its finished events can be read, but it certifies nothing.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Channel, Message
from mcap.writer import MCAP0_MAGIC, IndexType, Writer

from surefoot.errors import TapeError
from surefoot.tape.records import FORMAT, End, Event, Header, Telemetry

_TOPICS = {
    "header": "surefoot/header",
    "event": "surefoot/event",
    "telemetry": "surefoot/telemetry",
    "end": "surefoot/end",
}
_MAGIC: bytes = MCAP0_MAGIC
_FRAME = struct.Struct("<BQ")
_DIGEST_SIZE = 16
_NANOSECONDS = 1_000_000_000
_encode = msgspec.msgpack.Encoder().encode


class Tape(msgspec.Struct, frozen=True):
    """A whole tape in memory. `end` is None for a truncated one, which has no id either."""

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


class _Through:
    """Writes each record to the file at once and keeps the digest of all that was written."""

    def __init__(self, descriptor: int):
        self._descriptor = descriptor
        self.digest = hashlib.blake2b(digest_size=_DIGEST_SIZE)
        self._position = 0

    def write(self, data: Any) -> int:
        view = memoryview(data)
        while view:
            written = os.write(self._descriptor, view)
            self.digest.update(view[:written])
            self._position += written
            view = view[written:]
        return len(data)

    def tell(self) -> int:
        return self._position

    def flush(self) -> None:
        """Nothing is held back."""


def _open_writer(stream: Any) -> Writer:
    # no chunks: kill -9 leaves every finished event readable; no summary: the end of the file is fixed
    return Writer(
        stream,
        use_chunking=False,
        index_types=IndexType.NONE,
        repeat_channels=False,
        repeat_schemas=False,
        use_statistics=False,
        use_summary_offsets=False,
    )


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
        self._stream = _Through(self._descriptor)
        self._sequence = 0
        try:
            self._begin(header)
        except BaseException:  # whatever it was goes on; only the descriptor is given back
            self.close()
            raise

    def _begin(self, header: Header) -> None:
        with self._disk():
            self._writer = _open_writer(self._stream)
            self._writer.start(profile="surefoot", library="surefoot")
            # the writer holds channel records back until the first message
            self._channels = {
                kind: self._writer.register_channel(topic=topic, message_encoding="msgpack", schema_id=0)
                for kind, topic in _TOPICS.items()
            }
        self._add("header", header, header.clock)

    def event(self, event: Event) -> None:
        """Append one finished event."""
        self._add("event", event, event.clock)

    def telemetry(self, telemetry: Telemetry, clock: float) -> None:
        """Append the observables after an event."""
        self._add("telemetry", telemetry, clock)

    def end(self, end: End, clock: float, seconds: float) -> str:
        """Write the end and close; returns the tape's id. `seconds` is the execution's wall-clock time."""
        chain, body = self._chain(), _encode(end)
        time = round(clock * _NANOSECONDS)
        self._message("end", time, _encode([chain, body, seconds, _seal(chain, body, seconds, time, self._sequence)]))
        with self._disk():
            self._writer.finish()
        self.close()
        return _identity(chain, body)

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

    def _chain(self) -> bytes:
        return self._stream.digest.digest()

    def _add(self, kind: str, body: Any, clock: float) -> None:
        self._message(kind, round(clock * _NANOSECONDS), _encode([self._chain(), _encode(body)]))

    def _message(self, kind: str, time: int, data: bytes) -> None:
        with self._disk():
            self._writer.add_message(self._channels[kind], time, data, time, self._sequence)
        self._sequence += 1

    @contextlib.contextmanager
    def _disk(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise TapeError(
                f"The tape {self.path} can't be written further ({error.strerror}); what was recorded until then is kept."
            ) from None


def load_tape(path: Path) -> Tape:
    """Read and verify a tape.

    A tape cut short loads as truncated. TapeError for a file that is no tape, of a newer format, or
    changed after it was recorded (with the place).
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise TapeError(f"There is no tape at {path}. Check the path.") from None
    except OSError as error:
        raise TapeError(f"The tape {path} can't be read: {error.strerror}.") from None
    if not data:
        raise TapeError(f"The tape {path} is empty: its recording never began, or its content was lost.")
    return _Loader(path, data).load()


class _Loader:
    def __init__(self, path: Path, data: bytes):
        self._path = path
        self._data = data
        self._digest = hashlib.blake2b(digest_size=_DIGEST_SIZE)
        self._digested = 0

    def load(self) -> Tape:
        if not _MAGIC.startswith(self._data[: len(_MAGIC)]):
            raise self._foreign()
        header: Header | None = None
        events: list[Event] = []
        telemetry: list[Telemetry] = []
        topics: dict[int, str] = {}
        sealed = 0
        for opcode, start, end in self._frames():
            if opcode == Opcode.HEADER and not sealed:
                sealed = end
            elif opcode == Opcode.CHANNEL:
                channel = self._parse(Channel.read, start, end)
                topics[channel.id] = channel.topic
            elif opcode == Opcode.MESSAGE:
                message = self._parse(functools.partial(Message.read, length=end - start), start, end)
                topic = topics.get(message.channel_id, "")
                if header is None and topic != _TOPICS["header"]:
                    raise self._foreign()
                if topic == _TOPICS["end"]:
                    assert header is not None
                    return self._ended(header, events, telemetry, message, sealed, end)
                body = self._body(message, sealed)
                sealed = end
                if topic == _TOPICS["header"]:
                    header = self._header(body)
                elif topic == _TOPICS["event"]:
                    events.append(self._decode(body, Event, start))
                elif topic == _TOPICS["telemetry"]:
                    telemetry.append(self._decode(body, Telemetry, start))
        if header is None:
            raise TapeError(f"The tape {self._path} was cut before its header was whole; nothing can be read from it.")
        return Tape(header, tuple(events), tuple(telemetry), None, "", 0.0, self._path)

    def _frames(self) -> Iterator[tuple[int, int, int]]:
        """Opcode and content bounds of each whole record, up to where the file is cut."""
        start = len(_MAGIC)
        while start + _FRAME.size <= len(self._data):
            opcode, length = _FRAME.unpack_from(self._data, start)
            end = start + _FRAME.size + length
            if end > len(self._data):
                return
            yield opcode, start + _FRAME.size, end
            start = end

    def _parse(self, read: Callable[[ReadDataStream], Any], start: int, end: int) -> Any:
        try:
            return read(ReadDataStream(io.BytesIO(self._data[start:end])))
        except (McapError, struct.error, ValueError) as error:
            raise self._changed(start) from error

    def _chain_at(self, sealed: int) -> bytes:
        self._digest.update(self._data[self._digested : sealed])
        self._digested = sealed
        return self._digest.digest()

    def _body(self, message: Message, sealed: int) -> bytes:
        chain, body = self._parts(message, sealed, 2)
        if chain != self._chain_at(sealed) or not isinstance(body, bytes):
            raise self._changed(sealed)
        return body

    def _parts(self, record: Message, start: int, count: int) -> list[Any]:
        try:
            parts = msgspec.msgpack.decode(record.data)
        except msgspec.DecodeError:
            raise self._changed(start) from None
        if not isinstance(parts, list) or len(parts) != count:
            raise self._changed(start)
        return parts

    def _header(self, body: bytes) -> Header:
        version = self._decode(body, _Version, 0)
        if version.format > FORMAT:
            raise TapeError(
                f"The tape {self._path} has format {version.format}; this surefoot reads up to {FORMAT}. Upgrade surefoot."
            )
        header: Header = self._decode(body, Header, 0)
        return header

    def _ended(
        self,
        header: Header,
        events: list[Event],
        telemetry: list[Telemetry],
        record: Message,
        sealed: int,
        end: int,
    ) -> Tape:
        chain, body, seconds, seal = self._parts(record, sealed, 4)
        expected = _seal(self._chain_at(sealed), body, seconds, record.log_time, record.sequence)
        if seal != expected or chain != self._chain_at(sealed) or record.publish_time != record.log_time:
            raise self._changed(sealed)
        closing = self._data[end:]
        if closing != _closing_bytes():
            if not _closing_bytes().startswith(closing):
                raise self._changed(end)
            return Tape(header, tuple(events), tuple(telemetry), None, "", 0.0, self._path)
        finish = self._decode(body, End, sealed)
        return Tape(header, tuple(events), tuple(telemetry), finish, _identity(chain, body), seconds, self._path)

    def _decode(self, body: bytes, kind: Any, start: int) -> Any:
        try:
            return msgspec.msgpack.decode(body, type=kind)
        except msgspec.DecodeError as error:
            raise self._changed(start) from error

    def _changed(self, start: int) -> TapeError:
        return TapeError(
            f"The tape {self._path} was changed or damaged after it was recorded, at or before byte {start}. "
            "Restore it from a copy or record it anew."
        )

    def _foreign(self) -> TapeError:
        return TapeError(
            f"{self._path} is not a surefoot tape. Tapes are made by 'surefoot record' and 'surefoot run --tape'."
        )


class _Version(msgspec.Struct, frozen=True):
    format: int


def _seal(chain: Any, body: Any, seconds: Any, time: int, sequence: int) -> bytes:
    return hashlib.blake2b(_encode([chain, body, seconds, time, sequence]), digest_size=_DIGEST_SIZE).digest()


def _identity(chain: bytes, body: bytes) -> str:
    return hashlib.blake2b(chain + body, digest_size=_DIGEST_SIZE).hexdigest()


@functools.cache
def _closing_bytes() -> bytes:
    """What follows the end message in every tape: data end, footer, magic."""
    stream = io.BytesIO()
    writer = _open_writer(stream)
    writer.start(profile="surefoot", library="surefoot")
    before = stream.tell()
    writer.finish()
    return stream.getvalue()[before:]
