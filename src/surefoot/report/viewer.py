"""A tape as a file for viewers: an MCAP of JSON messages under the schema names that Foxglove-like viewers know.

| topic                | schema                     | what                                                        |
| -------------------- | -------------------------- | ----------------------------------------------------------- |
| `/log`               | `foxglove.Log`             | each call with its result as one line; last, how it ended   |
| `/events`            | `surefoot.Event`           | the same in parts: function, arguments, result, line, stage |
| `/telemetry`         | `surefoot.Telemetry`       | observables, nested at the dots of their names              |
| `/poses/NAME`        | `foxglove.PoseInFrame`     | observables that are poses                                  |
| `/images/FUNCTION`   | `foxglove.CompressedImage` | images in answers, as PNG                                   |

A pose is three numbers called `NAME.position` or `position.NAME`, turned by the quaternion wxyz of the same
name where there is one, or seven numbers (position, quaternion wxyz) called `NAME.pose`, `pose.NAME` or
`NAME_pose`. An image is an array of bytes of shape (h, w), (h, w, 3) or (h, w, 4), at least 8 by 8. Times
are the environment's clock.
"""

from __future__ import annotations

import base64
import re
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

import msgspec
import numpy as np
from mcap.writer import Writer

from surefoot.boundary.table import unpack_table
from surefoot.tape.file import Tape
from surefoot.tape.records import Event, Telemetry
from surefoot.tape.text import argument_names, array_of, request_text, result_of, value_text

FRAME = "environment"
"""The frame of poses: that of the environment's telemetry."""
_SMALLEST_IMAGE = 8
_CONTAINERS = frozenset("ltdsfOCDqNo")
"""Nodes whose items may hold images; see `surefoot.boundary.table`."""
_INFO, _ERROR = 2, 4
_COLOURS = {1: 0, 3: 2, 4: 6}
"""PNG's colour types by number of channels."""
_NUMBER, _TEXT, _WHOLE = {"type": "number"}, {"type": "string"}, {"type": "integer"}
_encode = msgspec.json.Encoder().encode


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


_TIME = _object(sec=_WHOLE, nsec=_WHOLE)
_SCHEMAS = {
    "foxglove.Log": _object(timestamp=_TIME, level=_WHOLE, message=_TEXT, name=_TEXT, file=_TEXT, line=_WHOLE),
    "foxglove.PoseInFrame": _object(
        timestamp=_TIME,
        frame_id=_TEXT,
        pose=_object(
            position=_object(x=_NUMBER, y=_NUMBER, z=_NUMBER),
            orientation=_object(x=_NUMBER, y=_NUMBER, z=_NUMBER, w=_NUMBER),
        ),
    ),
    "foxglove.CompressedImage": _object(
        timestamp=_TIME, frame_id=_TEXT, data=_TEXT | {"contentEncoding": "base64"}, format=_TEXT
    ),
    "surefoot.Event": _object(
        number=_WHOLE,
        function=_TEXT,
        kind=_TEXT,
        arguments={"type": "object", "additionalProperties": _TEXT},
        result=_TEXT,
        raised={"type": "boolean"},
        line=_WHOLE,
        stage=_TEXT,
    ),
}


def write_view(tape: Tape, stream: IO[bytes]) -> dict[str, int]:
    """Write a tape's content for a viewer; returns the number of messages by topic."""
    view = _View(tape, stream)
    view.write()
    return view.counts


