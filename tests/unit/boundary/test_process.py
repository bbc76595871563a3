"""The process that starts programs: lost, interrupted, restarted, cleaned up."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from surefoot.boundary import process
from surefoot.boundary.process import Zygote
from surefoot.boundary.session import Stopped, converse
from surefoot.boundary.wire import Answer, Begin, Call, Limits, Watched
from surefoot.errors import EnvironmentFaultError
from surefoot.tape.recording import execute

LOST = "The process that starts programs ended unexpectedly. Run 'surefoot doctor' to see why."


class Silent:
    """A host that no program should call."""

    def answer(self, call: Call) -> Answer:
        raise AssertionError(call)

    def note(self, watched: Watched) -> None:
        raise AssertionError(watched)


@pytest.fixture
def own():
    with Zygote() as started:
        yield started


@pytest.fixture
def begin(toy):
    def made(source: str) -> Begin:
        return Begin(source, (), (), b"\x92\xc0\x90", 0, 0.0, False)

    return made


def run(zygote: Zygote, begin: Begin) -> str:
    started = zygote.run(begin, Limits())
    converse(started, Silent())
    return started.output


def kill(zygote: Zygote) -> None:
    os.kill(zygote._process.pid, signal.SIGKILL)
    zygote._process.wait()


def test_a_lost_interpreter_is_started_anew_for_the_next_program(own, begin):
    assert run(own, begin("print(1)")) == "1\n"
    kill(own)
    assert run(own, begin("print(2)")) == "2\n"


def test_an_interpreter_that_a_program_kills_is_infrastructure_and_the_next_run_is_whole(own, toy):
    source = "import os, signal\nstep()\nos.kill(os.getppid(), 9)\nsignal.pause()"
    environment = toy.environment()
    from surefoot.program.source import Program

    lost = execute(Program(source), environment, toy.origin, 1, own)
    assert lost.outcome.text == f"infrastructure: {LOST}"
    assert len(lost.tape.events) == 1
    whole = execute(Program("state['done'] = True; step()"), environment, toy.origin, 1, own)
    assert whole.outcome.text == "success"


def test_an_interrupted_start_of_a_program_leaves_nothing_behind_that_the_next_could_hear(own, begin, monkeypatch):
    hear = own._hear
    monkeypatch.setattr(own, "_hear", lambda key: (_ for _ in ()).throw(KeyboardInterrupt))
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(KeyboardInterrupt):
        own.run(begin("print(1)"), Limits())
    assert len(os.listdir("/proc/self/fd")) < before
    monkeypatch.setattr(own, "_hear", hear)
    assert run(own, begin("print(2)")) == "2\n"


def test_an_interrupted_run_kills_its_program(own, begin):
    class Interrupting(Silent):
        def note(self, watched: Watched) -> None:
            raise KeyboardInterrupt

    import msgspec

    program = own.run(msgspec.structs.replace(begin("x = 1\nimport signal\nsignal.pause()"), watch=("line:2",)), Limits())
    with pytest.raises(KeyboardInterrupt):
        converse(program, Interrupting())
    assert not Path(f"/proc/{program.pid}").exists()
    assert run(own, begin("print(2)")) == "2\n"


def test_a_host_that_is_gone_takes_interpreter_programs_and_folder_with_it():
    reading, writing = os.pipe()
    host = os.fork()
    if host == 0:  # a host that is killed while its program waits
        zygote = Zygote()
        zygote.start()
        program = zygote.run(Begin("import signal\nsignal.pause()", (), (), b"\x92\xc0\x90", 0, 0.0, False), Limits())
        program.begin()
        os.write(writing, f"{zygote._process.pid} {program.pid}\n".encode())
        os.kill(os.getpid(), signal.SIGKILL)
    os.close(writing)
    pids = [int(pid) for pid in os.read(reading, 99).split()]
    watches = []
    for pid in pids:
        try:
            watches.append(os.pidfd_open(pid))
        except ProcessLookupError:
            continue
    os.waitpid(host, 0)
    import select

    for watch in watches:
        assert select.select([watch], [], [], 10.0)[0]
        os.close(watch)
    os.close(reading)


def test_closing_removes_the_folder_and_every_descriptor():
    before = len(os.listdir("/proc/self/fd"))
    with Zygote() as zygote:
        folder = Path(zygote._scratch.name)
        assert folder.is_dir()
    assert not folder.exists()
    assert len(os.listdir("/proc/self/fd")) == before


def test_an_interpreter_that_cannot_start_leaves_nothing_behind(monkeypatch):
    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(process.sys, "executable", "/bin/true")
    zygote = Zygote()
    with pytest.raises(EnvironmentFaultError) as error:
        zygote.start()
    assert str(error.value) == LOST
    assert zygote._scratch is None
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_module_that_fails_or_ends_while_preloading_does_not_matter(begin):
    with Zygote(("no_such_module", "numpy.f2py.__main__", "this")) as zygote:
        assert run(zygote, begin("print(1)")) == "1\n"


def test_a_run_stopped_by_the_host_says_so(own, begin, toy):
    from surefoot.boundary.session import RunStoppedError

    class Stopping(Silent):
        def answer(self, call: Call) -> Answer:
            raise RunStoppedError

    import msgspec

    started = msgspec.structs.replace(begin("step()"), functions=toy.surface.functions)
    assert converse(own.run(started, Limits()), Stopping()) == Stopped()
