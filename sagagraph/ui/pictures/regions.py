"""Regions as pictures: a number line with a bar for each rule, or a plane in which light cells pass everything."""

from __future__ import annotations

import math
from typing import Any, Final

from markupsafe import Markup

from sagagraph.ui.html.templates import render, rounded

_WIDTH: Final = 560
_HEIGHT: Final = 320
_ROW: Final = 34


def picture(region: dict[str, Any]) -> Markup:
    """Draw a region. `region`: as `sagagraph.harness.proof.region` describes it."""
    axes = region["variables"]
    if len(axes) == 1:
        low, high = axes[0]["low"], axes[0]["high"]
        bars = [
            {
                "rule": rule,
                "y": _ROW * number,
                "stretches": [(_along(a, low, high), _along(b, low, high), *_inwards(a, b)) for a, b in allowed],
            }
            for number, (rule, allowed) in enumerate(region["allowed"].items())
        ]
        return render("number_line", axis=axes[0], bars=bars, width=_WIDTH, height=_ROW * len(bars) + 24)
    fails = region["fails"]
    wide, tall, most = _WIDTH / len(fails[0]), _HEIGHT / len(fails), max(map(max, fails))
    cells = [
        {"x": wide * x, "y": _HEIGHT - tall * (y + 1), "count": count, "shade": count / max(most, 1)}
        for y, row in enumerate(fails)
        for x, count in enumerate(row)
    ]
    return render("plane", axes=axes, cells=cells, wide=wide + 0.5, tall=tall + 0.5, width=_WIDTH, height=_HEIGHT)


def _along(value: float, low: float, high: float) -> float:
    return round(_WIDTH * (value - low) / (high - low), 1)


def _inwards(low: float, high: float) -> tuple[str, str]:
    """Return the ends of a stretch, rounded so that what is between them is of it; as they are, if nothing would be left."""
    ends = rounded(low, -math.inf), rounded(high, math.inf)
    return ends if float(ends[0]) <= float(ends[1]) else (str(low), str(high))
