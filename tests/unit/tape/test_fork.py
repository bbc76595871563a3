"""Forks: what they give for each way in which a program may differ, and why there may be none."""

from __future__ import annotations

import msgspec
import pytest

from surefoot.boundary.environment import Environment
from surefoot.boundary.outcome import Failure, Infrastructure, Success
from surefoot.boundary.surface import Surface, api
from surefoot.boundary.wire import Limits
from surefoot.errors import InvalidProgramError, TapeError
from surefoot.program.source import Program
from surefoot.tape.certificate import Unavailable
from surefoot.tape.epochs import pure_events
from surefoot.tape.file import load_tape
from surefoot.tape.fork import Forked, fork
from surefoot.tape.recording import execute

SOURCE = "step()\nbump('a')\necho(1)\nstep()\n"
"""Then `state['done'] = True` and `step()`: five events, three steps."""


@pytest.fixture
def forked(tape_of, zygote, toy):
    """Fork an edited program from the tape of SOURCE; options change what it is forked on."""

    def run(edited, *, tape=None, environment=None, origin=None, path=None, **options):
        tape = tape or tape_of(SOURCE, **options)
        return fork(Program(edited), tape, environment or toy.environment(), origin or toy.origin, zygote, path)

    return run


WHOLE = SOURCE + "state['done'] = True\nstep()\n"


@pytest.mark.parametrize(
    ("edited", "outcome", "event", "steps", "live_steps"),
    [
        (WHOLE.replace("'a'", "'b'"), Success(), 1, 3, 2),
        (WHOLE.replace("echo(1)", "echo(2)"), Success(), 2, 3, 2),
        (WHOLE.replace("echo(1)\n", "step()\n"), Success(), 2, 4, 3),
        (WHOLE.replace("step()\nbump", "bump"), Success(), 0, 2, 2),
        (WHOLE + "step()\n", Success(), 5, 4, 1),
        # ends that differ need the restored state alone
        (SOURCE, Failure("normal"), 4, 2, 0),
        (WHOLE + "1 / 0\n", Failure("raised", "ZeroDivisionError: division by zero", 7), 5, 3, 0),
        (WHOLE + "raise SystemExit(2)\n", Failure("raised", "SystemExit: 2", 7), 5, 3, 0),
        # where nothing differs there is nothing to run
        (WHOLE, Success(), 5, 3, 0),
        # limits count what came from the tape
        (WHOLE + "while True: step()\n", Failure("limit", "The toy's 100 steps are used up.", 7), 5, 101, 98),
        (WHOLE + "while True: echo(3)\n", Failure("limit", "more than 400 calls", 7), 5, 3, 0),
    ],
)
def test_a_fork_runs_what_the_tape_does_not_hold(forked, edited, outcome, event, steps, live_steps):
    found = forked(edited)
    assert isinstance(found, Forked)
    assert (found.outcome, found.event, found.steps, found.live_steps) == (outcome, event, steps, live_steps)
    assert found.tape.header.program == edited
    assert len(found.tape.events) == found.tape.end.events


def test_a_fork_uses_the_limits_and_the_run_seed_of_the_tape(forked, tape_of):
    source = "import random\necho(random.random())\n"
    tape = tape_of(source, limits=Limits(calls=7), run_seed=5)
    found = forked(tape.header.program + "while True: echo(random.random())\n", tape=tape)
    assert found.outcome.detail == "more than 7 calls"
    assert found.event == 2
    assert (found.tape.header.run_seed, len(found.tape.events)) == (5, 7)


def test_what_the_program_wrote_into_the_public_state_with_a_query_is_there_after_the_fork(forked, tape_of):
    tape = tape_of("state['x'] = [1]\necho(1)\nstate['y'] = state['x']\necho(2)\n")
    end = "grow(state['x'], 2)\nstate['done'] = state['y'] == [1, 2]\nstep()\n"
    found = forked(tape.header.program.replace("state['done'] = True\nstep()\n", end), tape=tape)
    assert (found.outcome, found.event) == (Success(), 2)


def test_lines_and_stages_of_the_new_tape_are_those_of_the_edited_program(forked, tmp_path):
    found = forked(f"def first():\n    {WHOLE.partition('echo')[0].replace(chr(10), chr(10) + '    ')}\nfirst()\necho(5)\n",
                   path=tmp_path / "fork.mcap")  # fmt: skip
    assert [(event.function, event.line, event.stage) for event in found.tape.events] == [
        ("step", 2, "first"), ("bump", 3, "first"), ("echo", 6, ""),
    ]  # fmt: skip
    assert load_tape(tmp_path / "fork.mcap").events == found.tape.events
    with pytest.raises(TapeError):
        forked(SOURCE, path=tmp_path / "fork.mcap")


