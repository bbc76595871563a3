"""The page of a finished learning run."""

from __future__ import annotations

import difflib
from pathlib import Path

from surefoot.evaluation.learning import Certification, Report
from surefoot.program.source import Program

COLUMNS = ("program", "held-out success", "holds on bank#", "file")


def score_rows(report: Report, folder: Path) -> list[tuple[str, str, str, str]]:
    """One row per program of the run, for `COLUMNS`."""
    witnesses = report.bank["witnesses"]
    return [
        ("first", report.first.text, "", str(folder / "first.py")),
        ("final", report.final.text, f"{report.bank['final_holds']}/{witnesses}", str(folder / "final.py")),
        ("best", report.best.text, f"{report.bank['best_holds']}/{witnesses}", str(folder / "best.py")),
    ]


def summary(report: Report) -> str:
    """What stands below the table: comparison, repairs, certification, costs, protocol."""
    paired, distance = report.final_against_first, report.overlap.smallest_distance
    near = f", nearest {1000 * distance:.1f} mm away" if distance is not None else ""
    return "\n".join(
        [
            f"final against first, paired: {paired.only_second} scenes won, {paired.only_first} lost, "
            f"exact p = {paired.p_value:.2g}",
            f"repairs: {', '.join(f'{count} {level}' for level, count in report.repairs.items())}",
            _certification(report.certification),
            f"diagnostics: {report.diagnostics['run']} run, {report.diagnostics['failed']} failed",
            f"episodes: {', '.join(f'{count} {kind}' for kind, count in report.episodes.items())}",
            f"held-out scenes: none shared with development{near}",
            f"tier {report.tier}; protocol: {report.protocol}",
        ]
    )


def change(folder: Path) -> str:
    """How the final program differs from the first, as a unified diff."""
    first, final = (Program.read(folder / f"{name}.py").source.splitlines() for name in ("first", "final"))
    return "\n".join(difflib.unified_diff(first, final, "first.py", "final.py", lineterm="", n=2))


def _certification(checks: Certification) -> str:
    text = (
        f"certification: {checks.certified} of {checks.checks} older successes certified "
        f"({checks.edited_line_ran} while an edited line ran), {checks.diverged} diverged, "
        f"{checks.unavailable} unavailable"
    )
    if not checks.certified or not checks.certified_execution_seconds:
        return text
    whole = checks.certified_replay_seconds / checks.certified_execution_seconds
    every = checks.replay_seconds / checks.execution_seconds
    return f"{text}; replaying took {whole:.1%} of running the certified ones, {every:.1%} of running all"
