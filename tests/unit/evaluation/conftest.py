"""Small learning runs on desk/place: three development configurations, the third of which needs a repair."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from surefoot.environments.base import Task
from surefoot.evaluation.learning import Report, new_manifest, run_learning
from surefoot.search.folder import RunFolder
from surefoot.search.settings import Settings

Learn = Callable[..., Report]


@pytest.fixture(scope="session")
def learn(desk: Task) -> Learn:
    """Begin a run in a new folder, or go on with the one that is there."""

    def run(
        path: Path,
        run_seed: int = 0,
        development: tuple[int, ...] = (101, 102, 103),
        library: Path | None = None,
        **settings: Any,
    ) -> Report:
        if (path / "manifest.json").exists():
            folder = RunFolder.open(path)
        else:
            chosen = Settings(**{"demonstration_tries": 3, **settings})
            manifest = new_manifest(desk, "skills", development, (3, 15), run_seed, chosen, library)
            folder = RunFolder.create(path, manifest)
        with folder:
            return run_learning(folder, 1, lambda line: None, lambda label, done, total: None)

    return run


@pytest.fixture(scope="session")
def timeless() -> Callable[[Path], Any]:
    """A run's results without its place and its times: report, programs, and what the journal did."""

    def read(path: Path) -> Any:
        report = msgspec.json.decode((path / "report.json").read_bytes())
        report["run"], report["spent"] = "", {}
        for name in report["certification"]:
            if name.endswith("_seconds"):
                report["certification"][name] = 0
        programs = {item.relative_to(path).as_posix(): item.read_bytes() for item in sorted(path.rglob("*.py"))}
        tapes = sorted(item.name for item in (path / "tapes").glob("*.mcap"))
        skills = msgspec.json.decode((path / "skills.json").read_bytes())["skills"]
        return report, programs, tapes, skills

    return read


@pytest.fixture(scope="session")
def finished(learn: Learn, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run; not to be changed."""
    path = tmp_path_factory.mktemp("finished") / "run"
    learn(path)
    return path
