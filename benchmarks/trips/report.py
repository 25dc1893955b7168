"""trips.md beside the figures: all of its numbers come from trips.json."""

from __future__ import annotations

from collections import Counter
from typing import Any

from benchmarks.markdown import prose, table
from benchmarks.trips.comparison import Check
from benchmarks.trips.figures import (
    CHECKED,
    STAGES,
    Trip,
    calls,
    grouped,
    milliseconds,
    others,
    share,
    totals,
    with_status,
    wrong,
)
from benchmarks.trips.places import CONTINENTS

_NONE = "–"
_CHECKS = (
    (Check.EACH, "every complete trip looked at, one by one: the planner's is the best"),
    (Check.SHORTEST, "too many to look at each; the best of any price is within the budget, and it is the planner's"),
    (Check.NONE, "*infeasible*, and indeed there is no trip, with whatever flights and trains"),
    (Check.NONE_BY_RULE, "*infeasible* only because a train of up to six hours is taken before any flight, and no longer one"),
    (Check.NOT, "not checked: too many to look at each, and the budget excludes the best of any price"),
)


def written(found: dict[str, Any]) -> str:
    sections = (_head, _outcome, _best, _time, _by_stops, _by_continent, _cost, _wrong, _machine)
    return "\n\n".join(text for section in sections if (text := section(found))) + "\n"


def _head(found: dict[str, Any]) -> str:
    told = prose(
        "Written by `make bench-trips`, as a whole, from one run; do not edit it. The raw figures are in",
        "[trips.json](trips.json).",
        f"{found['asked']} requests are drawn by seed {found['seed']}: one to six stops among the biggest cities of five",
        "continents (at most 300 of each), mostly near by, else on the continent, at times anywhere; round trips, one way and",
        "open jaw; an exact day or a window; one to four travellers; stars, hours, weekdays and direct flights wished for or",
        "not; budgets in eleven currencies, from plenty to far too little, guessed from distances and nights alone. Each is",
        "planned, judged by the validator, approved and booked as a saga on SQLite; the reservation service runs inside the",
        "process, on a market that nobody else uses.",
    )
    quick = "\n\n**This was the quick form: it shows that the benchmark runs, and its figures mean nothing.**"
    return f"# Generated trips\n\n{told}{quick if found['form'] == 'quick' else ''}"


def _outcome(found: dict[str, Any]) -> str:
    trips: list[Trip] = found["trips"]
    booked, infeasible = with_status(trips, "committed"), with_status(trips, "infeasible")
    legs = sum(trip["legs"] for trip in booked)
    told = prose(
        f"Of {len(trips)} requests {len(booked)} were booked and committed, {len(infeasible)} are infeasible,",
        f"and {len(others(trips))} ended otherwise. {legs:,} reservations stand in the provider's ledger for them.",
    )
    by_rule = sum(trip["check"] == Check.NONE_BY_RULE for trip in trips)
    verdict = "None of them found anything wrong"
    verdict += f", but {by_rule} of the infeasible ones are so by a rule of the planner alone (below)." if by_rule else "."
    return "\n\n".join(("## Outcome", told, _JUDGES, *(() if wrong(found) else (verdict,))))


_JUDGES = """Each was judged three times besides:

- **The plan**, by an audit that reads its JSON and knows the request, the clocks of the cities and the rates, and nothing of
  planner or validator: cities in their order, local times, durations, time to change, nights, rooms, seats, stars, hours,
  weekdays, window, prices, total, budget.
- **The ledger**, after every saga: its confirmed reservations are exactly the legs of the plan at their prices, with one
  captured payment of the total; an infeasible one must leave nothing. At the end nothing else may stand there, nothing
  cancelled, paid back or voided.
- **The choice**, by trips that are put together anew from all that is on offer, fetched without the planner (below)."""


def _best(found: dict[str, Any]) -> str:
    trips: list[Trip] = found["trips"]
    counts = Counter(trip["check"] for trip in trips)
    differ = Counter(trip["check"] for trip in trips if _differs(trip))
    rows = [
        (words, str(counts[check.value]), str(differ[check.value]) if check in CHECKED else _NONE) for check, words in _CHECKS
    ]
    most = max((trip["possible"] for trip in trips if trip["check"] == Check.EACH), default=0)
    each = sum(trip["possible"] for trip in trips if trip["check"] == Check.EACH)
    told = prose(
        "A trip is complete if it keeps every wish but the budget; nothing is left out for being worse than something else.",
        "The best has the fewest changes of plane where direct flights are preferred, then the least of price, $30 for each",
        "traveller's hour under way and $60 for each odd hour; ties go to the lower price, then by the ids of the",
        "offers. It is compared offer by offer. One by one,",
        f"{each:,} trips were looked at, up to {most:,} for one request (the limit is {found['most_trips']:,}).",
    )
    compared = table(("", "requests", "the planner differs"), rows)
    return "\n\n".join(filter(None, ("## Is it the best?", told, compared, _on_edges(trips), _on_rule(counts))))


