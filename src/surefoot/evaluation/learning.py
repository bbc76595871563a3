"""A whole learning run: search, freeze, held-out evaluation, report."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from surefoot.boundary.environment import Scene
from surefoot.boundary.outcome import Infrastructure, is_success
from surefoot.environments.base import Task
from surefoot.environments.registry import find_task
from surefoot.errors import RunError, UsageError
from surefoot.evaluation.frozen import Overlap, Score, overlap, score
from surefoot.evaluation.pool import Episode, Job, run_episodes
from surefoot.evaluation.statistics import Paired, paired_exact
from surefoot.memory.archive import Archive
from surefoot.proposer.base import Proposer
from surefoot.proposer.registry import make_proposer
from surefoot.search.effects import Effects, Narrate
from surefoot.search.folder import FORMAT, Manifest, RunFolder, code_version, merge_library
from surefoot.search.loop import Acceptance, Learned, Search
from surefoot.search.settings import Settings
from surefoot.tape.certificate import Certified, Diverged, Unavailable

Advance = Callable[[str, int, int], None]
"""Receives (label, done, total) while episodes are evaluated."""


class Certification(msgspec.Struct, frozen=True):
    """Replays of accepted programs on older witnesses (the paper's Figure 4 quantities).

    Seconds are of all checks, and again of those certified, whose tapes were consumed whole. `edited_line_ran` counts certificates for which a line that the witness's program lacks was executed.
    """

    checks: int
    certified: int
    diverged: int
    unavailable: int
    edited_line_ran: int
    replay_seconds: float
    execution_seconds: float
    certified_replay_seconds: float
    certified_execution_seconds: float


class Report(msgspec.Struct, frozen=True):
    """A finished run's results; `report.json` of its folder."""

    run: str
    task: str
    tier: str
    protocol: str
    proposer: str
    run_seed: int
    checking: str
    witnesses: str
    revision: str
    code: str
    held_out: tuple[int, ...]
    first: Score
    final: Score
    best: Score
    final_against_first: Paired
    programs: dict[str, str]
    history: list[Acceptance]
    repairs: dict[str, int]
    certification: Certification
    diagnostics: dict[str, int]
    episodes: dict[str, int]
    bank: dict[str, int]
    overlap: Overlap


def new_manifest(
    task: Task,
    proposer: str,
    development: Sequence[int],
    held_out: Sequence[int],
    run_seed: int,
    settings: Settings,
    library: Path | None = None,
) -> Manifest:
    """The manifest of a run that is about to start. UsageError if the seed lists share a configuration."""
    both = sorted(set(development) & set(held_out))
    if both:
        shown = ", ".join(map(str, both[:5]))
        raise UsageError(f"Configurations {shown} are both development and held-out; a program must not see its test.")
    return Manifest(
        uuid.uuid4().hex, FORMAT, code_version(), task.name, task.tier, task.protocol, task.revision(), proposer,
        tuple(development), tuple(held_out), run_seed, settings, str(library.resolve()) if library else None,
    )  # fmt: skip


def run_learning(folder: RunFolder, workers: int, narrate: Narrate, advance: Advance) -> Report:
    """Search, freeze and evaluate; goes on where an earlier attempt stopped."""
    manifest = folder.manifest
    task = find_task(manifest.task)
    proposer = make_proposer(manifest.proposer, task, manifest.run_seed)
    learned, archive = run_search(folder, proposer, narrate)
    for name, digest in (("first", learned.first), ("final", learned.final), ("best", learned.best)):
        folder.save_bytes(f"{name}.py", archive.programs[digest].source.encode())
    folder.save_bytes("skills.json", proposer.save(folder.library, manifest.id))
    results = _evaluate(folder, task, learned, archive, workers, advance)
    report = _report(folder, task, learned, archive, results)
    folder.save("report.json", report)
    if manifest.library is not None:
        merge_library(Path(manifest.library), lambda known: proposer.save(known, manifest.id))
    return report


def run_search(folder: RunFolder, proposer: Proposer, narrate: Narrate) -> tuple[Learned, Archive]:
    """Search and freeze, without a held-out episode; keeps the programs that were accepted.

    Raises RunError if the environment has changed since the run began.
    """
    manifest = folder.manifest
    task = find_task(manifest.task)
    if task.revision() != manifest.revision:
        raise RunError(
            f"The environment of {task.name} has changed since the run began (revision {manifest.revision[:12]} then). "
            "Go back to it, or start a new run."
        )
    proposer.load(folder.library)
    tries = manifest.settings.infrastructure_tries
    effects = Effects(folder.journal, folder.tapes, proposer, manifest.run_seed, tries)
    try:
        search = Search(task, manifest.development, effects, manifest.settings, manifest.run_seed, narrate)
        learned = search.run()
    finally:
        effects.close()
    for digest in dict.fromkeys((learned.first, *learned.accepted)):
        folder.save_program(effects.archive.programs[digest])
    return learned, effects.archive


def _evaluate(
    folder: RunFolder, task: Task, learned: Learned, archive: Archive, workers: int, advance: Advance
) -> dict[str, list[Episode]]:
    """Each distinct program once on each held-out configuration."""
    digests = list(dict.fromkeys((learned.first, learned.final, learned.best)))
    seeds = folder.manifest.held_out
    run_seed = folder.manifest.run_seed
    jobs = [Job(archive.programs[digest].source, digest, seed, run_seed) for digest in digests for seed in seeds]
    inputs = [["evaluate", digest, seed] for digest in digests for seed in seeds]
    done = 0

    def compute(missing: list[int]) -> Iterator[tuple[int, Episode]]:
        nonlocal done
        done = len(jobs) - len(missing)
        for position, episode in run_episodes(task, [jobs[index] for index in missing], workers):
            done += 1
            advance("evaluating", done, len(jobs))
            yield missing[position], episode

    episodes = folder.journal.batch("evaluate", inputs, Episode, compute)
    count = len(seeds)
    return {digest: episodes[place * count : (place + 1) * count] for place, digest in enumerate(digests)}


def _report(
    folder: RunFolder, task: Task, learned: Learned, archive: Archive, results: dict[str, list[Episode]]
) -> Report:
    manifest = folder.manifest
    first, final, best = (results[digest] for digest in (learned.first, learned.final, learned.best))
    pairs = [pair for pair in zip(first, final, strict=True) if not any(map(_lost, pair))]
    solved = [[is_success(pair[place].outcome) for pair in pairs] for place in (0, 1)]
    return Report(
        str(folder.path),
        task.name,
        task.tier,
        task.protocol,
        manifest.proposer,
        manifest.run_seed,
        manifest.settings.checking,
        manifest.settings.witnesses,
        manifest.revision,
        manifest.code,
        manifest.held_out,
        score(first),
        score(final),
        score(best),
        paired_exact(*solved),
        {"first": learned.first, "final": learned.final, "best": learned.best},
        learned.history,
        _repairs(learned),
        _certification(learned),
        _diagnostics(learned, archive),
        _episodes(task, archive, len(manifest.held_out) * len(results)),
        {
            "witnesses": len(learned.witnesses),
            "final_holds": learned.holding[learned.final],
            "best_holds": learned.holding[learned.best],
        },
        _overlap(folder, task, archive, first),
    )


def _lost(episode: Episode) -> bool:
    """Whether the environment failed, which says nothing of the program."""
    return isinstance(episode.outcome, Infrastructure)


def _repairs(learned: Learned) -> dict[str, int]:
    levels = [attempt.plan.level for attempt in learned.attempts]
    return {level: levels.count(level) for level in ("local", "stage", "strategy")}


def _certification(learned: Learned) -> Certification:
    """Checks of older witnesses by another program; unavailable ones stay in the denominator."""
    checks = learned.checks

    whole = [check for check in checks if isinstance(check.certificate, Certified)]

    def count(kind: type) -> int:
        return sum(isinstance(check.certificate, kind) for check in checks)

    return Certification(
        len(checks),
        count(Certified),
        count(Diverged),
        count(Unavailable),
        sum(check.edited_line_ran for check in checks),
        round(sum(check.seconds for check in checks), 4),
        round(sum(check.witness_seconds for check in checks), 4),
        round(sum(check.seconds for check in whole), 4),
        round(sum(check.witness_seconds for check in whole), 4),
    )


def _diagnostics(learned: Learned, archive: Archive) -> dict[str, int]:
    failed = sum(not archive.records[number].success for number in learned.diagnostics)
    return {"run": len(learned.diagnostics), "failed": failed}


def _episodes(task: Task, archive: Archive, evaluation: int) -> dict[str, int]:
    """Environment episodes by what they were for."""
    roles = [record.role for record in archive]
    search = [role for role in roles if role not in ("demonstration", "freeze")]
    return {
        "demonstrations": roles.count("demonstration"),
        "search": len(search),
        "freeze": roles.count("freeze"),
        "evaluation": evaluation,
    }


def _overlap(folder: RunFolder, task: Task, archive: Archive, held_out: list[Episode]) -> Overlap:
    development: dict[str, Scene] = {}
    for record in archive.on(task.name):
        if record.tape and record.scene not in development:
            development[record.scene] = folder.tapes.load(record.tape).header.scene
    found = overlap(list(development.values()), [episode.scene for episode in held_out if episode.scene is not None])
    if found.shared:
        raise UsageError(
            f"The held-out configurations {', '.join(map(str, found.shared))} give scenes that were used in development. "
            "Their score would say nothing; choose other held-out configurations."
        )
    return found


def run_name(task: str, run_seed: int) -> Path:
    """Default folder of a run."""
    return Path("runs") / f"{task.replace('/', '-')}-{run_seed}"
