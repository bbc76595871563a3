"""A whole learning run: search, freeze, held-out evaluation, report."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import get_args

import msgspec

from surefoot.boundary.environment import Scene
from surefoot.boundary.outcome import Infrastructure, is_success
from surefoot.environments.base import Task
from surefoot.environments.registry import find_task
from surefoot.errors import RunError, UsageError
from surefoot.evaluation.frozen import Overlap, Score, overlap, score
from surefoot.evaluation.pool import Episode, Job, run_episodes
from surefoot.evaluation.statistics import Paired, paired_exact
from surefoot.memory.archive import Archive, Role
from surefoot.memory.folder import FORMAT, code_version
from surefoot.proposer.registry import make_proposer
from surefoot.search.effects import Effects, Narrate
from surefoot.search.folder import Manifest, RunFolder, merge_library
from surefoot.search.loop import Acceptance, Learned, Search
from surefoot.search.settings import Settings
from surefoot.tape.certificate import Certified, Diverged, Unavailable

Advance = Callable[[str, int, int], None]
"""Receives (label, done, total) while episodes are evaluated."""
SEARCH = "search.json"
REPORT = "report.json"
NAMES = ("first", "final", "best")
"""The programs of a run that are kept, evaluated and reported."""


class Certification(msgspec.Struct, frozen=True):
    """Replays of accepted programs on older witnesses (the paper's Figure 4 quantities).

    Seconds are of all checks, and again of those certified, whose tapes were consumed whole; `retrieval_seconds` is
    what finding and reading the tapes took. `edited_line_ran` counts certificates for which a line that the witness's
    program lacks was executed.
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
    retrieval_seconds: float


class Spent(msgspec.Struct, frozen=True):
    """Where a search's time went [s]: each effect as it was first computed.

    `learning` is everything up to the freeze, demonstrations, planning and the pipeline included; `certification` is
    its pipeline (retrieval, replay, self-match), `diagnostics` its diagnostic episodes; `freeze` comes after it.
    """

    learning: float
    certification: float
    diagnostics: float
    freeze: float


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """What a search found, before anything was evaluated. `roles` counts episodes by their role in the archive."""

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
    programs: dict[str, str]
    history: list[Acceptance]
    repairs: dict[str, int]
    certification: Certification
    diagnostics: dict[str, int]
    episodes: dict[str, int]
    roles: dict[str, int]
    spent: Spent
    bank: dict[str, int]


class Searched(Findings, frozen=True, kw_only=True):
    """A finished search; `search.json` of its folder. `scenes` are those it was developed on."""

    scenes: tuple[Scene, ...]


class Report(Findings, frozen=True, kw_only=True):
    """A finished run's results; `report.json` of its folder. Programs were evaluated with `program_seed`."""

    run: str
    program_seed: int
    first: Score
    final: Score
    best: Score
    final_against_first: Paired
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
    searched = search(folder, narrate)
    episodes = _evaluate(folder, searched, workers, advance)
    report = report_of(searched, episodes, folder.path, folder.manifest.run_seed)
    folder.save(REPORT, report)
    return report


def search(folder: RunFolder, narrate: Narrate) -> Searched:
    """Learn and freeze; writes the programs, the skills and `search.json`. RunError if the environment changed."""
    manifest = folder.manifest
    task = find_task(manifest.task)
    if task.revision() != manifest.revision:
        raise RunError(
            f"The environment of {task.name} has changed since the run began (revision {manifest.revision[:12]} then). "
            "Go back to it, or start a new run."
        )
    proposer = make_proposer(manifest.proposer, task, manifest.run_seed)
    proposer.load(folder.library)
    tries = manifest.settings.infrastructure_tries
    effects = Effects(folder.journal, folder.tapes, proposer, manifest.run_seed, tries)
    try:
        learned = Search(task, manifest.development, effects, manifest.settings, manifest.run_seed, narrate).run()
    finally:
        effects.close()
    archive = effects.archive
    named = dict(zip(NAMES, (learned.first, learned.final, learned.best), strict=True))
    for digest in dict.fromkeys((*named.values(), *learned.accepted)):
        folder.save_program(archive.programs[digest])
    for name, digest in named.items():
        folder.save_bytes(f"{name}.py", archive.programs[digest].source.encode())
    folder.save_bytes("skills.json", proposer.save(folder.library, manifest.id))
    if manifest.library is not None:
        merge_library(Path(manifest.library), lambda known: proposer.save(known, manifest.id))
    searched = _searched(folder, task, learned, archive, named)
    folder.save(SEARCH, searched)
    return searched


def report_of(searched: Searched, episodes: dict[str, list[Episode]], path: Path, program_seed: int) -> Report:
    """The report of a search whose programs were evaluated; `episodes` by program, in the order of the seeds.

    UsageError where a held-out scene was developed on.
    """
    first, final, best = (episodes[searched.programs[name]] for name in NAMES)
    pairs = [pair for pair in zip(first, final, strict=True) if not any(map(_lost, pair))]
    solved = [[is_success(pair[place].outcome) for pair in pairs] for place in (0, 1)]
    evaluated = len(searched.held_out) * len(set(searched.programs.values()))
    common = {name: getattr(searched, name) for name in Findings.__struct_fields__ if name != "episodes"}
    return Report(
        **common,
        episodes=searched.episodes | {"evaluation": evaluated},
        run=str(path),
        program_seed=program_seed,
        first=score(first),
        final=score(final),
        best=score(best),
        final_against_first=paired_exact(*solved),
        overlap=_overlap(searched, first),
    )


def _evaluate(folder: RunFolder, searched: Searched, workers: int, advance: Advance) -> dict[str, list[Episode]]:
    """Each distinct program once on each held-out configuration."""
    sources = {searched.programs[name]: (folder.path / f"{name}.py").read_text("utf-8") for name in reversed(NAMES)}
    digests = list(dict.fromkeys(searched.programs[name] for name in NAMES))
    seeds = searched.held_out
    jobs = [Job(sources[digest], digest, seed, searched.run_seed) for digest in digests for seed in seeds]
    inputs = [["evaluate", digest, seed] for digest in digests for seed in seeds]
    done = 0

    def compute(missing: list[int]) -> Iterator[tuple[int, Episode]]:
        nonlocal done
        done = len(jobs) - len(missing)
        for position, episode in run_episodes(find_task(searched.task), [jobs[index] for index in missing], workers):
            done += 1
            advance("evaluating frozen programs", done, len(jobs))
            yield missing[position], episode

    episodes = folder.journal.batch("evaluate", inputs, Episode, compute)
    count = len(seeds)
    return {digest: episodes[place * count : (place + 1) * count] for place, digest in enumerate(digests)}


def _searched(folder: RunFolder, task: Task, learned: Learned, archive: Archive, programs: dict[str, str]) -> Searched:
    manifest = folder.manifest
    return Searched(
        task=task.name,
        tier=task.tier,
        protocol=task.protocol,
        proposer=manifest.proposer,
        run_seed=manifest.run_seed,
        checking=manifest.settings.checking,
        witnesses=manifest.settings.witnesses,
        revision=manifest.revision,
        code=manifest.code,
        held_out=manifest.held_out,
        programs=programs,
        history=learned.history,
        repairs=_repairs(learned),
        certification=_certification(learned),
        diagnostics=_diagnostics(learned, archive),
        episodes=_episodes(archive),
        roles=_roles(archive),
        spent=_spent(folder, learned, archive),
        bank={
            "witnesses": len(learned.witnesses),
            "final_holds": learned.holding[learned.final],
            "best_holds": learned.holding[learned.best],
        },
        scenes=_scenes(folder, task, archive),
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
        round(sum(check.retrieval_seconds for check in checks), 4),
    )


def _diagnostics(learned: Learned, archive: Archive) -> dict[str, int]:
    failed = sum(not archive.records[number].success for number in learned.diagnostics)
    return {"run": len(learned.diagnostics), "failed": failed}


def _roles(archive: Archive) -> dict[str, int]:
    roles = [record.role for record in archive]
    return {role: roles.count(role) for role in get_args(Role)}


def _episodes(archive: Archive) -> dict[str, int]:
    """Environment episodes by what they were for."""
    roles = _roles(archive)
    apart = roles["demonstration"], roles["freeze"]
    return {"demonstrations": apart[0], "search": sum(roles.values()) - sum(apart), "freeze": apart[1]}


def _spent(folder: RunFolder, learned: Learned, archive: Archive) -> Spent:
    took = folder.journal.seconds()
    pipeline = learned.certification_seconds
    by_role = {role: sum(record.seconds for record in archive if record.role == role) for role in get_args(Role)}
    freeze = by_role["freeze"] + took.get("replay", 0.0) - pipeline  # what is replayed besides is the freeze's
    learning = sum(seconds for kind, seconds in took.items() if kind != "evaluate") - freeze
    return Spent(*(round(seconds, 4) for seconds in (learning, pipeline, by_role["diagnostic"], freeze)))


def _scenes(folder: RunFolder, task: Task, archive: Archive) -> tuple[Scene, ...]:
    found: dict[str, Scene] = {}
    for record in archive.on(task.name):
        if record.tape and record.scene not in found:
            found[record.scene] = folder.tapes.load(record.tape).header.scene
    return tuple(found.values())


def _overlap(searched: Searched, episodes: list[Episode]) -> Overlap:
    found = overlap(searched.scenes, [episode.scene for episode in episodes if episode.scene is not None])
    if found.shared:
        raise UsageError(
            f"The held-out configurations {', '.join(map(str, found.shared))} give scenes that were used in development. "
            "Their score would say nothing; choose other held-out configurations."
        )
    return found


def run_name(task: str, run_seed: int) -> Path:
    """Default folder of a run."""
    return Path("runs") / f"{task.replace('/', '-')}-{run_seed}"
