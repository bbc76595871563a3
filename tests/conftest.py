"""What tests of several packages share: a toy environment, program processes, and runs of small programs."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from surefoot.boundary.decoding import decode_value
from surefoot.boundary.encoding import encode_value
from surefoot.boundary.environment import Environment, Scene, StepLimitReachedError
from surefoot.boundary.process import Zygote
from surefoot.boundary.session import converse
from surefoot.boundary.surface import Surface, api
from surefoot.boundary.wire import Begin, Limits
from surefoot.environments.base import Task
from surefoot.environments.registry import find_task
from surefoot.program.source import Program
from surefoot.tape.certificate import Certificate
from surefoot.tape.file import Tape
from surefoot.tape.recording import Execution, Origin, execute
from surefoot.tape.replay import TapeHost, certify

settings.register_profile(
    "surefoot",
    derandomize=True,
    deadline=None,
    max_examples=100,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("surefoot")

QUICK = Limits(calls=400, cpu_seconds=5, memory_mb=2_048, output_mb=1, program_seconds=10.0)


class ToyError(Exception):
    """What the toy raises; it carries attributes, and its constructor does not take `args`."""

    def __init__(self, detail: list[Any], *, code: int):
        super().__init__(f"code {code}")
        self.detail = detail
        self.code = code


class SubToyError(ToyError):
    """A subclass that the surface does not declare."""


RAISED = (ToyError, KeyError, TypeError, ValueError, AttributeError, IndexError)


class ToyApi:
    """Functions that do to values whatever a callee can do."""

    def __init__(self, environment: ToyEnvironment):
        self._environment = environment

    @property
    def _state(self) -> dict[str, Any]:
        return self._environment.public_state

    @api("query")
    def echo(self, *values: Any, **named: Any) -> Any:
        """What was passed: the objects themselves."""
        return (values, named) if named else values[0] if len(values) == 1 else values

    @api("query", raises=RAISED)
    def peek(self, name: str) -> Any:
        """The shared object of that name."""
        return self._state[name]

    @api("query", raises=RAISED)
    def part(self, name: str, start: int = 0, stop: int = 2) -> Any:
        """A view of a shared array."""
        return self._state[name][start:stop]

    @api("query", raises=RAISED)
    def same(self, first: Any, second: Any) -> list[bool]:
        """Whether two values are one mutable object, and whether they share memory."""
        arrays = isinstance(first, np.ndarray) and isinstance(second, np.ndarray)
        mutable = isinstance(first, list | dict | set | bytearray | np.ndarray)
        return [mutable and first is second, arrays and np.shares_memory(first, second)]

    @api("effect", raises=RAISED)
    def grow(self, items: list[Any], item: Any = None) -> list[Any]:
        """Append to the caller's list and return it."""
        items.append(item)
        return items

    @api("effect", raises=RAISED)
    def scale(self, array: Any, factor: float = 2.0) -> Any:
        """Multiply the caller's array in place; returns a view of its start."""
        if not isinstance(array, np.ndarray) or array.dtype.kind != "f":
            raise TypeError("only an array of floats can be scaled")
        array *= factor
        return array[:1]

    @api("effect", raises=RAISED)
    def keep(self, name: str, value: Any) -> None:
        """Put the caller's object into the public state."""
        self._state[name] = value

    @api("effect", raises=RAISED)
    def drop(self, name: str) -> Any:
        """Take an object out of the public state."""
        return self._state.pop(name)

    @api("effect", raises=RAISED)
    def bump(self, name: str, amount: float = 3.0) -> float:
        """Change a shared array in place."""
        self.scale(self._state[name], amount)
        return float(self._state[name].sum())

    @api("effect", raises=(*RAISED, FileNotFoundError))
    def fail(self, kind: str = "toy", items: Any = None) -> None:
        """Raise, after changing the caller's list."""
        if items is not None:
            items.append("changed")
        if kind == "toy":
            raise ToyError([1, [2]], code=7)
        if kind == "sub":
            raise SubToyError([], code=8)
        if kind == "key":
            raise KeyError("missing")
        if kind == "file":
            raise FileNotFoundError(2, "No such file", "map.txt")
        raise RuntimeError(f"a fault: {kind}")

    @api("effect", raises=RAISED)
    def again(self, name: str) -> None:
        """Raise an exception that the public state holds."""
        raise self._state[name]

    @api("query")
    def foreign(self) -> Any:
        """What can't cross."""
        return object()

    @api("effect")
    def step(self) -> int:
        """Use one environment step."""
        self._environment.taken += 1
        if self._environment.taken > self._environment.most:
            raise StepLimitReachedError(f"The toy's {self._environment.most} steps are used up.")
        return self._environment.taken


