"""The same request with budgets that bind: what the planner prefers then, and where it says that nothing is left."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from benchmarks.trips import rules
from benchmarks.trips.exhaustive import PRICE, Trips
from sagagraph.domains.travel.domain import Travel
from sagagraph.domains.travel.money import as_json_number
from sagagraph.planning.domain import Infeasible, object_of


def limits(trips: Trips) -> list[int]:
    """In cents: half-way from the cheapest trip to the preferred one, all that the cheapest costs, and a cent less."""
    cheapest, preferred = trips.cheapest, trips.best_of_any_price
    if cheapest is None or preferred is None:
        return []
    half_way = (cheapest[PRICE] + preferred[PRICE]) // 2
    return sorted({half_way, cheapest[PRICE], cheapest[PRICE] - 1}, reverse=True)


async def faults(body: Mapping[str, Any], trips: Trips, more: Trips, travel: Travel, most_trips: int) -> list[str]:
    """How the planner's answers differ from the best of all trips, each of them looked at. Nothing is booked.

    `trips`: by the rule of trains. `more`: whatever is on offer, which counts where the rule leaves none, if not too many.
    """
    found = []
    asked = limits(trips)
    for limit, best in zip(asked, trips.best_within(asked), strict=True):
        if best is None:
            if more.count > most_trips:
                continue
            [best] = more.best_within([limit])
        budget = Decimal(limit) / 100
        request = {**body, "currency": rules.PRICES_IN, "budget": as_json_number(budget)}
        proposed = await travel.propose(request)
        chosen = () if isinstance(proposed, Infeasible) else _offers(object_of(proposed[0].plan))
        wanted = best[-1] if best else ()
        if chosen != wanted:
            found.append(
                f"with {budget} prefers {' '.join(chosen) or 'nothing'}, and the best is {' '.join(wanted) or 'nothing'}"
            )
    return found


def _offers(plan: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(leg["offer"]["offer_id"] for leg in plan["legs"])
