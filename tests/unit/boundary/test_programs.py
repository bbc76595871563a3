"""Programs of every kind, run in their process: each ends as a value, with a sentence."""

from __future__ import annotations

import pytest

from surefoot.boundary.outcome import Infrastructure, Timeout
from surefoot.boundary.surface import api
from surefoot.boundary.wire import Limits

ENDINGS = {
    "": "failure: the program ended, but the evaluator does not accept the state",
    "state['done'] = True; step()": "success",
    "state['done'] = True; step(); import sys; sys.exit()": "success",
    "state['done'] = True; step(); raise SystemExit(0)": "success",
    "state['done'] = True; step(); quit()": "success",
    "state['done'] = True; step(); exit(1)": "failure: raised at line 1: SystemExit: 1",
    "raise SystemExit('first\\nsecond')": "failure: raised at line 1: SystemExit: first",
    "raise ValueError('first\\nsecond')": "failure: raised at line 1: ValueError: first",
    "e = ValueError('x'); e.add_note('a note'); raise e": "failure: raised at line 1: ValueError: x",
    "raise ValueError('\\ud800')": "failure: raised at line 1: ValueError: \\ud800",
    "class E(Exception): pass\nraise E('x')": "failure: raised at line 2: E: x",
    "class E(Exception):\n    def __str__(self): raise SystemExit\nraise E": (
        "failure: raised at line 3: E: (its text can't be read: SystemExit)"
    ),
    "class E:\n    def __str__(self): raise KeyError\nraise SystemExit(E())": (
        "failure: raised at line 3: SystemExit: (its text can't be read: KeyError)"
    ),
    "class D:\n    def __del__(self): raise ValueError\nd = D(); del d; e = D()": (
        "failure: the program ended, but the evaluator does not accept the state"
    ),
    "raise KeyboardInterrupt": "failure: raised at line 1: KeyboardInterrupt",
    "def f(): f()\nf()": "failure: raised at line 1: RecursionError: maximum recursion depth exceeded",
    "x = bytearray(10**11)": "failure: raised at line 1: MemoryError",
    "input('name? ')": "failure: raised at line 1: EOFError: EOF when reading a line",
    "import os\nos._exit(0)": "failure: raised: its process ended with code 0",
    "import os\nos.kill(os.getpid(), 9)": "failure: raised: its process was killed by signal 9",
    "import os\nos.write(3, b'abcdefgh'); step()": (
        "failure: raised: it sent a message that no program sends "
        "(A message of 3276 MB can't cross the boundary: 256 MB are the most)"
    ),
    "import os\nos.write(3, b'\\2\\0\\0\\0\\0\\0\\0\\0\\1\\2'); step()": (
        "failure: raised: it sent a message that no program sends (Expected `array`, got `int`)"
    ),
    "step.__globals__['_call']('bump', ())": (
        "failure: raised: it sent a message that no program sends (bump takes other arguments)"
    ),
    "echo.__globals__['_call']('echo', (5, 6))": (
        "failure: raised: it sent a message that no program sends (echo takes other arguments)"
    ),
    "import sys; sys.stdout.close()": "failure: the program ended, but the evaluator does not accept the state",
    "for _ in range(100): print('x' * 10**6)": "failure: raised at line 1: OSError: [Errno 27] File too large",
    "while True: echo()": "failure: limit at line 1: more than 400 calls",
    "while True:\n    try: step()\n    except BaseException: pass": (
        "failure: limit at line 2: The toy's 100 steps are used up."
    ),
    "def step(): return 5\nassert step() == 5": (
        "failure: the program ended, but the evaluator does not accept the state"
    ),
    "echo(object())": (
        "failure: raised at line 1: surefoot.boundary.table.UnsupportedValueError: A value of type builtins.object "
        "can't cross the boundary: only Python scalars, str, bytes, containers, ndarrays, NumPy scalars, exceptions and declared types can."
    ),
    "echo('a' * (257 << 20))": (
        "failure: raised at line 1: surefoot.boundary.wire.FrameTooLargeError: "
        "A message of 257 MB can't cross the boundary: 256 MB are the most."
    ),
    "import time; time.sleep(-1)": "failure: raised at line 1: ValueError: can't sleep for -1.0",
    "fail('sub')": (
        "infrastructure: fail returned what can't cross: A value of type {module}.SubToyError can't cross the boundary: "
        "of exceptions only Python's own and those declared with raises=(...) can."
    ),
    "fail('other')": "infrastructure: fail raised RuntimeError: a fault: other",
    "foreign()": (
        "infrastructure: foreign returned what can't cross: A value of type builtins.object can't cross the boundary: "
        "only Python scalars, str, bytes, containers, ndarrays, NumPy scalars, exceptions and declared types can."
    ),
    "def f(:\n  pass": "invalid program: program, line 1: not valid Python: invalid syntax.",
    "import threading": (
        "invalid program: program, line 1: it imports threading: threads and processes run in an order that a replay "
        "can't repeat; call the functions one after another."
    ),
}  # fmt: skip


