"""What runs inside the program process: builds the program's globals and forwards its calls.

The client can't tell a live host from a tape. It never sees evaluator, environment or tape.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import io
import linecache
import sys
import traceback
from collections.abc import Callable
from types import CodeType, FrameType, SimpleNamespace
from typing import Any

from surefoot.boundary.ambient import VirtualClock, seed_streams
from surefoot.boundary.exchange import Caller
from surefoot.boundary.guard import Importer
from surefoot.boundary.standins import build_standins, short_name
from surefoot.boundary.surface import FunctionSpec
from surefoot.boundary.trace import tracer
from surefoot.boundary.wire import (
    SLEEP,
    Answer,
    Begin,
    Call,
    Connection,
    ConnectionClosedError,
    Ended,
    FrameTooLargeError,
    Scalar,
    Watched,
    decode_to_program,
)

PROGRAM = "<program>"
"""File name under which the program's code runs."""
RECURSION_SPARE = 200
"""Frames that a call may use beyond the program's own recursion limit."""

COLLECT_EVERY = 64
"""Calls between two collections of garbage, which come at no other point: the same in recording and replay."""


class HostGoneError(BaseException):
    """The host ended the run; not an Exception, so that no program swallows it by accident."""


class Client:
    """Forwards calls over a connection and keeps the virtual clock."""

    def __init__(self, connection: Connection, begin: Begin, types: dict[str, type]):
        self._connection = connection
        self.broken = ""
        self.caller = Caller(begin.state, types)
        self.clock = VirtualClock(begin.clock, self._sleep)
        self._calls = 0

    def call(self, function: str, arguments: tuple[Any, ...]) -> Any:
        """Send one call and wait for its answer; raises what the callee raised."""
        if self.broken:
            raise HostGoneError
        line, stage = _place(sys._getframe(1))
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(limit + RECURSION_SPARE)  # an exchange begun by a deep program is finished
        try:
            table = self.caller.request(arguments)
            answer, result = self._exchange(Call(self._calls, function, table, line, stage))
        finally:
            sys.setrecursionlimit(limit)
        if answer.raised:
            raise result.with_traceback(None)
        return result

    def _exchange(self, call: Call) -> tuple[Answer, Any]:
        self._calls += 1
        if self._calls % COLLECT_EVERY == 0:
            gc.collect()
        try:
            self._connection.send(call)
            answer = decode_to_program(self._connection.receive())
            assert isinstance(answer, Answer)
            self.clock.now = answer.clock
            return answer, self.caller.apply(answer.table)
        except FrameTooLargeError:
            self._calls -= 1  # nothing was sent
            raise
        except ConnectionClosedError:
            raise HostGoneError from None
        except BaseException as error:  # an answer cut short, whatever it was: both sides are no longer one
            self.broken = f"call {call.function} was cut short by {_one_line(error)}"
            raise

    def _sleep(self, seconds: float) -> None:
        self.call(SLEEP, (float(seconds),))


def run_program(connection: Connection) -> None:
    """Serve one run: receive Begin, run the program top to bottom, send how it ended."""
    begin = decode_to_program(connection.receive())
    assert isinstance(begin, Begin)
    seed_streams(begin.seed)
    sys.meta_path.insert(0, Importer(begin.modules, begin.profile == "strict"))
    types = build_standins(begin.types)
    client = Client(connection, begin, types)
    scope = _globals(begin, client, types)
    client.clock.install()
    lines: set[int] = set()
    error, line, trace = _execute(
        begin, client, scope, lines, lambda place, values: connection.send(Watched(place, values))
    )
    for stream in (sys.stdout, sys.stderr):
        # A program may have closed or replaced it, or used up what it may print: then it has failed before.
        with contextlib.suppress(Exception):
            stream.flush()
    connection.send(Ended(_sendable(client.broken or error), line, _sendable(trace), tuple(sorted(lines))))


