"""A campaign's folder: what it is of, its journal, and where its learning runs lie."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from surefoot.environments.base import Task
from surefoot.evaluation.learning import new_manifest
from surefoot.memory.folder import FORMAT, Folder, code_version
from surefoot.search.folder import Manifest
from surefoot.search.settings import Settings

Witnesses = Literal["refresh", "paper"]


class Part(msgspec.Struct, frozen=True):
    """One task of a campaign with its configurations."""

    task: str
    revision: str
    development: tuple[int, ...]
    held_out: tuple[int, ...]


class CampaignManifest(msgspec.Struct, frozen=True):
    """What a campaign is of; written once. Run seeds are `run_seed` and the `runs - 1` that follow."""

    format: int
    code: str
    suite: str
    parts: tuple[Part, ...]
    proposer: str
    run_seed: int
    runs: int
    witnesses: tuple[Witnesses, ...]

    @property
    def run_seeds(self) -> tuple[int, ...]:
        """The run seeds in order."""
        return tuple(range(self.run_seed, self.run_seed + self.runs))


class Key(NamedTuple):
    """Which learning run of a campaign."""

    task: str
    witnesses: Witnesses
    run_seed: int

    @property
    def name(self) -> str:
        """Its folder's name."""
        return f"{self.task.replace('/', '-')}-{self.witnesses}-{self.run_seed}"

    @property
    def text(self) -> str:
        """What a person calls it."""
        return f"{self.task}, run seed {self.run_seed}, witnesses {self.witnesses}"


class CampaignFolder(Folder[CampaignManifest]):
    """An open campaign; a context manager that holds its lock."""

    noun = "campaign"
    manifest_name = "campaign.json"
    manifest_type = CampaignManifest
    journal_name = "campaign.sqlite"
    made_by = "Campaigns are made by 'surefoot campaign SUITE --out DIR'."

    @property
    def keys(self) -> list[Key]:
        """All learning runs, in order."""
        manifest = self.manifest
        return [
            Key(part.task, witnesses, run_seed)
            for part in manifest.parts
            for witnesses in manifest.witnesses
            for run_seed in manifest.run_seeds
        ]

    def run_path(self, key: Key) -> Path:
        """A learning run's folder."""
        return self.path.resolve() / "runs" / key.name


def new_campaign(
    suite: str,
    tasks: Sequence[Task],
    proposer: str,
    run_seed: int,
    runs: int,
    witnesses: Sequence[Witnesses],
    development: Sequence[int] | None = None,
    held_out: Sequence[int] | None = None,
) -> CampaignManifest:
    """The manifest of a campaign that is about to start; configurations are each task's own unless given.

    UsageError if a configuration is both development and held-out.
    """
    parts = []
    for task in tasks:
        part = Part(
            task.name, task.revision(), tuple(development or task.development), tuple(held_out or task.held_out)
        )
        _run_manifest(task, part, proposer, Settings(), run_seed)
        parts.append(part)
    return CampaignManifest(FORMAT, code_version(), suite, tuple(parts), proposer, run_seed, runs, tuple(witnesses))


def manifest_of(manifest: CampaignManifest, key: Key, task: Task) -> Manifest:
    """The manifest of one learning run."""
    part = next(part for part in manifest.parts if part.task == key.task)
    return _run_manifest(task, part, manifest.proposer, Settings(witnesses=key.witnesses), key.run_seed)


def _run_manifest(task: Task, part: Part, proposer: str, settings: Settings, run_seed: int) -> Manifest:
    return new_manifest(task, proposer, part.development, part.held_out, run_seed, settings)
