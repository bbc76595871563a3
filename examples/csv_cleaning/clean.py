"""Eleven days of suppliers' files, cleaned with a tool of which nobody says what its modes do.

    python examples/csv_cleaning/clean.py [FOLDER]

Writes the files, their clean versions and `evidence.json` to FOLDER (default: a temporary one), and tells the story.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cleaning import cleaning, first_lines
from suppliers import FORMATS, send

from surefoot.pi.learner import Learner, Outcome

REGULARS = ("alder", "birch", "cedar")
EVERYBODY = tuple(FORMATS)


class Day(NamedTuple):
    """Which version of the tool is installed, and who sends a file."""

    number: int
    version: str
    suppliers: tuple[str, ...]


DAYS = (
    *[Day(number, "1", REGULARS) for number in (1, 2, 3)],
    Day(4, "1", EVERYBODY),
    *[Day(number, "2", EVERYBODY) for number in (5, 6, 7, 8)],
    *[Day(number, "3", EVERYBODY) for number in (9, 10, 11)],
)


def clean(folder: Path, day: Day) -> list[Outcome]:
    """A day's work, as a process of its own would do it: load what is known, clean, save."""
    pipeline = cleaning(folder)
    evidence = folder / "evidence.json"
    learner = Learner.load(pipeline, evidence) if evidence.exists() else Learner(pipeline)
    outcomes = []
    for supplier in day.suppliers:
        name = send(folder, supplier, day.number)
        content = (folder / f"{name}.csv").read_bytes()
        outcome = learner.solve(pipeline.task(name, day.version, FORMATS[supplier], content, first_lines))
        if outcome.accepted:
            (folder / f"{name}.clean.csv").write_text("".join(",".join(row) + "\n" for row in outcome.data))
        outcomes.append(outcome)
    learner.save(evidence)
    return outcomes


def story(folder: Path) -> Iterator[str]:
    """What happens, day by day; the first file and the newcomer's first file in full."""
    version = ""
    for day in DAYS:
        if day.version != version:
            version = day.version
            yield f"Version {version} of the tool; {_promoted(folder, version)}"
        outcomes = clean(folder, day)
        accepted = [outcome.accepted for outcome in outcomes]
        at_first = sum(outcome.first_accepted for outcome in outcomes)
        trials = sum(len(outcome.trials) for outcome in outcomes)
        visits = sum(outcome.visits for outcome in outcomes)
        yield (
            f"  day {day.number:2}: {len(outcomes)} files, {at_first} accepted as first submitted, {sum(accepted)} in the end, "
            f"{trials:2} trials, {visits / len(outcomes):4.0f} rows visited a file"
        )
        for outcome in outcomes:
            if outcome.task in ("alder-01", "dogwood-04"):
                yield from (f"    {line}" for line in str(outcome).splitlines())


def _promoted(folder: Path, version: str) -> str:
    """How much of what is known goes into first submissions, and how much of that is of this version."""
    evidence = folder / "evidence.json"
    if not evidence.exists():
        return "nothing is known"
    promoted = [known for known in Learner.load(cleaning(folder), evidence).known() if known.promoted]
    return f"{len(promoted)} modes are promoted, {sum(known.revision == version for known in promoted)} of them for it"


def main() -> None:
    """Tell the story."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for line in story(folder):
            print(line)


if __name__ == "__main__":
    main()
