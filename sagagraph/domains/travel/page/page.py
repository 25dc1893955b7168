"""The travel page: wishes as phrases that the reader understands, and plans as bars, places and lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final

from sagagraph.context.model import Model
from sagagraph.domains.travel.actions.documents import itinerary_ics, itinerary_text
from sagagraph.domains.travel.completion import completed
from sagagraph.domains.travel.domain import Travel
from sagagraph.domains.travel.money import PRICE_CURRENCY
from sagagraph.domains.travel.offers import HotelOffer, Transport
from sagagraph.domains.travel.page import wishes as w
from sagagraph.domains.travel.page.details import charge_lines, details, disruption_in, disruptions, line_key
from sagagraph.domains.travel.page.fields import CITIES, fields_of, with_value
from sagagraph.domains.travel.page.model_reading import SLOTS, is_named, together
from sagagraph.domains.travel.partial import PartialRequest
from sagagraph.domains.travel.plan import Itinerary, Leg
from sagagraph.domains.travel.planning.amendment import wish_of
from sagagraph.domains.travel.planning.measures import arrives_at_night, cents, converted
from sagagraph.domains.travel.progress import as_it_stands, bookings
from sagagraph.domains.travel.provider.provider import HttpReservationProvider
from sagagraph.domains.travel.request import CURRENCIES, Prefer, TripRequest, parse_request
from sagagraph.domains.travel.text.reader import read_request
from sagagraph.domains.travel.wording import count_text, duration_text, moment_text
from sagagraph.errors import InvalidInputError
from sagagraph.language.forms import form
from sagagraph.language.money import SIGN, currencies_meant
from sagagraph.language.utterance.tongues import tongue_of
from sagagraph.money import money_text
from sagagraph.planning import page as p
from sagagraph.planning.fault_desk import FaultDesk
from sagagraph.planning.fields import Part
from sagagraph.planning.models.anchors import Anchor
from sagagraph.planning.models.reading import Slot
from sagagraph.planning.remedies import Remedy
from sagagraph.planning.tongues import cannot_read
from sagagraph.saga.core.state import Saga

_MOST_SUGGESTED: Final = 500
"""Cities in the list of a field, the biggest."""
_CURRENCY: Final = form(rf"(?<!\w)({SIGN})(?!\w)")
_EACH: Final = form(r"\b(each|apiece|(per|a) (person|head)|pp)\b")
_MOST_STARS: Final = 5
_ACTS: Final = {"capture_payment": "the payment", "send_itinerary": "the mail with the itinerary"}
_KINDS: Final = ("hotel", "flight", "train", "payment")


_SAN_FRANCISCO, _BERLIN, _COLOGNE = (
    p.Place("San Francisco", -122.4, 37.8),
    p.Place("Berlin", 13.4, 52.5),
    p.Place("Cologne", 7.0, 50.9),
)
_SHOWCASE: Final = p.PlanView(
    route=p.Route(
        (
            p.Connection(_SAN_FRANCISCO, _BERLIN, "flight", ""),
            p.Connection(_BERLIN, _COLOGNE, "train", ""),
            p.Connection(_COLOGNE, _SAN_FRANCISCO, "flight", ""),
        ),
        is_map=True,
    )
)


class TravelPage(p.Page):
    domain: Travel
    title = "A trip"
    outcome = "everything is booked"
    acts = _ACTS
    opening = "Where do you want to go, and when? Say it in your own words."
    change = "one more night in Paris"
    supposition = "what if we stayed 4 nights?"
    hint = (
        "I can change the cities and nights, dates, hours, who travels, rooms, budget, stars and direct flights: say it like "
        "“4 nights in Paris” or “for 2 people”; or ask me about the plan."
    )
    elsewhere = "That is for the hotel or the carrier: ask them once it is booked. The plan stays without it."
    promise = "Flights, trains and hotels as one booking, repaired if a part falls through."
    showcase = _SHOWCASE
    plans_quickly = True
    examples = (
        "Plan a trip from San Francisco to Berlin and Cologne and then back to San Francisco in June, flexible within the "
        "month, at most $5,000 in total, 3-4 star hotels, direct flights when possible, 4 days in Berlin and 2 in Cologne",
        "Two of us from Boston to Lisbon for 5 nights in May, under $4,000",
        "From London to Tokyo and Osaka in any order, 4 nights each, in September",
    )

    def __init__(self, travel: Travel, model: Model | None = None) -> None:
        super().__init__(travel, model)
        self._known_day = datetime.now(UTC).date()
        self.suggestions = {CITIES: [city.name for city in travel.cities.cities[:_MOST_SUGGESTED]]}
        if isinstance(travel.provider, HttpReservationProvider):
            self.desk = FaultDesk(travel.provider.url, _KINDS)

    async def today(self) -> date:
        self._known_day = (await self.domain.provider.now()).date()
        return self._known_day

    # -- wishes --------------------------------------------------------------------------------------------------------

    async def read(self, text: str, known: Any | None) -> p.Draft:
        if (tongue := tongue_of(text)) is not None:
            raise InvalidInputError(cannot_read(tongue, self.examples[1]), field="text")
        return self._draft(await self._read(text, known))

    async def drafted(self, known: Any | None) -> p.Draft:
        return self._draft(known or PartialRequest())

    def slots(self, draft: p.Draft) -> tuple[Slot, ...]:  # noqa: ARG002 - the same for every trip
        return SLOTS

    def states(self, anchor: Anchor, value: str, quote: str) -> bool:
        return is_named(self.domain.cities, value, quote) if anchor is Anchor.NAME else super().states(anchor, value, quote)

    def beside(self, before: Any, ours: Any, theirs: Any, touched: frozenset[str]) -> PartialRequest:  # noqa: ARG002
        return together(ours, theirs, touched)

    async def _read(self, text: str, known: PartialRequest | None) -> PartialRequest:
        today = await self.today()
        return read_request(text, cities=self.domain.cities, today=today, known=known)

    async def checked(self, request: Any, before: Any = None) -> Any:  # noqa: ARG002
        today = await self.today()
        known = _without_gaps(request) if isinstance(request, Mapping) else request
        wanted = parse_request(known, cities=self.domain.cities, today=today)
        return wanted.model_copy(update={"assumed": self._still_assumed(wanted)}).model_dump(mode="json")

    def _still_assumed(self, wanted: TripRequest) -> dict[str, str]:
        """Return what would be assumed of it in the same way, had nobody filled it in."""
        again, request = self._draft(PartialRequest.of(wanted)).request, wanted.model_dump(mode="json")
        reasons = {} if again is None else again.get("assumed", {})
        return {name: why for name, why in reasons.items() if name in wanted.assumed and _at(again, name) == _at(request, name)}

    def draft_of(self, request: Any) -> p.Draft:
        return self._draft(PartialRequest.of(wish_of(request)))

    def _completed(self, said: PartialRequest) -> tuple[PartialRequest, Mapping[str, str]]:
        return completed(said, self._known_day, home=said.home, is_far=self.domain.cities.takes_a_night)

    def fields(self, draft: p.Draft) -> tuple[Part, ...]:
        whole, assumed = self._completed(draft.known or PartialRequest())
        return tuple(part.marked(lambda field: field.beside(draft.others)) for part in fields_of(whole, assumed))

    def on_top(self, request: p.Json, saga: Saga) -> p.Json:
        """Return the saga's own request where only what is assumed of it differs."""
        same = {**request, "assumed": None} == {**saga.request, "assumed": None}
        return saga.request if same else request

    async def with_field(self, known: Any, name: str, value: str) -> p.Draft:
        return self._draft(with_value(known or PartialRequest(), name, value, self.domain.cities))

    def as_before(self, draft: p.Draft, last: p.Json) -> p.Draft:
        home = wish_of(last).origin
        return replace(
            self._draft(draft.known.model_copy(update={"home": home}), *draft.asides), not_understood=draft.not_understood
        )

    def _draft(self, partial: PartialRequest, *asides: str) -> p.Draft:
        unread, preferred = w.unread_and_preferred(partial.unread)
        if preferred:
            partial = partial.model_copy(update={"prefer": Prefer(preferred[0].removeprefix("the ")), "unread": unread})
        whole, assumed = self._completed(partial)
        missing = whole.missing()
        questions = tuple(each.text for each in missing)
        request = None if questions else _told(whole, assumed)
        others = ((label, each) for label, each in whole.with_room() if not each.missing())
        return p.Draft(
            partial,
            tuple(w.wishes_of(partial)),
            questions,
            unread,
            request,
            asides=asides,
            field=missing[0].field if missing else "",
            missing=tuple(dict.fromkeys(each.field for each in missing)),
            remedies=tuple(Remedy(label, "", _told(each, assumed)) for label, each in others),
            assumed=assumed,
            partial={**whole.in_json(), "assumed": dict(assumed)},
        )

    async def preferred(self, text: str, saga: Saga) -> p.Preference | None:
        known = self.draft_of(saga.request).known
        if (aim := w.aim_of(text)) is None:
            return await self._moved(text, saga, known)
        if (stay := w.stay_meant(text, saga)) is not None:
            stars = w.other_stars(aim, stay, saga)
            if isinstance(stars, str):
                return p.Preference(said=stars)
            return p.Preference(draft=self._draft(w.with_stars(known, stay.city, stars)))
        said = await self._read(text, known)
        if said.model_copy(update={"unread": known.unread}) != known:
            return None
        return w.chosen(aim, saga, w.unread_and_preferred(said.unread)[0])

    async def _moved(self, text: str, saga: Saga, known: PartialRequest) -> p.Preference | None:
        """Read `a day earlier` relative to the plan that is shown, if no day was requested."""
        shown = w.from_shown_days(text, saga, known)
        if shown is None:
            return None
        said = await self._read(text, shown)
        others = {"depart": None, "first": None, "last": None}
        is_moved = said.depart != shown.depart and not said.doubts and not said.unread
        same = is_moved and said.model_copy(update=others) == shown.model_copy(update=others)
        return p.Preference(draft=self._draft(said)) if same else None

    # -- plans ---------------------------------------------------------------------------------------------------------

    def view(self, plan: Any) -> p.PlanView:
        def place(name: str) -> p.Place:
            city = self.domain.cities.require(name, field="city")
            return p.Place(name, city.longitude, city.latitude)

        itinerary = Itinerary.model_validate(plan)
        legs = itinerary.legs
        journeys = [leg.offer for leg in legs if not isinstance(leg.offer, HotelOffer)]
        connections = (
            p.Connection(place(each.origin_city), place(each.destination_city), each.kind, f"{each.carrier} {each.number}")
            for each in journeys
        )
        lines = (*(_line(leg, itinerary) for leg in legs), *charge_lines(itinerary))
        return p.PlanView(lines, tuple(map(_bar, legs)), p.Route(tuple(connections), is_map=True))

    def money(self, plan: Any, amount: Decimal, currency: str) -> str:
        return money_text(amount, currency) if plan is None else Itinerary.model_validate(plan).price_text(amount, currency)

    def figures(self, saga: Saga, plan: Any, cost: Mapping[str, Any] | None) -> p.Figures | None:  # noqa: ARG002
        offers = [leg.offer for leg in Itinerary.model_validate(plan).legs]
        minutes = sum(each.duration_minutes for each in offers if not isinstance(each, HotelOffer))
        stays = [(each.stars, each.nights) for each in offers if isinstance(each, HotelOffer)]
        nights = sum(each for _, each in stays)
        stars = sum(each * of for each, of in stays) / nights if nights else _MOST_STARS
        comfort = f"{stars:.2g} stars" if nights else "no hotel"
        return (
            p.Measure("price", float((cost or {}).get("total", 0)), self.price(plan, cost)),
            p.Measure("time under way", minutes, duration_text(minutes)),
            p.Measure("hotels", _MOST_STARS - stars, comfort),
        )

    async def price_as_asked(self, asked: str, saga: Saga) -> str:
        total = cents(Decimal(str((saga.plan.cost or {}).get("total", 0))))
        people = wish_of(saga.request).travellers or 1
        if people > 1 and saga.plan.content is not None and _EACH.search(asked):
            share = Decimal(total // people) / 100
            return f"Shared equally, that is about {self.money(saga.plan.content, share, PRICE_CURRENCY)} for each of {people}."
        for found in _CURRENCY.finditer(asked):
            request = wish_of(saga.request).model_copy(
                update={"currency": next(iter(currencies_meant(found[0], CURRENCIES)), "USD")}
            )
            if (other := converted(request, total, await self.domain.provider.rates())) is not None:
                return f"That is {money_text(other.total, other.currency)}, at the rate of {other.on:%-d %B %Y}."
        return ""

    def details(self, saga: Saga) -> tuple[p.Detail, ...]:
        return () if saga.plan.content is None else tuple(details(saga))

    disruptions = staticmethod(disruptions)
    disruption_in = staticmethod(disruption_in)

    async def happens(self, saga: Saga, disruption: p.Disruption) -> None:
        if self.desk is not None and await self.desk.is_open():
            for name in disruption.lost:
                await self.desk.withdraw(str(saga.operations[name].output["reservation_id"]))

    def downloads(self, saga: Saga) -> tuple[p.Download, ...]:
        if saga.plan.content is None:
            return ()
        itinerary = as_it_stands(saga, saga.plan.content)
        booked = {each.id: str(each.output["reservation_id"]) for each in bookings(saga) if each.succeeded}
        created = datetime.fromtimestamp(saga.last_at, UTC)
        return (
            p.Download("trip.ics", "text/calendar", itinerary_ics(itinerary, booked, created=created, plan=str(saga.plan.hash))),
            p.Download("trip.txt", "text/plain", itinerary_text(itinerary, booked).encode()),
        )


def _bar(leg: Leg) -> p.Bar:
    offer = leg.offer
    if isinstance(offer, HotelOffer):
        begins = datetime.combine(offer.check_in, offer.check_in_from)
        ends = datetime.combine(offer.check_out, offer.check_out_until)
        return p.Bar(f"Stay in {offer.city}", f"{offer.name}, {offer.stars} stars", "hotel", begins, ends, leg.label)
    departs, arrives = offer.departs.replace(tzinfo=None), offer.arrives.replace(tzinfo=None)
    row = f"{offer.origin_city} → {offer.destination_city}"
    return p.Bar(row, f"{offer.carrier} {offer.number}", offer.kind, departs, max(arrives, departs), leg.label)


def _told(whole: PartialRequest, assumed: Mapping[str, str]) -> p.Json:
    """Return a request, with what is assumed in it, as it is told to a saga."""
    return whole.complete().model_copy(update={"assumed": dict(assumed)}).model_dump(mode="json")


def _without_gaps(request: Mapping[str, Any]) -> p.Json:
    """Return a request without what is empty in it, which is missing. A trip that returns to nowhere goes one way."""
    stops = request.get("stops")
    known = {name: value for name, value in request.items() if value is not None or name == "return_to"}
    if isinstance(stops, list):
        known["stops"] = [
            {name: value for name, value in stop.items() if value is not None} if isinstance(stop, Mapping) else stop
            for stop in stops
        ]
    return known


def _at(request: p.Json, name: str) -> p.Json:
    """Return the value of a field such as `stops[1].nights`; None where there is none."""
    value = request
    for part in re.findall(r"\w+", name):
        try:
            value = value[int(part) if isinstance(value, list) else part]
        except (KeyError, IndexError, ValueError, TypeError):
            return None
    return value


def _line(leg: Leg, trip: Itinerary) -> p.Line:
    offer = leg.offer
    price = trip.price_text(offer.price, offer.currency)
    if isinstance(offer, HotelOffer):
        when = f"{_day(offer.check_in)} – {_day(offer.check_out)}, {count_text(offer.nights, 'night')}"
        begins = datetime.combine(offer.check_in, offer.check_in_from)
        return p.Line(
            line_key(leg), f"{offer.name}, {offer.city}, {count_text(offer.stars, 'star')}", when, price, begins, offer.kind
        )
    stops = "direct" if not offer.stops else f"{count_text(offer.stops, 'stop')} in {', '.join(offer.via)}"
    how = "" if offer.kind == "train" else f", {stops}"
    fare = f", a child's fare {trip.price_text(offer.price_per_child, offer.currency)}" if offer.children else ""
    arrives = f"{offer.arrives:%H:%M}" if offer.departs.date() == offer.arrives.date() else moment_text(offer.arrives)
    when = f"{moment_text(offer.departs)} – {arrives}, {duration_text(offer.duration_minutes)}{how}{fare}"
    what = f"{offer.carrier} {offer.number}, {offer.origin_city} → {offer.destination_city}"
    told = f"{when}{_without_bed(offer, trip)}"
    return p.Line(line_key(leg), what, told, price, offer.departs.replace(tzinfo=None), offer.kind)


def _without_bed(offer: Transport, trip: Itinerary) -> str:
    """Say that a journey ends in the night, hours before the check-in; empty if it does not."""
    stays = [each for each in trip.stays if (each.city, each.check_in) == (offer.destination_city, offer.arrives.date())]
    if not stays or not arrives_at_night(offer) or offer.arrives.time() >= stays[0].check_in_from:
        return ""
    comes = "lands" if offer.kind == "flight" else "arrives"
    bed = f"no bed in {offer.destination_city} before check-in at {stays[0].check_in_from:%H:%M}"
    return f"; {comes} at {offer.arrives:%H:%M}: {bed}"


def _day(day: date) -> str:
    return f"{day:%a} {day.day} {day:%b}"
