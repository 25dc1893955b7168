"""Changes of the days: `a week later`, computed from what was said before; if that is unclear, a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.request import month_window
from sagagraph.domains.travel.text.stays import Stay
from sagagraph.domains.travel.wording import count_text, day_text
from sagagraph.language.forms import Forms
from sagagraph.language.quantities import NIGHTS, Quantity

if TYPE_CHECKING:
    from datetime import date

    from sagagraph.domains.travel.text.partial import PartialRequest
    from sagagraph.domains.travel.text.slots import Said
    from sagagraph.language.passage import Found, Passage

_SAYS: Final = Forms(__file__, "changes")


def read_shifts(passage: Passage, said: Said, known: PartialRequest, today: date) -> list[Stay]:
    """Read `a week later`. Without earlier statements there is nothing to change. A later journey back means more nights."""
    nights: list[Stay] = []
    shifts: set[int] = set()
    passage.take(_SAYS.moved, lambda found: _moved(found, nights, shifts, said, known, today))
    return [each for each in nights if each.change not in shifts]  # `leave a day later, be back a day later`


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


def _moved(found: Found, nights: list[Stay], shifts: set[int], said: Said, known: PartialRequest, today: date) -> bool:
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
        change = by * NIGHTS[span.unit]
        nights.append(Stay(found.start, found.end, abs(change), "", words, change))
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
