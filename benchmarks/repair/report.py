"""docs/benchmarks/repair.md: all of its numbers come from the cases of one run."""

from __future__ import annotations

import statistics
import textwrap
from typing import TYPE_CHECKING, Any

from benchmarks.repair.cases import TRIPS
from benchmarks.repair.plots import draw
from benchmarks.spread import spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

Case = dict[str, Any]
WHAT = {
    "legs": ("legs with another offer than first planned", ".0f"),
    "cancelled": ("reservations cancelled", ".0f"),
    "minutes": ("minutes by which times moved, all added up", ".0f"),
    "fees": ("cancellation fees, $", ".2f"),
    "calls": ("calls to the provider", ".0f"),
    "seconds": ("seconds", ".2f"),
}


def totals(cases: Sequence[Case]) -> Iterator[str]:
    """What the oracle, the validators and the ledger said, in a few lines."""
    repairs = _repairs(cases)
    yield f"{len(cases)} struck trips: {_ended(cases, 'committed')} committed, {_ended(cases, 'compensated')} compensated"
    some = sum(best is not None and best < held for best, _, held in repairs)
    none = sum(best is None for best, *_ in repairs)
    kept = len(repairs) - some - none
    yield f"{len(repairs)} repairs: {kept} kept all that stood, {some} as much as was possible, for {none} nothing was left"
    yield f"{sum(len(case['faults']) for case in cases)} faults"


def written(cases: Sequence[Case], folder: Path) -> None:
    compared = [case for case in cases if is_compared(case)]
    (folder / "repair.md").write_text("\n\n".join((*_sections(cases, compared),)) + "\n")
    if compared:
        draw(compared, folder / "repair.svg")


def is_compared(case: Case) -> bool:
    """Struck, and booked in the end both ways."""
    return case["again"] is not None and case["status"] == case["again"]["status"] == "committed"


def _sections(cases: Sequence[Case], compared: Sequence[Case]) -> Iterator[str]:
    yield "# What a repair keeps"
    yield _prose(
        "Written by `make bench-repair`, as a whole, from one run; do not edit it. The raw figures are in",
        "[repair.json](repair.json). Trips are booked at the sandbox reservation service over HTTP while",
        "every single booking, and",
        "every pair of bookings, goes wrong: sold out, a fifth dearer, or without an answer until the booking is given up. Pairs",
        "include a booking and what replaces it. What was refused as sold out is then really gone from the service's stock.",
    )
    if len(cases) < sum(len(trip.disruptions()) for trip in TRIPS):
        yield "**Only some were struck in this run: the table says of how many.**"
    yield "## Whether it is as good as it can be"
    yield _prose(
        "At each disruption an oracle that shares no code with the planner goes through every trip that the",
        "request allows, in the",
        "world of that moment, and says how many of the standing reservations the best of them keeps and,",
        "among those, how many legs",
        "stay as planned. At the end the validators judge the plan on the evidence in the journal, and the",
        "service's ledger shows",
        "what is booked, paid and cancelled: the last plan's legs, one payment of their sum, its fees,",
        "within the budget; or nothing.",
    )
    rows = [_judged(number, [case for case in cases if case["trip"] == number]) for number in range(len(TRIPS))]
    yield _table(("trip", "struck", "committed", "undone", "repairs", "keeping all", "some", "no trip left", "faults"), rows)
    yield "\n".join(totals(cases)).replace("\n", ". ") + "."
    yield "## Against cancelling everything and starting again"
    yield from _comparison(cases, compared)


def _judged(number: int, cases: Sequence[Case]) -> tuple[str, ...]:
    repairs = _repairs(cases)
    every = len(TRIPS[number].disruptions())
    none = sum(best is None for best, *_ in repairs)
    some = sum(best is not None and best < held for best, _, held in repairs)
    struck = str(every) if len(cases) == every else f"{len(cases)} of {every}"
    ended = str(_ended(cases, "committed")), str(_ended(cases, "compensated"))
    counts = str(len(repairs)), str(len(repairs) - some - none), str(some), str(none)
    return TRIPS[number].name, struck, *ended, *counts, str(sum(len(case["faults"]) for case in cases))


def _comparison(cases: Sequence[Case], compared: Sequence[Case]) -> Iterator[str]:
    struck = [case for case in cases if case["again"] is not None]
    yield _prose(
        "The same blow on the same world, twice: once repaired; once the saga is cancelled as soon as it is",
        "struck, and a new one is",
        f"begun with the same request, until one is booked. Of {len(struck)} trips that were disrupted,",
        f"{len(compared)} were booked",
        "both ways; the figures are of these, medians and (lowest – highest), from the first disruption to",
        "the end. The new saga is",
        "not charged with the fees of the one before it, and it may ask again for a booking that had no",
        "answer (here it then gets",
        "one); a repair counts fees against the budget, and does not ask for the same again.",
    )
    if not compared:
        return
    for number in sorted({case["trip"] for case in compared}):
        yield _table((TRIPS[number].name, "repaired", "started again"), _rows([c for c in compared if c["trip"] == number]))
    yield "![Repair against starting again](repair.svg)"
    yield " ".join(_says(compared))


def _rows(cases: Sequence[Case]) -> Iterator[tuple[str, ...]]:
    for name, (what, form) in WHAT.items():
        one, other = spread([case["repair"][name] for case in cases]), spread([case["again"][name] for case in cases])
        yield what, f"{one:{form}}", f"{other:{form}}"


def _says(compared: Sequence[Case]) -> Iterator[str]:
    """Sums, and where a repair is not the better one."""
    for name, what in (("cancelled", "reservations were cancelled"), ("fees", "dollars were lost in fees")):
        one, other = sum(case["repair"][name] for case in compared), sum(case["again"][name] for case in compared)
        yield f"In all of them together, {other:,.0f} {what} by starting again, and {one:,.0f} by repairing."
    times = [case["again"]["seconds"] / case["repair"]["seconds"] for case in compared]
    calls = [case["again"]["calls"] / case["repair"]["calls"] for case in compared]
    longer, more = statistics.median(times), statistics.median(calls)
    yield f"Starting again takes {longer:.1f} times as long and {more:.1f} times the calls (medians)."
    further = [case for case in compared if case["repair"]["legs"] > case["again"]["legs"]]
    if further:
        unanswered = sum("no answer" in case["disruption"] for case in further)
        yield (
            f"In {len(further)} trips the repaired one has more legs that are not as first planned; in {unanswered} of these"
            " something had no answer, which the new saga got when it asked a second time."
        )
    dearer = sum(case["repair"]["fees"] > case["again"]["fees"] for case in compared)
    yield f"A repair lost more in fees in {dearer} of {len(compared)}."


def _repairs(cases: Iterable[Case]) -> list[tuple[int | None, int | None, int]]:
    return [tuple(each) for case in cases for each in case["repairs"]]


def _ended(cases: Iterable[Case], status: str) -> int:
    return sum(case["status"] == status for case in cases)


def _prose(*lines: str) -> str:
    return textwrap.fill(" ".join(lines), 130)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
