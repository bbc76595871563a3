"""A task at work: its environment and its program processes, started when first needed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import TracebackType

from surefoot.boundary.environment import Environment
from surefoot.boundary.outcome import Infrastructure
from surefoot.boundary.process import Zygote
from surefoot.environments.base import Task
from surefoot.errors import EnvironmentFaultError, SurefootError
from surefoot.program.source import Program
from surefoot.tape.certificate import Certificate, Unavailable
from surefoot.tape.file import Tape
from surefoot.tape.fork import Forked, fork
from surefoot.tape.recording import Around, Execution, Origin, execute
from surefoot.tape.records import Event
from surefoot.tape.replay import Interpreters, certify

EPISODES_PER_ENVIRONMENT = 200
"""Simulators leak and fail natively after many resets; a fresh one is started after so many."""
EPISODES_PER_PROCESS = 400
"""A worker process is replaced after so many: closing a simulator gives hardly any memory back.

Measured on robosuite, resident: 825 MB from the 40th to the 120th episode of cube-stack, 752 MB after closing it; four
tasks in turn, six episodes each, 1,034, 1,082 and 1,087 MB in three rounds. So little grows, and this is a bound only.
"""


class TaskHost:
    """Executes and certifies programs on one task; a context manager.

    The simulator starts at the first execution, so certifying alone never loads it.
    """

    def __init__(self, task: Task):
        self.task = task
        self._environment: Environment | None = None
        self._episodes = 0
        self._interpreters = Interpreters()
        self._revision: str | None = None

    def __enter__(self) -> TaskHost:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def revision(self) -> str:
        """The task's present environment revision."""
        if self._revision is None:
            self._revision = self.task.revision()
        return self._revision

    def zygote(self, program: Program) -> Zygote:
        """The process that `program` is forked from."""
        return self._interpreters.of(program)

    def execute(
        self,
        program: Program,
        seed: int,
        *,
        path: Path | None = None,
        run_seed: int = 0,
        on_event: Callable[[Event], None] | None = None,
        around: Around = nullcontext,
    ) -> Execution:
        """Run `program` on a fresh reset of configuration `seed`; tape it to `path` if given.

        `around` is entered with the environment as long as the program runs.
        """
        execution = execute(
            program,
            self._fresh_environment(),
            self.origin,
            seed,
            self.zygote(program),
            path=path,
            run_seed=run_seed,
            on_event=on_event,
            around=around,
        )
        if isinstance(execution.outcome, Infrastructure):
            self._drop_environment()  # what failed once may be broken for good
        return execution

    def fork(self, program: Program, tape: Tape, *, path: Path | None = None) -> Forked | Unavailable:
        """Run `program` on the recorded scene of a tape of this task, live from where it first differs."""
        forked = fork(program, tape, self._fresh_environment(), self.origin, self.zygote(program), path)
        if isinstance(forked, Forked) and isinstance(forked.outcome, Infrastructure):
            self._drop_environment()
        return forked

    def certify(self, program: Program, tape: Tape, *, trace_lines: bool = False, modulo: bool = False) -> Certificate:
        """Replay `program` on a tape of this task; with `modulo`, pure queries may differ from the recorded ones."""
        return certify(
            program,
            tape,
            self.zygote(program),
            surface=self.task.surface,
            revision=self.revision,
            trace_lines=trace_lines,
            modulo=modulo,
        )

    @property
    def origin(self) -> Origin:
        """What tapes of this task say of where they come from."""
        task = self.task
        return Origin(task.name, task.tier, task.protocol, task.surface, self.revision)

    def close(self) -> None:
        """Stop the simulator and the program processes."""
        try:
            self._drop_environment()
        finally:
            self._interpreters.close()

    def _fresh_environment(self) -> Environment:
        """The environment, for one more episode."""
        if self._environment is None or self._episodes >= EPISODES_PER_ENVIRONMENT:
            self._drop_environment()
            self._environment = self._made()
        self._episodes += 1
        return self._environment

    def _made(self) -> Environment:
        try:
            return self.task.make()
        except SurefootError:
            raise
        except Exception as error:  # whatever a simulator raises when it starts
            raise EnvironmentFaultError(
                f"The environment of {self.task.name} can't be started: {type(error).__name__}: {error}. "
                "Run 'surefoot doctor' to see what is missing."
            ) from error

    def _drop_environment(self) -> None:
        environment, self._environment, self._episodes = self._environment, None, 0
        if environment is not None:
            environment.close()