def _differs(trip: Trip) -> bool:
    return any(fault.startswith(("prefers ", "finds no trip")) for fault in trip["faults"])


def _on_edges(trips: list[Trip]) -> str:
    asked = [trip for trip in trips if trip["edges"]]
    differ = sum(fault.startswith("with ") for trip in asked for fault in trip["faults"])
    return prose(
        f"Most budgets leave room for the best trip. So {len(asked)} requests, all of which each trip can be looked at, were",
        "planned again with budgets that bind: half-way from the cheapest trip to the preferred one, exactly what the cheapest",
        f"costs, and a cent less. Of these {sum(trip['edges'] for trip in asked)} answers {differ} differ from the best of all,",
        "or from there being none.",
    )


def _on_rule(counts: Counter[str]) -> str:
    told = prose(
        "That a train of up to six hours is taken before any flight, and a longer one never, is a rule of the planner, and the",
        "comparison keeps it. Where a request is infeasible by that rule alone, there is a trip that keeps every wish: a person",
        "would rather take it than stay at home, and not to offer it is a shortcoming of the planner.",
    )
    return told if counts[Check.NONE_BY_RULE] else ""


def _time(found: dict[str, Any]) -> str:
    trips: list[Trip] = found["trips"]
    rows = [(words, *_spread(milliseconds(trips, stage)), *_spread(calls(trips, stage))) for stage, words in STAGES]
    heads = ("", "ms, median", "nine in ten", "most", "calls, median", "nine in ten", "most")
    told = prose(
        "To plan: from the request to the proposals, with the calls to the provider for all days that can be reached. To",
        "judge: from the proposal to the verdict, each offer asked for anew. To book: from the approval to `committed`, with",
        "everything that is journalled.",
        "Service and client share one process, and so a core.",
    )
    plots = (
        "![Time by number of stops](trips-time.svg)",
        "![Time to plan by how many trips there are](trips-search.svg)",
    )
    return "\n\n".join(("## Time", told, table(heads, rows), *plots))


def _by_stops(found: dict[str, Any]) -> str:
    groups = grouped(found["trips"], lambda trip: trip["stops"])
    rows = [(str(stops), *_counts(trips), *(_median_ms(trips, stage) for stage, _ in STAGES)) for stops, trips in groups.items()]
    heads = ("stops", "requests", "committed", "infeasible", *(f"{words}, ms" for _, words in STAGES))
    return f"## By stops\n\n{table(heads, rows)}\n\nMedians."


def _by_continent(found: dict[str, Any]) -> str:
    trips: list[Trip] = found["trips"]
    rows = []
    for continent in CONTINENTS:
        begun = [trip for trip in trips if trip["continents"][0] == continent]
        through = sum(continent in trip["continents"] for trip in trips)
        rows.append((continent, *_counts(begun), str(through), _median_ms(begun, "plan")))
    crossing = sum(len(trip["continents"]) > 1 for trip in trips)
    heads = ("from", "requests", "committed", "infeasible", "trips that touch it", "to plan, ms")
    return f"## By continent\n\n{table(heads, rows)}\n\n{crossing} requests go over more than one continent."


def _counts(trips: list[Trip]) -> tuple[str, str, str]:
    return str(len(trips)), str(len(with_status(trips, "committed"))), str(len(with_status(trips, "infeasible")))


def _cost(found: dict[str, Any]) -> str:
    booked = with_status(found["trips"], "committed")
    rows = [
        (str(stops), str(len(trips)), *_spread(totals(trips)))
        for stops, trips in grouped(booked, lambda trip: trip["stops"]).items()
    ]
    rows.append(("all", str(len(booked)), *_spread(totals(booked))))
    heads = ("stops", "booked", "median", "nine in ten", "most")
    told = "What the booked trips cost, for the whole party, in US dollars; what was paid is what the plan said, to the cent."
    return f"## Cost\n\n{told}\n\n{table(heads, rows)}"


def _wrong(found: dict[str, Any]) -> str:
    lines = "\n".join(f"- {line}" for line in wrong(found))
    return f"## What is wrong\n\n{lines}" if lines else ""


def _machine(found: dict[str, Any]) -> str:
    machine = found["machine"]
    told = prose(
        f"{machine['cores']} cores, {machine['system']}, {machine['filesystem']}; load {machine['load_before']:.2f} before the",
        "run,",
        f"which took {found['took_s'] / 60:.1f} minutes, most of them to put trips together and look at them. Python",
        f"{machine['python']},",
        f"SQLite {machine['sqlite']}, langgraph {machine['libraries']['langgraph']}.",
    )
    return f"## The machine\n\n{told}"


def _median_ms(trips: list[Trip], stage: str) -> str:
    return _shown(share(milliseconds(trips, stage), 5))


def _spread(figures: list[float]) -> tuple[str, str, str]:
    return _shown(share(figures, 5)), _shown(share(figures, 9)), _shown(max(figures, default=None))


def _shown(figure: float | None) -> str:
    return _NONE if figure is None else f"{figure:,.0f}"
