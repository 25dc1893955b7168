"""Model reading: what a model may fill in of a trip, and how that goes together with what the rules have read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from rapidfuzz import fuzz

from sagagraph.domains.travel.cities import name_key
from sagagraph.domains.travel.partial import BUDGET_FIELDS, PartialRequest, PartialStop
from sagagraph.domains.travel.request import Prefer
from sagagraph.planning.models.anchors import Anchor
from sagagraph.planning.models.reading import Slot

if TYPE_CHECKING:
    from sagagraph.domains.travel.cities import Gazetteer


def _words(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.DOTALL)


_DIRECT: Final = _words(r"direct|non.?stop|direkt|umsteig|zwischenstop|escale|correspondance|escala|stop|chang")
_BY: Final = _words(r"train|rail|zug|bahn|tren|fl[yiu]|plane|avi[oó]n|voler|vuel|vol\b")
_ONE_WAY: Final = _words(r"one.?way|einfach|hinflug|aller simple|sans retour|ida|not return|no return|rück")
_TRAIN_IF: Final = _words(r"(?=.*(?:train|zug|bahn|tren))(?=.*(?:land|arriv|ankomm|atterr|llega|aterriz))")
SLOTS: Final = (
    Slot("origin", Anchor.NAME, "the city where the trip starts, by its English name"),
    Slot("stops[N].city", Anchor.NAME, "a city to stay in, by its English name, in the order of travel"),
    Slot("stops[N].nights", Anchor.NIGHTS, "nights there"),
    Slot("stops[N].stars", Anchor.RANGE, "stars of the hotels there alone"),
    Slot("stops[N]", Anchor.NAME, "empty: that city is given up"),
    Slot("total_nights", Anchor.NIGHTS, "nights that are shared among several cities"),
    Slot("return_to", Anchor.NAME, "the city where the trip ends, if it is another one than the start"),
    Slot("one_way", Anchor.FLAG, "yes: they do not come back", _ONE_WAY),
    Slot("first", Anchor.FIRST_DAY, "the first day on which it can begin"),
    Slot("last", Anchor.LAST_DAY, "the day by which it has ended"),
    Slot("depart", Anchor.DAY, "the day on which it begins, if only one will do"),
    Slot("travellers", Anchor.PEOPLE, "how many travel, children included"),
    Slot("children", Anchor.PEOPLE, "of them, children under 12"),
    Slot("rooms", Anchor.PEOPLE, "rooms"),
    Slot("budget", Anchor.MONEY, "the most that all of it may cost"),
    Slot("budget_each", Anchor.MONEY, "the most that it may cost each traveller"),
    Slot("stars", Anchor.RANGE, "stars of all hotels"),
    Slot("direct", Anchor.CHOICE, "any, preferred or required: direct flights", _DIRECT),
    Slot("by", Anchor.CHOICE, "train or flight: they want to go in no other way", _BY),
    Slot("prefer", Anchor.CHOICE, f"which plan comes first: {', '.join(Prefer)}"),
    Slot("parts", Anchor.CHOICE, "journeys: no hotel is wanted; hotel: only a hotel is"),
    Slot("order", Anchor.FLAG, "yes: the cities may be visited in any order"),
    Slot("hours.depart.earliest", Anchor.TIME, "no journey leaves before"),
    Slot("hours.depart.latest", Anchor.TIME, "no journey leaves after"),
    Slot("hours.arrive.earliest", Anchor.TIME, "no journey arrives before"),
    Slot("hours.arrive.latest", Anchor.TIME, "no journey arrives after"),
    Slot("insured", Anchor.FLAG, "yes: insure the fares"),
    Slot("train_if.landed_before", Anchor.TIME, "a train is wished only if the flight lands before", _TRAIN_IF),
    Slot("train_if.to", Anchor.NAME, "the city of that train", _TRAIN_IF),
)
_CLOSE_ENOUGH: Final = 80
"""Of 100: `Lissabon` is Lisbon, and `Rome` is not Paris."""
_TOGETHER: Final = {
    "budget": (*BUDGET_FIELDS, "currency"),
    "budget_each": (*BUDGET_FIELDS, "currency"),
    "return_to": ("return_to", "one_way"),
    "one_way": ("return_to", "one_way"),
    "parts": ("hotels", "stay_only"),
}
"""Fields of a request that one on the board changes."""


def is_named(cities: Gazetteer, name: str, quote: str) -> bool:
    """Tell whether the words name the city, in whatever language."""
    city = cities.find_name(name)
    if city is None:
        return False
    words = [each.strip(",.;:!?") for each in name_key(quote).split()]
    size = len(name_key(city.name).split())
    spans = (" ".join(words[at : at + each]) for each in {size, max(size - 1, 1), size + 1} for at in range(len(words)))
    own = name_key(city.name.split(", ")[0])
    known = {span: cities.find(span) for span in spans}
    return any(found.name == city.name if found else fuzz.ratio(span, own) >= _CLOSE_ENOUGH for span, found in known.items())


def together(ours: PartialRequest, theirs: PartialRequest, touched: frozenset[str]) -> PartialRequest:
    """Return the model's reading of what it has `touched`, and the rules' of all else, and of nights that it leaves open."""
    names = {each for name in touched for each in _TOGETHER.get(name, (name,))}
    fields: dict[str, Any] = {name: getattr(theirs, name) for name in names if getattr(theirs, name) not in (None, ())}
    if "stops" in fields:
        nights = {stop.city: stop.nights for stop in ours.stops}
        fields["stops"] = tuple(_with_nights(stop, nights.get(stop.city)) for stop in theirs.stops)
    return ours.updated_by(PartialRequest(**fields))


def _with_nights(stop: PartialStop, nights: int | None) -> PartialStop:
    return stop if stop.nights is not None else stop.lasting(nights)
