"""Gantt charts of schedules, as SVG: a row for each machine, and a colour for each job."""

from __future__ import annotations

from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from sagagraph.domains.job_shop.request import Schedule, makespan

_WIDTH, _LEFT, _ROW, _BAR = 1000, 90, 26, 18
_LEAST_FOR_TEXT: Final = 26
"""Pixels: a narrower bar has only its tooltip."""
_GOLDEN_ANGLE: Final = 137.508
"""Degrees between the hues of jobs: however many there are, neighbours differ."""
_MOST_TICKS: Final = 10


def gantt(schedule: Schedule) -> str:
    """Return the chart. A step is named `job.step`; its tooltip has its times."""
    slots, ends = list(schedule.values()), max(1, makespan(schedule))
    rows = {machine: place for place, machine in enumerate(sorted({slot.machine for slot in slots}))}
    height, scale = _ROW * (len(rows) + 1), (_WIDTH - _LEFT) / ends
    size = {"width": str(_WIDTH), "height": str(height), "viewBox": f"0 0 {_WIDTH} {height}"}
    style = {"font-family": "sans-serif", "font-size": "11"}
    chart = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", **size, **style})
    SubElement(chart, "title").text = f"Steps: {len(slots)}; machines: {len(rows)}; done at {makespan(schedule)}"
    for machine, place in rows.items():
        SubElement(chart, "text", x="0", y=str(_ROW * place + 15)).text = f"Machine {machine}"
    for slot in slots:
        x, width = _LEFT + slot.start * scale, (slot.end - slot.start) * scale
        bar = SubElement(chart, "g", transform=f"translate({x:.2f} {_ROW * rows[slot.machine] + 2})")
        SubElement(bar, "title").text = f"Job {slot.job}, step {slot.step}: {slot.start} to {slot.end}"
        SubElement(bar, "rect", width=f"{max(width, 1):.2f}", height=str(_BAR), fill=_colour(slot.job), stroke="white")
        if width >= _LEAST_FOR_TEXT:
            SubElement(bar, "text", x="3", y="13").text = f"{slot.job}.{slot.step}"
    for tick in _ticks(ends):
        at = {"x": f"{_LEFT + tick * scale:.2f}", "y": str(height - 8), "text-anchor": "end" if tick == ends else "middle"}
        SubElement(chart, "text", at).text = str(tick)
    indent(chart)
    return tostring(chart, encoding="unicode")


def _colour(job: int) -> str:
    return f"hsl({job * _GOLDEN_ANGLE % 360:.0f} 60% 75%)"


def _ticks(ends: int) -> list[int]:
    step = next(
        digit * 10**power for power in range(len(str(ends)) + 1) for digit in (1, 2, 5) if ends <= digit * 10**power * _MOST_TICKS
    )
    return [*range(0, ends - step // 2, step), ends]
