"""Explanation: why a trip was proposed, what was dropped, and why no trip exists, with figures."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import zip_longest

from sagagraph.domains.travel.money import money_text
from sagagraph.domains.travel.offers import FlightOffer, HotelOffer, Offer, TrainOffer, Transport, TransportOffer
from sagagraph.domains.travel.plan import Alternative, Choice
from sagagraph.domains.travel.planning import market as m
from sagagraph.domains.travel.planning.measures import CHEAPEST, MOST_COMFORTABLE, converted, discomfort_of, price_text
from sagagraph.domains.travel.planning.search import Path, Usable
from sagagraph.domains.travel.planning.wishes import ALL_WISHES, stars_text
from sagagraph.domains.travel.request import By, Direct, Order, Stop, TripRequest
from sagagraph.domains.travel.wording import brief, count_text, day_text, duration_text, listed, party_text
from sagagraph.planning.domain import Relaxation

_ALTERNATIVES = 3
"""How many offers that were not taken are named for each leg."""


# -- why this one ----------------------------------------------------------------------------------------------------


def reasons(request: TripRequest, market: m.Market, path: Path, titles: list[str], others: tuple[Path, ...]) -> tuple[str, ...]:
    """Return the reasons. `others`: every proposed path, this one among them."""
    party = f" for {party_text(request.travellers, request.children)}" if request.travellers > 1 else ""
    minutes = _minutes_of(path)
    under_way = f", {duration_text(minutes)} under way" if minutes else ""
    said = [f"{_best(titles, has_journeys=bool(minutes))}: {_money(request, market, path.cents)}{party}{under_way}"]
    said += _against(request, market, path, others)
    said += _on_budget(request, market, path)
    if request.direct is not Direct.ANY:
        said += _on_directness(request, market, path)
    return tuple(said)


def _best(titles: list[str], *, has_journeys: bool) -> str:
    """Return what it is best in; without journeys, there is no time to be saved."""
    return ", ".join(titles if has_journeys else [each for each in titles if each in (CHEAPEST, MOST_COMFORTABLE)] or titles)


def _against(request: TripRequest, market: m.Market, path: Path, others: tuple[Path, ...]) -> Iterator[str]:
    """Yield what it costs compared with the best in money, time and comfort."""
    more = path.cents - min(other.cents for other in others)
    if more:
        yield f"{_money(request, market, more)} more than the cheapest"
    longer = _minutes_of(path) - min(map(_minutes_of, others))
    if longer:
        yield f"{duration_text(longer)} longer under way than the fastest"
    comfortable = min(others, key=lambda other: discomfort_of(other.offers))
    mine, best = discomfort_of(path.offers), discomfort_of(comfortable.offers)
    changes, odd_hours, stars = (ours - theirs for ours, theirs in zip(mine[:3], best[:3], strict=True))
    worse = [f"{changes} more {'change' if changes == 1 else 'changes'} on the way"] if changes > 0 else []
    if odd_hours > 0:
        worse.append(f"{odd_hours} more {'departure or arrival' if odd_hours == 1 else 'departures or arrivals'} at night")
    if stars > 0:
        nights = sum(offer.nights for offer in path.offers if isinstance(offer, HotelOffer))
        worse.append(f"{stars / nights:.2g} {'star' if stars == nights else 'stars'} fewer a night")
    if worse:
        yield f"{listed(worse)} than the most comfortable"


def _on_budget(request: TripRequest, market: m.Market, path: Path) -> Iterator[str]:
    if request.budget is None:
        return
    other = converted(request, path.cents, market.rates)
    if other is not None:
        paid, total = money_text(Decimal(path.cents) / 100), money_text(other.total, other.currency)
        yield f"paid as {paid}, which is {total} by the rate of {day_text(other.on)} ({other.source})"
    most = Decimal(path.cents) / 100 if other is None else other.total
    below, budget = (money_text(amount, request.currency) for amount in (request.budget - most, request.budget))
    yield f"{below} below the budget of {budget}"


def _on_directness(request: TripRequest, market: m.Market, path: Path) -> Iterator[str]:
    flights = [offer for offer in path.offers if isinstance(offer, FlightOffer)]
    if flights and all(offer.is_direct for offer in flights):
        yield "all flights are direct"
    for offer in flights:
        if not offer.is_direct:
            others = _boardable(request, market, offer.origin_city, offer.destination_city)
            has_direct = any(isinstance(each, FlightOffer) and each.is_direct for each in others)
            why = "a direct one costs more or does not fit" if has_direct else "no direct one is on offer"
            stops = f"{count_text(offer.stops, 'stop')} in {', '.join(offer.via)}"
            yield f"{offer.origin_city} to {offer.destination_city} with {stops}: {why}"


# -- why this offer --------------------------------------------------------------------------------------------------


def choices(request: TripRequest, market: m.Market, path: Path, paths: Collection[Path]) -> Iterator[Choice]:
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
        notes = [(each, terms(each)) for each in others]
        if not others:
            unfit = _cheapest_first(offered, {offer.offer_id, *(each.offer_id for each in fit)})
            notes = [(each, _why_not(request, each)) for each in unfit]
        alternatives = tuple(
            Alternative(offer_id=each.offer_id, title=brief(each), price=each.price, note=note, fits=bool(others))
            for each, note in notes[:_ALTERNATIVES]
        )
        share = sum(offer.offer_id in each.ids for each in paths) / len(paths)
        saved = max(offer.price - others[0].price, Decimal(0)) if others else Decimal(0)
        more = price_text(request, saved, market.rates)
        yield Choice(why=_why(offer, others, more), alternatives=alternatives, confidence=round(share, 2))


def _cheapest_first(offers: Iterable[Offer], known: set[str]) -> list[Offer]:
    return sorted((each for each in offers if each.offer_id not in known), key=lambda each: (each.price, each.offer_id))


def terms(offer: Offer) -> str:
    """Return the facts besides name and price that matter for a choice between offers of a day."""
    if isinstance(offer, HotelOffer):
        return count_text(offer.stars, "star")
    return f"{count_text(offer.stops, 'stop')}, arrives {offer.arrives:%Y-%m-%d %H:%M}"


def _why_not(request: TripRequest, offer: Offer) -> str:
    if isinstance(offer, HotelOffer):
        return f"{terms(offer)}, or too few rooms left"
    if not m.keeps_hours(request, offer) or not m.keeps_weekdays(request, offer):
        return "at other hours or on other days than asked for"
    return f"{terms(offer)}: not direct, too slow, or with too few seats left"


def _why(offer: Offer, others: list[Offer], more: str) -> str:
    """Return why an offer was taken. `others`: the cheapest first, and how much `more` it costs than that."""
    if not others:
        return f"the only {offer.kind} that fits on that day"
    among = f"{len(others) + 1} {offer.kind}s that fit on that day"
    cheapest = others[0]
    if offer.price <= cheapest.price:
        return f"the cheapest of {among}"
    said = [f"{more} more than the cheapest of {among}"]
    if isinstance(offer, HotelOffer) and isinstance(cheapest, HotelOffer):
        if offer.stars > cheapest.stars:
            said.append(f"{count_text(offer.stars, 'star')} instead of {cheapest.stars}")
    elif isinstance(offer, TransportOffer) and isinstance(cheapest, TransportOffer):
        if offer.stops < cheapest.stops:
            said.append(f"{count_text(offer.stops, 'stop')} instead of {cheapest.stops}")
        if offer.duration_minutes < cheapest.duration_minutes:
            said.append(f"{duration_text(cheapest.duration_minutes - offer.duration_minutes)} faster")
    return ", ".join(said)


# -- what was dropped ------------------------------------------------------------------------------------------------


def considered(request: TripRequest, market: m.Market) -> Iterator[str]:
    days = Usable(request, market, ALL_WISHES).departure_days
    if len(days) > 1:
        share = "some" if len(request.departure_days(days[0])) > len(days) else "all"
        yield f"compared {len(days)} days of departure, {share} from {day_text(days[0])} to {day_text(days[-1])}"
    journeys = {(here, there): _boardable(request, market, here, there) for here, there in m.pairs_of(request)}
    yield from _on_trains(market, journeys)
    yield from _on_unwanted_journeys(request, journeys)
    for each in request.stops:
        fewest, most = request.stars_in(each.city)
        hotels = _hotels_of(market, each)
        dropped = {hotel.name for hotel in hotels if not fewest <= hotel.stars <= most}
        if dropped:
            total = len({hotel.name for hotel in hotels})
            yield f"{each.city}: {len(dropped)} of {count_text(total, 'hotel')} dropped, outside {stars_text(request)}"
    full = sum(offer.left < request.travellers for offers in market.journeys.values() for offer in offers)
    full += sum(hotel.left < request.rooms for hotels in market.stays.values() for hotel in hotels)
    if full:
        yield f"{count_text(full, 'offer')} dropped, with too few seats or rooms left"


def _on_trains(market: m.Market, journeys: Mapping[tuple[str, str], list[Transport]]) -> Iterator[str]:
    for (here, there), offers in journeys.items():
        trains = [offer for offer in offers if isinstance(offer, TrainOffer)]
        sensible = [train.duration_minutes for train in trains if m.is_sensible_train(train)]
        if sensible and len(trains) < len(offers):
            yield f"{here} to {there}: flights compared with trains, the fastest of which takes {duration_text(min(sensible))}"
        elif sensible:
            yield f"{here} to {there}: no flights looked for, as the train takes {duration_text(min(sensible))}"
        elif trains and not market.has_slow_trains:
            fastest = min(train.duration_minutes for train in trains)
            yield f"{here} to {there}: trains dropped, as the fastest takes {duration_text(fastest)}"


def _on_unwanted_journeys(request: TripRequest, journeys: Mapping[tuple[str, str], list[Transport]]) -> Iterator[str]:
    for (here, there), offers in journeys.items() if request.direct is Direct.REQUIRED else ():
        flights = [offer for offer in offers if isinstance(offer, FlightOffer)]
        dropped = sum(not flight.is_direct for flight in flights)
        if dropped:
            yield f"{here} to {there}: {dropped} of {len(flights)} flights dropped, as they are not direct"
    every = [offer for offers in journeys.values() for offer in offers]
    for (here, there), offers in journeys.items() if request.by is not By.ANY else ():
        dropped = sum(not m.goes_as_wished(request, offer) for offer in offers)
        if dropped:
            yield f"{here} to {there}: {dropped} of {len(offers)} journeys dropped, as they are not by {request.by}"
    weekdays = " or ".join(day.capitalize() for day in request.not_on)
    for keeps, what in ((m.keeps_hours, "at other hours than asked for"), (m.keeps_weekdays, f"on {weekdays}")):
        dropped = sum(not keeps(request, offer) for offer in every)
        if dropped:
            yield f"{dropped} of {len(every)} journeys dropped, {what}"


# -- why there is none -----------------------------------------------------------------------------------------------


def why_not(
    request: TripRequest, market: m.Market, conflict: tuple[str, ...], relaxations: tuple[Relaxation, ...]
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


def _on_what_is_missing(request: TripRequest, market: m.Market) -> Iterator[str]:
    """Explain the first thing on the way that is not available at all; nothing beyond it was requested from the provider."""
    seats = f"has {count_text(request.travellers, 'seat')} on the days in question"
    if request.order is Order.ANY:  # what is needed in any order of the stops
        reached = {there for here, there in m.pairs_of(request) if _boardable(request, market, here, there)}
        missing = dict.fromkeys(there for _, there in m.pairs_of(request) if there not in reached)
        full = [said for stop in request.stops if stop.city in reached for said in _without_room(request, market, stop)]
        if missing:
            yield f"no flight or train to {' or '.join(missing)} {seats}"
        yield from full
        if not missing and not full:
            yield "the journeys and hotels that are available do not fit together in any order"
        return
    for (here, there), stop in zip_longest(m.journeys_of(request), request.stops):
        if not _boardable(request, market, here, there):
            yield f"no flight or train from {here} to {there} {seats}"
            return
        if stop is not None and (full := list(_without_room(request, market, stop))):
            yield from full
            return
    yield "the journeys and hotels that are available do not fit together"


def _without_room(request: TripRequest, market: m.Market, stop: Stop) -> Iterator[str]:
    if not any(hotel.left >= request.rooms for hotel in _hotels_of(market, stop)):
        rooms, nights = count_text(request.rooms, "room"), count_text(stop.nights, "night")
        yield f"no hotel in {stop.city} has {rooms} left for {nights} on the days in question"


# -- reading the market ----------------------------------------------------------------------------------------------


def _boardable(request: TripRequest, market: m.Market, here: str, there: str) -> list[Transport]:
    return [
        offer
        for (origin, destination, _), offers in market.journeys.items()
        for offer in offers
        if (origin, destination) == (here, there) and m.can_be_boarded(offer, request.travellers, market.now)
    ]


def _hotels_of(market: m.Market, stop: Stop) -> list[HotelOffer]:
    return [
        hotel
        for (city, nights, _), hotels in market.stays.items()
        for hotel in hotels
        if (city, nights) == (stop.city, stop.nights)
    ]


def _minutes_of(path: Path) -> int:
    return sum(offer.duration_minutes for offer in path.offers if isinstance(offer, TransportOffer))


def _money(request: TripRequest, market: m.Market, cents: int) -> str:
    return price_text(request, Decimal(cents) / 100, market.rates)