@pytest.mark.parametrize("source", ENDINGS)
def test_a_program_ends_as_a_value_with_a_sentence(perform, toy, source):
    assert perform(source).outcome.text == ENDINGS[source].replace("{module}", toy.error.__module__)


def test_a_program_that_loops_uses_up_counted_processor_time(perform):
    outcome = perform("while True: pass", limits=Limits(cpu_seconds=1)).outcome
    assert outcome.text == "failure: limit: more than 1 s of processor time"


def test_a_program_that_waits_is_a_timeout_which_decides_nothing(perform):
    execution = perform("import signal\nstep()\nsignal.pause()", limits=Limits(program_seconds=0.3))
    assert execution.outcome == Timeout(0.3)
    assert len(execution.tape.events) == 1


def test_a_program_that_trickles_bytes_cannot_stretch_its_time(perform):
    source = "import os, select\nos.write(3, b'\\xff\\0\\0\\0')\n"
    source += "while True:\n    select.select([], [], [], 0.05)\n    os.write(3, b'\\0')"
    assert perform(source, limits=Limits(program_seconds=0.4)).outcome == Timeout(0.4)


def test_a_program_that_does_not_read_its_answers_is_a_timeout(perform):
    source = """
import signal
from surefoot.boundary.wire import Call
value = bytes(1 << 22)
try:
    echo(value)
finally:
    from surefoot.boundary import client
    import gc
    mine = next(item for item in gc.get_objects() if isinstance(item, client.Client))
    mine._connection.send(Call(1, "echo", mine.caller.request(((value,), {"k": [value]})), 1, ""))
    signal.pause()
"""
    assert perform(source, limits=Limits(program_seconds=1.0)).outcome == Timeout(1.0)


def test_a_call_deep_in_a_recursion_is_finished_before_the_program_fails(perform):
    source = "def f(n):\n    echo(n)\n    try: f(n + 1)\n    except RecursionError: pass\n"
    source += "import sys\nsys.setrecursionlimit(120)\nf(0)\nprint(echo('still in step'))\n"
    execution = perform(source)
    assert execution.tape.end.output == "still in step\n"


def test_a_call_cut_short_by_the_program_is_an_abnormal_end(perform):
    source = "from surefoot.boundary import client\nclient.decode_to_program = lambda data: 1 / 0\n"
    source += "try: step()\nexcept ZeroDivisionError: pass\nstate['done'] = True\n"
    assert (
        perform(source).outcome.text
        == "failure: raised: call step was cut short by ZeroDivisionError: division by zero"
    )


def test_line_and_stage_of_a_call_pass_over_comprehensions(perform):
    source = "def pick():\n    return [\n        step()\n        for _ in range(2)\n    ]\npick()\n(lambda: step())()"
    events = perform(source).tape.events
    assert [(event.line, event.stage) for event in events] == [(3, "pick"), (3, "pick"), (7, "")]


