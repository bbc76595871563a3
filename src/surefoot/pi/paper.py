"""All of the paper in one folder: tables as Markdown, CSV and JSON, plots, and one readable trace."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from surefoot.errors import UsageError
from surefoot.pi.experiment import Results, run_world
from surefoot.pi.streams import PUBLISHED_SEEDS
from surefoot.pi.tables import Table, tables
from surefoot.pi.trace import tell
from surefoot.pi.worlds import each_world

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


def measure(workers: int, seeds: Sequence[int] = PUBLISHED_SEEDS) -> list[Results]:
    """The paper's experiments on its ten seeds."""
    return list(each_world(run_world, seeds, workers))


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
    texts = {"report.md": "\n\n".join(report), "trace.json": _json(trace.data),
             "tables.json": _json([table.data() for table in found])}  # fmt: skip
    texts |= {f"{table.name}.csv": table.csv() for table in found}
    texts |= {f"{table.name}.md": table.markdown() for table in found}
    try:
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        draw(worlds, folder)
    except OSError as error:
        raise UsageError(f"The results can't be written to {folder}: {error.strerror}.") from None
    return found


def _json(value: object) -> str:
    return json.dumps(value, indent=1) + "\n"