class _View:
    def __init__(self, tape: Tape, stream: IO[bytes]):
        self._tape = tape
        self._writer = Writer(stream)
        self._schemas: dict[str, int] = {}
        self._channels: dict[str, int] = {}
        self.counts: dict[str, int] = {}

    def write(self) -> None:
        """Everything in the order of the recording."""
        tape = self._tape
        self._writer.start(profile="", library="surefoot export")
        values: dict[str, Any] = {}
        for observed in tape.telemetry:
            values |= observed.values
        schema = _schema_of(_nested(values))
        clocks = {-1: tape.header.clock, **{event.number: event.clock for event in tape.events}}
        observations = {observed.number: observed for observed in tape.telemetry}
        for number, clock in clocks.items():
            if number >= 0:
                self._event(tape.events[number])
            if number in observations:
                self._telemetry(observations[number], clock, schema)
        self._ending(max(clocks.values()))
        self._writer.finish()

    def _event(self, event: Event) -> None:
        surface = self._tape.header.surface
        cell, nodes = result_of(event.answer)
        result = value_text(nodes, cell)
        said = f"{request_text(surface, event.function, event.request)} {'raised' if event.raised else '→'} {result}"
        self._log(event.clock, _ERROR if event.raised else _INFO, said, event.stage, event.line)
        message = {
            "number": event.number,
            "function": event.function,
            "kind": event.kind,
            "arguments": _arguments(argument_names(surface, event.function), event.request),
            "result": result,
            "raised": event.raised,
            "line": event.line,
            "stage": event.stage,
        }
        self._add("/events", "surefoot.Event", event.clock, message)
        for place, image in enumerate(_images(nodes, cell)):
            topic = f"/images/{event.function}" + (f"/{place}" if place else "")
            data = base64.b64encode(_png(image)).decode()
            self._add(
                topic, "foxglove.CompressedImage", event.clock, {"frame_id": FRAME, "data": data, "format": "png"}
            )

    def _telemetry(self, observed: Telemetry, clock: float, schema: dict[str, Any]) -> None:
        self._schema("surefoot.Telemetry", schema)
        self._add("/telemetry", "surefoot.Telemetry", clock, _nested(observed.values))
        for name, (position, quaternion) in poses(observed.values).items():
            pose = {
                "position": dict(zip("xyz", position, strict=True)),
                "orientation": dict(zip("wxyz", quaternion, strict=True)),
            }
            self._add(f"/poses/{name}", "foxglove.PoseInFrame", clock, {"frame_id": FRAME, "pose": pose})

    def _ending(self, clock: float) -> None:
        end = self._tape.end
        if end is None:
            self._log(clock, _ERROR, "truncated: the recording was cut here", "", 0)
        else:
            self._log(clock, _INFO, f"ended: {end.outcome.text}", "", end.line)

    def _log(self, clock: float, level: int, text: str, stage: str, line: int) -> None:
        entry = {"level": level, "message": text, "name": stage, "file": self._tape.header.program_name, "line": line}
        self._add("/log", "foxglove.Log", clock, entry)

    def _add(self, topic: str, schema: str, clock: float, message: dict[str, Any]) -> None:
        time = round(clock * 1e9)
        if schema.startswith("foxglove."):
            message = {"timestamp": dict(zip(("sec", "nsec"), divmod(time, 10**9), strict=True)), **message}
        if topic not in self._channels:
            self._channels[topic] = self._writer.register_channel(topic, "json", self._schema(schema))
        self._writer.add_message(self._channels[topic], time, _encode(message), time)
        self.counts[topic] = self.counts.get(topic, 0) + 1

    def _schema(self, name: str, content: dict[str, Any] | None = None) -> int:
        if name not in self._schemas:
            data = _encode({"title": name, **(content or _SCHEMAS[name])})
            self._schemas[name] = self._writer.register_schema(name, "jsonschema", data)
        return self._schemas[name]


def poses(values: Mapping[str, Any]) -> dict[str, tuple[Sequence[float], Sequence[float]]]:
    """Position and quaternion wxyz of each observable that is a pose, by name."""
    found: dict[str, tuple[Sequence[float], Sequence[float]]] = {}
    for key, value in values.items():
        whole = re.fullmatch(r"(?:(.+)[._]pose|pose\.(.+))", key)
        if whole and _numbers(value, 7):
            found[whole[1] or whole[2]] = value[:3], value[3:]
        part = re.fullmatch(r"(?:(.+)\.position|position\.(.+))", key)
        if part and _numbers(value, 3):
            turned: Any = values.get(key.replace("position", "quaternion"))
            found[part[1] or part[2]] = value, turned if _numbers(turned, 4) else (1.0, 0.0, 0.0, 0.0)
    return found


def _numbers(value: Any, count: int) -> bool:
    return isinstance(value, list) and len(value) == count and all(type(item) in (int, float) for item in value)


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Names with dots as objects within objects; a name whose group is itself a value keeps its dots."""
    made: dict[str, Any] = {}
    for key, value in values.items():
        *groups, name = key.split(".")
        if any(".".join(groups[:count]) in values for count in range(1, len(groups) + 1)):
            groups, name = [], key
        place = made
        for group in groups:
            place = place.setdefault(group, {})
        place[name] = value
    return made


def _schema_of(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return _object(**{name: _schema_of(item) for name, item in value.items()})
    if isinstance(value, list):
        return {"type": "array", "items": _schema_of(value[0]) if value else _NUMBER}
    return {"type": "boolean"} if isinstance(value, bool) else _TEXT if isinstance(value, str) else _NUMBER


def _arguments(names: Sequence[str], request: bytes) -> dict[str, str]:
    _, root, nodes, *_ = unpack_table(request)
    return {name: value_text(nodes, cell) for name, cell in zip(names, nodes[root[0]][1:], strict=False)}


def _images(nodes: list[Any], cell: Any) -> Iterator[Any]:
    """Images (h, w, channels) among what a result holds, in its order."""
    seen: set[int] = set()
    waiting = [cell]
    while waiting:
        item = waiting.pop()
        if type(item) is not list or item[0] in seen:
            continue
        seen.add(item[0])
        node = nodes[item[0]]
        if node[0] in ("a", "v"):
            array = array_of(nodes, node)
            if _is_image(array):
                yield array.reshape(*array.shape[:2], -1)
        elif node[0] in _CONTAINERS:
            waiting += [part for part in reversed(node[1:]) if type(part) is list]


def _is_image(array: Any) -> bool:
    if array.dtype != np.uint8 or array.ndim not in (2, 3) or min(array.shape[:2]) < _SMALLEST_IMAGE:
        return False
    return array.ndim == 2 or array.shape[2] in _COLOURS


def _png(image: Any) -> bytes:
    """An image (h, w, channels) of bytes as PNG."""
    height, width, channels = image.shape
    rows = b"".join(b"\0" + row.tobytes() for row in image)
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOURS[channels], 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
