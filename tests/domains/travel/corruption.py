"""Trips at random that are right by construction, and one operator or more for each code, which breaks that rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from sagagraph.domains.travel.offers import Bookable, HotelOffer, InsuranceOffer, TransportOffer
from sagagraph.domains.travel.plan import Itinerary, Leg
from sagagraph.domains.travel.request import By, Direct, Hours, JourneyHours, Stop, TrainIf, TripRequest, Weekday, Window
from sagagraph.domains.travel.rules.answers import BOOKING, PAYMENT, SENT, AnswerValidator
from sagagraph.domains.travel.rules.validator import validate_itinerary
from sagagraph.validators.verdict import Verdict

from .world import CITIES, GAZETTEER, NOW, RATES, day, flight, hotel, train

Json = dict[str, Any]


@dataclass
class Made:
    """A trip, what it is judged by, and what is on offer."""

    itinerary: Itinerary
    request: TripRequest
    quotes: dict[str, Bookable]
    now: datetime = NOW
    fees: Decimal = Decimal(0)
    begun: Mapping[str, Leg] = field(default_factory=dict)

    def judged(self) -> Verdict:
        return validate_itinerary(
            self.itinerary,
            self.request,
            self.quotes,
            now=self.now,
            cities=GAZETTEER,
            rates=RATES,
            fees=self.fees,
            begun=self.begun,
        )

    def changed(self, n: int, **facts: Any) -> Made:
        """With one offer changed, in the plan and in the world; the total is added up again."""
        legs = list(self.itinerary.legs)
        legs[n] = legs[n].model_copy(update={"offer": legs[n].offer.model_copy(update=facts)})
        total = sum((leg.price for leg in legs), Decimal(0))
        trip = self.itinerary.model_copy(update={"legs": tuple(legs), "total": total})
        return replace(self, itinerary=trip, quotes=self.quotes | {legs[n].offer.offer_id: legs[n].offer})

    def wished(self, **wishes: Any) -> Made:
        return replace(self, request=self.request.model_copy(update=wishes))

    def journey(self, rng: Random) -> int:
        return rng.choice([n for n, leg in enumerate(self.itinerary.legs) if isinstance(leg.offer, TransportOffer)])

    def stay(self, rng: Random) -> int:
        return rng.choice([n for n, leg in enumerate(self.itinerary.legs) if isinstance(leg.offer, HotelOffer)])


def random_trip(rng: Random, stops: int | None = None) -> Made:
    """`stops`: by default one to four."""
    cities = rng.sample(
        [city.name for city in CITIES if city.name not in ("Auckland", "Honolulu")], (stops or rng.randint(1, 4)) + 1
    )
    party, on, offers = rng.randint(1, 3), day("06-02"), list[Any]()
    rooms, asked = -(-party // 2), []
    for here, there in zip(cities, [*cities[1:], cities[0]], strict=True):
        minutes, facts = rng.choice([70, 200, 340]), {"travellers": party, "number": f"MD{len(offers)}"}
        make = rng.choice([flight, train])
        offers.append(
            make(here, there, f"{on} {rng.choice(['08:10', '09:30', '12:05'])}", minutes, rng.randint(40, 900), **facts)
        )
        if there != cities[0]:
            nights, check_in = rng.randint(1, 4), offers[-1].arrives.date()
            offers.append(hotel(there, f"{check_in}", nights, rng.randint(40, 300), rooms=rooms, stars=rng.randint(2, 5)))
            asked.append(Stop(city=there, nights=nights))
            on = check_in + timedelta(days=nights)
    request = TripRequest(
        origin=cities[0], stops=tuple(asked), window=Window(first=day("06-01"), last=day("07-30")), travellers=party, rooms=rooms
    )
    itinerary = _some_insured(Itinerary.of(request, offers), rng)
    covers = [leg.cover for leg in itinerary.legs if leg.cover]
    return Made(itinerary, request, {each.offer_id: each for each in (*offers, *covers)})


def _some_insured(trip: Itinerary, rng: Random) -> Itinerary:
    legs = tuple(leg.model_copy(update={"cover": _cover(leg)}) if rng.random() < 0.3 else leg for leg in trip.legs)
    return trip.model_copy(update={"legs": legs, "total": sum((leg.price for leg in legs), Decimal(0))})


def _cover(leg: Leg) -> InsuranceOffer | None:
    offer = leg.offer
    if isinstance(offer, HotelOffer):
        return None
    name, known = f"Fare cover {offer.number}", offer.model_dump(include={"currency", "left", "cancellation"})
    return InsuranceOffer(offer_id=f"insurance.{offer.offer_id}", price=Decimal(20), name=name, covers=offer.offer_id, **known)


Operator = Callable[[Made, Random], Made]


def another_total(made: Made, rng: Random) -> Made:
    cents = Decimal(rng.choice([-1, 1, 700])) / 100
    return replace(made, itinerary=made.itinerary.model_copy(update={"total": made.itinerary.total + cents}))


def another_price_by_now(made: Made, rng: Random) -> Made:
    offer = made.itinerary.legs[rng.randrange(len(made.itinerary.legs))].offer
    dearer = offer.model_copy(update={"price": offer.price + rng.choice([-1, 1, 50])})
    return replace(made, quotes=made.quotes | {offer.offer_id: dearer})


def over_budget(made: Made, rng: Random) -> Made:
    return made.wished(budget=made.itinerary.total - Decimal(rng.randint(1, 500)) / 100)


def fees_for_nothing(made: Made, rng: Random) -> Made:
    return replace(made, itinerary=made.itinerary.model_copy(update={"fees": Decimal(rng.randint(1, 90))}))


def to_another_city(made: Made, rng: Random) -> Made:
    n = made.journey(rng)
    known = made.itinerary.legs[n].offer.model_dump()["destination_city"]
    return made.changed(n, destination_city=rng.choice([each.name for each in CITIES if each.name != known]))


def a_train_after_a_late_flight(made: Made, rng: Random) -> Made:
    rides = [n for n, leg in enumerate(made.itinerary.legs) if isinstance(leg.offer, TransportOffer)]
    place = rng.randrange(len(rides) - 1)
    found = made.changed(rides[place], kind="flight").changed(rides[place + 1], kind="train")
    offer = found.itinerary.legs[rides[place]].offer
    lands = offer.arrives.time() if isinstance(offer, TransportOffer) else time(12)
    return found.wished(train_if=TrainIf(landed_before=lands if lands > time(4) else time(12)))


def another_stop_wished(made: Made, rng: Random) -> Made:
    return made.wished(stops=(*made.request.stops, Stop(city="Honolulu", nights=1)))


def more_nights_wished(made: Made, rng: Random) -> Made:
    stops = list(made.request.stops)
    n = rng.randrange(len(stops))
    stops[n] = stops[n].model_copy(update={"nights": stops[n].nights + 1})
    return made.wished(stops=tuple(stops))


def a_night_short(made: Made, rng: Random) -> Made:
    n = made.stay(rng)
    return made.changed(n, check_in=made.itinerary.legs[n].begins + timedelta(days=1))


def a_night_too_early(made: Made, rng: Random) -> Made:
    n = made.stay(rng)
    return made.changed(n, check_in=made.itinerary.legs[n].begins - timedelta(days=1))


def left_already(made: Made, rng: Random) -> Made:
    return replace(made, now=datetime.fromisoformat("2025-06-02T23:59:00+00:00"))


def no_time_to_change(made: Made, rng: Random) -> Made:
    """The first journey arrives when the next one leaves, or later."""
    journeys = [(n, leg.offer) for n, leg in enumerate(made.itinerary.legs) if isinstance(leg.offer, TransportOffer)]
    n, _first = journeys[0]
    return made.changed(n, arrives=journeys[1][1].departs + timedelta(minutes=rng.randint(1, 300)))


def by_another_clock(made: Made, rng: Random) -> Made:
    n = made.journey(rng)
    departs = made.itinerary.legs[n].offer.model_dump()["departs"]
    return made.changed(n, departs=departs.replace(tzinfo=None).replace(tzinfo=GAZETTEER.zone("Honolulu")))


def longer_than_it_takes(made: Made, rng: Random) -> Made:
    n = made.journey(rng)
    return made.changed(n, duration_minutes=made.itinerary.legs[n].offer.model_dump()["duration_minutes"] + rng.randint(1, 60))


def for_another_party(made: Made, rng: Random) -> Made:
    return made.wished(travellers=made.request.travellers + 1)


def too_few_rooms(made: Made, rng: Random) -> Made:
    return made.wished(rooms=made.request.rooms + 1)


def gone(made: Made, rng: Random) -> Made:
    name = rng.choice(list(made.quotes))
    return replace(made, quotes={each: offer for each, offer in made.quotes.items() if each != name})


def sold_out(made: Made, rng: Random) -> Made:
    offer = rng.choice(list(made.quotes.values()))
    return replace(made, quotes=made.quotes | {offer.offer_id: offer.model_copy(update={"left": 0})})


def offered_otherwise(made: Made, rng: Random) -> Made:
    offer = rng.choice(list(made.quotes.values()))
    other = {"number": "MD99"} if isinstance(offer, TransportOffer) else {"name": "Elsewhere"}
    return replace(made, quotes=made.quotes | {offer.offer_id: offer.model_copy(update=other)})


def too_many_stars(made: Made, rng: Random) -> Made:
    offer = made.itinerary.legs[made.stay(rng)].offer
    assert isinstance(offer, HotelOffer)
    return made.wished(stars=(offer.stars + 1, 5) if offer.stars < 5 else (1, 4))


def a_change_of_planes(made: Made, rng: Random) -> Made:
    flights = [n for n, leg in enumerate(made.itinerary.legs) if leg.offer.kind == "flight"]
    if not flights:
        return another_stop_wished(made, rng)
    return made.changed(rng.choice(flights), stops=1, via=("FRA",)).wished(direct=Direct.REQUIRED)


def another_way(made: Made, rng: Random) -> Made:
    """Wish for flights where there is a train, or for trains where there is none."""
    is_train = any(leg.offer.kind == "train" for leg in made.itinerary.legs)
    return made.wished(by=By.FLIGHT if is_train else By.TRAIN)


def too_early(made: Made, rng: Random) -> Made:
    return made.wished(hours=JourneyHours(depart=Hours(earliest=time(13))))


def on_a_day_that_is_not_wished(made: Made, rng: Random) -> Made:
    return made.wished(not_on=(Weekday.of(made.itinerary.legs[made.journey(rng)].begins),))


def outside_the_window(made: Made, rng: Random) -> Made:
    last = made.itinerary.legs[-1].ends - timedelta(days=1)
    return made.wished(
        window=Window(first=day("06-01"), last=last) if rng.random() < 0.5 else Window(first=day("06-03"), last=day("07-30"))
    )


def another_past(made: Made, rng: Random) -> Made:
    leg = made.itinerary.legs[0]
    other = leg.model_copy(update={"offer": leg.offer.model_copy(update={"offer_id": "what was booked"})})
    return replace(made, begun={leg.label: other})


def insured_by_another(made: Made, rng: Random) -> Made:
    n = made.journey(rng)
    legs = list(made.itinerary.legs)
    cover = _cover(legs[n])
    assert cover is not None
    cover = cover.model_copy(update={"covers": "another fare"})
    legs[n] = legs[n].model_copy(update={"cover": cover})
    trip = made.itinerary.model_copy(update={"legs": tuple(legs), "total": sum((leg.price for leg in legs), Decimal(0))})
    return replace(made, itinerary=trip, quotes=made.quotes | {cover.offer_id: cover})


OPERATORS: Mapping[str, tuple[Operator, ...]] = {
    "PRICE": (another_total, another_price_by_now),
    "BUDGET": (over_budget,),
    "FEES": (fees_for_nothing,),
    "ROUTE": (to_another_city, another_stop_wished),
    "NIGHTS": (more_nights_wished,),
    "DATE_GAP": (a_night_short,),
    "DATE_OVERLAP": (a_night_too_early,),
    "DATE_PAST": (left_already,),
    "CONDITION": (a_train_after_a_late_flight,),
    "CONNECTION": (no_time_to_change,),
    "TIMEZONE": (by_another_clock, longer_than_it_takes),
    "PARTY": (for_another_party, too_few_rooms),
    "UNAVAILABLE": (gone, sold_out, offered_otherwise),
    "STARS": (too_many_stars,),
    "NOT_DIRECT": (a_change_of_planes,),
    "WAY": (another_way,),
    "HOURS": (too_early,),
    "WEEKDAY": (on_a_day_that_is_not_wished,),
    "WINDOW": (outside_the_window,),
    "PAST_REWRITTEN": (another_past,),
    "OTHER_FARE": (insured_by_another,),
}


# -- answers of operations ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answered:
    validator: AnswerValidator
    answer: Json
    asked: Json


def _booking(made: Made, n: int, **facts: Any) -> Answered:
    offer = made.itinerary.legs[n].offer.model_dump(mode="json")
    answer = {name: offer[name] for name in ("price", "currency", "cancellation")}
    return Answered(
        BOOKING, {**answer, "reservation_id": "R-1", "offer": {**offer, **facts}}, {"price": offer["price"], "offer": offer}
    )


def as_planned(made: Made, rng: Random) -> Answered:
    return _booking(made, rng.randrange(len(made.itinerary.legs)))


def another_night(made: Made, rng: Random) -> Answered:
    n = made.stay(rng)
    return _booking(made, n, check_in=(made.itinerary.legs[n].begins + timedelta(days=1)).isoformat())


def another_day(made: Made, rng: Random) -> Answered:
    n = made.journey(rng)
    departs = made.itinerary.legs[n].offer.model_dump()["departs"]
    return _booking(made, n, departs=(departs + timedelta(days=1)).isoformat())


def another_class(made: Made, rng: Random) -> Answered:
    n = made.stay(rng)
    return _booking(made, n, stars=made.itinerary.legs[n].offer.model_dump()["stars"] % 5 + 1)


def another_name(made: Made, rng: Random) -> Answered:
    n = rng.randrange(len(made.itinerary.legs))
    return _booking(made, n, **({"name": "Elsewhere"} if made.itinerary.legs[n].offer.kind == "hotel" else {"number": "MD99"}))


def another_place(made: Made, rng: Random) -> Answered:
    n = rng.randrange(len(made.itinerary.legs))
    return _booking(made, n, **{"city" if made.itinerary.legs[n].offer.kind == "hotel" else "destination_city": "Oslo"})


def another_party(made: Made, rng: Random) -> Answered:
    return _booking(made, made.stay(rng), rooms=9)


def later_than_allowed(made: Made, rng: Random) -> Answered:
    """A minute after what the conditions of the trains allow for."""
    n = made.journey(rng)
    offer = made.itinerary.legs[n].offer.model_dump()
    later = rng.randint(1, 90)
    lands = offer["arrives"] + timedelta(minutes=later)
    found = _booking(made, n, arrives=lands.isoformat(), duration_minutes=offer["duration_minutes"] + later)
    return replace(found, asked={**found.asked, "lands_by": (lands - timedelta(minutes=1)).isoformat()})


def twice_the_price(made: Made, rng: Random) -> Answered:
    found = as_planned(made, rng)
    return replace(found, answer={**found.answer, "price": 2 * found.answer["price"]})


def another_currency(made: Made, rng: Random) -> Answered:
    found = as_planned(made, rng)
    return replace(found, answer={**found.answer, "currency": "EUR"})


def dearer_terms(made: Made, rng: Random) -> Answered:
    found = as_planned(made, rng)
    terms = found.answer["cancellation"]
    return replace(found, answer={**found.answer, "cancellation": {**terms, "fee": terms["fee"] + rng.randint(1, 90)}})


def paid_otherwise(made: Made, rng: Random) -> Answered:
    asked = {"amount": rng.randint(1, 5000), "currency": "USD", "premiums": [rng.randint(1, 50), None]}
    due = asked["amount"] + asked["premiums"][0]
    return Answered(PAYMENT, {"amount": rng.choice([2 * due, due - 1, asked["amount"]]), "currency": "USD"}, asked)


def yesterdays_plan(made: Made, rng: Random) -> Answered:
    asked = {"plan": "abc", "reservations": {"T1": "R-1", "T2": "R-2"}}
    said = rng.choice([{**asked, "plan": "yesterday"}, {**asked, "reservations": {"T1": "R-1"}}])
    return Answered(SENT, said, asked)


ANSWERS: Mapping[str, tuple[Callable[[Made, Random], Answered], ...]] = {
    "OTHER_DATES": (another_night, another_day, later_than_allowed),
    "OTHER_CLASS": (another_class,),
    "OTHER_NAME": (another_name,),
    "OTHER_PLACE": (another_place,),
    "OTHER_PARTY": (another_party,),
    "OTHER_PRICE": (twice_the_price,),
    "OTHER_CURRENCY": (another_currency,),
    "OTHER_TERMS": (dearer_terms,),
    "OTHER_AMOUNT": (paid_otherwise,),
    "OTHER_PLAN": (yesterdays_plan,),
}
