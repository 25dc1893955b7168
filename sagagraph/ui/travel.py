"""Travel on a page: wishes as phrases that the reader understands, and plans as bars, places and lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time
from typing import Any, Final

from sagagraph.domains.travel.amending import wish_of
from sagagraph.domains.travel.cities import Gazetteer
from sagagraph.domains.travel.documents import itinerary_ics, itinerary_text
from sagagraph.domains.travel.domain import Travel
from sagagraph.domains.travel.money import money_text
from sagagraph.domains.travel.offers import FlightOffer, HotelOffer, TrainOffer
from sagagraph.domains.travel.plan import Itinerary, Leg
from sagagraph.domains.travel.problem import Direct, Hours, Order, parse_request
from sagagraph.domains.travel.reading import PartialRequest, read_request
from sagagraph.domains.travel.standing import bookings
from sagagraph.domains.travel.wording import count_text, day_text, duration_text, listed
from sagagraph.errors import InvalidInputError
from sagagraph.saga.model import Saga
from sagagraph.ui.subject import Bar, Connection, Disruption, Download, Draft, Line, Place, Preference, Route, Wish

_LIGHTS: Final = 2500
_STOP: Final = re.compile(r"stops\[(\d+)\]")
_CHEAPER: Final = re.compile(r"\b(?:cheap(?:er|est)?|less expensive|costs? less|save money)\b", re.IGNORECASE)
_FASTER: Final = re.compile(r"\b(?:fast(?:er|est)|quick(?:er|est)|short(?:er|est) journeys?)\b", re.IGNORECASE)
_BETTER: Final = re.compile(r"\b(?:(?:more|most) comfortable|nicer|more luxur\w+)\b", re.IGNORECASE)


class TravelSubject:
    name = "travel"
    title = "A trip"
    opening = "Where do you want to go, and when? Say it in your own words."
    examples: tuple[str, ...] = (
        "Plan a trip from San Francisco to Berlin and Cologne and then back to San Francisco in June 2025, flexible within the "
        "month, at most $5,000 in total, 3-4 star hotels, direct flights when possible, 4 days in Berlin and 2 in Cologne",
        "Two of us from Boston to Lisbon for 5 nights in May, under $4,000",
        "From London to Tokyo and Osaka in any order, 4 nights each, in September",
    )

    def __init__(self, travel: Travel) -> None:
        self.domain = travel
        self._lights = tuple((city.longitude, city.latitude) for city in travel.cities.cities[:_LIGHTS])

    # -- wishes --------------------------------------------------------------------------------------------------------

    async def read(self, text: str, known: Any | None) -> Draft:
        return self._draft(await self._read(text, known))

    async def _read(self, text: str, known: PartialRequest | None) -> PartialRequest:
        today = (await self.domain.provider.now()).date()
        return read_request(text, cities=self.domain.cities, today=today, known=known)

    async def checked(self, request: Any) -> Any:
        today = (await self.domain.provider.now()).date()
        return parse_request(request, cities=self.domain.cities, today=today).model_dump(mode="json")

    def draft_of(self, request: Any) -> Draft:
        trip = wish_of(request)
        follows = trip.rooms == -(-trip.travellers // 2)
        return self._draft(PartialRequest.of(trip).model_copy(update={"rooms": None} if follows else {}))

    def without(self, known: Any, key: str) -> Draft:
        return self._draft(_without(known, key))

    async def reworded(self, known: Any, key: str, text: str) -> Draft:
        place = _STOP.fullmatch(key)
        if place is None:
            return self._draft(await self._read(text, _without(known, key)))
        alone = (await self._read(text, None)).stops
        if len(alone) != 1:
            raise InvalidInputError("say one city and how many nights, like 3 nights in Cologne", field=key)
        stops = tuple(alone[0] if n == int(place[1]) else stop for n, stop in enumerate(known.stops))
        return self._draft(known.model_copy(update={"stops": stops, "unread": ()}))

    def _draft(self, partial: PartialRequest) -> Draft:
        questions = tuple(each.text for each in partial.missing())
        request = None if questions else partial.complete().model_dump(mode="json")
        return Draft(partial, tuple(_wishes(partial)), questions, partial.unread, request)

    async def preferred(self, text: str, saga: Saga) -> Preference | None:
        for words, quantity, best in _PREFERENCES:
            if words.search(text):
                shown = quantity(Itinerary.model_validate(saga.plan.content))
                offered = [
                    (quantity(Itinerary.model_validate(each["plan"])), each["plan_hash"]) for each in saga.plan.alternatives
                ]
                better = [each for each in offered if each[0] < shown]
                if not better:
                    return Preference(said=f"This is {best} of all trips that keep your wishes; change one of them.")
                return Preference(min(better)[1], said=f"This one is {best} of those that keep your wishes.")
        return None

    def sentence(self, request: Any) -> str:
        said = [wish.text for wish in self.draft_of(request).wishes]
        return f"A trip {', '.join(said)}."

    # -- plans ---------------------------------------------------------------------------------------------------------

    def bars(self, plan: Any) -> tuple[Bar, ...]:
        return tuple(_bar(leg) for leg in Itinerary.model_validate(plan).legs)

    def route(self, plan: Any) -> Route:
        cities = self.domain.cities
        legs = [each.offer for each in Itinerary.model_validate(plan).legs if not isinstance(each.offer, HotelOffer)]
        return Route(tuple(_connection(cities, each) for each in legs), is_map=True, lights=self._lights)

    def lines(self, plan: Any) -> tuple[Line, ...]:
        return tuple(_line(leg) for leg in Itinerary.model_validate(plan).legs)

    def disruptions(self, saga: Saga) -> tuple[Disruption, ...]:
        return ()

    def downloads(self, saga: Saga) -> tuple[Download, ...]:
        if saga.plan.content is None:
            return ()
        itinerary = Itinerary.model_validate(saga.plan.content)
        booked = {each.id: str(each.output["reservation_id"]) for each in bookings(saga) if each.succeeded}
        created = datetime.fromtimestamp(saga.last_at, UTC)
        return (
            Download("trip.ics", "text/calendar", itinerary_ics(itinerary, booked, created=created)),
            Download("trip.txt", "text/plain", itinerary_text(itinerary, booked).encode()),
        )


_Quantity = Callable[[Itinerary], int]
_PREFERENCES: Final[tuple[tuple[re.Pattern[str], _Quantity, str], ...]] = (
    (_CHEAPER, lambda trip: int(trip.total * 100), "the cheapest"),
    (_FASTER, lambda trip: trip.minutes_under_way, "the fastest"),
    (_BETTER, lambda trip: -sum(stay.stars * stay.nights for stay in trip.stays), "the most comfortable"),
)


def _wishes(said: PartialRequest) -> Iterator[Wish]:
    if said.origin:
        yield Wish("origin", "From", f"from {said.origin}", removable=False)
    for number, stop in enumerate(said.stops):
        nights = "" if stop.nights is None else f"{count_text(stop.nights, 'night')} in "
        yield Wish(f"stops[{number}]", "Stay", f"{nights}{stop.city or stop.said}", removable=len(said.stops) > 1)
    if said.one_way:
        yield Wish("return_to", "Back", "one way")
    elif said.return_to:
        yield Wish("return_to", "Back", f"back to {said.return_to}")
    yield from _dates(said)
    yield from _party(said)
    yield from _comfort(said)


def _dates(said: PartialRequest) -> Iterator[Wish]:
    if said.first and said.last:
        yield Wish("window", "When", f"between {day_text(said.first)} and {day_text(said.last)}")
    elif said.first or said.last:
        bound = f"not before {day_text(said.first)}" if said.first else f"by {day_text(said.last)}" if said.last else ""
        yield Wish("window", "When", bound)
    if said.depart:
        yield Wish("depart", "Leave", f"leaving on {day_text(said.depart)}")
    if said.not_on:
        yield Wish("not_on", "Not on", f"not on {' or '.join(each.capitalize() for each in said.not_on)}")
    if said.order is Order.ANY:
        yield Wish("order", "Order", "in any order")


def _party(said: PartialRequest) -> Iterator[Wish]:
    if said.travellers:
        yield Wish("travellers", "Who", count_text(said.travellers, "traveller"))
    if said.rooms:
        yield Wish("rooms", "Rooms", count_text(said.rooms, "room"))
    amount = said.budget or said.budget_each
    if amount:
        each = " each" if said.budget_each else ""
        yield Wish("budget", "Budget", f"at most {money_text(amount, said.currency or 'USD')}{each}")


def _comfort(said: PartialRequest) -> Iterator[Wish]:
    if said.stars and said.stars != (1, 5):
        fewest, most = said.stars
        yield Wish("stars", "Hotels", f"{fewest} star hotels" if fewest == most else f"{fewest}-{most} star hotels")
    if said.direct is Direct.REQUIRED:
        yield Wish("direct", "Flights", "direct flights only")
    elif said.direct is Direct.PREFERRED:
        yield Wish("direct", "Flights", "direct flights when possible")
    if said.hours and (limits := [*_limits("leave", said.hours.depart), *_limits("arrive", said.hours.arrive)]):
        yield Wish("hours", "Hours", listed(limits))


def _limits(verb: str, hours: Hours) -> Iterator[str]:
    if hours.earliest:
        yield f"{verb} after {hours.earliest:%H:%M}"
    if hours.latest:
        yield f"{verb} before {hours.latest:%H:%M}"


_FIELDS: Final = {
    "window": ("first", "last"),
    "budget": ("budget", "budget_each", "currency", "no_limit"),
    "return_to": ("return_to", "one_way"),
}


def _without(said: PartialRequest, key: str) -> PartialRequest:
    place = _STOP.fullmatch(key)
    if place is not None:
        stops = tuple(stop for n, stop in enumerate(said.stops) if n != int(place[1]))
        return said.model_copy(update={"stops": stops, "unread": ()})
    cleared = dict.fromkeys(_FIELDS.get(key, (key,)))
    doubts = tuple(doubt for doubt in said.doubts if doubt.field not in cleared)
    return said.model_copy(update={**cleared, "doubts": doubts, "unread": ()})


def _bar(leg: Leg) -> Bar:
    offer = leg.offer
    if isinstance(offer, HotelOffer):
        begins = datetime.combine(offer.check_in, offer.check_in_from)
        ends = datetime.combine(offer.check_out, offer.check_out_until)
        return Bar(f"Stay in {offer.city}", f"{offer.name}, {offer.stars} stars", "hotel", begins, ends, leg.label)
    departs, arrives = offer.departs.replace(tzinfo=None), offer.arrives.replace(tzinfo=None)
    row = f"{offer.origin_city} → {offer.destination_city}"
    return Bar(row, f"{offer.carrier} {offer.number}", offer.kind, departs, max(arrives, departs), leg.label)


def _connection(cities: Gazetteer, leg: FlightOffer | TrainOffer) -> Connection:
    here, there = _place(cities, leg.origin_city), _place(cities, leg.destination_city)
    return Connection(here, there, leg.kind, f"{leg.carrier} {leg.number}")


def _place(cities: Gazetteer, name: str) -> Place:
    city = cities.require(name, field="city")
    return Place(name, city.longitude, city.latitude)


def _line(leg: Leg) -> Line:
    offer = leg.offer
    price = money_text(offer.price, offer.currency)
    if isinstance(offer, HotelOffer):
        when = f"{_day(offer.check_in)} – {_day(offer.check_out)}, {count_text(offer.nights, 'night')}"
        return Line(f"stay {offer.city}", f"{offer.name}, {offer.city}, {count_text(offer.stars, 'star')}", when, price)
    stops = "direct" if not offer.stops else f"{count_text(offer.stops, 'stop')} in {', '.join(offer.via)}"
    how = "" if offer.kind == "train" else f", {stops}"
    when = f"{_moment(offer.departs)} – {_moment(offer.arrives)}, {duration_text(offer.duration_minutes)}{how}"
    what = f"{offer.carrier} {offer.number}, {offer.origin_city} → {offer.destination_city}"
    return Line(f"{offer.origin_city} → {offer.destination_city}", what, when, price)


def _day(day: date) -> str:
    return f"{day:%a} {day.day} {day:%b}"


def _moment(moment: datetime) -> str:
    return f"{_day(moment.date())} {time(moment.hour, moment.minute):%H:%M}"
