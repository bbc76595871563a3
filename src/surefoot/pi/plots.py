"""The paper's plots: learning on the probe, budgets on revision C, and the follow-up; PNG and SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("agg")  # before pyplot: no display is needed
import matplotlib.pyplot as plt

from surefoot.pi.experiment import (
    BUDGETS,
    CHECKPOINTS,
    COLD_BUDGET,
    FOLLOW_UP_BUDGET,
    FOLLOW_UP_CHECKPOINTS,
    FOLLOW_UP_CONTROLLERS,
    Key,
    Results,
)
from surefoot.pi.figures import Field, Quantity
from surefoot.pi.tables import published, spread

SHOWN = ("pi", "self_trial", "no_goal", "no_trial", "no_localization", "trajectory", "pi_no_incentive")
"""Controllers that are drawn; compositional ties with pi everywhere."""
_COLOURS = dict(zip((*SHOWN, "compositional"), plt.get_cmap("tab10").colors, strict=False))  # type: ignore[attr-defined]


def draw(worlds: Sequence[Results], folder: Path) -> list[Path]:
    """All plots, each as PNG and SVG; the same bytes for the same results."""
    written = []
    for name, plot in (("acquisition", _acquisition), ("transfer-and-follow-up", _transfer)):
        with mpl.rc_context(
            {"svg.hashsalt": name, "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
        ):
            figure = plot(worlds)
            for suffix in ("png", "svg"):
                path = folder / f"{name}.{suffix}"
                figure.savefig(path, dpi=150, metadata={"Date": None} if suffix == "svg" else {"Software": None})
                written.append(path)
            plt.close(figure)
    return written


def _acquisition(worlds: Sequence[Results]) -> Any:
    figure, axes = plt.subplots(figsize=(5.0, 3.2), layout="constrained")

    def key(controller: str, seen: int) -> Key:
        return Key(f"probe {seen}", "composition", COLD_BUDGET, controller)

    _lines(axes, worlds, SHOWN, CHECKPOINTS, key, "first")
    axes.set(
        xlabel="atomic tasks acquired", ylabel="first submissions accepted [%]", xticks=CHECKPOINTS, ylim=(-3, 105)
    )
    axes.set_title("Compositions never seen in acquisition")
    axes.legend(frameon=False, fontsize=8)
    return figure


def _transfer(worlds: Sequence[Results]) -> Any:
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.0, 3.2), layout="constrained", sharey=True)
    _lines(left, worlds, SHOWN[:4], BUDGETS, lambda name, budget: Key("acquired", "revision-C", budget, name), "final")
    left.set(xlabel="small trials allowed, K", ylabel="accepted [%]", xticks=BUDGETS, ylim=(-3, 105))
    left.set_title("Revision C, frozen: final (x: published)")
    left.legend(frameon=False, fontsize=8)

    def key(controller: str, seen: int) -> Key:
        return Key(f"follow-up {seen}", "revision-C", FOLLOW_UP_BUDGET, controller)

    shown = [name for name in FOLLOW_UP_CONTROLLERS if name in SHOWN]
    _lines(right, worlds, shown, FOLLOW_UP_CHECKPOINTS, key, "first")
    right.set(xlabel="tasks of revision C seen", xticks=FOLLOW_UP_CHECKPOINTS)
    right.set_title("Revision C, learning (exploratory): first")
    right.legend(frameon=False, fontsize=8)
    return figure


def _lines(
    axes: Any, worlds: Sequence[Results], controllers: Sequence[str], places: Sequence[int],
    key: Callable[[str, int], Key], field: Field,
) -> None:  # fmt: skip
    """One line per controller, with the standard deviation over worlds; crosses are the published means."""
    # side by side, so that controllers that tie can be told apart
    step = 0.012 * (places[-1] - places[0])
    for number, name in enumerate(controllers):
        shifted = [place + step * (number - (len(controllers) - 1) / 2) for place in places]
        quantities = [Quantity(key(name, place), field) for place in places]
        means, deviations = zip(*(spread(worlds, quantity) for quantity in quantities), strict=True)
        axes.errorbar(shifted, means, yerr=deviations, label=name, color=_COLOURS[name], capsize=2, linewidth=1.2)
        found = zip(shifted, map(published, quantities), strict=True)
        given = [(place, value) for place, value in found if value is not None]
        if given:
            axes.plot(*zip(*given, strict=True), "x", color=_COLOURS[name])
