"""All of the paper in one folder: tables as Markdown, CSV and JSON, plots, and one readable trace."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from surefoot.errors import UsageError
from surefoot.pi.experiment import Results
from surefoot.pi.streams import PUBLISHED_SEEDS
from surefoot.pi.tables import Table, tables
from surefoot.pi.trace import tell

TRACE_SEED = 11
LIMITS = """\
What these figures do not show, as the paper says: `compositional`, without the incentive threshold, ties with `pi`;
`self_trial`, without demonstrations, does better than `pi` on revision C at K=3; `no_trial` is cheaper on cold familiar
compositions. Demonstrations are not necessary. Localization is supplied by a public lineage map, not inferred.
`pi_no_incentive` keeps nothing across tasks: it is no ablation of the reward. Work is row-stage visits of an
interpreter, not tokens, time or money, and acquisition and demonstrations are not charged. The published worlds can't
be rebuilt, so agreement is statistical: `surefoot pi check`.
"""


def prepare(folder: Path) -> None:
    """Make the folder of the results. UsageError where something else lies there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} can't be made: {error.strerror}. Name another with --out.") from None


def write(folder: Path, worlds: Sequence[Results]) -> list[Table]:
    """Write everything into `folder`; the same bytes for the same results. UsageError where it can't be written."""
    from surefoot.pi.plots import draw  # loads the plotting library, which takes longer than a world

    found = tables(worlds)
    trace = tell(TRACE_SEED)
    report = [
        "# PI, measured",
        f"Means over {len(worlds)} worlds (seeds {', '.join(map(str, PUBLISHED_SEEDS))}), rates in per cent, work in "
        "row-stage visits per task. Published figures: the paper's.",
        LIMITS,
        *[table.markdown() for table in found],
        f"### One episode (world {TRACE_SEED}, cold, K=3)\n\n```\n" + "\n".join(trace.lines) + "\n```\n",
        "![acquisition](acquisition.png)\n\n![transfer and follow-up](transfer-and-follow-up.png)\n",
    ]
    write_tables(folder, found)
    with _writing(folder):
        (folder / "report.md").write_text("\n\n".join(report), encoding="utf-8")
        (folder / "trace.json").write_text(_json(trace.data), encoding="utf-8")
        draw(worlds, folder)
    return found


def write_tables(folder: Path, found: Sequence[Table], name: str = "tables") -> None:
    """Write tables as Markdown and CSV, and all of them as `name`.json. UsageError where they can't be written."""
    with _writing(folder):
        (folder / f"{name}.json").write_text(_json([table.data() for table in found]), encoding="utf-8")
        for table in found:
            (folder / f"{table.name}.csv").write_text(table.csv(), encoding="utf-8")
            (folder / f"{table.name}.md").write_text(table.markdown(), encoding="utf-8")


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"The results can't be written to {folder}: {error.strerror}.") from None


def _json(value: object) -> str:
    return json.dumps(value, indent=1) + "\n"
