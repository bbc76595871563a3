"""`surefoot export`: what a viewer finds in the file, read with the public reader."""

from __future__ import annotations

import base64
import io
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from mcap.reader import make_reader

from surefoot.boundary.encoding import encode_value
from surefoot.boundary.exchange import UNCHANGED
from surefoot.boundary.table import pack_table, unpack_table
from surefoot.report import viewer
from surefoot.report.viewer import poses
from surefoot.tape.file import load_tape


def topics(path: Path) -> dict[str, list[tuple[str, int, Any]]]:
    """Schema name, time [ns] and content of each message by topic."""
    found = defaultdict(list)
    with path.open("rb") as stream:
        for schema, channel, message in make_reader(stream, validate_crcs=True).iter_messages():
            assert (channel.message_encoding, schema.encoding) == ("json", "jsonschema")
            assert msgspec.json.decode(schema.data)["type"] == "object"
            found[channel.topic].append((schema.name, message.log_time, msgspec.json.decode(message.data)))
    return found


def test_calls_telemetry_and_poses_of_a_tape_have_their_topics_and_times(surefoot, desk_tape, tmp_path):
    out = tmp_path / "view.mcap"
    said = surefoot("export", desk_tape, out)
    tape = load_tape(desk_tape)
    assert said.code == 0
    found = topics(out)
    count = sum(map(len, found.values()))
    assert said.out.splitlines()[-1] == f"{out} holds {count} messages. Open it in a viewer that reads MCAP."
    assert f"{len(tape.events):6}  /events" in said.out.splitlines()
    assert [time for _, time, _ in found["/events"]] == [round(event.clock * 1e9) for event in tape.events]
    name, _, first = found["/events"][0]
    assert name == "surefoot.Event"
    assert (first["function"], first["kind"], first["arguments"]) == ("describe", "query", {"name": "'item'"})
    assert first["line"] == tape.events[0].line
    name, time, entry = found["/log"][0]
    assert name == "foxglove.Log"
    assert entry["message"].startswith("describe(name='item') → ")
    assert entry["timestamp"] == {"sec": time // 10**9, "nsec": time % 10**9}
    assert found["/log"][-1][2]["message"] == "ended: success"
    assert len(found["/telemetry"]) == len(tape.telemetry)
    for (_, _, content), observed in zip(found["/telemetry"], tape.telemetry, strict=True):
        assert content["position"]["item"] == observed.values["position.item"]
        assert content["hand"]["height"] == observed.values["hand.height"]
    name, _, pose = found["/poses/item"][-1]
    assert name == "foxglove.PoseInFrame"
    assert list(pose["pose"]["position"].values()) == tape.telemetry[-1].values["position.item"]
    assert pose["pose"]["orientation"] == {"w": 1.0, "x": 0.0, "y": 0.0, "z": 0.0}


def test_the_telemetry_s_schema_names_its_numbers_and_lists(surefoot, desk_tape, tmp_path):
    surefoot("export", desk_tape, tmp_path / "view.mcap")
    with (tmp_path / "view.mcap").open("rb") as stream:
        schemas = make_reader(stream).get_summary().schemas.values()
    schema = next(msgspec.json.decode(item.data) for item in schemas if item.name == "surefoot.Telemetry")
    assert schema["properties"]["hand"]["properties"]["height"] == {"type": "number"}
    assert schema["properties"]["hand"]["properties"]["open"] == {"type": "boolean"}
    assert schema["properties"]["position"]["properties"]["item"] == {"type": "array", "items": {"type": "number"}}


def test_images_in_answers_are_images(tape_of, tmp_path):
    from PIL import Image

    image = np.arange(12 * 10 * 3, dtype=np.uint8).reshape(12, 10, 3)
    seen = {
        "rgb": image,
        "grey": image[:, :, 0],
        "small": image[:4],
        "depth": image[:, :, 0] * 0.5,
        "rows": image[:, 0],
    }
    answer = pack_table([UNCHANGED, *unpack_table(encode_value((1, seen, [(image,)])))])
    tape = tape_of("echo(1)\n")
    first, *others = tape.events
    tape = msgspec.structs.replace(tape, events=(msgspec.structs.replace(first, answer=answer), *others))
    stream = io.BytesIO()
    counts = viewer.write_view(tape, stream)
    assert {topic: count for topic, count in counts.items() if topic.startswith("/images")} == {
        "/images/echo": 1,
        "/images/echo/1": 1,
    }
    (tmp_path / "view.mcap").write_bytes(stream.getvalue())
    found = topics(tmp_path / "view.mcap")
    for topic, array in (("/images/echo", image), ("/images/echo/1", image[:, :, 0])):
        name, _, message = found[topic][0]
        assert (name, message["format"]) == ("foxglove.CompressedImage", "png")
        shown = Image.open(io.BytesIO(base64.b64decode(message["data"])))
        assert np.array_equal(np.asarray(shown), array)


def test_a_raised_exception_is_logged_as_an_error(tape_of):
    stream = io.BytesIO()
    viewer.write_view(tape_of("try: fail('key')\nexcept KeyError: pass\n"), stream)
    stream.seek(0)
    entries = [msgspec.json.decode(item.data) for _, _, item in make_reader(stream).iter_messages(topics=["/log"])]
    assert entries[0]["level"] == 4
    assert entries[0]["message"].endswith("raised KeyError('missing')")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"hand.position": [1.0, 2.0, 3.0], "hand.quaternion": [0.0, 1.0, 0.0, 0.0]}, ([1, 2, 3], [0, 1, 0, 0])),
        ({"position.hand": [1.0, 2.0, 3.0], "quaternion.hand": [0.0, 1.0, 0.0, 0.0]}, ([1, 2, 3], [0, 1, 0, 0])),
        ({"hand_pose": [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0]}, ([1, 2, 3], [1, 0, 0, 0])),
        ({"hand.position": [1.0, 2.0, 3.0]}, ([1, 2, 3], (1, 0, 0, 0))),
        ({"hand.position": [1.0, 2.0]}, None),
        ({"hand_pose": [True] * 7, "disposition.hand": [1.0, 2.0, 3.0]}, None),
    ],
)
def test_which_observables_are_poses(values, expected):
    assert poses(values).get("hand") == expected


