"""When a tape can certify nothing, and why; what a recording notes."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from surefoot.boundary.process import Zygote
from surefoot.boundary.surface import Surface
from surefoot.boundary.wire import Limits
from surefoot.errors import InvalidProgramError
from surefoot.program.source import Program
from surefoot.tape.certificate import Certified, Diverged, Unavailable, verdict
from surefoot.tape.file import load_tape
from surefoot.tape.replay import certify, preload_for

SOURCE = "grow([1], item=2.5)\nbump('a')\n"


def self_match(tape, zygote):
    """The verdict of a tape on its own program."""
    return certify(Program(tape.header.program), tape, zygote)


@pytest.fixture
def tape(tape_of):
    return tape_of(SOURCE)


@pytest.fixture
def with_header(tape):
    return lambda **changes: msgspec.structs.replace(tape, header=msgspec.structs.replace(tape.header, **changes))


def test_a_fresh_tape_certifies_its_own_program(tape, zygote):
    assert self_match(tape, zygote) == Certified(3)
    assert self_match(tape, zygote).text == "certified (3 events)"


def test_a_truncated_tape_certifies_nothing(tape, zygote):
    cut = msgspec.structs.replace(tape, end=None, events=tape.events[:2])
    assert self_match(cut, zygote) == Unavailable("truncated", "the recording was cut after 2 events; record it anew")


def test_another_environment_revision_is_unavailable(tape, zygote):
    found = certify(Program(SOURCE), tape, zygote, revision="r2")
    assert found == Unavailable(
        "environment changed", "the environment's code or versions differ from the recording's; record it anew"
    )
    assert found.text == (
        "unavailable (environment changed): the environment's code or versions differ from the recording's; record it anew"
    )


def test_a_changed_function_that_the_tape_uses_is_unavailable_and_another_is_not(tape, zygote, toy):
    def changed(name: str) -> Surface:
        functions = [
            msgspec.structs.replace(item, signature="(x)") if item.name == name else item
            for item in toy.surface.functions
        ]
        return Surface(tuple(functions))

    own = Program(tape.header.program)
    assert certify(own, tape, zygote, surface=changed("bump")) == Unavailable(
        "surface changed", "bump changed since the recording"
    )
    assert certify(own, tape, zygote, surface=changed("peek")) == Certified(3)


def test_a_changed_docstring_does_not_matter(tape, zygote, toy):
    functions = tuple(msgspec.structs.replace(item, doc="other") for item in toy.surface.functions)
    assert certify(Program(tape.header.program), tape, zygote, surface=Surface(functions)) == Certified(3)


def test_another_numeric_platform_is_named(with_header, zygote):
    other = with_header(platform={**zygote.platform, "blas": "mkl", "cpu": "AVX"}, python="3.8.1")
    blas, python = zygote.platform["blas"], ".".join(zygote.python.split(".")[:2])
    assert self_match(other, zygote) == Unavailable(
        "numeric platform",
        f"blas (mkl then, {blas} now), CPU features, python (3.8 then, {python} now) differ from the recording's",
    )


def test_what_a_program_imports_is_no_other_numeric_platform(tape):
    program = Program("import scipy.linalg\n" + tape.header.program)
    with Zygote(preload_for(program)) as zygote:
        assert certify(program, tape, zygote) == Certified(3)


def test_a_python_patch_level_does_not_matter(with_header, zygote):
    assert self_match(with_header(python=zygote.python.rpartition(".")[0] + ".99"), zygote) == Certified(3)


def test_a_program_that_does_not_match_its_own_tape_makes_the_tape_unavailable(with_header, zygote):
    wrong = with_header(program="bump('a')\n")
    assert certify(Program(SOURCE + "step()"), wrong, zygote) == Unavailable(
        "not self-matching", "the program that made this tape does not match it either"
    )


@pytest.mark.parametrize(
    ("source", "events", "ending"),
    [
        ("step()", 1, "failure: the program ended, but the evaluator does not accept the state"),
        ("step()\n1 / 0", 1, "failure: raised at line 2: ZeroDivisionError: division by zero"),
        ("while True: step()", 100, "failure: limit at line 1: The toy's 100 steps are used up."),
    ],
)
def test_a_failure_that_replays_as_recorded_is_no_success_rather_than_a_divergence(
    perform, zygote, source, events, ending
):
    failed = perform(source).tape
    expected = Unavailable("not a success", f"all {events} events match, but the tape records no success: {ending}")
    assert self_match(failed, zygote) == expected
    assert certify(Program(f"{source}\n"), failed, zygote) == expected


def test_a_program_that_diverges_from_a_failure_is_diverged(perform, zygote):
    failed = perform("step()\necho(1)").tape
    assert isinstance(certify(Program("step()\necho(2)"), failed, zygote), Diverged)


def test_a_replay_that_waits_for_ever_is_a_timeout(tape_of, zygote):
    quick = tape_of("step()\n", limits=Limits(program_seconds=0.3))
    assert certify(Program("step()\nimport signal; signal.pause()"), quick, zygote) == Unavailable(
        "timeout", "the program neither called nor ended within 0.3 s"
    )


def test_an_invalid_program_is_an_error_not_a_divergence(tape, zygote):
    with pytest.raises(InvalidProgramError):
        certify(Program("def f(:"), tape, zygote)


NOT_SENT = "it sent a message that no program sends"


@pytest.mark.parametrize(
    ("sent", "got"),
    [
        ("Call(0, 'no_such', b'\\x90', 1, '')", f"{NOT_SENT} (not a request: "),
        ("Call(0, 'step', b'\\x90', 1, '')", f"{NOT_SENT} (not a request: "),
        ("Call(0, 'step', b'', 1, '')", f"{NOT_SENT} (not a request: Not a node table: "),
        ("Call(0, 'step', b'\\x91' * 100_000 + b'\\xc0', 1, '')", f"{NOT_SENT} (not a request: Not a node table: "),
        ("Watched('line:1', {})", f"{NOT_SENT} (nothing is watched at line:1)"),
        ("Call(5, 'step', b'', 1, '')", "it sent call 5 where call 0 was due"),
        ("Answer(b'', False, 0.0)", f"{NOT_SENT} (Invalid value 'answer' "),
    ],
)
def test_a_request_that_no_client_sends_is_an_abnormal_end(tape, zygote, sent, got):
    source = "import os, signal\nfrom surefoot.boundary.wire import PREFIX, Answer, Call, Watched, as_data\n"
    source += f"data = as_data({sent})\nos.write(3, PREFIX.pack(len(data), 0) + data)\nsignal.pause()"
    found = certify(Program(source), tape, zygote)
    assert isinstance(found, Diverged)
    assert found.kind == "abnormal end"
    assert found.got.startswith(got)


def test_lines_that_ran_are_listed_when_asked_for(tape, zygote):
    edited = f"if False:\n    x = 1\n{tape.header.program}"
    assert certify(Program(edited), tape, zygote, trace_lines=True) == Certified(3, (1, 3, 4, 5, 6))
    assert certify(Program(edited), tape, zygote) == Certified(3)


@pytest.mark.parametrize(
    "source",
    [
        "import sys\necho(sys.gettrace() is None)\n",
        "class A: pass\ndef made(n):\n    return [A() for _ in range(n)]\n" + "\n" * 300 + "kept = made(40)\necho([kept.index(a) for a in set(kept)])\n",
    ],
)  # fmt: skip
def test_tracing_decides_no_verdict(tape_of, zygote, source):
    tape = tape_of(source)
    assert verdict(certify(Program(tape.header.program), tape, zygote, trace_lines=True)) == "certified"


def test_a_replay_is_repeatable(diverge):
    assert diverge(SOURCE, SOURCE.replace("2.5", "3.5")) == diverge(SOURCE, SOURCE.replace("2.5", "3.5"))


def test_verdicts_are_one_word(tape, zygote):
    assert [verdict(item) for item in (Certified(1), Unavailable("timeout"))] == ["certified", "unavailable"]


def test_only_scientific_modules_are_preloaded():
    assert preload_for(Program("import os, numpy.linalg\nfrom scipy.spatial import transform")) == (
        "numpy.linalg", "scipy.spatial",
    )  # fmt: skip
    assert preload_for(Program("def f(:")) == ()


def test_a_recording_notes_what_was_called_and_observed(perform, tmp_path):
    execution = perform("def pick():\n    step()\npick()\nprint('out')\necho(1)", path=tmp_path / "t.mcap", run_seed=3)
    tape = load_tape(tmp_path / "t.mcap")
    assert [(e.number, e.function, e.kind, e.clock, e.line, e.stage) for e in tape.events] == [
        (0, "step", "effect", 0.5, 2, "pick"),
        (1, "echo", "query", 0.5, 5, ""),
    ]
    assert [(item.number, item.values) for item in tape.telemetry] == [
        (-1, {"taken": 0.0}), (0, {"taken": 1.0}), (1, {"taken": 1.0}),
    ]  # fmt: skip
    assert (tape.end.output, tape.end.steps, tape.header.run_seed) == ("out\n", 1, 3)
    assert tape.header.sandbox.partition(", ")[0] == "process"
    assert execution.scene.digest == tape.header.scene.digest == "toy-1"


def test_telemetry_that_a_tape_cannot_hold_is_a_fault_of_the_environment(perform, toy, tmp_path):
    environment = toy.environment()
    environment.extra = {"x": np.float64(1.0)}
    outcome = perform("step()", environment=environment, path=tmp_path / "t.mcap").outcome
    assert outcome.text.startswith("infrastructure: telemetry gave what a tape can't hold: ")
    assert load_tape(tmp_path / "t.mcap").end.outcome == outcome


def test_errors_and_output_of_the_program_stand_in_the_end(perform):
    end = perform("import sys\nprint('é', end='')\nprint('warn', file=sys.stderr)\n1 / 0").tape.end
    assert end.output == "é"
    assert end.line == 4
    assert end.errors == (
        'warn\nTraceback (most recent call last):\n  File "<program>", line 4, in <module>\n    1 / 0\n    ~~^~~\n'
        "ZeroDivisionError: division by zero\n"
    )
