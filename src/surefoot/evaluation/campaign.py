"""A campaign: a suite's tasks learned several times, and everything tested frozen on held-out scenes.

Each learning run is an ordinary run folder below the campaign's, so its journal, lock and resuming are those of
`surefoot learn`. The campaign's own journal keeps the evaluation episodes. Programs of equal bytes are evaluated
once, with `PROGRAM_SEED` as their randomness.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar

import msgspec

from surefoot.boundary.outcome import Infrastructure
from surefoot.environments.registry import find_task
from surefoot.errors import EnvironmentFaultError, RunError, SurefootError
from surefoot.evaluation.aggregate import (
    Demonstrated,
    Macro,
    Tally,
    TaskResult,
    best_of,
    checks,
    costs,
    macro,
    missed,
    summed,
    tally,
)
from surefoot.evaluation.campaign_folder import CampaignFolder, Key, Part, Witnesses, manifest_of
from surefoot.evaluation.crew import Crew
from surefoot.evaluation.frozen import score
from surefoot.evaluation.learning import NAMES, REPORT, SEARCH, Advance, Report, Searched, report_of, search
from surefoot.evaluation.pool import Episode, Evaluation, Job
from surefoot.program.source import Program
from surefoot.search.effects import Narrate
from surefoot.search.folder import Manifest, RunFolder

PROGRAM_SEED = 0
"""Randomness of the programs themselves in evaluations, the same for all runs."""
_PATIENCE = 30.0
"""How long a run waits for a worker that is ending to give up its folder [s]."""
Episodes = dict[tuple[str, str], list[Episode]]
"""Episodes of programs, by task and digest, in the order of the seeds."""


class Table(msgspec.Struct, frozen=True):
    """All tasks learned one way, and their means."""

    witnesses: Witnesses
    tasks: tuple[TaskResult, ...]
    macro: Macro


class CampaignReport(msgspec.Struct, frozen=True):
    """A finished campaign's results; `report.json` of its folder.

    `evaluation_episodes` are those on held-out configurations; `infrastructure_failures` are of these, and of the
    demonstrations' episodes on development configurations.
    """

    suite: str
    proposer: str
    code: str
    run_seeds: tuple[int, ...]
    program_seed: int
    evaluation_episodes: int
    infrastructure_failures: int
    tables: tuple[Table, ...]


class Failed(msgspec.Struct, frozen=True):
    """A learning run that could not be finished now; `environment` tells whose fault it is."""

    text: str
    environment: bool


class Learning(msgspec.Struct, frozen=True):
    """A learning run as work for a crew: begun or gone on with in its folder.

    `most_deaths`: every worker gets on by an episode at least, so only a run at which they die for good is given up.
    """

    most_deaths: ClassVar[int] = 20

    path: str
    manifest: Manifest

    def perform(self) -> Searched | Failed:
        """Search and freeze; a fault is a result, as other runs may go on."""
        try:
            with self._folder(Path(self.path)) as folder:
                return search(folder, lambda line: None)
        except SurefootError as error:
            return Failed(str(error), isinstance(error, EnvironmentFaultError))

    def given_up(self) -> Failed:
        """An environment's fault."""
        return Failed(f"{self.most_deaths} worker processes died at it.", True)

    def episodes(self, result: Searched | Failed) -> int:
        """All of the run's."""
        return sum(result.episodes.values()) if isinstance(result, Searched) else 0

    def _folder(self, path: Path) -> RunFolder:
        if RunFolder.is_at(path):
            return RunFolder.open(path, _PATIENCE)
        return RunFolder.create(path, self.manifest)


