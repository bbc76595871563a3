"""Hostile programs: each fails in its own process, and the host stays well."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from surefoot.boundary.process import Zygote
from surefoot.boundary.seccomp import filter_for
from surefoot.boundary.wire import Limits
from surefoot.errors import EnvironmentFaultError, UsageError
from surefoot.program.source import Program
from surefoot.tape.recording import execute

UNGUARDED = """
from surefoot.boundary import files, guard
guard._REFUSED.clear()
guard._WRITES.clear()
files.Files.check = lambda *_: None
import gc
for item in gc.get_objects():
    if isinstance(item, files.Files):
        item._readable = ("/",)
files._within = lambda path, root: True
guard._OWN_SOCKET = type("All", (), {"__contains__": lambda *_: True})()
real = __import__("po" + "six")
"""
"""What a hostile program does first: the guard is for words, the sandbox is what holds."""


@pytest.fixture(scope="module")
def confined(zygote):
    """Skips where this kernel has not both layers."""
    if zygote.missing:
        pytest.skip(f"not a sandbox here: {zygote.missing}")
    return zygote


@pytest.fixture
def secret(tmp_path) -> Path:
    """A file of the host."""
    path = tmp_path / "secret.txt"
    path.write_text("the evaluator's answer")
    return path


def attempt(perform, body: str) -> str:
    """What a program that tries `body` with the guard out of the way prints."""
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    source = f"{UNGUARDED}try:\n{indented}except BaseException as error:\n    print(type(error).__name__, error.errno)\nelse:\n    print('done')\n"
    execution = perform(source)
    assert execution.outcome.text == "failure: the program ended, but the evaluator does not accept the state"
    return execution.tape.end.output


READS = {
    "open": "print(open({path!r}).read())",
    "posix": "print(real.read(real.open({path!r}, 0), 99))",
    "list": "print(real.listdir({folder!r}))",
    "memmap": "import numpy as np\nprint(bytes(np.memmap({path!r}, mode='r')))",
    "fromfile": "import numpy as np\nprint(np.fromfile({path!r}, np.uint8))",
    "load": "import numpy as np\nnp.load({path!r})",
    "link": "real.symlink({path!r}, 'link')\nprint(open('link').read())",
    "host's memory": "print(real.open('/proc/{host}/mem', 0))",
    "host's environment": "print(open('/proc/{host}/environ').read())",
    "passwords": "print(open('/etc/passwd').read())",
}


@pytest.mark.parametrize("way", READS)
def test_no_file_of_the_host_is_read(confined, perform, secret, way):
    body = READS[way].format(path=str(secret), folder=str(secret.parent), host=os.getpid())
    assert attempt(perform, body) == "PermissionError 13\n"


def test_without_a_sandbox_the_same_attempts_succeed(toy, secret):
    for body in (READS["posix"], READS["memmap"], WRITES["mode"], WRITES["rename"]):
        source = UNGUARDED + body.format(path=str(secret), folder=str(secret.parent))
        with Zygote(sandbox="off") as open_house:
            assert open_house.sandbox == "process"
            found = execute(Program(source), toy.environment(), toy.origin, 1, open_house)
        assert found.outcome.text == "failure: the program ended, but the evaluator does not accept the state"
    assert not secret.exists()


WRITES = {
    "write": "open({path!r}, 'w')",
    "create": "open({folder!r} + '/new', 'x')",
    "remove": "real.remove({path!r})",
    "rename": "real.rename({path!r}, {path!r} + '2')",
    "truncate": "real.truncate({path!r}, 0)",
    "folder": "real.mkdir({folder!r} + '/new')",
    "link": "real.link({path!r}, 'link')",
    "save": "import numpy as np\nnp.save({folder!r} + '/x.npy', np.zeros(3))",
    "mode": "real.chmod({path!r}, 0)",
    "time": "real.utime({path!r}, (0, 0))",
    "owner": "real.chown({path!r}, 1, 1)",
}


@pytest.mark.parametrize("way", WRITES)
def test_no_file_of_the_host_is_changed(confined, perform, secret, way):
    before = secret.stat()
    found = attempt(perform, WRITES[way].format(path=str(secret), folder=str(secret.parent)))
    assert found in ("PermissionError 13\n", "PermissionError 1\n", "OSError 18\n")
    assert (list(secret.parent.iterdir()), secret.read_text()) == ([secret], "the evaluator's answer")
    assert (secret.stat().st_mode, secret.stat().st_mtime) == (before.st_mode, before.st_mtime)


REACHES = {
    "TCP": "__import__('_soc' + 'ket').socket(2, 1)",
    "UDP": "__import__('_soc' + 'ket').socket(2, 2)",
    "local": "__import__('_soc' + 'ket').socket(1, 1)",
    "pair": "__import__('_soc' + 'ket').socketpair()",
    "fork": "real.fork()",
    "exec": "real.execv('/bin/true', ['true'])",
    "fork_exec": "__import__('sub' + 'process').run(['/bin/true'])",
    "kill the host": "real_kill({host})",
    "end the host by a descriptor": "import signal\ngetattr(signal, 'pidfd_send' + '_signal')(real.pidfd_open({host}), 9)",
    "limits": "import resource\nresource.prlimit({host}, resource.RLIMIT_CPU, (1, 1))",
    "priority": "real.setpriority(0, 0, -5)",
    "clock": "from surefoot.boundary.ambient import time\nreal_syscall('clock_settime')",
    "session": "real.setsid()",
}
FOREIGN = """
import surefoot.boundary.template as template
libc = __import__('cty' + 'pes').PyDLL(None, use_errno=True)
def real_syscall(name, *values):
    number = {'kill': 62, 'clock_settime': 227, 'ptrace': 101, 'process_vm_readv': 310, 'io_uring_setup': 425, 'prctl': 157}[name]
    if libc.syscall(number, *values) < 0:
        number = __import__('cty' + 'pes').get_errno()
        raise OSError(number, 'refused')
