"""The figures as SVG; the same figures make the same file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.spread import ratios, spread

mpl.use("svg")
mpl.rcParams.update({"svg.hashsalt": "sagagraph", "svg.fonttype": "none", "axes.spines.top": False, "axes.spines.right": False})

_COLOURS = {"sagagraph": "#1b6ca8", "langgraph": "#c8791b", "dbos": "#6b8e4e"}
_STORE_NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
_CASES = (
    ("shared", "SagaGraph, shared", "sagagraph"),
    ("alone", "SagaGraph, alone", "sagagraph"),
    ("langgraph", "LangGraph", "langgraph"),
    ("dbos", "DBOS, threads", "dbos"),
    ("dbos-async", "DBOS, async", "dbos"),
    ("parallel", "SagaGraph, at once", "sagagraph"),
    ("langgraph-parallel", "LangGraph, at once", "langgraph"),
    ("dbos-parallel", "DBOS, at once", "dbos"),
)


def draw(found: dict[str, Any], folder: Path) -> None:
    if cost := found.get("cost"):
        save(_cost(cost["stores"]), folder / "cost.svg")
    if growth := found.get("growth"):
        save(_growth(growth), folder / "growth.svg")
    if throughput := found.get("throughput"):
        save(_throughput(throughput), folder / "throughput.svg")


def save(figure: Figure, path: Path) -> None:
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _cost(stores: dict[str, Any]) -> Figure:
    figure, every = plt.subplots(1, len(stores), figsize=(5 * len(stores), 3.6), sharey=True, squeeze=False)
    for axes, (store, seen) in zip(every[0], stores.items(), strict=True):
        for place, (name, _label, who) in enumerate(_CASES):
            times = spread(ratios(seen[name]["whole_s"], seen[name]["floor_s"])) if name in seen else None
            if times:
                reach = [[times.median - times.low], [times.high - times.median]]
                axes.barh(place, times.median, xerr=reach, color=_COLOURS[who], ecolor="#444444", capsize=2)
        axes.axvline(1, color="#444444", linewidth=0.8, linestyle=":")
        axes.set_yticks(range(len(_CASES)), [label for _name, label, _who in _CASES])
        axes.set_xlabel("× one commit of the floor (dotted)")
        axes.set_title(_STORE_NAMES[store])
    every[0][0].invert_yaxis()
    return figure


def _growth(growth: dict[str, Any]) -> Figure:
    figure, (times, sizes) = plt.subplots(1, 2, figsize=(10, 3.6))
    styles = {
        "sagagraph": ("SagaGraph", "-"),
        "langgraph": ("LangGraph, list", "-"),
        "langgraph-delta": ("LangGraph, DeltaChannel", "--"),
    }
    for kind, (label, style) in styles.items():
        done = [each for each in growth[kind] if each["done"]]
        for axes, what, scale in ((times, "seconds", 1000), (sizes, "file_bytes", 1)):
            figures = [each[what] / each["done"] * scale for each in done]
            axes.plot(
                [each["done"] for each in done], figures, style, marker="o", label=label, color=_COLOURS[kind.split("-")[0]]
            )
    for axes, title in ((times, "ms an operation"), (sizes, "bytes an operation")):
        log_log(axes)
        axes.set_title(title)
        axes.set_xlabel("operations of one saga")
    sizes.legend(frameon=False)
    return figure


def log_log(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.grid(visible=True, which="major", linewidth=0.3)


def _throughput(throughput: dict[str, Any]) -> Figure:
    groups = [(store, workers, seen) for store, by_workers in throughput.items() for workers, seen in by_workers.items()]
    figure, axes = plt.subplots(figsize=(7, 3.6))
    for shift, (who, label) in enumerate((("sagagraph", "SagaGraph"), ("dbos", "DBOS"))):
        for place, (_store, _workers, seen) in enumerate(groups):
            rate = spread(seen[who]["operations_per_s"])
            if rate:
                reach = [[rate.median - rate.low], [rate.high - rate.median]]
                axes.bar(
                    place + shift * 0.4 - 0.2, rate.median, 0.38, yerr=reach, color=_COLOURS[who], ecolor="#444444", capsize=2
                )
        axes.bar(0, 0, color=_COLOURS[who], label=label)
    names = [
        f"{_STORE_NAMES[store]}\n{workers} {'process' if workers == '1' else 'processes'}" for store, workers, _seen in groups
    ]
    axes.set_xticks(range(len(groups)), names)
    axes.set_ylabel("operations a second")
    axes.legend(frameon=False)
    return figure
