"""The process that starts programs: lost, interrupted, restarted, cleaned up."""

from __future__ import annotations

import os
import select
import signal
import sys
import tempfile
from pathlib import Path

import msgspec
import pytest

from surefoot.boundary import process
from surefoot.boundary.process import Zygote
from surefoot.boundary.session import RunStoppedError, Stopped, converse
from surefoot.boundary.wire import Answer, Begin, Call, Ended, Limits, Watched
from surefoot.errors import EnvironmentFaultError
from surefoot.program.source import Program
from surefoot.tape.recording import execute

LOST = "The process that starts programs ended unexpectedly. Run 'surefoot doctor' to see why."
NOTHING_SHARED = b"\x92\x91\xc0\x90"
WAIT = "import signal\nsignal.pause()"
KILL_INTERPRETER = """
import os, signal
from surefoot.boundary import template
getattr(signal, "pidfd_send" + "_signal")(os.pidfd_open(template._parent()), 9)
"""
"""Works only where no sandbox holds: `Zygote(sandbox="off")`."""
UNGUARDED = "from surefoot.boundary import guard\nguard._REFUSED.clear()\n"


class Silent:
    """A host that no program should call."""

    def answer(self, call: Call) -> Answer:
        raise AssertionError(call)

    def note(self, watched: Watched) -> None:
        raise AssertionError(watched)


def begin(source: str) -> Begin:
    return Begin(source, (), (), NOTHING_SHARED, 0, 0.0, False)


def output(zygote: Zygote, source: str) -> str:
    started = zygote.run(begin(source), Limits())
    converse(started, Silent())
    return started.output


def wait_for_end(pid: int) -> None:
    try:
        watch = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    assert select.select([watch], [], [], 20.0)[0]
    os.close(watch)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where temporary folders are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def own(folder):
    """An interpreter that a test may harm."""
    with Zygote() as started:
        yield started
    assert list(folder.iterdir()) == []


@pytest.fixture
def unconfined(folder):
    """An interpreter whose programs no sandbox holds."""
    with Zygote(sandbox="off") as started:
        yield started
    assert list(folder.iterdir()) == []


def test_a_lost_interpreter_is_started_anew_for_the_next_program(own):
    lost = own._process.pid
    os.kill(lost, signal.SIGKILL)
    wait_for_end(lost)
    assert output(own, "print(2)") == "2\n"


def test_an_interpreter_that_a_program_kills_is_infrastructure_and_the_next_run_is_whole(unconfined, toy):
    environment, own = toy.environment(), unconfined
    lost = execute(Program(f"step()\n{KILL_INTERPRETER}{WAIT}"), environment, toy.origin, 1, own)
    assert lost.outcome.text == f"infrastructure: {LOST}"
    assert len(lost.tape.events) == 1
    assert execute(Program("state['done'] = True; step()"), environment, toy.origin, 1, own).outcome.text == "success"


def test_an_interrupted_start_of_a_program_leaves_nothing_that_the_next_could_hear(own, monkeypatch):
    def send_and_be_interrupted(*arguments):
        send(*arguments)
        raise KeyboardInterrupt

    send = process.socket.send_fds
    monkeypatch.setattr(process.socket, "send_fds", send_and_be_interrupted)
    with pytest.raises(KeyboardInterrupt):
        own.run(begin("print(1)"), Limits())
    monkeypatch.setattr(process.socket, "send_fds", send)
    assert output(own, "print(2)") == "2\n"


def test_a_program_that_has_no_process_group_yet_is_killed_all_the_same(own, monkeypatch):
    def none_yet(*_: int) -> None:
        raise ProcessLookupError

    monkeypatch.setattr(process.os, "killpg", none_yet)
    assert own.run(begin(WAIT), Limits()).close().signal == signal.SIGKILL


def test_an_interrupted_run_kills_its_program(own):
    class Interrupting(Silent):
        def note(self, watched: Watched) -> None:
            raise KeyboardInterrupt

    program = own.run(msgspec.structs.replace(begin(f"x = 1\n{WAIT}"), watch=("line:2",)), Limits())
    with pytest.raises(KeyboardInterrupt):
        converse(program, Interrupting())
    assert not Path(f"/proc/{program.pid}").exists()
    assert output(own, "print(2)") == "2\n"