def test_ambient_sources_of_chance_give_the_same_in_every_run(perform):
    source = """
import os, random, secrets, sys, tempfile, time, uuid
import numpy as np
print(random.random(), random.Random().random(), random.SystemRandom().random(), random.seed(), random.random())
print(uuid.uuid4(), secrets.token_hex(4), os.urandom(2), os.getrandom(2), np.random.rand(), np.random.default_rng().random())
print(np.random.RandomState().rand(), {"a", "b", "c"}, {int, str, float, object}, sys.argv, dict(os.environ))
print(time.time(), time.monotonic_ns(), time.perf_counter(), time.clock_gettime(time.CLOCK_REALTIME), time.ctime())
print(time.strftime("%H:%M"), time.localtime().tm_hour, time.clock_gettime_ns(time.CLOCK_MONOTONIC))
print(next(tempfile._get_candidate_names()), os.path.basename(os.getcwd()), os.listdir())
"""
    first, second = (perform(source).tape.end for _ in range(2))
    assert first.outcome.text == "failure: the program ended, but the evaluator does not accept the state"
    assert first.output == second.output


def test_another_run_seed_gives_other_chance(perform):
    source = "import random; print(random.random())"
    assert perform(source, run_seed=1).tape.end.output != perform(source, run_seed=2).tape.end.output


def test_the_clock_shows_environment_time_and_sleep_passes_it(perform):
    source = "import time\nt = time.time()\nstep(); time.sleep(2.25)\nprint(time.time() - t, time.perf_counter())"
    assert perform(source).tape.end.output == "2.75 2.75\n"


def test_files_of_one_run_are_gone_in_the_next(perform):
    source = "import os\nprint(os.listdir())\nopen('left.txt', 'w').write('x')"
    assert [perform(source).tape.end.output for _ in range(2)] == ["[]\n", "[]\n"]


def test_output_beyond_what_is_kept_is_counted(perform):
    output = perform("print('x' * 900_000)\nprint('y' * 100_000)\nprint('z' * 40_000)").tape.end.output
    assert len(output) == 900_000 + 100_000 + 40_000 + 3
    output = perform("for _ in range(3): print('x' * 999_999)", limits=Limits(output_mb=4)).tape.end.output
    assert output.endswith(f"x\n… {3_000_000 - (1 << 20)} bytes more\n")


def test_descriptors_do_not_leak(perform, descriptors):
    perform("step()")
    before = descriptors()
    for source in ("step()", "raise ValueError", "import os; os._exit(0)", "while True: echo()", "fail('other')"):
        perform(source)
    assert descriptors() == before


def test_public_state_that_cannot_cross_is_a_fault_of_the_environment(perform, toy):
    environment = toy.environment()
    reset = environment.reset
    environment.reset = lambda seed: (reset(seed), environment.public_state.update(bad=object()))[0]
    outcome = perform("", environment=environment).outcome
    assert isinstance(outcome, Infrastructure)
    assert outcome.detail.startswith("the public state holds what can't cross: A value of type builtins.object")


@pytest.mark.parametrize(
    ("method", "text"),
    [
        ("reset", "infrastructure: ZeroDivisionError: division by zero"),
        ("telemetry", "infrastructure: ZeroDivisionError: division by zero"),
        ("succeeded", "infrastructure: the evaluator raised ZeroDivisionError: division by zero"),
    ],
)
def test_a_fault_of_the_environment_is_infrastructure(perform, toy, method, text):
    environment = toy.environment()
    setattr(environment, method, lambda *_: 1 / 0)
    assert perform("step()", environment=environment).outcome.text == text


def _leave(*_):
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (_leave, "infrastructure: step raised SystemExit: 3"),
        (lambda: bytes(300), "infrastructure: step returned more than can cross: 0 MB"),
    ],
)
def test_a_callee_s_fault_is_not_the_program_s_and_ends_no_host(perform, toy, monkeypatch, call, text):
    monkeypatch.setattr("surefoot.tape.recording.MAX_TABLE", 200)
    environment = toy.environment()
    reset = environment.reset
    environment.reset = lambda seed: (
        reset(seed),
        environment.public_state.clear(),
        monkeypatch.setattr(type(environment.api), "step", api("effect")(lambda self: call())),
    )[0]
    assert perform("step()", environment=environment).outcome.text == text


def test_a_public_state_larger_than_any_message_is_a_fault_of_the_environment(perform, monkeypatch):
    monkeypatch.setattr("surefoot.tape.recording.MAX_TABLE", 20)
    assert perform("").outcome.text == "infrastructure: the public state is more than can cross: 0 MB"
