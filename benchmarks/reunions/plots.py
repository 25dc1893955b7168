"""Time and gap by people, as SVG; the same figures make the same file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib import pyplot as plt

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

mpl.use("svg")
mpl.rcParams.update({"svg.hashsalt": "sagagraph", "svg.fonttype": "none", "axes.spines.top": False, "axes.spines.right": False})


def draw(cases: Sequence[dict[str, Any]], path: Path) -> None:
    figure, (times, gaps) = plt.subplots(1, 2, figsize=(10, 3.4))
    planned = [case for case in cases if "value" in case]
    people = [case["people"] for case in planned]
    times.scatter(people, [case["first"] for case in planned], color="#1b6ca8", label="first plan")
    times.scatter(people, [case["seconds"] for case in planned], color="#c8791b", label="all")
    times.set_yscale("log")
    times.set_ylabel("seconds")
    times.legend(frameon=False)
    gaps.scatter(people, [100 * (case["value"] - case["bound"]) / case["value"] for case in planned], color="#1b6ca8")
    gaps.set_ylabel("gap to the bound, %")
    for axes in (times, gaps):
        axes.set_xlabel("people")
        axes.grid(visible=True, which="major", linewidth=0.3)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
