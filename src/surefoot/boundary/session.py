"""One run of a program against a host, live or tape: the conversation, and how it ended."""

from __future__ import annotations

import signal
from typing import Protocol

import msgspec

from surefoot.boundary.process import ExitStatus, ProgramDiedError, ProgramProcess, ProgramStalledError
from surefoot.boundary.table import MalformedMessageError
from surefoot.boundary.wire import Answer, Call, Ended, FrameTooLargeError, Watched


class Stopped(msgspec.Struct, frozen=True):
    """The host ended the run; its reason is the host's to know."""


class Stalled(msgspec.Struct, frozen=True):
    """Wall-clock time ran out while waiting for the program."""

    seconds: float


class Died(msgspec.Struct, frozen=True):
    """The process ended, or broke the protocol, without saying how it ended."""

    reason: str
    cpu_limit: bool = False


Ending = Ended | Stopped | Stalled | Died


class RunStoppedError(Exception):
    """Raised by a host to end the run."""


class Host(Protocol):
    """Answers a program's calls."""

    def answer(self, call: Call) -> Answer:
        """The answer to one call; RunStoppedError ends the run."""

    def settle(self) -> None:
        """Finish the last call while the program, which has its answer, goes on; RunStoppedError ends the run."""

    def note(self, watched: Watched) -> None:
        """Take note of values at a place that the run was asked to watch."""


def converse(process: ProgramProcess, host: Host) -> Ending:
    """Serve a program until it ends; the process is collected in every case."""
    try:
        process.begin()
        number = 0
        while True:
            message = process.receive()
            if isinstance(message, Ended):
                process.ended_by_itself()
                return message
            if isinstance(message, Watched):
                if message.place not in process.watched:
                    return Died(f"it sent a message that no program sends (nothing is watched at {message.place})")
                host.note(message)
                continue
            if message.number != number:
                return Died(f"it sent call {message.number} where call {number} was due")
            process.send(host.answer(message))
            host.settle()
            number += 1
    except RunStoppedError:
        return Stopped()
    except ProgramStalledError:
        return Stalled(process.limits.program_seconds)
    except ProgramDiedError:
        return _died(process.ended_by_itself(), process)
    except (msgspec.DecodeError, MalformedMessageError, FrameTooLargeError) as error:
        return Died(f"it sent a message that no program sends ({str(error).rstrip('.')})")
    finally:
        process.close()


def _died(status: ExitStatus, process: ProgramProcess) -> Died:
    budget = process.limits.cpu_seconds
    if status.cpu_seconds >= budget - 0.5 or status.signal == signal.SIGXCPU:
        return Died(f"more than {budget} s of processor time", cpu_limit=True)
    if status.signal:
        return Died(f"its process was killed by signal {status.signal}")
    return Died(f"its process ended with code {status.code}")