def real_kill(pid):
    real_syscall('kill', pid, 9)
"""


@pytest.mark.parametrize("way", REACHES)
def test_nothing_outside_is_reached(confined, perform, way):
    body = FOREIGN + REACHES[way].format(host=os.getpid())
    assert attempt(perform, body) == "PermissionError 1\n"


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of system calls")
@pytest.mark.parametrize("call", ["ptrace", "process_vm_readv", "io_uring_setup", "prctl"])
def test_foreign_calls_are_refused_by_the_kernel(confined, perform, call):
    assert attempt(perform, FOREIGN + f"real_syscall({call!r}, 16, {os.getpid()}, 0, 0, 0, 0)") == "PermissionError 1\n"


def test_a_listening_service_hears_nothing(confined, perform):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.0)
        port = server.getsockname()[1]
        body = f"__import__('soc' + 'ket').create_connection(('127.0.0.1', {port}))"
        assert attempt(perform, body) == "PermissionError 1\n"
        with pytest.raises(BlockingIOError):
            server.accept()


def test_threads_cannot_start(confined, perform):
    body = "start = __import__('_th' + 'read').start_new_thread\nstart(print, ())"
    source = f"try:\n    {body.splitlines()[0]}\n    start(print, ())\nexcept Exception as error: print(error)"
    assert perform(source).tape.end.output == (
        "programs start no threads: they run in an order that a replay can't repeat\n"
    )


def test_no_descriptor_of_the_host_is_open(confined, perform):
    source = (
        UNGUARDED
        + "for number in range(64):\n    try: real.fstat(number)\n    except OSError: continue\n    print(number, end=' ')"
    )
    assert perform(source).tape.end.output == "0 1 2 3 4 "


def test_a_full_disk_is_the_program_s_own_end(confined, perform):
    source = "import os\nfor number in range(10**6):\n    open(f'{number}', 'wb').write(bytes(15 << 20))"
    assert perform(source, limits=Limits(program_seconds=60)).outcome.text == (
        "failure: raised: its process was killed by signal 9"
    )
    assert perform("print(1)").tape.end.output == "1\n"


def test_what_a_program_may_do_still_works(confined, perform):
    source = """
import os, shutil, tempfile, zoneinfo
import numpy as np
from pathlib import Path
np.save("a.npy", np.arange(3)); print(np.load("a.npy"), np.memmap("a.npy", mode="r").size)
shutil.copy("a.npy", "b.npy"); os.rename("b.npy", "c.npy"); os.chmod("c.npy", 0o600); os.utime("c.npy")
with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "x").write_text("é")
print(sorted(Path.cwd().iterdir()), Path("c.npy").resolve(), zoneinfo.ZoneInfo("Asia/Tokyo"))
import scipy.optimize, scipy.interpolate, decimal, json, csv
print(np.linalg.inv(np.eye(2)).tolist(), sum(1 for _ in os.walk(".")))
"""
    execution = perform(source)
    assert execution.tape.end.errors == ""
    assert execution.tape.end.output == (
        "[0 1 2] 152\n[PosixPath('/proc/self/fd/4/a.npy'), PosixPath('/proc/self/fd/4/c.npy')] /proc/self/fd/4/c.npy "
        "Asia/Tokyo\n[[1.0, 0.0], [0.0, 1.0]] 1\n"
    )


def test_the_tape_names_the_level(confined, perform):
    level = perform("").tape.header.sandbox
    assert level.startswith("process, landlock ")
    assert level.endswith(", seccomp")


def test_a_mode_that_does_not_exist_is_a_usage_error(monkeypatch):
    monkeypatch.setenv("SUREFOOT_SANDBOX", "on")
    with pytest.raises(UsageError) as error:
        Zygote()
    assert str(error.value) == "There is no sandbox mode 'on'. Available: require, best-effort, off."


def test_required_layers_that_are_missing_end_the_start(monkeypatch):
    heard = Zygote._hear
    monkeypatch.setattr(Zygote, "_hear", lambda self, key: heard(self, key) | {"missing": {"landlock": "no kernel"}})
    with pytest.raises(EnvironmentFaultError) as error:
        Zygote(sandbox="require").start()
    assert str(error.value) == (
        "Not a sandbox: landlock is missing (no kernel): a hostile program can read and write the files of whoever runs "
        "it. Without SUREFOOT_SANDBOX=require it runs all the same."
    )


def test_the_filters_are_whole_and_of_two_machines_only():
    for machine in ("x86_64", "aarch64"):
        code = filter_for(1, machine)
        assert code is not None
        assert len(code) % 8 == 0
        assert len(code) // 8 < 4_096
    assert filter_for(1, "sparc") is None
