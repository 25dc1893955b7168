"""Changes: `one night longer`, `a week later`, computed from what was said before; if that is unclear, a question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.request import month_window
from sagagraph.domains.travel.wording import count_text, day_text
from sagagraph.language.forms import Forms
from sagagraph.language.numbers import Number
from sagagraph.language.places import Place
from sagagraph.language.quantities import NIGHTS, Quantity

if TYPE_CHECKING:
    from datetime import date

    from sagagraph.domains.travel.text.partial import PartialRequest, PartialStop
    from sagagraph.domains.travel.text.slots import Said
    from sagagraph.language.passage import Found, Passage

_SAYS: Final = Forms(__file__, "changes")


@dataclass(frozen=True)
class NightsChange:
    by: int
    said: str
    city: str | None = None
    """None: not said where."""
    is_everywhere: bool = False
    is_way_back: bool = False


def read_changes(passage: Passage, said: Said, known: PartialRequest, today: date) -> list[NightsChange]:
    """Read changes. Without earlier statements there is nothing to change. Nights are left to `with_changed_nights`."""
    nights: list[NightsChange] = []
    shifts: set[int] = set()
    passage.take(_SAYS.moved, lambda found: _moved(found, nights, shifts, said, known, today))
    nights = [each for each in nights if not (each.is_way_back and each.by in shifts)]  # `leave a day later, be back a day later`
    passage.take(_SAYS.carried, lambda found: _carried(found, nights, known))
    passage.take(_SAYS.freed, lambda found: _freed(found, nights, known))
    passage.take(_SAYS.nights, lambda found: _nights(found, nights, known))
    given = passage.take(_SAYS.given, lambda found: bool(nights) and nights[-1].by < 0 and _stop_of(found, known) is not None)
    nights += [NightsChange(-nights[-1].by, each.said, known.stops[_stop_of(each, known) or 0].city) for each in given]
    for found in passage.take(_SAYS.vague, lambda found: _stop_of(found, known) is not None):
        number = _stop_of(found, known) or 0
        said.ask(f"stops[{number}].nights", f"{found.said!r}: how many nights in {known.stops[number].city}?")
    return nights


def with_named(text: str, known: PartialRequest) -> str:
    """Return the text with the one known city that it has named before, in place of `it`; a hotel there may be meant as well."""
    cities = [stop.city for stop in known.stops if stop.city]
    others = [city for city in cities if city.casefold() not in text.casefold()]
    if len(cities) == 2 and len(others) == 1 and not _SAYS.of_a_part.search(text):
        text = _SAYS.other_one.sub(others[0], text)
    found = _SAYS.of_it.search(text)
    before = text[: found.start()].casefold() if found else ""
    named = [stop.city for stop in known.stops if stop.city and stop.city.casefold() in before]
    if found is None or len(named) != 1 or _SAYS.of_a_part.search(before):
        return text
    return f"{found['verb']} {named[0]}{text[found.end() :]}"


def _stop_of(found: Found, known: PartialRequest) -> int | None:
    place = found.get("place", Place)
    return next((n for n, stop in enumerate(known.stops) if place is not None and stop.city == place.city), None)


# -- nights --------------------------------------------------------------------------------------------------------------


def _carried(found: Found, nights: list[NightsChange], known: PartialRequest) -> bool:
    """Read `move one night from Paris to Amsterdam`."""
    span, given, taken = found.get("span", Quantity), found.get("b", Place), found.get("a", Place)
    by = (span.count or 0) * NIGHTS.get(span.unit, 0) if span else 0
    are_stops = given and taken and {given.city, taken.city} <= {stop.city for stop in known.stops}
    if given and taken and are_stops and by:
        words = found.passage.said(found.match["said"])
        nights += [NightsChange(-by, words, taken.city), NightsChange(by, words, given.city)]
    return bool(are_stops and by)


def _freed(found: Found, nights: list[NightsChange], known: PartialRequest) -> bool:
    """Read `remove Amsterdam and spend the 2 nights (or the time) in Paris`, which adds them to those in Paris."""
    span, place = found.get("span", Quantity), found.get("place", Place)
    named = {each.city for each in found.passage.values(Place)}
    freed = [stop.nights or 0 for stop in known.stops if place and stop.city in named - {place.city}]
    by = (span.count or 0) * NIGHTS.get(span.unit, 0) if span else sum(freed)
    if place and by in freed:
        nights.append(NightsChange(by, found.passage.said(found.match["said"]), place.city))
    return by in freed


def _nights(found: Found, nights: list[NightsChange], known: PartialRequest) -> bool:
    """Read nights, except for a stop that does not exist: `two more nights in Rome` then says how long to stay there."""
    span, number = found.get("span", Quantity), found.get("n", Number)
    if span is not None:
        by = span.delta * NIGHTS.get(span.unit, 0) if span.change in ("more", "less") and not span.bound else 0
    else:
        by = (number.count or 0 if number else 0) * (-1 if found["way"] in ("less", "fewer", "shorter", "off") else 1)
    before = found.led_by(_SAYS.place_before)
    place = found.get("place", Place) or (found.passage.values(Place, before[0])[0] if before else None)
    words = found.passage.said(found.match["said"])
    within = (stop.city for stop in known.stops if stop.city and stop.city in words)  # `cut the stay in Paris by one night`
    city = place.city if place else next(within, None)
    if by == 0 or not known.stops or (place is not None and all(stop.city != city for stop in known.stops)):
        return False
    nights.append(NightsChange(by, words, city, bool(found["everywhere"])))
    return True


def with_changed_nights(stops: tuple[PartialStop, ...], changes: list[NightsChange], said: Said) -> tuple[PartialStop, ...]:
    for change in changes:
        meant = [n for n, stop in enumerate(stops) if change.is_everywhere or change.city in (stop.city, None)]
        if len(meant) > 1 and not change.is_everywhere:
            how = f"{count_text(abs(change.by), 'night')} {'more' if change.by > 0 else 'less'}"
            names = list(dict.fromkeys(stops[n].city or stops[n].said for n in meant))
            candidates = tuple(f"{how} in {name}" for name in names)
            said.ask("stops", f"{change.said!r}: where, in {' or '.join(names)}?", candidates)
            continue
        for n in meant:
            nights = stops[n].nights
            if nights is not None and nights + change.by < 1:
                text = f"{change.said!r} leaves no night in {stops[n].city}: how many nights do you want to stay there?"
                said.ask(f"stops[{n}].nights", text)
            elif nights is not None:
                stops = (*stops[:n], stops[n].lasting(nights + change.by), *stops[n + 1 :])
    return stops


# -- days ----------------------------------------------------------------------------------------------------------------


def _moved(found: Found, nights: list[NightsChange], shifts: set[int], said: Said, known: PartialRequest, today: date) -> bool:
    """Move the trip: a later journey back means nights, a later trip means other days, `shifts` of days."""
    span, way = found.get("span", Quantity), found["way"]
    if span is None or span.count is None or (known.depart or known.first or known.last) is None:
        return False
    if not (span.change in ("later", "earlier") or way or found["to"]):
        everything = None if span.change else _SAYS.all_of_it.search(found.said)
        if everything is not None:
            by_how_much = count_text(span.count, span.unit)
            ways = f"{by_how_much} later", f"{by_how_much} earlier"
            said.ask("window", f"{found.said!r}: {by_how_much} later, or {by_how_much} earlier?", ways)
        return everything is not None
    is_earlier = span.change == "earlier" or way.startswith("bring") or found["to"] in ("forward", "up")
    by = -span.count if is_earlier else span.count
    if _SAYS.coming_back.search(found.match.string[: found.start]) and span.unit in NIGHTS and known.stops:
        words = f"{count_text(span.count, 'night')} {'longer' if by > 0 else 'less'}"
        nights.append(NightsChange(by * NIGHTS[span.unit], words, is_way_back=True))
        return True
    shifts.add(by * NIGHTS.get(span.unit, 0))
    days = _moved_days(known, by, span.unit)
    first = days.get("depart") or days.get("first")
    if not days:
        said.ask("window", f"{found.said!r}: between which days, or leaving on which day, do you want to travel?")
    elif first is not None and first < today:
        said.ask("window", f"When do you want to travel? {day_text(first)} is in the past.")
    else:
        said.fields |= days
    return True


def _moved_days(known: PartialRequest, by: int, unit: str) -> dict[str, date]:
    """Return the moved days; none for a month in which any day would do, because a week later then says nothing."""
    from dateutil.relativedelta import relativedelta

    first, last = known.first, known.last
    month = month_window(first.year, first.month) if first else None
    is_whole_month = month is not None and (first, last) == (month.first, month.last)
    if unit in NIGHTS:
        shift = relativedelta(days=by * NIGHTS[unit])
        said = {"depart": known.depart} if is_whole_month else {"depart": known.depart, "first": first, "last": last}
        return {name: day + shift for name, day in said.items() if day is not None}
    shift = relativedelta(months=by) if unit == "month" else relativedelta(years=by)
    days = {"depart": known.depart, "first": first, "last": last}
    moved = {name: day + shift for name, day in days.items() if day is not None}
    if is_whole_month:
        window = month_window(moved["first"].year, moved["first"].month)
        moved |= {"first": window.first, "last": window.last}
    return moved
