"""`surefoot pi`: the experiments of PI, in-process."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from surefoot.cli.arguments import AsJson
from surefoot.cli.console import out, print_json, progress, say, table
from surefoot.errors import unknown_name
from surefoot.pi import check as checks
from surefoot.pi import integrity as suite
from surefoot.pi import paper as papers
from surefoot.pi.experiment import COLD_BUDGET, run_world
from surefoot.pi.streams import PUBLISHED_SEEDS
from surefoot.pi.tables import Table, cell_text
from surefoot.pi.tables import summary as _summary
from surefoot.pi.trace import tell
from surefoot.pi.worlds import each_world

T = TypeVar("T")
FIRST_CHECKED = 1_000
"""Worlds of `check` are those of seeds 1000, 1001 …: none is a published one."""
Workers = Annotated[
    int, typer.Option("--workers", min=1, max=64, help="Processes at a time; the results are the same.")
]
pi = typer.Typer(help="The experiments of PI: localized repair and verified skill acquisition.", no_args_is_help=True)


@pi.command()
def paper(
    folder: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where tables and plots go.")] = Path("pi-paper"),
    workers: Workers = 2,
    as_json: AsJson = False,
) -> int:
    """Measure every table and figure of the paper on its ten seeds, beside the published figures."""
    started = time.perf_counter()
    papers.prepare(folder)
    worlds = _each(run_world, PUBLISHED_SEEDS, workers, "worlds")
    found = papers.write(folder, worlds)
    seconds = time.perf_counter() - started
    if as_json:
        print_json({"seconds": seconds, "out": str(folder)})
        return 0
    _show(_summary(worlds))
    say(f"{len(found)} tables (Markdown, CSV, JSON), 2 plots (PNG, SVG) and a trace in {folder}, {seconds:.1f} s.")
    say(f"Read {folder / 'report.md'} first. How well the published figures agree: 'surefoot pi check --worlds 1000'.")
    return 0


@pi.command()
def check(
    worlds: Annotated[int, typer.Option("--worlds", min=10, help="Worlds to draw groups of ten from.")] = 100,
    workers: Workers = 2,
    as_json: AsJson = False,
) -> int:
    """Where each published figure lies among ten-world values, and whether the exact invariants hold.

    Exit 1 if a figure lies outside the central 99 % or an invariant does not hold.
    """
    results = _each(run_world, range(FIRST_CHECKED, FIRST_CHECKED + worlds), workers, "worlds")
    figures, held = checks.place(results), checks.held(results)
    good = all(figure.inside for figure in figures) and all(each.holds for each in held)
    if as_json:
        print_json({"figures": [each._asdict() for each in figures], "invariants": [each._asdict() for each in held]})
        return 0 if good else 1
    rows = table("figure", "published#", "mean#", "percentile#", "in the central 99 %")
    for figure in figures:
        rows.add_row(figure.name, f"{figure.published:.2f}", f"{figure.mean:.2f}", f"{figure.percentile:.1f}",
                     "yes" if figure.inside else "NO")  # fmt: skip
    out.print(rows)
    broken = [each.name for each in held if not each.holds]
    say(f"{sum(figure.inside for figure in figures)} of {len(figures)} published figures inside; "
        f"{len(held) - len(broken)} of {len(held)} invariants hold in each of {worlds} worlds.")  # fmt: skip
    for name in broken:
        say(f"does not hold: {name}")
    return 0 if good else 1


@pi.command()
def integrity(workers: Workers = 2, as_json: AsJson = False) -> int:
    """Check tasks, sources, audit and controllers on the ten seeds. Exit 1 if anything does not hold."""
    found = suite.total(_each(suite.check_world, PUBLISHED_SEEDS, workers, "worlds"))
    if as_json:
        print_json({"checks": [each._asdict() for each in found]})
    else:
        rows = table("check", "cases#", "failures#")
        for each in found:
            rows.add_row(each.name, f"{each.cases:,}", f"{each.failures:,}")
        out.print(rows)
    return 1 if any(each.failures for each in found) else 0


@pi.command()
def trace(
    seed: Annotated[int, typer.Option("--seed", min=0, help="The world.")] = 11,
    budget: Annotated[int, typer.Option("--budget", min=0, help="Small trials allowed.")] = COLD_BUDGET,
    as_json: AsJson = False,
) -> int:
    """Tell one cold episode step by step: what failed, what was tried, what it earned."""
    told = tell(seed, budget)
    if as_json:
        print_json(told.data)
    else:
        say("\n".join(told.lines))
    return 0


@pi.command()
def beyond(
    name: Annotated[str, typer.Argument(metavar="NAME", help="noise, break-even or scale.")],
    folder: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Write the tables there, too.")] = None,
    worlds: Annotated[int, typer.Option("--worlds", min=2, max=1_000, help="Worlds (noise, break-even).")] = 20,
    rows: Annotated[int, typer.Option("--rows", min=1_000, max=10_000_000, help="Largest table (scale).")] = 1_000_000,
    workers: Workers = 2,
    as_json: AsJson = False,
) -> int:
    """What the paper asks for next: imperfect feedback, acquisition charged, large tables.

    compositional and self_trial run beside pi. `--rows 10000000` needs about 4 GB of memory.
    """
    # SciPy and Polars take longer to load than a world to measure: the other commands go without
    from surefoot.pi.beyond import break_even, noise, scale

    seeds = range(FIRST_CHECKED, FIRST_CHECKED + worlds)
    if name == "noise":
        found = noise.tables(_each(noise.run_world, seeds, workers, "worlds"))
    elif name == "break-even":
        found = break_even.tables(_each(break_even.run_world, seeds, workers, "worlds"))
    elif name == "scale":
        found = scale.tables(list(scale.measure([size for size in scale.SIZES if size <= rows])))
    else:
        raise unknown_name("experiment", name, ["noise", "break-even", "scale"])
    if folder is not None:
        papers.prepare(folder)
        papers.write_tables(folder, found, name)
    if as_json:
        print_json([each.data() for each in found])
        return 0
    for each in found:
        _show(each)
    return 0


def _show(each: Table) -> None:
    """A table on the terminal."""
    say(each.title)
    rows = table(*[f"{column}#" if number else column for number, column in enumerate(each.columns)])
    for cells in each.rows:
        rows.add_row(*map(cell_text, cells))
    out.print(rows)
    say("")


def _each(measure: Callable[[int], T], seeds: Sequence[int], workers: int, label: str) -> list[T]:
    found = []
    with progress(label, len(seeds)) as advance:
        for each in each_world(measure, seeds, workers):
            found.append(each)
            advance()
    return found