def run_campaign(folder: CampaignFolder, crew: Crew, narrate: Narrate, advance: Advance) -> CampaignReport:
    """Learn, evaluate and report; goes on where an earlier attempt stopped.

    Raises RunError or EnvironmentFaultError for learning runs that could not be finished, after all others are.
    """
    _check_revisions(folder)
    manifest = folder.manifest
    searches = _learn(folder, crew, narrate)
    shown = _evaluated(
        folder, crew, advance, "evaluating demonstrations", _demonstrations(manifest.parts, "development")
    )
    best = {part.task: _best_demonstration(part, shown) for part in manifest.parts}
    tested = [*_demonstrations(manifest.parts, "held_out", best), *_programs(folder, searches)]
    episodes = _evaluated(folder, crew, advance, "evaluating frozen programs", tested)
    reports = {key: _reported(folder, key, searches[key], episodes) for key in folder.keys}
    tables = tuple(
        _table(
            witnesses,
            manifest.parts,
            {key: reports[key] for key in folder.keys if key.witnesses == witnesses},
            best,
            shown,
            episodes,
        )
        for witnesses in manifest.witnesses
    )
    held_out, development = ([episode for found in of.values() for episode in found] for of in (episodes, shown))
    lost = sum(isinstance(episode.outcome, Infrastructure) for episode in (*held_out, *development))
    report = CampaignReport(
        manifest.suite, manifest.proposer, manifest.code, manifest.run_seeds, PROGRAM_SEED, len(held_out), lost, tables
    )
    folder.save(REPORT, report)
    return report


def _check_revisions(folder: CampaignFolder) -> None:
    for part in folder.manifest.parts:
        if find_task(part.task).revision() != part.revision:
            raise RunError(
                f"The environment of {part.task} has changed since the campaign began (revision {part.revision[:12]} "
                "then). Go back to it, or start a new campaign."
            )


def _learn(folder: CampaignFolder, crew: Crew, narrate: Narrate) -> dict[Key, Searched]:
    """Every learning run's search: finished before, or now by the crew."""
    keys = folder.keys
    found = {key: done for key in keys if (done := _finished(folder.run_path(key))) is not None}
    missing = [key for key in keys if key not in found]
    if found:
        narrate(f"{len(found)} of {len(keys)} learning runs are done already")
    works = [
        Learning(str(folder.run_path(key)), manifest_of(folder.manifest, key, find_task(key.task))) for key in missing
    ]
    failed: list[Failed] = []
    for index, result in crew.run(works):
        key = missing[index]
        if isinstance(result, Failed):
            failed.append(msgspec.structs.replace(result, text=f"{key.text}: {result.text}"))
            narrate(f"not learned: {failed[-1].text}")
        else:
            found[key] = result
            narrate(f"[{len(found)}/{len(keys)}] learned {key.text}: {_told(result)}")
    if failed:
        kind = EnvironmentFaultError if any(item.environment for item in failed) else RunError
        raise kind(
            f"{len(failed)} of {len(keys)} learning runs could not be finished, the first being {failed[0].text} "
            f"Then go on with 'surefoot resume {folder.path}'; what is finished is kept."
        )
    return found


def _finished(path: Path) -> Searched | None:
    """A search that was finished before."""
    try:
        return msgspec.json.decode((path / SEARCH).read_bytes(), type=Searched)
    except (OSError, msgspec.DecodeError):  # then the run is gone on with, which writes it
        return None


def _told(searched: Searched) -> str:
    checks = searched.certification
    held = f"{searched.bank['final_holds']}/{searched.bank['witnesses']}"
    return (
        f"{searched.episodes['search']} search episodes, {checks.certified}/{checks.checks} checks certified, "
        f"final program holds on {held} of its bank"
    )


Wanted = tuple[str, Program, tuple[int, ...]]
"""A task, a program, and the configurations to run it on."""


def _demonstrations(parts: Iterable[Part], place: str, chosen: dict[str, int | None] | None = None) -> list[Wanted]:
    """Demonstrations unchanged on `development` or `held_out` configurations: all, or the chosen one of each task."""
    return [
        (part.task, Program(demonstration.source, demonstration.name), getattr(part, place))
        for part in parts
        for number, demonstration in enumerate(find_task(part.task).demonstrations)
        if chosen is None or chosen[part.task] == number
    ]


def _programs(folder: CampaignFolder, searches: dict[Key, Searched]) -> list[Wanted]:
    """First, final and best programs of all runs."""
    return [
        (key.task, Program.read(folder.run_path(key) / f"{name}.py"), searches[key].held_out)
        for key in folder.keys
        for name in NAMES
    ]


