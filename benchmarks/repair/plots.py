"""Repair beside starting again, as SVG; the same figures make the same file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib import pyplot as plt

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

mpl.use("svg")
mpl.rcParams.update({"svg.hashsalt": "sagagraph", "svg.fonttype": "none", "axes.spines.top": False, "axes.spines.right": False})

_ARMS = (("repair", "repaired", "#1b6ca8"), ("again", "started again", "#c8791b"))
_SHOWN = (("cancelled", "reservations cancelled"), ("fees", "fees lost, $"), ("seconds", "seconds"))


def draw(compared: Sequence[dict[str, Any]], path: Path) -> None:
    """How many of the trips stayed within how much."""
    figure, every = plt.subplots(1, len(_SHOWN), figsize=(10, 3.4), sharey=True)
    shares = [100 * (place + 1) / len(compared) for place in range(len(compared))]
    for axes, (name, label) in zip(every, _SHOWN, strict=True):
        for arm, legend, colour in _ARMS:
            figures = sorted(case[arm][name] for case in compared)
            axes.step([0, *figures], [0, *shares], where="post", color=colour, label=legend)
        axes.set_xlabel(label)
        axes.grid(visible=True, which="major", linewidth=0.3)
    every[0].set_ylabel("% of the trips")
    every[0].legend(frameon=False, loc="lower right")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
