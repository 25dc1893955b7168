"""Tours: how many journeys a plan can have at most, by duration, so that bounding the steps loses nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sagagraph.domains.reunion.planning.model.reach import reach_of, ready
from sagagraph.domains.reunion.request import Objective

if TYPE_CHECKING:
    from collections.abc import Callable

    from sagagraph.domains.reunion.planning.model.reach import Reach
    from sagagraph.domains.reunion.planning.model.situation import Car, Leg, Situation

METRES: Final = 1000
"""Distances are counted in metres inside."""


def most_journeys(situation: Situation, limit: int, cost: int | None = None) -> int:
    """Of all vehicles in a plan that costs at most `cost` in the first objective; `limit` if there may be more than that.

    A tour is a walk over roads. Each vehicle's longest one is bounded by its time; what all tours cost together, by `cost`.
    """
    objective = situation.objectives[0] if situation.objectives else None
    ends = situation.ends
    if cost is not None and objective is Objective.MAKESPAN:
        ends = min(ends, situation.first_moment + cost)
    weigh = _weight(objective) if cost is not None else None
    reach = reach_of(situation)
    cheapest = [0]
    for car in situation.cars:
        tour = _cheapest_tours(situation, car, _time_for(situation, reach, car, ends), limit, weigh)
        cheapest = _joined(cheapest, tour, limit, cost if weigh else None)
    return len(cheapest) - 1


def _weight(objective: Objective | None) -> Callable[[Leg], int] | None:
    """What a journey adds to an objective that is a sum over journeys."""
    match objective:
        case Objective.DRIVING_MINUTES:
            return lambda leg: leg.minutes
        case Objective.DISTANCE:
            return lambda leg: round(leg.km * METRES)
        case _:
            return None


def _time_for(situation: Situation, reach: Reach, car: Car, ends: int) -> int:
    """From when it can set out until it is of no more use, or nobody who drives it sets out any more; negative: none."""
    begins = ready(situation, reach, car, car.place)
    if car.drivers is None:
        return ends - begins
    able = [each for each in situation.travellers if each.name in car.drivers]
    last = max((ends if each.stays_from is None else each.stays_from for each in able), default=ends)
    return min(ends, last) - begins


def _cheapest_tours(situation: Situation, car: Car, time: int, limit: int, weigh: Callable[[Leg], int] | None) -> list[int]:
    """[n]: what n journeys one after the other cost at the least; as many as `time` allows, at most `limit`."""
    minutes, costs = {car.place: 0}, {car.place: 0}
    cheapest = [0]
    while len(cheapest) <= limit:
        minutes = _longer(situation, minutes, lambda leg: leg.minutes)
        costs = _longer(situation, costs, weigh or (lambda _: 0))
        if not minutes or min(minutes.values()) > time:
            break
        cheapest.append(min(costs.values()))
    return cheapest


def _longer(situation: Situation, so_far: dict[str, int], weigh: Callable[[Leg], int]) -> dict[str, int]:
    """The least for tours of one journey more, by where they end."""
    longer: dict[str, int] = {}
    for leg in situation.legs:
        if leg.here in so_far:
            longer[leg.there] = min(longer.get(leg.there, 10**9), so_far[leg.here] + weigh(leg))
    return longer


def _joined(left: list[int], right: list[int], limit: int, cost: int | None) -> list[int]:
    joined: list[int] = []
    for n in range(min(len(left) + len(right) - 1, limit + 1)):
        least = min(left[i] + right[n - i] for i in range(len(left)) if 0 <= n - i < len(right))
        if cost is not None and least > cost:
            break
        joined.append(least)
    return joined
