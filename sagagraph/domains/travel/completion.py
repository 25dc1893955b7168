"""Completion: a request for a trip with everything that follows from what was said, or that nobody minds being assumed.

Budgets, travellers beside the one who asks, cities and currencies are never made up: what only the traveller can know is missing.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from typing import Any, Final

from sagagraph.domains.travel.cities import Gazetteer
from sagagraph.domains.travel.partial import ANY_DOLLARS, FROM_THE_DATES, PartialRequest, Question, unknown_city, with_nights
from sagagraph.domains.travel.request import LONGEST_STAY, rooms_for

IsFar = Callable[[str, str], bool]
Assumptions = Mapping[str, str]
"""By the field of the request: why its value is assumed, in a few words."""
_LONGEST_FROM_DATES: Final = 21
"""Nights. Whoever names days that are farther apart means that the trip is somewhere between them."""
_LEAST_WITH_A_NIGHT: Final = 2
_LONGEST_HOLIDAY: Final = timedelta(days=4)
"""Of those that are no season."""
ON_THE_WAY: Final = "from the dates, one night under way"
_FROM_THE_DAY_BACK: Final = "from the day back"
_ROOM_TO_BEGIN: Final = timedelta(days=14)
"""After the first day, where nobody said by when the trip ends."""
_OF_A_STOP: Final = "stops[{}].nights"


def completed(
    said: PartialRequest, today: date, *, home: str | None = None, is_far: IsFar | None = None
) -> tuple[PartialRequest, Assumptions]:
    """Complete what was said. `home`: where this visitor's last trip began; None: nobody knows. `is_far`: whether one of the
    journeys between two cities takes a night.

    What is still missing afterwards (`PartialRequest.missing`) cannot be assumed.
    """
    assumed: dict[str, str] = dict(said.notes)
    known = said
    for step in (_read_as_likely, _with_origin, _with_nights, _with_days, _with_room):
        update, reasons = step(known, today, home)
        known = known.model_copy(update=update)
        assumed |= reasons
    if is_far is not None:
        known, reasons = _with_a_night_on_the_way(known, assumed, is_far)
        assumed |= reasons
    return known, assumed | dict(_usual(known))


_EURO: Final = (
    "Austria Belgium Bulgaria Croatia Cyprus Estonia Finland France Germany Greece Ireland Italy Latvia Lithuania Luxembourg "
    "Malta Netherlands Portugal Slovakia Slovenia Spain"
)
_AT_HOME: Final = dict.fromkeys(_EURO.split(), "EUR") | {
    "Australia": "AUD", "Brazil": "BRL", "Canada": "CAD", "China": "CNY", "Czechia": "CZK", "Denmark": "DKK",
    "Hong Kong": "HKD", "Hungary": "HUF", "Iceland": "ISK", "India": "INR", "Indonesia": "IDR", "Israel": "ILS",
    "Japan": "JPY", "Malaysia": "MYR", "Mexico": "MXN", "New Zealand": "NZD", "Norway": "NOK", "Philippines": "PHP",
    "Poland": "PLN", "Romania": "RON", "Singapore": "SGD", "South Africa": "ZAR", "South Korea": "KRW", "Sweden": "SEK",
    "Switzerland": "CHF", "Thailand": "THB", "Turkey": "TRY", "United Kingdom": "GBP", "United States": "USD",
}  # fmt: skip
"""Currencies of budgets, by the country where they are used."""
_WITH_ARTICLE: Final = ("Netherlands", "Philippines", "United Kingdom", "United States")
_NEAR_KM: Final = 500
_OTHER_DOLLARS: Final = ("AUD", "CAD", "HKD", "NZD", "SGD")


def with_currency_at_home(said: PartialRequest, cities: Gazetteer) -> PartialRequest:
    """Assume of amounts without a currency, and of crowns, yens and pesos, that they are those of the country of the start."""
    start = cities.find_name(said.origin) if said.origin else None
    here = _AT_HOME.get(start.country) if start else None
    if start is None or here is None:
        return said
    because = f"as used in {'the ' if start.country in _WITH_ARTICLE else ''}{start.country}"
    if ("currency", ANY_DOLLARS) in said.notes:
        notes = tuple(each for each in said.notes if each[0] != "currency")
        notes += (("currency", because),) if here in _OTHER_DOLLARS else ()
        return said.model_copy(update={"currency": here if here in _OTHER_DOLLARS else "USD", "notes": notes})
    likely = {"otherwise": (("currency", here),), "because": because}
    doubts = tuple(
        each.model_copy(update=likely) if each.field == "currency" and here in each.candidates else each for each in said.doubts
    )
    known = said.model_copy(update={"doubts": doubts})
    is_said = said.currency is not None or (said.budget is None and said.budget_each is None)
    if is_said or any(each.field == "currency" for each in doubts):
        return known
    return known.model_copy(update={"currency": here, "notes": (*said.notes, ("currency", because))})


def with_the_nearest(said: PartialRequest, cities: Gazetteer) -> PartialRequest:
    """Assume of several cities of one name the one that is near to the rest of the trip, and big."""
    named = [name for name in (said.origin, *(stop.city for stop in said.stops)) if name]
    known = [city for name in named if (city := cities.find_name(name))]

    def nearest(candidates: tuple[str, ...]) -> str:
        places = [city for name in candidates if (city := cities.find_name(name))]
        return max(
            places, key=lambda place: (place.population or 1) / min(max(place.distance_km(city), _NEAR_KM) for city in known)
        ).name

    if not known:
        return said
    stops = tuple(
        stop.model_copy(update={"likely": nearest(stop.candidates)}) if stop.candidates else stop for stop in said.stops
    )
    doubts = tuple(
        unknown_city(each.field, each.text, each.candidates, nearest(each.candidates))
        if each.field in ("origin", "return_to") and each.candidates and each.otherwise
        else each
        for each in said.doubts
    )
    return said.model_copy(update={"stops": stops, "doubts": doubts})


_Step = tuple[dict[str, Any], dict[str, str]]


def _read_as_likely(said: PartialRequest, _today: date, _home: str | None) -> _Step:
    """Take the likely reading of what can be read in two ways."""
    update: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    for doubt in said.doubts:
        if doubt.otherwise:
            fields = {name: getattr(_typed(doubt), name) for name, _ in doubt.otherwise}
            update |= fields
            reasons |= dict.fromkeys(_named(doubt, fields), doubt.because)
    if said.stops and "stops" not in update:
        likely = tuple(stop.as_likely() for stop in said.stops)
        found = {f"stops[{n}].city": f"read {stop.said!r} so" for n, stop in enumerate(said.stops) if likely[n] != stop}
        update, reasons = update | ({"stops": likely} if found else {}), reasons | found
    left = tuple(each for each in said.doubts if not each.otherwise)
    return update | {"doubts": left}, reasons


def _typed(doubt: Question) -> PartialRequest:
    return PartialRequest.model_validate(dict(doubt.otherwise))


def _named(doubt: Question, fields: Mapping[str, Any]) -> tuple[str, ...]:
    names = {"first": "window", "last": "window", "budget_each": "budget", "one_way": "return_to"}
    return tuple(dict.fromkeys(names.get(name, name) for name in fields if name != "stops")) or (doubt.field,)


def _with_origin(said: PartialRequest, _today: date, home: str | None) -> _Step:
    if said.stay_only:
        return {"origin": said.stops[0].city if said.stops else None, "return_to": None, "one_way": True}, {}
    is_asked = any(each.field == "origin" for each in said.doubts)
    if said.origin is None and said.return_to is not None and not is_asked:
        return {"origin": said.return_to}, {"origin": "where the trip ends"}
    if said.origin is not None or home is None or is_asked or home in {stop.city for stop in said.stops}:
        return {}, {}
    return {"origin": home}, {"origin": "as on the last trip"}


def _with_nights(said: PartialRequest, _today: date, _home: str | None) -> _Step:
    """Derive nights from their total, or from the days between which the trip lies."""
    open_stops = [n for n, stop in enumerate(said.stops) if stop.nights is None]
    if not open_stops:
        return {}, {}
    taken = sum(stop.nights or 0 for stop in said.stops)
    why = "a part of the whole" if len(said.stops) > 1 else "about as long as was said"
    span = _span(said)
    is_one_flight = said.one_way and not said.stay_only and taken == 0 and len(said.stops) == 1
    if said.total_nights is not None:
        left = said.total_nights - taken
    elif is_one_flight and (said.hotels is False or span is None):
        left, why = 0, "one way, no hotel"
    elif span is not None:
        left, why = span - taken, FROM_THE_DATES
    else:
        return {}, {}
    is_day_trip = left == 0 and taken == 0 and len(said.stops) == 1
    if left > LONGEST_STAY or (left < len(open_stops) and not is_day_trip):
        return {}, {}
    each, more = divmod(left, len(open_stops))
    given = {n: each + (place < more) for place, n in enumerate(open_stops)}
    return {"stops": with_nights(said.stops, given)}, {_OF_A_STOP.format(n): why for n in open_stops}


def _with_a_night_on_the_way(said: PartialRequest, assumed: Assumptions, is_far: IsFar) -> tuple[PartialRequest, dict[str, str]]:
    """Take one night off those that lie between two days, where one is spent on the way there or back.

    Where only the day back is known, whoever spends that night may leave a day earlier.
    """
    last = len(said.stops) - 1
    if assumed.get("window") == _FROM_THE_DAY_BACK and said.depart and said.origin and (city := said.stops[last].city):
        earlier = {"depart": None, "first": said.depart - timedelta(days=1)}
        return said.model_copy(update=earlier if is_far(said.origin, city) else {}), {}
    name = _OF_A_STOP.format(last)
    if assumed.get(name) != FROM_THE_DATES or said.origin is None or said.one_way:
        return said, {}
    stop = said.stops[last]
    if stop.city is None or (stop.nights or 0) < _LEAST_WITH_A_NIGHT or not is_far(said.origin, stop.city):
        return said, {}
    return said.model_copy(update={"stops": with_nights(said.stops, {last: (stop.nights or 0) - 1})}), {name: ON_THE_WAY}


def _span(said: PartialRequest) -> int | None:
    """Return how many nights lie between the first and the last day; None if these only say when the trip can be."""
    first = said.depart or said.first
    if first is None or said.last is None or said.is_rough or said.is_window:
        return None
    nights = (said.last - first).days
    return nights if 0 <= nights <= (_LONGEST_FROM_DATES if said.depart is None else LONGEST_STAY) else None


def _with_days(said: PartialRequest, today: date, _home: str | None) -> _Step:
    """Complete a window that only begins or only ends."""
    nights = timedelta(days=sum(stop.nights or 0 for stop in said.stops))
    if said.begins_by is not None and said.depart is None:
        return {"last": said.begins_by + nights}, {"window": "any of these days"}
    if said.depart is not None or (said.first is None) is (said.last is None):
        return {}, {}
    if said.last is None and said.first is not None:
        return {"last": said.first + nights + _ROOM_TO_BEGIN}, {"window.last": "begins within two weeks"}
    is_counted = said.is_home_then and all(stop.nights is not None for stop in said.stops)
    if is_counted and said.last is not None and said.last - nights > today:
        return {"depart": said.last - nights}, {"window": _FROM_THE_DAY_BACK}
    return {"first": today}, {"window.first": "from today on"}


def _with_room(said: PartialRequest, today: date, _home: str | None) -> _Step:
    """Lengthen a part of a month that is shorter than the nights; a holiday lies somewhere within them."""
    nights = sum(stop.nights or 0 for stop in said.stops)
    if said.depart is not None or said.first is None or said.last is None:
        return {}, {}
    is_weekend = (said.last - said.first).days == 2 and said.first.weekday() == calendar.FRIDAY
    if not said.is_rough and not is_weekend:
        return {}, {}
    short = nights - (said.last - said.first).days
    if short <= 0:
        return {}, {}
    before = timedelta(days=0 if is_weekend or said.last - said.first > _LONGEST_HOLIDAY else short)
    return {"first": max(today, said.first - before), "last": said.last + timedelta(days=short)}, {
        "window": "as long as the nights"
    }


def _usual(said: PartialRequest) -> Iterator[tuple[str, str]]:
    is_asked = any(each.field == "travellers" for each in said.missing())
    if said.travellers is None and not is_asked:
        yield "travellers", "nobody else was mentioned"
    people, children = said.travellers or 1, said.children or 0
    if said.rooms is None and people > 1:
        is_shared = rooms_for(people, children) < rooms_for(people, 0)
        yield "rooms", "two in each room, and a child beside them" if is_shared else "two in each room"
    is_paid = said.budget is not None or said.budget_each is not None
    if is_paid and said.currency is None and not any(each.field == "currency" for each in said.doubts):
        yield "currency", "the one of the prices"
    if said.return_to is None and said.one_way is None and said.origin is not None:
        yield "return_to", "a round trip"
