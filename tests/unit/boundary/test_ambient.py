"""What could tell one run from another shows the same in every run, and one stream's draws shift no other."""

from __future__ import annotations

import os

import pytest

from surefoot.boundary.exchange import Callee
from surefoot.boundary.process import Zygote
from surefoot.boundary.session import converse
from surefoot.boundary.wire import Begin, Limits
from surefoot.tape.certificate import Certified
from surefoot.tape.replay import certify, program_of
from surefoot.tape.text import request_text

SOURCES = {
    "random": "import random\nprint(random.random(), random.Random().random(), random.SystemRandom().random())\n"
              "random.seed()\nr = random.Random(); r.seed(None)\nprint(random.random(), r.random())",
    "entropy": "import os\nprint(os.urandom(4), os.getrandom(4))",
    "secrets": "import secrets\nprint(secrets.token_hex(4), secrets.choice(range(1000)), secrets.randbits(30))",
    "uuid": "import uuid\nprint(uuid.uuid1(), uuid.uuid4(), uuid.getnode(), uuid._generate_time_safe)",
    "libuuid": "u = __import__('_u' + 'uid')\nprint(u.generate_time_safe())",
    "numpy": "import numpy as np\nprint(np.random.rand(), np.random.default_rng().random(), np.random.SeedSequence().entropy)\n"
             "print([getattr(np.random, n)().random_raw() for n in ('PCG64', 'MT19937', 'Philox', 'SFC64', 'PCG64DXSM')])\n"
             "print(np.random.RandomState().rand(), np.random.seed(), np.random.rand())",
    "scipy": "from scipy.spatial.transform import Rotation\nprint(Rotation.random().as_quat())",
    "temporary names": "import tempfile\nprint(tempfile.mkdtemp(), tempfile.NamedTemporaryFile().name, tempfile.gettempdir())",
    "hash": "print(hash('abc'), hash(b'x'), {'a', 'b', 'c', 'zz'})",
    "addresses": "class A: pass\nclass B: pass\nkept = [A() for _ in range(50)]\n"
                 "print([kept.index(a) for a in set(kept)], {A, B, int, str}, id(A), id(kept[0]), object())",
    "process": "import os\nprint(os.getpid(), os.getppid(), os.getpgid(0), os.getsid(0), os.times(), os.getuid())",
    "usage": "import resource\nprint(resource.getrusage(resource.RUSAGE_SELF))",
    "time": "import time\nprint([getattr(time, n)() for n in ('time', 'monotonic_ns', 'perf_counter', 'process_time', 'thread_time')])\n"
            "print([(n, time.clock_gettime(getattr(time, n))) for n in dir(time) if n.startswith('CLOCK_')])\n"
            "print(time.localtime(), time.strftime('%c'), time.ctime(), time.asctime(), time.get_clock_info('time'))",
    "dates": "import datetime as d\nnow = d.datetime.now\nclass S(d.datetime): pass\n"
             "print(now(), d.datetime.utcnow(), d.datetime.today(), d.date.today(), now(d.timezone.utc), type(S.now()).__name__)\n"
             "print(type(now()) is d.datetime, now() - d.datetime(2020, 1, 1))",
    "environment": "import os\nprint(dict(os.environ), os.environb, os.getenv('PATH'))",
    "machine": "import os, platform\nprint(os.cpu_count(), os.sched_getaffinity(0), os.getloadavg(), os.uname(), platform.node(), "
               "os.sysconf('SC_NPROCESSORS_ONLN'))",
    "start": "import sys, locale\nprint(sys.argv, sys.orig_argv, sys.flags, locale.getlocale(), locale.getpreferredencoding())",
    "garbage": "import gc, weakref\nclass A: pass\ndef cycle():\n    a = A(); a.a = a; return weakref.ref(a, print)\n"
               "r = cycle()\nfor _ in range(10**4): cycle()\nprint(gc.isenabled(), gc.get_count()[1:], gc.collect(), r())",
    "listings": "import os, glob\nfor n in 'zyxabc': open(n, 'w').close()\n"
                "print(os.listdir(), glob.glob('*'), [(e.name, e.stat(), e.inode()) for e in os.scandir()])",
    "folder": "import os, pathlib\nprint(os.getcwd(), os.path.abspath('x'), pathlib.Path.cwd().resolve(), pathlib.Path.home())\n"
              "open(os.path.abspath('x'), 'w').write('y'); print(open('x').read())",
    "file times": "import os\nopen('f', 'w').close()\nprint(os.stat('f'), os.stat('.'), os.fstat(1).st_mtime)",
    "user's packages": "import site, sysconfig\nprint(site.USER_BASE, site.USER_SITE, sysconfig.get_config_var('userbase'))",
    "objects": "import gc, sys\nprint(len(gc.get_objects()), gc.get_count(), sys.getallocatedblocks(), id([]))",
    "log records": "import logging, email.utils\nr = logging.makeLogRecord({})\nprint(r.created, r.process, r.relativeCreated, "
                   "email.utils.make_msgid())",
    "classes keep readings": "import time, os\nclass C:\n    now = time.time\n    me = os.getpid\nprint(C().now(), C().me())",
}  # fmt: skip


class Silent:
    """A host that no program should call."""

    def answer(self, call):
        raise AssertionError(call)

    def settle(self):
        """Nothing was called."""

    def note(self, watched):
        raise AssertionError(watched)


