"""The planner's answer, beside all the trips that there are."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from benchmarks.trips.exhaustive import PRICE, Rank, Trips


class Check(StrEnum):
    EACH = "each trip"
    """The best of all, each of them looked at."""
    SHORTEST = "shortest path"
    """There are too many to look at each, but the best of any price is within the budget."""
    NONE = "none exists"
    """Not even with every flight and train on offer."""
    NONE_BY_RULE = "none exists by the rule"
    """Only with a flight where a train can be taken, or with a longer train."""
    NOT = "not checked"


@dataclass(frozen=True, slots=True)
class Comparison:
    """`possible`: complete trips that keep every wish but the budget. `fault`: how the planner's answer differs."""

    possible: int
    check: Check
    fault: str = ""


def compare(chosen: tuple[str, ...] | None, trips: Trips, more: Trips, most: int | None, most_trips: int) -> Comparison:
    """`chosen`: the offers of the preferred trip, by id; None where the planner said that there is none.

    `trips`: by the rule of trains. `more`: whatever is on offer. `most`: the budget, in cents of prices.
    """
    if chosen is None:
        return _of_nothing(trips, more, most)
    if trips.count <= most_trips:
        [best] = trips.best_within([most])
        check = Check.EACH
    elif _is_within(most, trips.best_of_any_price):
        best, check = trips.best_of_any_price, Check.SHORTEST
    else:
        return Comparison(trips.count, Check.NOT)
    wanted = best[-1] if best else None
    fault = "" if chosen == wanted else f"prefers {' '.join(chosen)}, and the best is {' '.join(wanted or ('none',))}"
    return Comparison(trips.count, check, fault)


def _of_nothing(trips: Trips, more: Trips, most: int | None) -> Comparison:
    if not _is_within(most, more.cheapest):
        return Comparison(trips.count, Check.NONE)
    if not _is_within(most, trips.cheapest):
        return Comparison(trips.count, Check.NONE_BY_RULE)
    found = trips.cheapest[-1] if trips.cheapest else ()
    return Comparison(trips.count, Check.NONE, f"finds no trip, and there is {' '.join(found)}")


def _is_within(most: int | None, rank: Rank | None) -> bool:
    return rank is not None and (most is None or rank[PRICE] <= most)
