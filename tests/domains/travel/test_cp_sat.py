"""The same choice as a model for CP-SAT: another method, by other people, comes to the same optimum."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, event, given, settings
from ortools.sat.python import cp_model

from sagagraph.domains.travel.offers import FlightOffer, HotelOffer
from sagagraph.domains.travel.planning.search import best_path

from .markets import free_order_problems, market_of, problems

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from sagagraph.domains.travel.offers import Offer
    from sagagraph.domains.travel.request import Stop, TripRequest

MEASURES: dict[str, Callable[[Offer], int]] = {
    "price": lambda _: 0,
    "minutes": lambda offer: 0 if isinstance(offer, HotelOffer) else offer.duration_minutes,
    "stars": lambda offer: -offer.stars if isinstance(offer, HotelOffer) else offer.stops,
}
MANY = 1_000_000
"""More than any trip costs, in cents: weight counts before price."""


def least_by_cp_sat(request: TripRequest, offers: list[Offer], measure: Callable[[Offer], int]) -> tuple[int, int] | None:
    """Weight and cents of the best trip; one model for each order of the stops that is allowed."""
    orders = permutations(request.stops) if request.order == "any" else [request.stops]
    found = [best for stops in orders if (best := _least_along(request, stops, offers, measure)) is not None]
    return min(found, default=None)


def _least_along(
    request: TripRequest, stops: tuple[Stop, ...], offers: list[Offer], measure: Callable[[Offer], int]
) -> tuple[int, int] | None:
    """Exactly one offer for each leg; neighbours meet on a day, and journeys leave time to change."""
    model = cp_model.CpModel()
    legs = [[offer for offer in offers if is_wanted(offer) and _is_usable(offer, request)] for is_wanted in _legs(request, stops)]
    if not all(legs):
        return None
    taken = [[model.new_bool_var(f"{n} {offer.offer_id}") for offer in leg] for n, leg in enumerate(legs)]
    for leg in taken:
        model.add_exactly_one(leg)
    for n in range(len(legs) - 1):
        _never_both(model, legs, taken, n, n + 1, lambda earlier, later: _ends(earlier) == _begins(later))
    for n in range(0, len(legs) - 2, 2):
        _never_both(model, legs, taken, n, n + 2, lambda a, b: _leaves_time(a, b) and _keeps_condition(request, a, b))
    chosen = [(offer, var) for leg, row in zip(legs, taken, strict=True) for offer, var in zip(leg, row, strict=True)]
    cents = sum(int(offer.price * 100) * var for offer, var in chosen)
    if request.budget is not None:
        model.add(cents <= int(request.budget * 100))
    model.minimize(sum(MANY * measure(offer) * var for offer, var in chosen) + cents)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    if solver.solve(model) != cp_model.OPTIMAL:
        return None
    best = [offer for offer, var in chosen if solver.boolean_value(var)]
    return sum(map(measure, best)), sum(int(offer.price * 100) for offer in best)


def _legs(request: TripRequest, stops: tuple[Stop, ...]) -> list[Callable[[Offer], bool]]:
    cities = [request.origin, *(stop.city for stop in stops), *([request.return_to] if request.return_to else [])]
    legs: list[Callable[[Offer], bool]] = []
    for n in range(len(cities) - 1):
        legs.append(lambda offer, n=n: not isinstance(offer, HotelOffer) and _ends_at(offer) == (cities[n], cities[n + 1]))
        if n < len(stops):
            legs.append(lambda offer, n=n: isinstance(offer, HotelOffer) and _is_for(offer, stops[n]))
    return legs


def _ends_at(offer: Offer) -> tuple[str, str]:
    return offer.origin_city, offer.destination_city


def _is_for(hotel: HotelOffer, stop: Stop) -> bool:
    return (hotel.city, hotel.nights) == (stop.city, stop.nights)


def _is_usable(offer: Offer, request: TripRequest) -> bool:
    window = request.window
    first, last = sorted((_begins(offer), _ends(offer)))
    is_within = window is None or window.first <= first <= last <= window.last
    if isinstance(offer, HotelOffer):
        return is_within and offer.left >= request.rooms and request.stars[0] <= offer.stars <= request.stars[1]
    moments = (("depart", offer.departs), ("arrive", offer.arrives))
    for verb, moment in moments:
        hours = request.hours.depart if verb == "depart" else request.hours.arrive
        minute = moment.hour * 60 + moment.minute
        if hours.earliest and minute < hours.earliest.hour * 60 + hours.earliest.minute:
            return False
        if hours.latest and (moment.hour < 4 or minute > hours.latest.hour * 60 + hours.latest.minute):
            return False
        if f"{moment:%A}".lower() in request.not_on:
            return False
    is_direct_enough = request.direct != "required" or not isinstance(offer, FlightOffer) or offer.stops == 0
    return is_within and offer.left >= request.travellers and is_direct_enough


def _never_both(
    model: cp_model.CpModel, legs: list[list[Offer]], taken: list[list[cp_model.IntVar]], n: int, m: int,
    fits: Callable[[Offer, Offer], bool],
) -> None:  # fmt: skip
    for earlier, a in zip(legs[n], taken[n], strict=True):
        for later, b in zip(legs[m], taken[m], strict=True):
            if not fits(earlier, later):
                model.add_bool_or(a.negated(), b.negated())


def _begins(offer: Offer) -> date:
    return offer.check_in if isinstance(offer, HotelOffer) else offer.departs.date()


def _ends(offer: Offer) -> date:
    return offer.check_out if isinstance(offer, HotelOffer) else offer.arrives.date()


def _leaves_time(earlier: Offer, later: Offer) -> bool:
    needed = 90 if earlier.kind == "flight" else 60 if later.kind == "flight" else 0
    return (later.departs - earlier.arrives).total_seconds() >= needed * 60


def _keeps_condition(request: TripRequest, earlier: Offer, later: Offer) -> bool:
    wish = request.train_if
    if wish is None or (earlier.kind, later.kind) != ("flight", "train") or wish.to not in (None, later.destination_city):
        return True
    landed = f"{earlier.arrives:%H:%M}"
    return "04:00" <= landed < f"{wish.landed_before:%H:%M}"


def _least(request: TripRequest, offers: list[Offer], measure: Callable[[Offer], int]) -> tuple[int, int] | None:
    path = best_path(request, market_of(request, offers), lambda offer: (measure(offer),))
    return None if path is None else (path.weight[0], path.cents)


EXAMPLES = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("name", MEASURES)
@EXAMPLES
@given(problem=free_order_problems())
def test_in_any_order_both_come_to_the_same(name: str, problem: tuple[TripRequest, list[Offer]]) -> None:
    request, offers = problem
    best = least_by_cp_sat(request, offers, MEASURES[name])
    event("infeasible" if best is None else "feasible")
    assert _least(request, offers, MEASURES[name]) == best


@pytest.mark.parametrize("name", MEASURES)
@EXAMPLES
@given(problem=problems())
def test_in_the_given_order_both_come_to_the_same(name: str, problem: tuple[TripRequest, list[Offer]]) -> None:
    request, offers = problem
    request = request.model_copy(update={"currency": "USD"})
    best = least_by_cp_sat(request, offers, MEASURES[name])
    event("infeasible" if best is None else "feasible")
    assert _least(request, offers, MEASURES[name]) == best
