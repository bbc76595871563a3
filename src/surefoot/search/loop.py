"""The learning loop: frontier-guided search with selective certification (SCOPE sections 2 and 3).

State: accepted and working program, archive, success bank. The main queue visits development
configurations in order; failed diagnostics queue follow-ups; the two alternate at visit boundaries.
"""

from __future__ import annotations

import difflib
import random
from collections import deque

import msgspec

from surefoot.environments.base import Task
from surefoot.environments.registry import find_task
from surefoot.memory.archive import Record, Role
from surefoot.program.source import Program, lines_of
from surefoot.proposer.base import Attempt, Feedback, Plan, RepairContext
from surefoot.search.checking import checking_of
from surefoot.search.effects import Effects, Narrate, Replayed
from surefoot.search.settings import Settings
from surefoot.tape.certificate import Certificate, Certified


class Check(msgspec.Struct, frozen=True):
    """One replay of an accepted program on an older witness. `edited_line_ran`: of certified ones only."""

    program: str
    witness: int
    seed: int
    certificate: Certificate
    seconds: float
    witness_seconds: float
    edited_line_ran: bool
    retrieval_seconds: float = 0.0


class Acceptance(msgspec.Struct, frozen=True):
    """A program that became the accepted one, and how many search episodes had been run by then."""

    program: str
    episodes: int


class Learned(msgspec.Struct):
    """What a search ends with. Programs by digest; `witnesses` maps configuration to record number.

    `certification_seconds` is what all replays before the freeze took, with finding and reading their tapes: those of
    `checks`, and those that ask whether the accepted program holds where a change fails.
    """

    first: str
    final: str
    best: str
    accepted: list[str]
    history: list[Acceptance]
    episodes: int
    certification_seconds: float
    witnesses: dict[int, int]
    checks: list[Check]
    attempts: list[Attempt]
    diagnostics: list[int]
    holding: dict[str, int]


class BudgetSpentError(Exception):
    """The bound on environment episodes is reached; the search freezes what it has."""


