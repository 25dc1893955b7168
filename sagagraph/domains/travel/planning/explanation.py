"""Explanation: why a trip was proposed, what was dropped, and why no trip exists: in words that name numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from decimal import Decimal

from sagagraph.domains.travel.money import money_text
from sagagraph.domains.travel.offers import FlightOffer, HotelOffer, Offer, TrainOffer, Transport, TransportOffer
from sagagraph.domains.travel.plan import Alternative, Choice
from sagagraph.domains.travel.planning.market import (
    Market,
    can_be_boarded,
    is_sensible_train,
    journeys_of,
    keeps_hours,
    keeps_weekdays,
    pairs_of,
)
from sagagraph.domains.travel.planning.measures import converted, discomfort_of
from sagagraph.domains.travel.planning.search import Path, Usable
from sagagraph.domains.travel.planning.wishes import ALL_WISHES, stars_text
from sagagraph.domains.travel.request import Direct, Order, Stop, TripRequest
from sagagraph.domains.travel.wording import count_text, day_text, duration_text, headline, listed
from sagagraph.planning.domain import Relaxation

_ALTERNATIVES = 3
"""Of each leg, as many offers that were not taken are told."""


# -- why this one ----------------------------------------------------------------------------------------------------


def reasons(request: TripRequest, market: Market, path: Path, titles: list[str], others: tuple[Path, ...]) -> tuple[str, ...]:
    """Return the reasons. `others`: every proposed path, this one among them."""
    party = f" for {count_text(request.travellers, 'traveller')}" if request.travellers > 1 else ""
    said = [f"{', '.join(titles)}: {_money(path.cents)}{party}, {duration_text(_minutes_of(path))} under way"]
    said += _against(path, others)
    said += _on_budget(request, market, path)
    if request.direct is not Direct.ANY:
        said += _on_directness(request, market, path)
    return tuple(said)


def _against(path: Path, others: tuple[Path, ...]) -> Iterator[str]:
    """Return what it costs compared with the best in money, time and comfort."""
    more = path.cents - min(other.cents for other in others)
    if more:
        yield f"{_money(more)} more than the cheapest"
    longer = _minutes_of(path) - min(map(_minutes_of, others))
    if longer:
        yield f"{duration_text(longer)} longer under way than the fastest"
    comfortable = min(others, key=lambda other: discomfort_of(other.offers))
    worse = list(_less_comfort(discomfort_of(path.offers), discomfort_of(comfortable.offers)))
    if worse:
        yield f"{listed(worse)} than the most comfortable"


def _less_comfort(mine: tuple[int, ...], best: tuple[int, ...]) -> Iterator[str]:
    changes, odd_hours, missing_stars = (ours - theirs for ours, theirs in zip(mine[:3], best[:3], strict=True))
    if changes > 0:
        yield f"{changes} more {'change' if changes == 1 else 'changes'} on the way"
    if odd_hours > 0:
        yield f"{odd_hours} more {'departure or arrival' if odd_hours == 1 else 'departures or arrivals'} at night"
    if missing_stars > 0:
        yield f"{count_text(missing_stars, 'star')} fewer over all nights"


def _on_budget(request: TripRequest, market: Market, path: Path) -> Iterator[str]:
    if request.budget is None:
        return
    other = converted(request, path.cents, market.rates)
    if other is not None:
        yield f"{money_text(other.total, other.currency)} by the rate of {day_text(other.on)} ({other.source})"
    total = _amount(path.cents) if other is None else other.total
    below, budget = (money_text(amount, request.currency) for amount in (request.budget - total, request.budget))
    yield f"{below} below the budget of {budget}"


def _on_directness(request: TripRequest, market: Market, path: Path) -> Iterator[str]:
    flights = [offer for offer in path.offers if isinstance(offer, FlightOffer)]
    if flights and all(offer.is_direct for offer in flights):
        yield "all flights are direct"
    for offer in flights:
        if not offer.is_direct:
            why = (
                "a direct one costs more or does not fit" if _has_direct(request, market, offer) else "no direct one is on offer"
            )
            yield (
                f"{offer.origin_city} to {offer.destination_city} with {count_text(offer.stops, 'stop')}"
                f" in {', '.join(offer.via)}: {why}"
            )


def _has_direct(request: TripRequest, market: Market, flight: FlightOffer) -> bool:
    offers = _boardable(request, market, flight.origin_city, flight.destination_city)
    return any(isinstance(offer, FlightOffer) and offer.is_direct for offer in offers)


# -- why this offer --------------------------------------------------------------------------------------------------


def choices(request: TripRequest, market: Market, path: Path, paths: Collection[Path]) -> Iterator[Choice]:
    """Return, for each offer of `path`, how it compares with what else fits on its day. `paths`: the best by each measure."""
    usable = Usable(request, market, ALL_WISHES)
    for offer in path.offers:
        fit: tuple[Offer, ...]
        offered: tuple[Offer, ...]
        if isinstance(offer, HotelOffer):
            fit = usable.hotels(Stop(city=offer.city, nights=offer.nights), offer.check_in)
            offered = market.stays.get((offer.city, offer.nights, offer.check_in), ())
        else:
            where = offer.origin_city, offer.destination_city, offer.departs.date()
            fit, offered = usable.transports(*where), market.journeys.get(where, ())
        others = _cheapest_first(fit, {offer.offer_id})
        alternatives = [_alternative(each, terms(each), fits=True) for each in others]
        unfit = _cheapest_first(offered, {offer.offer_id, *(each.offer_id for each in fit)})
        alternatives += [_alternative(each, _why_not(request, each), fits=False) for each in unfit] if not others else []
        share = sum(offer.offer_id in each.ids for each in paths) / len(paths)
        yield Choice(why=_why(offer, others), alternatives=tuple(alternatives[:_ALTERNATIVES]), confidence=round(share, 2))


def _cheapest_first(offers: Iterable[Offer], known: set[str]) -> list[Offer]:
    return sorted((each for each in offers if each.offer_id not in known), key=lambda each: (each.price, each.offer_id))


def _alternative(offer: Offer, note: str, *, fits: bool) -> Alternative:
    return Alternative(offer_id=offer.offer_id, title=headline(offer), price=offer.price, note=note, fits=fits)


def terms(offer: Offer) -> str:
    """Return what a choice between offers of a day needs to know besides name and price."""
    if isinstance(offer, HotelOffer):
        return count_text(offer.stars, "star")
    return f"{count_text(offer.stops, 'stop')}, arrives {offer.arrives:%Y-%m-%d %H:%M}"


def _why_not(request: TripRequest, offer: Offer) -> str:
    if isinstance(offer, HotelOffer):
        return f"{terms(offer)}, or too few rooms left"
    if not keeps_hours(request, offer) or not keeps_weekdays(request, offer):
        return "at other hours or on other days than asked for"
    return f"{terms(offer)}: not direct, too slow, or with too few seats left"


def _why(offer: Offer, others: list[Offer]) -> str:
    """Return why an offer was taken. `others`: the cheapest first."""
    if not others:
        return f"the only {offer.kind} that fits on that day"
    among = f"{len(others) + 1} {offer.kind}s that fit on that day"
    cheapest = others[0]
    if offer.price <= cheapest.price:
        return f"the cheapest of {among}"
    dearer = f"{money_text(offer.price - cheapest.price)} more than the cheapest of {among}"
    return ", ".join([dearer, *_better(offer, cheapest)])


def _better(offer: Offer, cheapest: Offer) -> Iterator[str]:
    if isinstance(offer, HotelOffer) and isinstance(cheapest, HotelOffer):
        if offer.stars > cheapest.stars:
            yield f"{count_text(offer.stars, 'star')} instead of {cheapest.stars}"
    elif isinstance(offer, TransportOffer) and isinstance(cheapest, TransportOffer):
        if offer.stops < cheapest.stops:
            yield f"{count_text(offer.stops, 'stop')} instead of {cheapest.stops}"
        if offer.duration_minutes < cheapest.duration_minutes:
            yield f"{duration_text(cheapest.duration_minutes - offer.duration_minutes)} faster"


# -- what was dropped ------------------------------------------------------------------------------------------------


def considered(request: TripRequest, market: Market) -> tuple[str, ...]:
    return (
        *_on_departures(request, market),
        *_on_trains(request, market),
        *_on_dropped_flights(request, market),
        *_on_unwanted_times(request, market),
        *_on_dropped_hotels(request, market),
        *_on_what_is_full(request, market),
    )


def _on_departures(request: TripRequest, market: Market) -> Iterator[str]:
    days = Usable(request, market, ALL_WISHES).departure_days
    if len(days) > 1:
        share = "some" if len(request.departure_days(days[0])) > len(days) else "all"
        yield f"compared {len(days)} days of departure, {share} from {day_text(days[0])} to {day_text(days[-1])}"


def _on_trains(request: TripRequest, market: Market) -> Iterator[str]:
    for here, there in pairs_of(request):
        offers = _boardable(request, market, here, there)
        trains = [offer for offer in offers if isinstance(offer, TrainOffer)]
        sensible = [train.duration_minutes for train in trains if is_sensible_train(train)]
        if sensible and len(trains) < len(offers):
            yield f"{here} to {there}: flights compared with trains, the fastest of which takes {duration_text(min(sensible))}"
        elif sensible:
            yield f"{here} to {there}: no flights looked for, as the train takes {duration_text(min(sensible))}"
        elif trains and not market.has_slow_trains:
            fastest = min(train.duration_minutes for train in trains)
            yield f"{here} to {there}: trains dropped, as the fastest takes {duration_text(fastest)}"


def _on_dropped_flights(request: TripRequest, market: Market) -> Iterator[str]:
    if request.direct is not Direct.REQUIRED:
        return
    for here, there in pairs_of(request):
        flights = [offer for offer in _boardable(request, market, here, there) if isinstance(offer, FlightOffer)]
        dropped = sum(not flight.is_direct for flight in flights)
        if dropped:
            yield f"{here} to {there}: {dropped} of {len(flights)} flights dropped, as they are not direct"


def _on_unwanted_times(request: TripRequest, market: Market) -> Iterator[str]:
    offers = [offer for here, there in pairs_of(request) for offer in _boardable(request, market, here, there)]
    for keeps, what in ((keeps_hours, "at other hours than asked for"), (keeps_weekdays, f"on {_weekdays(request)}")):
        dropped = sum(not keeps(request, offer) for offer in offers)
        if dropped:
            yield f"{dropped} of {len(offers)} journeys dropped, {what}"


def _on_dropped_hotels(request: TripRequest, market: Market) -> Iterator[str]:
    for each in request.stops:
        fewest, most = request.stars_in(each.city)
        hotels = _hotels_of(market, each)
        dropped = {hotel.name for hotel in hotels if not fewest <= hotel.stars <= most}
        if dropped:
            total = len({hotel.name for hotel in hotels})
            yield f"{each.city}: {len(dropped)} of {count_text(total, 'hotel')} dropped, outside {stars_text(request)}"


def _on_what_is_full(request: TripRequest, market: Market) -> Iterator[str]:
    offers = [offer for offers in market.journeys.values() for offer in offers]
    full = sum(offer.left < request.travellers for offer in offers)
    full += sum(hotel.left < request.rooms for hotels in market.stays.values() for hotel in hotels)
    if full:
        yield f"{count_text(full, 'offer')} dropped, with too few seats or rooms left"


# -- why there is none -----------------------------------------------------------------------------------------------


def why_not(
    request: TripRequest, market: Market, conflict: tuple[str, ...], relaxations: tuple[Relaxation, ...]
) -> tuple[str, ...]:
    """Return what cannot be met together, and what would help; if nothing conflicts, what is not available at all."""
    if not market.departure_days:
        return (f"no day of departure is left: it is {day_text(market.now.date())} already",)
    if not conflict:
        return tuple(_on_what_is_missing(request, market))
    if len(conflict) == 1:
        return (f"no trip keeps this wish: {conflict[0]}", *(each.sentence for each in relaxations))
    kept = (each.sentence if each.together else f"keeping all else, {each.sentence}" for each in relaxations)
    return (f"no trip keeps these wishes together: {'; '.join(conflict)}", *kept)


def _on_what_is_missing(request: TripRequest, market: Market) -> Iterator[str]:
    """Explain the first thing on the way that is not available at all: nothing beyond it was asked for."""
    if request.order is Order.ANY:
        yield from _on_what_is_out_of_reach(request, market)
        return
    for journey, (here, there) in enumerate(journeys_of(request)):
        if not _boardable(request, market, here, there):
            seats = count_text(request.travellers, "seat")
            yield f"no flight or train from {here} to {there} has {seats} on the days in question"
            return
        if journey < len(request.stops) and not _has_room(request, market, request.stops[journey]):
            yield _without_room(request, request.stops[journey])
            return
    yield "the journeys and hotels that can be had do not fit together"


def _on_what_is_out_of_reach(request: TripRequest, market: Market) -> Iterator[str]:
    """Explain what no order of the stops can do without, if their order is free."""
    reached = {there for here, there in pairs_of(request) if _boardable(request, market, here, there)}
    missing = [there for _, there in pairs_of(request) if there not in reached]
    full = [stop for stop in request.stops if stop.city in reached and not _has_room(request, market, stop)]
    if missing:
        seats = count_text(request.travellers, "seat")
        yield f"no flight or train to {' or '.join(dict.fromkeys(missing))} has {seats} on the days in question"
    for stop in full:
        yield _without_room(request, stop)
    if not missing and not full:
        yield "the journeys and hotels that can be had do not fit together in any order"


def _has_room(request: TripRequest, market: Market, stop: Stop) -> bool:
    return any(hotel.left >= request.rooms for hotel in _hotels_of(market, stop))


def _without_room(request: TripRequest, stop: Stop) -> str:
    rooms, nights = count_text(request.rooms, "room"), count_text(stop.nights, "night")
    return f"no hotel in {stop.city} has {rooms} left for {nights} on the days in question"


# -- reading the market ----------------------------------------------------------------------------------------------


def _boardable(request: TripRequest, market: Market, here: str, there: str) -> list[Transport]:
    return [
        offer
        for (origin, destination, _), offers in market.journeys.items()
        for offer in offers
        if (origin, destination) == (here, there) and can_be_boarded(offer, request.travellers, market.now)
    ]


def _hotels_of(market: Market, stop: Stop) -> list[HotelOffer]:
    return [
        hotel
        for (city, nights, _), hotels in market.stays.items()
        for hotel in hotels
        if (city, nights) == (stop.city, stop.nights)
    ]


def _minutes_of(path: Path) -> int:
    return sum(offer.duration_minutes for offer in path.offers if isinstance(offer, TransportOffer))


def _weekdays(request: TripRequest) -> str:
    return " or ".join(day.capitalize() for day in request.not_on)


def _amount(cents: int) -> Decimal:
    return Decimal(cents) / 100


def _money(cents: int) -> str:
    return money_text(_amount(cents))