def test_a_host_that_is_killed_takes_interpreter_program_and_folder_with_it(folder):
    reading, writing = os.pipe()
    host = os.fork()
    if host == 0:
        zygote = Zygote()
        output(zygote, "")
        parent = zygote._process.pid
        program = zygote.run(begin(WAIT), Limits())
        program.begin()
        os.write(writing, f"{parent} {program.pid}".encode())
        os.kill(os.getpid(), signal.SIGKILL)
    os.close(writing)
    pids = [int(pid) for pid in os.read(reading, 99).split()]
    os.close(reading)
    os.waitpid(host, 0)
    assert len(pids) == 2
    for pid in pids:
        wait_for_end(pid)
    assert list(folder.iterdir()) == []


def test_closing_leaves_no_folder_and_no_descriptor(folder, descriptors):
    before = descriptors()
    with Zygote() as zygote:
        assert output(zygote, "print(1)") == "1\n"
    assert list(folder.iterdir()) == []
    assert descriptors() == before


def test_an_interpreter_that_cannot_start_leaves_nothing_behind(folder, monkeypatch, descriptors):
    before = descriptors()
    monkeypatch.setattr(sys, "executable", "/bin/true")
    with pytest.raises(EnvironmentFaultError) as error:
        Zygote().start()
    assert str(error.value) == LOST
    assert list(folder.iterdir()) == []
    assert descriptors() == before


def test_a_module_that_fails_or_ends_while_preloading_does_not_matter():
    with Zygote(("no_such_module", "numpy.f2py.__main__")) as zygote:
        assert output(zygote, "print(1)") == "1\n"


def test_a_run_stopped_by_the_host_says_so(own, toy):
    class Stopping(Silent):
        def answer(self, call: Call) -> Answer:
            raise RunStoppedError

    started = msgspec.structs.replace(begin("step()"), functions=toy.surface.functions)
    assert converse(own.run(started, Limits()), Stopping()) == Stopped()


def test_nothing_that_a_program_forks_outlives_it(unconfined, folder):
    source = (
        UNGUARDED
        + """
fork = getattr(__import__("os"), "fo" + "rk")
import os, signal
reading, writing = os.pipe()
for _ in range(2):
    if fork() == 0:
        os.setsid()
        if fork() == 0:
            os.write(writing, b".")
        signal.pause()
print(os.read(reading, 1), os.read(reading, 1))
"""
    )
    assert output(unconfined, source) == "b'.' b'.'\n"
    left = [process for process in Path("/proc").glob("[0-9]*") if _works_in(process, folder)]
    assert len(left) == 3  # the interpreter's two halves, and the process ahead of need


def _works_in(process: Path, folder: Path) -> bool:
    try:
        return str(folder) in str((process / "cwd").readlink())
    except OSError:
        return False


def test_a_program_that_was_collected_before_an_interrupt_is_not_waited_for_again(own, monkeypatch):
    process = own.run(begin("x = 1\n"), Limits())
    process.begin()
    collected = Zygote.wait

    def interrupted(zygote, child):
        collected(zygote, child)
        monkeypatch.setattr(Zygote, "wait", collected)
        raise KeyboardInterrupt

    monkeypatch.setattr(Zygote, "wait", interrupted)
    assert isinstance(process.receive(), Ended)
    with pytest.raises(KeyboardInterrupt):
        process.ended_by_itself()
    assert process.close().code == 0


def test_an_interrupt_that_swallows_the_news_of_an_end_gives_the_interpreter_up(own, monkeypatch):
    process = own.run(begin("x = 1\n"), Limits())
    process.begin()
    heard = Zygote._next

    def interrupted(zygote):
        heard(zygote)
        raise KeyboardInterrupt

    monkeypatch.setattr(Zygote, "_next", interrupted)
    with pytest.raises(KeyboardInterrupt):
        process.ended_by_itself()
    monkeypatch.setattr(Zygote, "_next", heard)
    process.close()
    assert output(own, "print(1)\n") == "1\n"


def test_a_program_sees_no_signals_that_its_host_holds_back_or_ignores():
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGUSR1})
    handler = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as under nohup
    try:
        with Zygote() as started:
            source = "import signal\nprint(signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.getsignal(signal.SIGHUP).name)"
            assert output(started, source) == "set() SIG_DFL\n"
    finally:
        signal.signal(signal.SIGHUP, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