class ToyEnvironment(Environment):
    """A state of two arrays and a list; a program succeeds when it sets `state["done"]`."""

    def __init__(self) -> None:
        self.most = 100
        self.extra: dict[str, Any] = {}

    def reset(self, seed: int) -> Scene:
        self.taken, self.slept = 0, 0.0
        self.public_state = {"a": np.arange(4.0), "b": np.zeros((2, 2), np.float32), "log": [seed]}
        self.api = ToyApi(self)
        return Scene(seed, f"toy-{seed}", {"a": (0.0, 0.0)})

    def succeeded(self) -> bool:
        return bool(self.public_state.get("done"))

    def telemetry(self) -> dict[str, Any]:
        return {"taken": float(self.taken), **self.extra}

    @property
    def clock(self) -> float:
        return self.taken * 0.5 + self.slept

    @property
    def steps(self) -> int:
        return self.taken

    def sleep(self, seconds: float) -> None:
        if not 0.0 <= seconds < 1e9:
            raise ValueError(f"can't sleep for {seconds!r}")
        self.slept += seconds

    def state_digest(self) -> str:
        return repr((self.taken, self.slept))

    def snapshot(self) -> dict[str, Any]:
        return {"taken": self.taken, "slept": self.slept, "state": encode_value(self.public_state)}

    def restore(self, snapshot: dict[str, Any]) -> None:
        self.taken, self.slept = snapshot["taken"], snapshot["slept"]
        self.public_state.clear()
        self.public_state.update(decode_value(snapshot["state"]))


@pytest.fixture(scope="session")
def toy() -> SimpleNamespace:
    """The toy: `environment()` makes one; `surface`, `origin`, `error` and `types` describe it."""
    surface = Surface.of(ToyApi)
    name = f"{ToyError.__module__}.{ToyError.__qualname__}"
    return SimpleNamespace(
        environment=ToyEnvironment,
        surface=surface,
        origin=Origin("toy", "state", "toy-1", surface, "r1"),
        error=ToyError,
        types={name: ToyError},
    )


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    """The process that forks programs, for all tests that do not harm it."""
    with Zygote() as started:
        yield started


@pytest.fixture(scope="session")
def perform(zygote: Zygote, toy: SimpleNamespace) -> Callable[..., Execution]:
    """Run a program's text on the toy: `perform(source, path=…, limits=…, environment=…)`."""

    def run(source: str, *, environment: Environment | None = None, **options: Any) -> Execution:
        options = {"limits": QUICK, "seed": 1, "zygote": zygote, **options}
        return execute(Program(source), environment or toy.environment(), toy.origin, **options)

    return run


ENDING = "state['done'] = True\nstep()\n"


@pytest.fixture(scope="session")
def tape_of(perform: Callable[..., Execution]) -> Callable[..., Tape]:
    """The tape of a program that succeeds on the toy: `source`, then a last step."""

    def recorded(source: str, **options: Any) -> Tape:
        execution = perform(source + ENDING, **options)
        assert execution.outcome.text == "success"
        assert execution.tape is not None
        return execution.tape

    return recorded


@pytest.fixture(scope="session")
def diverge(zygote: Zygote, tape_of: Callable[..., Tape]) -> Callable[..., Certificate]:
    """The certificate of one program on the tape of another, both on the toy and with the same last step."""

    def compare(recorded: str, edited: str, after: str = "", ending: str = ENDING, **options: Any) -> Certificate:
        return certify(Program(edited + ending + after), tape_of(recorded, **options), zygote)

    return compare


@pytest.fixture(scope="session")
def seen(perform: Callable[..., Execution], zygote: Zygote, toy: SimpleNamespace) -> Callable[[str], list[Any]]:
    """What a program prints and how it ends: in-process on the API itself, live, and from the tape."""

    def in_process(source: str) -> tuple[str, str]:
        environment = toy.environment()
        environment.reset(1)
        scope = {function.name: getattr(environment.api, function.name) for function in toy.surface.functions}
        scope |= {"state": environment.public_state, "ToyError": toy.error, "__name__": "__main__"}
        printed = io.StringIO()
        ending = ""
        with contextlib.redirect_stdout(printed):
            try:
                exec(compile(source, "<program>", "exec"), scope)
            except Exception as error:  # noqa: BLE001 - whatever the program raises is its end
                ending = type(error).__qualname__
        return printed.getvalue(), ending

    def across(source: str) -> list[tuple[str, str]]:
        tape = perform(source).tape
        assert tape is not None
        assert tape.end is not None
        outcome = tape.end.outcome
        live = "" if outcome.text.startswith(("success", "failure: the program ended")) else outcome.detail
        program, header = Program(source), tape.header
        begin = Begin(source, header.surface.functions, header.surface.types, header.opening, 0, header.clock, False)
        process = zygote.run(begin, QUICK)
        ending = converse(process, TapeHost(tape, program, header.surface))
        shorten = [text.partition(":")[0].rpartition(".")[2] for text in (live, ending.error)]
        return [(tape.end.output, shorten[0]), (process.output, shorten[1])]

    return lambda source: [in_process(source), *across(source)]


@pytest.fixture(scope="session")
def descriptors() -> Callable[[], int]:
    """How many descriptors this process has open."""
    return lambda: len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture(scope="session")
def desk() -> Task:
    """The task desk/place."""
    return find_task("desk/place")


@pytest.fixture(scope="session")
def naive(desk: Task) -> Program:
    """A program that solves some scenes of desk/place, 101 and 102 among them."""
    demonstration = desk.demonstrations[0]
    return Program(demonstration.source, demonstration.path.name)


@pytest.fixture(scope="session")
def desk_tape(desk: Task, naive: Program, zygote: Zygote, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded success of `naive` on desk/place, seed 101; not to be changed."""
    path = tmp_path_factory.mktemp("tape") / "success.mcap"
    origin = Origin(desk.name, desk.tier, desk.protocol, desk.surface, desk.revision())
    execution = execute(naive, desk.make(), origin, 101, zygote, path=path)
    assert execution.outcome.text == "success"
    return path