class Search:
    """One learning run on one task."""

    def __init__(
        self,
        task: Task,
        development: tuple[int, ...],
        effects: Effects,
        settings: Settings,
        run_seed: int,
        narrate: Narrate,
    ):
        self._task = task
        self._effects = effects
        self._settings = settings
        self._checking = checking_of(settings)
        self._run_seed = run_seed
        self._narrate = narrate
        self._development = development
        self._main = deque(development)
        self._followups: deque[Record] = deque()
        self._followups_used: dict[int, int] = {}
        self._trials = 0
        self._executions = 0
        self._witnesses: dict[int, Record] = {}
        self._checks: list[Check] = []
        self._certification_seconds = 0.0
        self._attempts: list[Attempt] = []
        self._diagnostics: list[Record] = []
        self._plans: dict[str, Plan] = {}
        self._success: Record | None = None
        self._working: Program
        self._accepted: Program
        self._history: list[Acceptance] = []

    def run(self) -> Learned:
        """Learn until both queues are empty (or the budget is spent), then freeze."""
        self._demonstrate()
        plan = self._effects.first_plan(self._task)
        self._working = self._accepted = self._write(plan)
        first = self._working
        try:
            self._serve_queues()
        except BudgetSpentError:
            self._narrate(f"the budget of {self._settings.executions} episodes is spent")
        return self._freeze(first)

    def _demonstrate(self) -> None:
        """Execute each demonstration on its own task, on development configurations, until it is accepted once."""
        for demonstration in self._task.demonstrations:
            if demonstration.name in self._settings.without:
                continue
            own = demonstration.task == self._task.name
            task = self._task if own else find_task(demonstration.task)
            program = Program(demonstration.source, demonstration.name)
            seeds = (self._development if own else task.development)[: self._settings.demonstration_tries]
            ending = f"no success on {len(seeds)} configurations"
            for seed in seeds:
                if self._effects.execute("demonstration", task, program, seed).success:
                    ending = f"success on seed {seed}"
                    break
            self._narrate(f"demonstration {demonstration.name} on {task.name}: {ending}")

    def _serve_queues(self) -> None:
        serve_main = True
        while self._main or self._followups:
            if self._main and (serve_main or not self._followups):
                self._visit(self._main.popleft())
                serve_main = False
            else:
                self._follow_up(self._followups.popleft())
                serve_main = True

    def _visit(self, seed: int) -> None:
        """A main visit: entry, then consecutive repairs on the same configuration."""
        record = self._trial("entry", seed)
        for _ in range(self._settings.main_repairs):
            if record.success:
                return
            repaired = self._repair(record, "repair")
            if repaired is None:
                return
            record = repaired

    def _follow_up(self, failure: Record) -> None:
        """A follow-up visit after a failed diagnostic: at most one repair, counted apart."""
        if failure.program != self._working.digest:
            failure = self._trial("follow-up entry", failure.seed)
            if failure.success:
                return
        if self._followups_used.get(failure.seed, 0) < self._settings.followup_repairs:
            self._followups_used[failure.seed] = self._followups_used.get(failure.seed, 0) + 1
            self._repair(failure, "follow-up repair")

    def _repair(self, failure: Record, role: Role) -> Record | None:
        """Plan, revise and validate; the candidate becomes the working program. None if nothing is left to try."""
        context = RepairContext(
            self._task, self._working, self._accepted, failure, self._success, self._effects.archive,
            tuple(self._attempts), self._feedback(), self._run_seed, self._trials,
        )  # fmt: skip
        self._reserve()  # a plan that can't be tried is not asked for
        plan = self._effects.plan(context)
        if plan is None:
            self._narrate(f"seed {failure.seed}: nothing left to try")
            return None
        self._working = self._write(plan)
        number = len(self._attempts)
        self._narrate(f"seed {failure.seed}: {plan.level} repair: {plan.hypothesis}")
        self._attempts.append(Attempt(plan, len(self._effects.archive)))
        return self._trial(role, failure.seed, number)

    def _trial(self, role: Role, seed: int, number: int | None = None) -> Record:
        """One search trial of the working program, accepted on success; how the program that then works does here."""
        once = number is None  # a candidate is new here, so there is nothing to reuse
        run = self._run_once if once else self._execute
        record = run(role, self._working, seed, number)
        self._trials += 1
        self._narrate(f"seed {seed}: {role}: {record.outcome.text}")
        return self._accept(record) if record.success else record

    def _accept(self, record: Record) -> Record:
        """Accept the working program after a success and check it (section 3.3), or refuse it and go back.

        Returns how the program that works from now on did on the record's configuration.
        """
        changed = self._working != self._accepted
        if changed and self._refuses(record):
            self._narrate(f"seed {record.seed}: not accepted, since it loses elsewhere what it wins here")
            self._working = self._accepted
            return self._last(self._accepted, record.seed) or self._execute("entry", self._accepted, record.seed)
        self._accepted = self._working
        self._witnesses[record.seed] = self._success = record
        if changed or not self._history:
            self._history.append(Acceptance(self._accepted.digest, self._executions))
        if changed and not self._checking.refuse:
            self._take_up([self._diagnose(other) for other in self._uncertified(record.seed)])
        return record

    def _refuses(self, record: Record) -> bool:
        """Whether the working program must not be accepted for its success."""
        if self._checking.minibatch:
            return self._lead(record) <= 0
        if not self._checking.refuse:
            return False
        found = []
        for seed in self._uncertified(record.seed):
            found.append(self._diagnose(seed))
            if not found[-1].success and self._holds(seed):
                return True  # one loss for one win: no more needs to be known
        self._take_up(found)
        return False

    def _holds(self, seed: int) -> bool:
        """Whether the accepted program is known to succeed on a configuration with a witness."""
        last = self._last(self._accepted, seed)
        if last is not None:
            return last.success
        return isinstance(self._replayed(self._accepted, self._witnesses[seed]).certificate, Certified)

    def _execute(self, role: Role, program: Program, seed: int, number: int | None = None) -> Record:
        self._reserve()
        self._executions += 1
        return self._effects.execute(role, self._task, program, seed, self._plans[program.digest], number)

    def _reserve(self) -> None:
        if self._settings.executions is not None and self._executions >= self._settings.executions:
            raise BudgetSpentError

    def _lead(self, child: Record) -> int:
        """On how many configurations of a minibatch the working program is ahead of the accepted one."""
        sampler = random.Random(f"minibatch {self._run_seed} {self._trials}")
        others = [seed for seed in self._development if seed != child.seed]
        batch = [child.seed, *sampler.sample(others, min(self._checking.minibatch - 1, len(others)))]
        parents, children = (
            [self._run_once("gate", program, seed) for seed in batch] for program in (self._accepted, self._working)
        )
        return sum(record.success for record in children) - sum(record.success for record in parents)

    def _uncertified(self, seed: int) -> list[int]:
        """Configurations of older successes on which a change must be run: what replays don't certify (section 3.3)."""
        others = sorted(other for other in self._witnesses if other != seed)
        if self._checking.witnesses is not None:
            sampler = random.Random(f"certify {self._run_seed} {self._trials}")
            others = sampler.sample(others, min(self._checking.witnesses, len(others)))
        if self._checking.replay:
            others = [other for other in others if not self._replay(self._working, self._witnesses[other])]
        if self._checking.diagnostics is not None:
            useful = [other for other in others if self._checking.refuse or self._may_follow_up(other)]
            return useful[: self._checking.diagnostics]
        return others

    def _take_up(self, diagnostics: list[Record]) -> None:
        """Queue a follow-up for each failed diagnostic; the others may renew their witnesses."""
        for record in diagnostics:
            if not record.success and self._may_follow_up(record.seed):
                self._followups.append(record)
            elif record.success and self._settings.witnesses == "refresh":
                self._witnesses[record.seed] = record

    def _may_follow_up(self, seed: int) -> bool:
        """Whether a failed diagnostic may queue a follow-up: none is pending, and its repair is unused."""
        pending = any(record.seed == seed for record in self._followups)
        return not pending and self._followups_used.get(seed, 0) < self._settings.followup_repairs

    def _run_once(self, role: Role, program: Program, seed: int, number: int | None = None) -> Record:
        return self._known(program, seed) or self._execute(role, program, seed, number)

    def _known(self, program: Program, seed: int) -> Record | None:
        """What a program last did on a configuration, where that may stand for another run."""
        return self._last(program, seed) if self._checking.reuse else None

    def _last(self, program: Program, seed: int) -> Record | None:
        """A program's last execution on a configuration."""
        return next(reversed(self._runs(program, seed)), None)

    def _replay(self, program: Program, witness: Record) -> bool:
        replayed = self._replayed(program, witness)
        self._checks.append(self._check(program, witness, replayed))
        return isinstance(replayed.certificate, Certified)

    def _replayed(self, program: Program, witness: Record) -> Replayed:
        replayed = self._effects.replay(self._task, program, witness)
        self._certification_seconds += replayed.seconds + replayed.retrieval_seconds
        return replayed

    def _check(self, program: Program, witness: Record, replayed: Replayed) -> Check:
        certificate = replayed.certificate
        edited = False
        if isinstance(certificate, Certified):
            source = self._effects.archive.programs[witness.program]
            edited = bool(edited_lines(source, program).intersection(certificate.lines))
        return Check(
            program.digest, witness.number, witness.seed, certificate, replayed.seconds, witness.seconds, edited,
            replayed.retrieval_seconds,
        )  # fmt: skip

    def _diagnose(self, seed: int) -> Record:
        record = self._run_once("diagnostic", self._working, seed)
        self._diagnostics.append(record)
        self._narrate(f"seed {seed}: diagnostic: {record.outcome.text}")
        return record

    def _feedback(self) -> Feedback:
        certificates = tuple((check.seed, check.certificate) for check in self._checks)
        return Feedback(certificates, tuple(record.number for record in self._diagnostics))

    def _write(self, plan: Plan) -> Program:
        program = self._effects.write(plan)
        self._plans.setdefault(program.digest, plan)
        return program

    def _freeze(self, first: Program) -> Learned:
        """Replay the whole bank with the accepted program, run what is uncertified, and find the best program."""
        programs = self._effects.archive.programs
        accepted = [programs[item.program] for item in self._history] or [first]
        accepted = list(dict.fromkeys(accepted))
        bank = dict(sorted(self._witnesses.items()))
        final = self._accepted
        held = {final.digest: self._holding(final, bank, -1)}
        for program in reversed(accepted):
            if program.digest not in held:
                held[program.digest] = self._holding(program, bank, max(held.values()))
        best = max(held, key=lambda digest: held[digest])
        return Learned(
            first.digest,
            final.digest,
            best,
            [program.digest for program in accepted],
            list(self._history),
            self._executions,
            self._certification_seconds,
            {seed: record.number for seed, record in bank.items()},
            list(self._checks),
            list(self._attempts),
            [record.number for record in self._diagnostics],
            held,
        )

    def _holding(self, program: Program, bank: dict[int, Record], to_beat: int) -> int:
        """On how many of the bank's scenes a program holds.

        Live runs only where replay and earlier runs don't tell, and while the program can still beat the best.
        """
        unknown = []
        count = 0
        for seed, witness in bank.items():
            replayed = self._effects.replay(self._task, program, witness)
            before = {record.success for record in self._runs(program, seed)}
            if isinstance(replayed.certificate, Certified) or True in before:
                count += 1
            elif not before:
                unknown.append(seed)
        for position, seed in enumerate(unknown):
            if count + len(unknown) - position <= to_beat:
                break
            record = self._effects.execute("freeze", self._task, program, seed, self._plans[program.digest])
            count += record.success
        return count

    def _runs(self, program: Program, seed: int) -> list[Record]:
        """A program's executions on a configuration, oldest first."""
        records = self._effects.archive.on(self._task.name, seed)
        return [record for record in records if record.program == program.digest]


def edited_lines(before: Program, after: Program) -> set[int]:
    """Lines of `after` that are not in `before`, by number."""
    matcher = difflib.SequenceMatcher(None, lines_of(before.source), lines_of(after.source), autojunk=False)
    return {
        line + 1 for tag, _, _, start, stop in matcher.get_opcodes() if tag != "equal" for line in range(start, stop)
    }