def test_a_name_that_is_a_value_and_a_group_keeps_both(tape_of, toy):
    environment = toy.environment()
    environment.extra = {
        "arm": 1.0,
        "arm.joint": 2.0,
        "leg.knee": 3.0,
        "leg": 4.0,
        "hand.x.y": 1.0,
        "nothing": float("nan"),
    }
    stream = io.BytesIO()
    viewer.write_view(tape_of("", environment=environment), stream)
    stream.seek(0)
    message = next(make_reader(stream).iter_messages(topics=["/telemetry"]))[2]
    assert msgspec.json.decode(message.data) == {
        "taken": 0.0, "arm": 1.0, "arm.joint": 2.0, "leg.knee": 3.0, "leg": 4.0, "hand": {"x": {"y": 1.0}}, "nothing": None,
    }  # fmt: skip


def test_a_truncated_tape_is_shown_as_far_as_it_goes(surefoot, desk_tape, tmp_path):
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(desk_tape.read_bytes()[:-200])
    said = surefoot("export", cut, tmp_path / "view.mcap", "--json")
    assert said.code == 0
    assert said.json["truncated"] is True
    found = topics(tmp_path / "view.mcap")
    assert len(found["/events"]) == said.json["messages"]["/events"] > 0
    assert found["/log"][-1][2]["message"] == "truncated: the recording was cut here"


def test_a_file_that_is_there_stays_as_it_is(surefoot, desk_tape, tmp_path):
    out = tmp_path / "view.mcap"
    out.write_text("mine")
    said = surefoot("export", desk_tape, out)
    assert (said.code, out.read_text()) == (2, "mine")
    assert said.err == (
        f"surefoot: There is already a file at {out}. Nothing is ever overwritten; name another.\n"
        "Try 'surefoot export --help'.\n"
    )


def test_a_disk_that_is_full_is_a_sentence_and_leaves_no_half_file(surefoot, desk_tape, tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(viewer.Writer, "finish", full)
    out = tmp_path / "view.mcap"
    said = surefoot("export", desk_tape, out)
    assert said.code == 2
    assert said.err.startswith(f"surefoot: {out} can't be written: No space left on device. Name another place.\n")
    assert not out.exists()


def test_what_is_no_tape_is_not_exported(surefoot, tmp_path):
    said = surefoot("export", tmp_path / "no.mcap", tmp_path / "view.mcap")
    assert said.code == 3
    assert re.fullmatch(r"surefoot: There is no tape at \S+no\.mcap\. Check the path\.\n", said.err)
    assert not (tmp_path / "view.mcap").exists()
