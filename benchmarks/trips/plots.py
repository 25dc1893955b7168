"""The figures as SVG; the same figures make the same file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from benchmarks.plots import log_log, save
from benchmarks.trips.comparison import Check
from benchmarks.trips.figures import STAGES, Trip, grouped, milliseconds

_COLOURS = {"plan": "#1b6ca8", "judge": "#6b8e4e", "book": "#c8791b"}
_CHECKS = {
    Check.EACH: ("each trip looked at", "#1b6ca8", "o"),
    Check.SHORTEST: ("shortest path", "#6b8e4e", "o"),
    Check.NONE: ("infeasible", "#c8791b", "x"),
    Check.NONE_BY_RULE: ("infeasible by the rule of trains", "#a83232", "x"),
    Check.NOT: ("not checked", "#888888", "s"),
}


def draw(found: dict[str, Any], folder: Path) -> None:
    save(_time(found["trips"]), folder / "trips-time.svg")
    save(_search(found["trips"]), folder / "trips-search.svg")


def _time(trips: list[Trip]) -> Figure:
    groups = grouped(trips, lambda trip: trip["stops"])
    figure, every = plt.subplots(1, len(STAGES), figsize=(10, 3.6), sharey=True)
    for axes, (stage, words) in zip(every, STAGES, strict=True):
        boxes = {stops: times for stops, group in groups.items() if (times := milliseconds(group, stage))}
        drawn = axes.boxplot(list(boxes.values()), positions=list(boxes), patch_artist=True, flierprops={"markersize": 3})
        for box in drawn["boxes"]:
            box.set_facecolor(_COLOURS[stage])
        for median in drawn["medians"]:
            median.set_color("#ffffff")
        axes.set_yscale("log")
        axes.set_title(words)
        axes.set_xlabel("stops")
    every[0].set_ylabel("ms")
    return figure


def _search(trips: list[Trip]) -> Figure:
    figure, axes = plt.subplots(figsize=(7, 3.6))
    for check, (label, colour, marker) in _CHECKS.items():
        seen = [trip for trip in trips if trip["check"] == check and trip["possible"] and trip["plan_s"]]
        if seen:
            times = [trip["plan_s"] * 1000 for trip in seen]
            axes.scatter([float(trip["possible"]) for trip in seen], times, s=14, color=colour, marker=marker, label=label)
    log_log(axes)
    axes.set_xlabel("complete trips that keep every wish but the budget")
    axes.set_ylabel("ms to plan")
    axes.legend(frameon=False)
    return figure