def _execute(
    begin: Begin,
    client: Client,
    scope: dict[str, Any],
    lines: set[int],
    report: Callable[[str, dict[str, Scalar]], None],
) -> tuple[str, int, str]:
    linecache.cache[PROGRAM] = (
        len(begin.source),
        None,
        io.StringIO(begin.source + "\n", newline=None).readlines(),
        PROGRAM,
    )
    sys.argv = [PROGRAM]
    try:
        code = compile(begin.source, PROGRAM, "exec", dont_inherit=True)
        if begin.trace_lines or begin.watch:
            sys.settrace(tracer(PROGRAM, lines, begin.watch, report))
        exec(code, scope)
    except SystemExit as stop:
        if stop.code is None or stop.code == 0:
            return "", 0, ""
        return _describe(stop)
    except HostGoneError:
        if not client.broken:
            raise SystemExit(3) from None
        return client.broken, 0, ""
    except BaseException as error:  # noqa: BLE001 - whatever a program raises is its outcome
        return _describe(error)
    finally:
        sys.settrace(None)
    return "", 0, ""


def _one_line(error: BaseException) -> str:
    """Type and first line of the text; a program's own exceptions may fail to give one."""
    kind = type(error)
    name = (
        kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__qualname__}"
    )
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        first = next(iter(str(text).splitlines()), "")
    except BaseException as fault:  # noqa: BLE001 - whatever the program's __str__ raises
        first = f"(its text can't be read: {type(fault).__qualname__})"
    return f"{name}: {first}" if first else name


def _sendable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _describe(error: BaseException) -> tuple[str, int, str]:
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != PROGRAM:
        trace = trace.tb_next
    first, line = trace, 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == PROGRAM:
            line = trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename == PROGRAM:
        line = error.lineno or 0
    try:
        shown = "".join(traceback.format_exception(type(error), error, first))
    except Exception:  # noqa: BLE001 - the program's own exceptions, or too deep a chain of them
        shown = ""
    return _one_line(error), line, shown


def _place(frame: FrameType | None) -> tuple[int, str]:
    """Innermost program line, and the outermost program function (the stage) that leads to it."""
    line, stage = 0, ""
    while frame is not None:
        code: CodeType = frame.f_code
        if code.co_filename == PROGRAM:
            line = line or frame.f_lineno
            if code.co_name[0] != "<":  # no module, comprehension or lambda
                stage = code.co_name
        frame = frame.f_back
    return line, stage


def _globals(begin: Begin, client: Client, types: dict[str, type]) -> dict[str, Any]:
    scope: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__}
    scope.update(stage=lambda function: function, vary=lambda value, low, high: value)
    if client.caller.state is not None:
        scope["state"] = client.caller.state
    for spec in begin.types:
        scope[short_name(spec)] = types[f"{spec.module}.{spec.name}"]
    for function in begin.functions:
        owner, _, name = function.name.rpartition(".")
        stub = _stub(function, client, scope.get(owner))
        if owner:  # a method of a handle, or of a user's object
            setattr(scope.setdefault(owner, type(owner, (SimpleNamespace,), {})()), name, stub)
        else:
            scope[name] = stub
    return scope


def _stub(function: FunctionSpec, client: Client, owner: Any = None) -> Callable[..., Any]:
    """A function with the declared signature, so that Python itself binds arguments and defaults.

    Requests carry arguments in order of declaration with defaults filled in: `f(1)` and `f(x=1)` are one
    request. The method of a handle takes no other object: `owner` is its class.
    """
    name = function.name.rpartition(".")[2]
    parsed = ast.parse(f"def {name}{function.signature}: pass").body[0]
    assert isinstance(parsed, ast.FunctionDef)
    arguments = parsed.args
    parsed.returns = None
    every = [*arguments.posonlyargs, *arguments.args, *filter(None, [arguments.vararg])]
    every += [*arguments.kwonlyargs, *filter(None, [arguments.kwarg])]
    for argument in every:
        argument.annotation = None
    names = ", ".join(argument.arg for argument in every)
    head = ast.unparse(parsed).removesuffix("pass").rstrip()
    scope: dict[str, Any] = {"_call": client.call, "_name": function.name}
    check = ""
    if isinstance(owner, type):
        scope["_checked"] = _checker(owner, function.name)
        check = f"_checked({every[0].arg}); "
    exec(f"{head}\n    {check}return _call(_name, ({names}{',' if every else ''}))", scope)
    stub: Callable[..., Any] = scope[name]
    stub.__doc__ = function.doc
    return stub


def _checker(owner: type, name: str) -> Callable[[Any], None]:
    def checked(value: Any) -> None:
        if type(value) is not owner:
            raise TypeError(f"{name} is a method of {owner.__name__} objects, not of {type(value).__name__} objects")

    return checked