def _evaluated(folder: CampaignFolder, crew: Crew, advance: Advance, label: str, wanted: Iterable[Wanted]) -> Episodes:
    """Each distinct program of a task once on each configuration; through the campaign's journal."""
    distinct = {(task, program.digest): (program, seeds) for task, program, seeds in wanted}
    revisions = {part.task: part.revision for part in folder.manifest.parts}
    works = [
        Evaluation(task, revisions[task], Job(program.source, digest, seed, PROGRAM_SEED))
        for (task, digest), (program, seeds) in distinct.items()
        for seed in seeds
    ]

    def compute(missing: list[int]) -> Iterator[tuple[int, Episode]]:
        done = len(works) - len(missing)
        for position, episode in crew.run([works[index] for index in missing]):
            done += 1
            advance(label, done, len(works))
            yield missing[position], episode

    inputs = [[label, work.task, work.job.name, work.job.seed] for work in works]
    episodes = iter(folder.journal.batch("evaluate", inputs, Episode, compute))
    return {key: [next(episodes) for _ in seeds] for key, (_, seeds) in distinct.items()}


def _best_demonstration(part: Part, shown: Episodes) -> int | None:
    """The number of the demonstration that did best on the development scenes; None where there is none."""
    found = [shown[part.task, program.digest] for _, program, _ in _demonstrations([part], "development")]
    return best_of(found) if found else None


def _reported(folder: CampaignFolder, key: Key, searched: Searched, episodes: Episodes) -> Report:
    """A run's report, written into its folder; its final program, written into the campaign's."""
    path = folder.run_path(key)
    own = {digest: episodes[key.task, digest] for digest in searched.programs.values()}
    report = report_of(searched, own, path, PROGRAM_SEED)
    with RunFolder.open(path, _PATIENCE) as run:
        run.save(REPORT, report)
    several = len(folder.manifest.witnesses) > 1
    name = f"{key.task.replace('/', '-')}-{key.run_seed}{f'-{key.witnesses}' if several else ''}.py"
    folder.save_bytes(f"programs/{name}", (path / "final.py").read_bytes())
    return report


def _table(
    witnesses: Witnesses,
    parts: Iterable[Part],
    reports: dict[Key, Report],
    best: dict[str, int | None],
    shown: Episodes,
    episodes: Episodes,
) -> Table:
    results = []
    for part in parts:
        own = [report for key, report in reports.items() if key.task == part.task]
        results.append(_result(part, own, _demonstrated(part, best[part.task], shown, episodes), episodes))
    return Table(witnesses, tuple(results), macro(results))


def _demonstrated(part: Part, number: int | None, shown: Episodes, episodes: Episodes) -> Demonstrated | None:
    if number is None:
        return None
    demonstration = find_task(part.task).demonstrations[number]
    key = part.task, Program(demonstration.source).digest
    return Demonstrated(demonstration.name, demonstration.task, score(shown[key]), score(episodes[key]))


def _result(part: Part, reports: list[Report], demonstrated: Demonstrated | None, episodes: Episodes) -> TaskResult:
    task = find_task(part.task)

    def of(name: str) -> Tally:
        return tally([report.programs[name] for report in reports], [getattr(report, name) for report in reports])

    finals = [episodes[part.task, report.programs["final"]] for report in reports]
    return TaskResult(
        task=task.name,
        tier=task.tier,
        protocol=task.protocol,
        revision=part.revision,
        development=part.development,
        held_out=part.held_out,
        demonstrations=tuple(dict.fromkeys(demonstration.task for demonstration in task.demonstrations)),
        best_demonstration=demonstrated,
        first=of("first"),
        final=of("final"),
        best=of("best"),
        missed=missed([report.run_seed for report in reports], finals),
        checks=checks(reports),
        diagnostics=summed([report.diagnostics for report in reports]),
        roles=summed([report.roles for report in reports]),
        costs=costs(reports),
    )
