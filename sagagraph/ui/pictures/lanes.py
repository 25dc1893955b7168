"""Lanes: one for each person, vehicle or booking, with a bar to scale and a short card for each thing in it.

If a plan replaces another one, both are in the same picture: what no longer holds is struck through, and what is new stands out.
Times are local to the place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from markupsafe import Markup

from sagagraph.planning.page import COUNT_BEGINS, Bar, PlanView
from sagagraph.ui.html.templates import render
from sagagraph.ui.pictures.palette import colours_of

_STEPS: Final = tuple(timedelta(minutes=each) for each in (1, 5, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 7200, 14400, 43200))
_MOST_TICKS: Final = 5
_LEAST: Final = timedelta(minutes=1)
_MOST_CARDS: Final = 12
"""The most cards in one lane; a lane with more has only its bars."""


@dataclass(frozen=True, slots=True)
class Block:
    """Bar in a lane. `left`, `width`: in hundredths of the picture. `state`: same, new, or was."""

    bar: Bar
    left: float
    width: float
    colour: int
    state: str
    when: str


def lanes(plan: PlanView, before: PlanView | None = None) -> Markup:
    """Draw the plan's bars; `before` is the plan that it replaces."""
    was = [] if before is None else [bar for bar in before.bars if bar not in set(plan.bars)]
    bars = [*plan.bars, *was]
    if not bars:
        return Markup("")
    begins, ends = min(bar.begins for bar in bars), max(bar.ends for bar in bars)
    length = max(ends - begins, _LEAST)
    new = set(plan.bars) - set(plan.bars if before is None else before.bars)
    colours = colours_of(plan, *([] if before is None else [before]))

    def block(bar: Bar, state: str) -> Block:
        left, width = 100 * ((bar.begins - begins) / length), 100 * ((bar.ends - bar.begins) / length)
        when = f"{_count(bar.begins)}–{_count(bar.ends)}" if plan.is_counted else _when(bar, begins.date(), ends.date())
        return Block(bar, round(left, 2), round(width, 2), colours[bar.kind], state, when)

    blocks = [block(bar, "new" if bar in new else "same") for bar in plan.bars] + [block(bar, "was") for bar in was]
    rows = [(row, sorted((each for each in blocks if each.bar.row == row), key=_order)) for row in _rows(bars)]
    return render(
        "lanes",
        rows=[(row, each, len(each) <= _MOST_CARDS) for row, each in rows],
        ticks=[
            (text, round(100 * ((at - begins) / length), 2))
            for at, text in (_counts if plan.is_counted else _ticks)(begins, ends)
        ],
        kinds=[(kind, colours[kind]) for kind in dict.fromkeys(bar.kind for bar in bars)],
        is_repair=bool(was or new),
    )


def _rows(bars: Sequence[Bar]) -> Iterator[str]:
    return iter(dict.fromkeys(bar.row for bar in bars))


def _order(block: Block) -> tuple[bool, datetime, datetime]:
    return block.state != "was", block.bar.begins, block.bar.ends


def _when(bar: Bar, first: date, last: date) -> str:
    if first == last:
        return f"{bar.begins:%H:%M}" if bar.begins == bar.ends else f"{bar.begins:%H:%M}–{bar.ends:%H:%M}"
    ends = "" if bar.ends.date() == bar.begins.date() else f"{_day(bar.ends)} "
    return f"{_day(bar.begins)} {bar.begins:%H:%M} – {ends}{bar.ends:%H:%M}"


def _ticks(begins: datetime, ends: datetime) -> Iterator[tuple[datetime, str]]:
    step = next((each for each in _STEPS if (ends - begins) / each <= _MOST_TICKS), _STEPS[-1])
    midnight = begins.replace(hour=0, minute=0, second=0, microsecond=0)
    at = midnight + step * -(-(begins - midnight) // step)
    while at <= ends:
        yield at, _day(at) if step >= timedelta(days=1) else f"{at:%H:%M}"
        at += step


def _counts(begins: datetime, ends: datetime) -> Iterator[tuple[datetime, str]]:
    first, last = _count(begins), _count(ends)
    steps = (digit * 10**power for power in range(len(str(last))) for digit in (1, 2, 5))
    step = next((each for each in steps if (last - first) / each <= _MOST_TICKS), 1)
    for each in range(-(-first // step) * step, last + 1, step):
        yield COUNT_BEGINS + timedelta(minutes=each), str(each)


def _count(moment: datetime) -> int:
    return (moment - COUNT_BEGINS) // timedelta(minutes=1)


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%b}"
