"""What the best repair of a trip would keep, found by going through every trip there is: no planner's code is used.

It reads the offers over the port by itself, and knows the rules from the words of the request. Two things are left out, and each
says why nothing is lost by it: see `_worth_trying` and `_Search._is_hopeless`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from sagagraph.domains.travel.offers import FlightOffer, HotelOffer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import date, datetime

    from sagagraph.domains.travel.money import Rates
    from sagagraph.domains.travel.offers import Offer, Transport
    from sagagraph.domains.travel.provider.provider import ReservationProvider
    from sagagraph.domains.travel.request import Hours, TripRequest

AFTER_A_FLIGHT = timedelta(minutes=90)
FROM_TRAIN_TO_FLIGHT = timedelta(minutes=60)


@dataclass(frozen=True)
class Held:
    """A reservation that stands, and what it would cost now to cancel it."""

    offer: Offer
    fee: Decimal


@dataclass(frozen=True)
class Wreck:
    """A trip that can not go on as planned, as the oracle needs to know it."""

    request: TripRequest
    held: Mapping[str, Held]
    """By offer id."""
    planned: frozenset[str]
    """Offer ids of the plan that failed."""
    refused: frozenset[tuple[str, Decimal]]
    paid: Decimal = Decimal(0)
    """Fees of earlier cancellations."""


@dataclass(frozen=True, order=True)
class Best:
    """The more is kept the better; then the fewer legs are others than planned."""

    kept: int
    unchanged: int


@dataclass(frozen=True)
class World:
    now: datetime
    journeys: Mapping[int, Sequence[Transport]]
    stays: Mapping[int, Sequence[HotelOffer]]
    rates: Rates | None


async def best_repair(wreck: Wreck, provider: ReservationProvider) -> Best | None:
    """None: no trip is left that keeps the request and the budget."""
    return best_in(wreck, await look_around(wreck, provider))


# -- what there is -----------------------------------------------------------------------------------------------------


async def look_around(wreck: Wreck, provider: ReservationProvider) -> World:
    """Everything on every day that can be reached by anything at all, what is held included."""
    request, now = wreck.request, await provider.now()
    journeys: dict[int, Sequence[Transport]] = {}
    stays: dict[int, Sequence[HotelOffer]] = {}
    days = set(request.departure_days(now.date()))
    for number, (here, there) in enumerate(_journeys(request)):
        held = [each.offer for each in wreck.held.values() if _leads(each.offer, here, there)]
        found: list[Offer] = []
        for day in sorted(days):
            found += await provider.trains(here, there, day, request.travellers)
            found += await provider.flights(here, there, day, request.travellers)
        usable = [each for each in _to_be_had(wreck, held, found) if not isinstance(each, HotelOffer)]
        journeys[number] = sorted(usable, key=lambda each: each.offer_id not in wreck.planned)  # a good trip early saves many
        if number == len(request.stops):
            break
        stop, beds = request.stops[number], list[HotelOffer]()
        for day in sorted({offer.arrives.date() for offer in journeys[number]}):
            beds += await provider.hotels(stop.city, day, day + timedelta(days=stop.nights), request.rooms)
        held = [each.offer for each in wreck.held.values() if isinstance(each.offer, HotelOffer) and each.offer.city == stop.city]
        stays[number] = [each for each in _to_be_had(wreck, held, beds) if isinstance(each, HotelOffer)]
        days = {offer.check_out for offer in stays[number]}
    rates = await provider.rates() if request.budget is not None and request.currency != "USD" else None
    return World(now, journeys, stays, rates)


def _journeys(request: TripRequest) -> list[tuple[str, str]]:
    cities = [request.origin, *(stop.city for stop in request.stops)]
    cities += [request.return_to] if request.return_to else []
    return list(pairwise(cities))


def _leads(offer: Offer, here: str, there: str) -> bool:
    return not isinstance(offer, HotelOffer) and (offer.origin_city, offer.destination_city) == (here, there)


def _to_be_had(wreck: Wreck, held: Iterable[Offer], found: Iterable[Offer]) -> Iterator[Offer]:
    yield from held
    for offer in found:
        wanted = wreck.request.rooms if isinstance(offer, HotelOffer) else wreck.request.travellers
        is_refused = (offer.offer_id, offer.price) in wreck.refused
        if offer.offer_id not in wreck.held and offer.left >= wanted and not is_refused:
            yield offer


# -- what is allowed ---------------------------------------------------------------------------------------------------


def is_wanted(request: TripRequest, offer: Offer) -> bool:
    if isinstance(offer, HotelOffer):
        return request.stars[0] <= offer.stars <= request.stars[1]
    if isinstance(offer, FlightOffer) and request.direct == "required" and (offer.stops or offer.via):
        return False
    weekdays = {f"{moment:%A}".lower() for moment in (offer.departs, offer.arrives)}
    hours = (offer.departs, request.hours.depart), (offer.arrives, request.hours.arrive)
    return not weekdays & set(request.not_on) and all(_is_at_a_good_hour(*each) for each in hours)


def _is_at_a_good_hour(moment: datetime, hours: Hours) -> bool:
    clock = f"{moment:%H:%M}"
    is_early = hours.earliest is not None and clock < f"{hours.earliest:%H:%M}"
    is_late = hours.latest is not None and (clock < "04:00" or clock > f"{hours.latest:%H:%M}")
    return not is_early and not is_late


def _can_follow(earlier: Transport, later: Transport) -> bool:
    needed = timedelta(0)
    if isinstance(earlier, FlightOffer):
        needed = AFTER_A_FLIGHT
    elif isinstance(later, FlightOffer):
        needed = FROM_TRAIN_TO_FLIGHT
    return later.departs - earlier.arrives >= needed


def limit_of(request: TripRequest, rates: Rates | None) -> Fraction | None:
    """The budget in dollars."""
    if request.budget is None:
        return None
    if rates is None:
        return Fraction(request.budget)
    per_base = {**rates.rates, rates.base: Decimal(1)}
    return Fraction(request.budget) * Fraction(per_base["USD"]) / Fraction(per_base[request.currency])


# -- every trip --------------------------------------------------------------------------------------------------------


def best_in(wreck: Wreck, world: World, *, all_hotels: bool = False) -> Best | None:
    """`all_hotels`: leave out nothing that `_worth_trying` would."""
    search = _Search(wreck, world, all_hotels=all_hotels)
    for day in wreck.request.departure_days(world.now.date()):
        search.travel(0, day, None, _Part())
    return search.best


@dataclass(frozen=True)
class _Part:
    """A trip up to some point."""

    cost: Decimal = Decimal(0)
    kept: frozenset[str] = frozenset()
    unchanged: int = 0
    legs: int = 0


@dataclass
class _Search:
    wreck: Wreck
    world: World
    all_hotels: bool
    best: Best | None = None
    _limit: Fraction | None = field(init=False)
    _legs: int = field(init=False)

    def __post_init__(self) -> None:
        request = self.wreck.request
        self._limit = limit_of(request, self.world.rates)
        self._legs = len(request.stops) + len(_journeys(request))

    def travel(self, journey: int, day: date, came_by: Transport | None, part: _Part) -> None:
        request, is_last = self.wreck.request, journey == len(self.wreck.request.stops)
        for offer in self.world.journeys[journey]:
            if offer.departs.date() != day or offer.departs <= self.world.now or not is_wanted(request, offer):
                continue
            if came_by is not None and not _can_follow(came_by, offer):
                continue
            longer = self._with(part, offer)
            if is_last:
                self._ended(offer.arrives.date(), longer)
            elif not self._is_hopeless(longer):
                self._stay(journey, offer, longer)

    def _stay(self, stop: int, came_by: Transport, part: _Part) -> None:
        request, check_in = self.wreck.request, came_by.arrives.date()
        check_out = check_in + timedelta(days=request.stops[stop].nights)
        fitting = [each for each in self.world.stays[stop] if (each.check_in, each.check_out) == (check_in, check_out)]
        wanted = [each for each in fitting if is_wanted(request, each)]
        for offer in wanted if self.all_hotels else self._worth_trying(wanted):
            longer = self._with(part, offer)
            if stop + 1 == len(_journeys(request)):
                self._ended(check_out, longer)
            elif not self._is_hopeless(longer):
                self.travel(stop + 1, check_out, came_by, longer)

    def _worth_trying(self, hotels: Sequence[HotelOffer]) -> list[HotelOffer]:
        """Of hotels that are neither held nor planned, the cheapest.

        They are for the same nights in the same city, so in any trip each can stand for any other: what is kept, what is
        changed and every other rule stay the same, and with the cheapest the cost is the least.
        """
        known = [each for each in hotels if each.offer_id in self.wreck.held or each.offer_id in self.wreck.planned]
        others = sorted((each for each in hotels if each not in known), key=lambda each: each.price)
        return known + others[:1]

    def _with(self, part: _Part, offer: Offer) -> _Part:
        kept = part.kept | {offer.offer_id} if offer.offer_id in self.wreck.held else part.kept
        unchanged = part.unchanged + (offer.offer_id in self.wreck.planned)
        return _Part(part.cost + offer.price, kept, unchanged, part.legs + 1)

    def _is_hopeless(self, part: _Part) -> bool:
        """No way on from here is better than the best so far: each leg to come keeps one more at most, and costs something."""
        to_come = self._legs - part.legs
        can_not_win = self.best is not None and Best(len(part.kept) + to_come, part.unchanged + to_come) <= self.best
        return can_not_win or (self._limit is not None and part.cost > self._limit)

    def _ended(self, day: date, part: _Part) -> None:
        window = self.wreck.request.window
        if window is not None and day > window.last:
            return
        fees = sum((each.fee for name, each in self.wreck.held.items() if name not in part.kept), self.wreck.paid)
        if self._limit is not None and part.cost + fees > self._limit:
            return
        found = Best(len(part.kept), part.unchanged)
        if self.best is None or found > self.best:
            self.best = found
