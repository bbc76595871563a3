"""What runs inside the program process: builds the program's globals and forwards its calls.

The client can't tell a live host from a tape. It never sees evaluator, environment or tape.
"""

from __future__ import annotations

import ast
import linecache
import sys
import traceback
import types
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from surefoot.boundary.ambient import VirtualClock, seed_streams
from surefoot.boundary.exchange import Caller
from surefoot.boundary.surface import ExceptionSpec, FunctionSpec
from surefoot.boundary.trace import tracer
from surefoot.boundary.values import BUILTIN_EXCEPTIONS
from surefoot.boundary.wire import (
    SLEEP,
    Answer,
    Begin,
    Call,
    Connection,
    ConnectionClosedError,
    Ended,
    Scalar,
    Watched,
    decode_to_program,
)

PROGRAM = "<program>"
"""File name under which the program's code runs."""


class HostGoneError(BaseException):
    """The host ended the run; not an Exception, so that no program swallows it by accident."""


class Client:
    """Forwards calls over a connection and keeps the virtual clock."""

    def __init__(self, connection: Connection, begin: Begin, exceptions: dict[str, type[BaseException]]):
        self._connection = connection
        self.caller = Caller(begin.state, exceptions)
        self.clock = VirtualClock(begin.clock, self._sleep)
        self._calls = 0

    def call(self, function: str, arguments: tuple[Any, ...]) -> Any:
        """Send one call and wait for its answer; raises what the callee raised."""
        line, stage = _place(sys._getframe(1))
        table = self.caller.request(arguments)
        try:
            self._connection.send(Call(self._calls, function, table, line, stage))
            answer = decode_to_program(self._connection.receive())
        except ConnectionClosedError:
            raise HostGoneError from None
        self._calls += 1
        assert isinstance(answer, Answer)
        self.clock.now = answer.clock
        result = self.caller.apply(answer.table)
        if answer.raised:
            raise result.with_traceback(None)
        return result

    def _sleep(self, seconds: float) -> None:
        self.call(SLEEP, (float(seconds),))


def run_program(connection: Connection) -> None:
    """Serve one run: receive Begin, run the program top to bottom, send how it ended."""
    begin = decode_to_program(connection.receive())
    assert isinstance(begin, Begin)
    seed_streams(begin.seed)
    exceptions = build_exceptions(begin.exceptions)
    client = Client(connection, begin, exceptions)
    scope = _globals(begin, client, exceptions)
    client.clock.install()
    lines: set[int] = set()
    ended = _execute(begin, scope, lines, lambda place, values: connection.send(Watched(place, values)))
    sys.stdout.flush()
    sys.stderr.flush()
    connection.send(Ended(*ended, tuple(sorted(lines))))


def _execute(
    begin: Begin, scope: dict[str, Any], lines: set[int], report: Callable[[str, dict[str, Scalar]], None]
) -> tuple[str, int, str]:
    linecache.cache[PROGRAM] = (len(begin.source), None, begin.source.splitlines(keepends=True), PROGRAM)
    try:
        code = compile(begin.source, PROGRAM, "exec", dont_inherit=True)
        if begin.trace_lines or begin.watch:
            sys.settrace(tracer(PROGRAM, lines, begin.watch, report))
        exec(code, scope)
    except SystemExit as stop:
        if stop.code is None or stop.code == 0:
            return "", 0, ""
        return _describe(stop, f"SystemExit: {stop.code}")
    except HostGoneError:
        raise SystemExit(3) from None
    except BaseException as error:  # noqa: BLE001 - whatever a program raises is its outcome
        return _describe(error, _one_line(error))
    finally:
        sys.settrace(None)
    return "", 0, ""


def _one_line(error: BaseException) -> str:
    text = "".join(traceback.format_exception_only(error)).strip()
    return text.splitlines()[-1] if text else type(error).__qualname__


def _describe(error: BaseException, text: str) -> tuple[str, int, str]:
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != PROGRAM:
        trace = trace.tb_next
    first, line = trace, 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == PROGRAM:
            line = trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, SyntaxError):
        line = error.lineno or 0
    return text, line, "".join(traceback.format_exception(type(error), error, first))


def _place(frame: FrameType | None) -> tuple[int, str]:
    """Innermost program line, and the outermost program function (the stage) that leads to it."""
    line, stage = 0, ""
    while frame is not None:
        code: CodeType = frame.f_code
        if code.co_filename == PROGRAM:
            line = line or frame.f_lineno
            if code.co_name != "<module>":
                stage = code.co_name
        frame = frame.f_back
    return line, stage


def _globals(begin: Begin, client: Client, exceptions: dict[str, type[BaseException]]) -> dict[str, Any]:
    scope: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__}
    scope.update(stage=lambda function: function, vary=lambda value, low, high: value)
    if client.caller.state is not None:
        scope["state"] = client.caller.state
    for spec in begin.exceptions:
        scope[spec.name] = exceptions[f"{spec.module}.{spec.name}"]
    for function in begin.functions:
        scope[function.name] = _stub(function, client)
    return scope


def _stub(function: FunctionSpec, client: Client) -> Callable[..., Any]:
    """A function with the declared signature, so that Python itself binds arguments and defaults.

    Requests carry arguments in order of declaration with defaults filled in: `f(1)` and `f(x=1)` are one
    request.
    """
    parsed = ast.parse(f"def {function.name}{function.signature}: pass").body[0]
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
    exec(f"{head}\n    return _call(_name, ({names}{',' if every else ''}))", scope)
    stub: Callable[..., Any] = scope[function.name]
    stub.__doc__ = function.doc
    return stub


def build_exceptions(specs: tuple[ExceptionSpec, ...]) -> dict[str, type[BaseException]]:
    """Stand-ins for declared exceptions, by qualified name; their modules are never imported."""
    built: dict[str, type[BaseException]] = {}
    for spec in specs:
        _build_exception(f"{spec.module}.{spec.name}", spec.lineage, built)
    return built


def _build_exception(name: str, lineage: tuple[str, ...], built: dict[str, type[BaseException]]) -> type[BaseException]:
    if name in BUILTIN_EXCEPTIONS:
        return BUILTIN_EXCEPTIONS[name]
    if name not in built:
        base = _build_exception(lineage[0], lineage[1:], built)
        module, _, short = name.rpartition(".")
        built[name] = types.new_class(short, (base,), exec_body=lambda scope: scope.update(__module__=module))
    return built[name]
