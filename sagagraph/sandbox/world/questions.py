"""Questions about the world: what is on offer. Equal questions have equal answers; bookings are kept elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from sagagraph.sandbox.clock import YEARS
from sagagraph.sandbox.world.cities import City, cities_by_key
from sagagraph.sandbox.world.flights import flights_between
from sagagraph.sandbox.world.hotels import hotels_in
from sagagraph.sandbox.world.offers import INSURANCE, Offer, OfferKind
from sagagraph.sandbox.world.trains import trains_between

_DAY = r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
_CITY = r"([A-Z]{3}|[1-9][0-9]{0,9})"
_JOURNEY_ID = re.compile(rf"(flight|train)\.{_CITY}-{_CITY}\.{_DAY}\.[A-Z0-9]+\.x([1-9][0-9]{{0,2}})(?:c([1-9][0-9]{{0,2}}))?")
_STAY_ID = re.compile(rf"hotel\.{_CITY}-[0-9]\.{_DAY}\.{_DAY}\.x([1-9][0-9]{{0,2}})")


@dataclass(frozen=True)
class JourneyQuestion:
    kind: Literal["flight", "train"]
    origin: City
    destination: City
    day: date
    travellers: int
    children: int = 0
    """Of the travellers."""

    @property
    def first_day(self) -> date:
        return self.day

    def offers(self) -> list[Offer]:
        if self.day.year not in YEARS:
            return []
        search = flights_between if self.kind == "flight" else trains_between
        offers = search(self.origin, self.destination, self.day, self.travellers)
        return [replace(each, children=self.children) for each in offers] if self.children else offers


@dataclass(frozen=True)
class StayQuestion:
    city: City
    check_in: date
    check_out: date
    rooms: int

    @property
    def kind(self) -> OfferKind:
        return "hotel"

    @property
    def first_day(self) -> date:
        return self.check_in

    def offers(self) -> list[Offer]:
        if self.check_in.year not in YEARS or self.check_out.year not in YEARS:
            return []
        return hotels_in(self.city, self.check_in, self.check_out, self.rooms)


Question = JourneyQuestion | StayQuestion


def find_offer(offer_id: str) -> Offer | None:
    """Find the offer with this id, for the quantity that the id names; None if there never was such an offer."""
    if offer_id.startswith(INSURANCE):
        fare = find_offer(offer_id.removeprefix(INSURANCE))
        return fare.cover() if fare is not None and fare.kind in ("flight", "train") else None
    question = _question_behind(offer_id)
    if question is None:
        return None
    return next((offer for offer in question.offers() if offer.offer_id == offer_id), None)


def _question_behind(offer_id: str) -> Question | None:
    try:
        if match := _JOURNEY_ID.fullmatch(offer_id):
            kind, origin, destination, day, travellers, children = match.groups(default="0")
            ends = cities_by_key().get(origin), cities_by_key().get(destination)
            if ends[0] and ends[1] and int(children) <= int(travellers):
                journey: Literal["flight", "train"] = "flight" if kind == "flight" else "train"
                return JourneyQuestion(journey, ends[0], ends[1], date.fromisoformat(day), int(travellers), int(children))
        if match := _STAY_ID.fullmatch(offer_id):
            key, check_in, check_out, rooms = match.groups()
            if city := cities_by_key().get(key):
                days = date.fromisoformat(check_in), date.fromisoformat(check_out)
                return StayQuestion(city, *days, int(rooms))
    except ValueError:  # 30 February
        pass
    return None