def test_an_invalid_program_is_an_error(forked):
    with pytest.raises(InvalidProgramError):
        forked("def f(:")


def test_a_tape_that_can_t_be_replayed_can_t_be_forked(forked, tape_of, toy):
    cut = msgspec.structs.replace(tape_of(SOURCE), end=None)
    assert forked(SOURCE, tape=cut).reason == "truncated"
    other = msgspec.structs.replace(toy.origin, revision="r2")
    assert forked(SOURCE, origin=other).reason == "environment changed"


def test_a_reset_that_gives_another_scene_is_a_changed_scene(forked, toy):
    class Elsewhere(toy.environment):
        def reset(self, seed):
            return msgspec.structs.replace(super().reset(seed), digest="another")

    class OtherState(toy.environment):
        def reset(self, seed):
            scene = super().reset(seed)
            self.public_state["log"].append(1)
            return scene

    for environment in (Elsewhere(), OtherState()):
        assert forked(SOURCE, environment=environment) == Unavailable(
            "scene changed", "a reset to seed 1 gives another scene than was recorded"
        )


def test_without_snapshots_there_is_no_fork(forked, tape_of, toy):
    class Plain(toy.environment):
        snapshot = Environment.snapshot

    class Uncarried(toy.environment):
        def snapshot(self):
            return object()

    for environment in (Plain(), Uncarried()):
        tape = tape_of(SOURCE, environment=environment)
        assert {observed.snapshot for observed in tape.telemetry} == {b""}
        assert forked(SOURCE, tape=tape) == Unavailable(
            "no snapshot", "the recording holds no snapshot of the environment"
        )


def test_a_snapshot_that_does_not_give_the_state_back_is_noticed(forked, toy):
    class Unable(toy.environment):
        restore = Environment.restore

    class Forgetful(toy.environment):
        def restore(self, snapshot):
            super().restore({**snapshot, "slept": 1.0})

    class Reordered(toy.environment):
        def restore(self, snapshot):
            super().restore(snapshot)
            self.public_state["a"] = self.public_state.pop("a")

    class Blind(toy.environment):
        def telemetry(self):
            return {"taken": 7.0}

    found = {kind.__name__: forked(SOURCE, environment=kind()) for kind in (Unable, Forgetful, Reordered, Blind)}
    assert {item.reason for item in found.values()} == {"no snapshot"}
    text = "the state that a snapshot gives back is not that after event 3"
    assert [found[name].detail for name in ("Forgetful", "Reordered", "Blind")] == [text] * 3
    assert (
        found["Unable"].detail
        == "the environment can't return to event 3: UsageError: Unable cannot restore snapshots."
    )


def test_a_query_that_answers_otherwise_after_the_snapshot_is_noticed(forked, toy):
    class Unsteady(toy.environment):
        def restore(self, snapshot):
            super().restore(snapshot)

            class Otherwise(type(self.api)):
                @api("query")
                def echo(self, *values, **named):
                    return "otherwise"

            self.api = Otherwise(self)

    found = forked(WHOLE.replace("echo(1)\nstep()", "echo(1)\nbump('b')"), environment=Unsteady())
    assert found == Unavailable("no snapshot", "from the snapshot after event 1, event 2 goes otherwise")


def test_what_is_shared_beyond_the_public_state_can_t_be_had_back(forked, toy, zygote):
    plain = toy.environment()
    plain.reset(1)

    class Item:
        @api("query")
        def weight(self):
            return 1.0

    class LendingApi(type(plain.api)):
        @api("query", shared=(list,))
        def lend(self):
            return self._environment.lent

        @api("query", types=(Item,))
        def item(self):
            return Item()

    class Lending(toy.environment):
        def reset(self, seed):
            scene = super().reset(seed)
            self.api, self.lent = LendingApi(self), [1, 2]
            return scene

    origin = msgspec.structs.replace(toy.origin, surface=Surface.of(LendingApi))
    for source, reason in (("lend()\n", "shared objects"), ("item()\n", "shared objects"), ("echo(1)\n", None)):
        tape = execute(Program(source + WHOLE), Lending(), origin, 1, zygote).tape
        late, early = (
            forked(text, tape=tape, environment=Lending(), origin=origin)
            for text in (source + WHOLE + "step()\n", "echo(7)\n" + WHOLE)
        )
        assert pure_events(tape.header, tape.events)[0] == (reason is None)
        assert isinstance(early, Forked)
        assert (late.reason if isinstance(late, Unavailable) else None) == reason


def test_a_fault_of_the_environment_is_the_outcome(forked, toy):
    class Broken(toy.environment):
        def reset(self, seed):
            raise OSError("no simulator")

    found = forked(SOURCE, environment=Broken())
    assert (found.outcome, found.tape, found.event) == (Infrastructure("OSError: no simulator"), None, 4)
