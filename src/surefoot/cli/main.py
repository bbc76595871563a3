"""The `surefoot` command: its sub-commands, and how errors end it."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterable
from typing import Any

import typer

from surefoot import __version__
from surefoot.cli.console import err, say
from surefoot.errors import EnvironmentFaultError, SurefootError, UsageError

COMMANDS = {
    "tasks": "tasks",
    "run": "run",
    "record": "record",
    "replay": "replay",
    "certify": "certify",
    "learn": "learn",
    "resume": "learn",
    "campaign": "campaign",
    "evaluate": "evaluate",
    "show": "show",
    "export": "export",
    "pi": "pi",
    "doctor": "doctor",
}
"""Commands in the order of the help, each with the module of `surefoot.cli` that holds it."""
INTERRUPTED = 130
NOBODY_READS = 141
"""As the shell reports a command that a closed pipe ended: neither good nor a finding."""
_BadCommandLine: type[Any] = typer.BadParameter.__mro__[1]
"""Typer's usage error; its module moved between versions, its place above BadParameter did not."""


def build(names: Iterable[str]) -> typer.Typer:
    """The command line with some of its commands; only their modules are imported."""
    app = typer.Typer(
        name="surefoot",
        help="Learn programs from execution and certify edits against recorded successes.",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback(invoke_without_command=True)(_root)
    for name in names:
        command = getattr(importlib.import_module(f"surefoot.cli.{COMMANDS[name]}"), name)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command()(command)
    return app


def _root(
    context: typer.Context, version: bool = typer.Option(False, "--version", help="Print the version and exit.")
) -> None:
    if version:
        typer.echo(f"surefoot {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(UsageError.exit_code)


def main() -> None:
    """Run the command line; errors are sentences, exit codes are those of `surefoot.errors`."""
    # certifying takes less time than importing what learning needs: a known command comes alone
    asked = sys.argv[1] if len(sys.argv) > 1 else ""
    sys.exit(_run([asked] if asked in COMMANDS else COMMANDS))


def _run(names: Iterable[str]) -> int:
    try:
        result: Any = build(names)(standalone_mode=False)
        if result == INTERRUPTED:  # typer makes Ctrl-C an exit code
            raise KeyboardInterrupt
        return result if isinstance(result, int) else 0
    except SurefootError as error:
        say(f"surefoot: {error}", err)
        if isinstance(error, UsageError) and len(sys.argv) > 1:
            say(f"Try 'surefoot {sys.argv[1]} --help'.", err)
        return error.exit_code
    except _BadCommandLine as error:
        name = error.ctx.command_path if error.ctx else "surefoot"
        say(f"surefoot: {error.format_message()}\nTry '{name} --help'.", err)
        return UsageError.exit_code
    except (KeyboardInterrupt, typer.Abort):
        say(f"Interrupted. {'What was recorded until now is kept.' if _records() else 'There is no result.'}", err)
        return INTERRUPTED
    except SystemExit:  # typer's and rich's, when the reader of the output has gone
        return NOBODY_READS
    except OSError as error:  # commands report their own files' faults: this is their output's
        with contextlib.suppress(OSError):
            say(f"surefoot: the output can't be written: {error.strerror or error}.", err)
        return EnvironmentFaultError.exit_code


def _records() -> bool:
    """Whether the command keeps what it runs."""
    command, *options = sys.argv[1:] or [""]
    return command in ("record", "learn", "resume", "campaign") or any(
        option.partition("=")[0] == "--tape" for option in options
    )


if __name__ == "__main__":
    main()
