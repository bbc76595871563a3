"""Frames: small and large messages, what arrives in pieces, what is too large, and the time allowed."""

from __future__ import annotations

import socket
import threading
import time

import msgspec
import pytest

from surefoot.boundary import wire
from surefoot.boundary.wire import (
    PREFIX,
    Answer,
    Call,
    Connection,
    ConnectionClosedError,
    Ended,
    Frame,
    FrameTooLargeError,
    decode_from_program,
    decode_to_program,
)


@pytest.fixture
def ends():
    pair = socket.socketpair()
    yield pair
    for end in pair:
        end.close()


@pytest.mark.parametrize("size", [0, 1, (32 << 10) - 1, 32 << 10, 3_000_000])
def test_a_message_arrives_as_it_was_sent(ends, size):
    sent = Answer(bytes(range(256)) * (size // 256) + b"x" * (size % 256), False, 1.5)
    writer = threading.Thread(target=Connection(ends[0]).send, args=(sent,))
    writer.start()
    frame = Connection(ends[1]).receive()
    writer.join()
    assert decode_to_program(frame) == sent
    assert (frame.table is not None) == (size >= 32 << 10)


def test_a_message_with_a_large_table_stays_the_sender_s_as_it_was(ends):
    sent = Call(3, "look", bytes(100_000), 4, "pick")
    writer = threading.Thread(target=Connection(ends[0]).send, args=(sent,))
    writer.start()
    received = decode_from_program(Connection(ends[1]).receive())
    writer.join()
    assert received == sent
    assert len(sent.table) == 100_000


def test_what_arrives_in_pieces_is_put_together(ends):
    connection = Connection(ends[1])
    connection.allow(10.0)
    head = msgspec.msgpack.encode(Answer(b"", True, 0.0))
    data = PREFIX.pack(len(head), 50_000) + head + bytes(50_000)

    def trickle() -> None:
        for place in range(0, len(data), 7_001):
            ends[0].sendall(data[place : place + 7_001])

    writer = threading.Thread(target=trickle)
    writer.start()
    assert decode_to_program(connection.receive()) == Answer(bytes(50_000), True, 0.0)
    writer.join()


def test_a_table_with_a_message_that_has_none_is_refused():
    with pytest.raises(msgspec.DecodeError, match="a table with a message that has none"):
        decode_from_program(Frame(msgspec.msgpack.encode(Ended("", 0, "", ())), b"table"))


def test_a_message_nested_beyond_reason_is_none():
    ended = msgspec.msgpack.encode(["ended", "", 0, "", []]).replace(b"\x95", b"\x96", 1)
    with pytest.raises(msgspec.DecodeError):
        decode_from_program(Frame(ended + b"\x91" * 100_000 + b"\xc0", None))


@pytest.mark.parametrize("sizes", [(wire.MAX_FRAME + 1, 0), (1, wire.MAX_FRAME), (2**32 - 1, 2**32 - 1)])
def test_sizes_beyond_the_largest_frame_are_refused_before_anything_is_read(ends, sizes):
    ends[0].sendall(PREFIX.pack(*sizes))
    with pytest.raises(FrameTooLargeError):
        Connection(ends[1]).receive()


def test_a_message_too_large_is_not_sent(ends, monkeypatch):
    monkeypatch.setattr(wire, "MAX_FRAME", 50_000)
    with pytest.raises(FrameTooLargeError):
        Connection(ends[0]).send(Answer(bytes(50_000), False, 0.0))
    ends[1].setblocking(False)
    with pytest.raises(BlockingIOError):
        ends[1].recv(1)


@pytest.mark.parametrize("sent", [b"", b"\1\0\0", PREFIX.pack(20, 0) + b"abc"])
def test_nothing_and_half_a_frame_are_timeouts_within_the_time_allowed(ends, sent):
    connection = Connection(ends[1])
    ends[0].sendall(sent)
    connection.allow(0.2)
    started = time.monotonic()
    with pytest.raises(TimeoutError):
        connection.receive()
    assert 0.1 < time.monotonic() - started < 2.0


def test_a_reader_that_does_not_read_is_a_timeout(ends):
    connection = Connection(ends[0])
    connection.allow(0.1)
    with pytest.raises(TimeoutError):
        connection.send(Answer(bytes(8 << 20), False, 0.0))


def test_the_time_allowed_can_be_any_fraction_of_a_second(ends):
    connection = Connection(ends[1])
    for seconds in (1.0, 1.9999999, 120.0, 0.0000001, 3e6):
        connection.allow(seconds)
        connection._limit(seconds)
    with pytest.raises(TimeoutError):
        connection._limit(0.0)


@pytest.mark.parametrize("sent", [b"", b"\1\0", PREFIX.pack(9, 0) + b"abc"])
def test_the_other_side_s_end_is_noticed_wherever_it_comes(ends, sent):
    ends[0].sendall(sent)
    ends[0].close()
    with pytest.raises(ConnectionClosedError):
        Connection(ends[1]).receive()
    with pytest.raises(ConnectionClosedError):
        Connection(ends[1]).send(Answer(b"", False, 0.0))