@pytest.fixture(scope="module")
def pair(zygote):
    """Two interpreters: what a recording and a later replay run in."""
    with Zygote() as other:
        yield zygote, other


def printed(zygote, source, seed=0):
    process = zygote.run(Begin(source, (), (), Callee(None).opening, seed, 0.0, False), Limits(cpu_seconds=20))
    ending = converse(process, Silent())
    assert ending.error == "", ending
    return process.output


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_of_chance_shows_the_same_in_every_run_and_interpreter(pair, name):
    first, *others = (printed(zygote, SOURCES[name]) for zygote in (*pair, *pair))
    assert first.strip()
    assert others == [first] * 3


def test_the_first_program_of_an_interpreter_holds_what_all_others_hold():
    with Zygote() as fresh:
        first, *others = (printed(fresh, SOURCES["objects"]) for _ in range(3))
    assert others == [first] * 2


def test_files_have_the_same_modes_whatever_the_user_s_mask():
    before = os.umask(0o077)
    try:
        with Zygote() as masked:
            shown = printed(
                masked, "import os\nopen('f', 'w').close()\nprint(oct(os.stat('f').st_mode), oct(os.umask(0)))"
            )
    finally:
        os.umask(before)
    assert shown == "0o100644 0o22\n"


DRAWS = {
    "random": "random.random()",
    "numpy": "np.random.rand()",
    "generator": "np.random.default_rng().random()",
    "unseeded": "random.Random().random()",
    "entropy": "os.urandom(8)",
    "secrets": "secrets.token_hex(8)",
    "uuid": "uuid.uuid4()",
    "temporary": "tempfile.mktemp()",
}


@pytest.mark.parametrize("extra", DRAWS)
def test_one_more_draw_from_a_stream_shifts_no_other(zygote, extra):
    head = "import os, random, secrets, tempfile, uuid\nimport numpy as np\n"
    tail = "".join(f"print({name!r}, {draw})\n" for name, draw in DRAWS.items())
    plain = printed(zygote, head + tail).splitlines()
    shifted = printed(zygote, f"{head}{DRAWS[extra]}\n{tail}").splitlines()
    changed = [one.split()[0] for one, other in zip(plain, shifted, strict=True) if one != other]
    assert changed == [f"{extra}"]


@pytest.mark.parametrize("draw", DRAWS.values())
def test_another_seed_gives_other_draws(zygote, draw):
    source = f"import os, random, secrets, tempfile, uuid\nimport numpy as np\nprint({draw})"
    assert printed(zygote, source, 1) != printed(zygote, source, 2)


REFUSED = {
    "open('/etc/passwd')": "programs read no files: /etc/passwd lies outside their own folder; pass data through the task's functions",
    "open('/no/such')": "programs read no files: /no/such lies outside their own folder; pass data through the task's functions",
    "os.listdir('/')": "programs read no files: / lies outside their own folder; pass data through the task's functions",
    "open('config.json')": "[Errno 2] No such file in the program's own folder, which is empty at the start; "
    "pass data through the task's functions: 'config.json'",
    "open('/tmp/x', 'w')": "programs write only in their own folder, not to /tmp/x",
    "open('../x', 'w')": "programs write only in their own folder, not to ../x",
    "np.load('/data.npy')": "programs read no files: /data.npy lies outside their own folder; pass data through the task's functions",
    "getattr(os, 'fo' + 'rk')()": "programs start no processes: what they do is not on the tape; use the task's functions",
    "__import__('soc' + 'ket').socket()": "programs open no sockets: what they reach is not on the tape; use the task's functions",
    "getattr(signal, 'al' + 'arm')(1)": "programs set no timers: a signal comes at no point that a replay can repeat",
    "os.fstatvfs(1)": "programs don't ask how full a disk is",
    "os.kill(1, 9)": "programs send signals to nobody but themselves",
    "__import__('cty' + 'pes').CDLL('libm.so.6')": "programs load no foreign code: what it does is not on the tape",
    "__import__('thread' + 'ing').Thread(target=print).start()": (
        "programs start no threads: they run in an order that a replay can't repeat"
    ),
}


@pytest.mark.parametrize("attempt", REFUSED)
def test_what_a_tape_cannot_hold_is_an_ordinary_exception_live_and_in_replay(perform, zygote, attempt):
    source = (
        f"import os, signal\nimport numpy as np\ntry:\n    {attempt}\nexcept OSError as error:\n    echo(str(error))\n"
    )
    source += "state['done'] = True\nstep()\n"
    execution = perform(source)
    assert execution.outcome.text == "success"
    tape = execution.tape
    event = tape.events[0]
    assert event.function == "echo"
    assert REFUSED[attempt][:30] in request_text(tape.header.surface, event.function, event.request)
    assert isinstance(certify(program_of(tape), tape, zygote), Certified)
    told = perform(
        f"import os, signal\nimport numpy as np\ntry:\n    {attempt}\nexcept OSError as error:\n    print(error)"
    )
    assert told.tape.end.output == REFUSED[attempt] + "\n"


def test_files_outside_do_not_exist_for_a_program_that_asks(perform):
    source = "import os\nprint(os.path.exists('/etc/passwd'), os.path.isdir('/etc'), os.access('/etc/passwd', os.R_OK))"
    assert perform(source).tape.end.output == "False False False\n"
