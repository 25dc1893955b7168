"""Route: where a trip starts, which cities it visits and for how long, and where it ends."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.partial import Question, unknown_city
from sagagraph.domains.travel.text.changes import anchors_of, with_changed_nights
from sagagraph.domains.travel.text.stays import (
    WHERE,
    Role,
    Visit,
    corrected,
    find_stays,
    find_visits,
    give_nights,
    has_role,
    take_stays,
    with_loose_nights,
)
from sagagraph.domains.travel.wording import count_text
from sagagraph.language.forms import Forms
from sagagraph.language.places import Place

if TYPE_CHECKING:
    from sagagraph.domains.travel.partial import PartialRequest, PartialStop, Said
    from sagagraph.domains.travel.text.stays import Stay
    from sagagraph.language.passage import Passage

_SAYS: Final = Forms(__file__, "route")

# -- reading -------------------------------------------------------------------------------------------------------------


def read_route(passage: Passage, said: Said, known: PartialRequest, *, asked: str | None, whole: str) -> list[str]:
    """Read the stops and return what is not understood. `asked`: the field of the question that the text may be the answer to.

    `whole`: the sentence as it was written.
    """
    has_days = not said.fields.keys().isdisjoint(("first", "last", "depart"))
    visits, stays, only = find_visits(passage), find_stays(passage, has_days=has_days), _only_stop(passage, known)
    is_added = _SAYS.added.search(whole) is not None
    if asked in ("origin", "return_to") and not is_added and [visit.role for visit in visits] == [Role.BARE]:
        visits[0].role = Role.ORIGIN if asked == "origin" else Role.RETURN
    stays_in = {stop.city for stop in known.stops}
    is_put_first = known.stops and passage.has(_SAYS.goes_first) and not has_role(Role.NEXT, visits)
    if anchors_of(visits, stays_in) or is_put_first or _is_wondered(visits, passage.text):
        take_stays(passage)
        return [each.place.said for each in visits]
    loose = give_nights(visits, stays, passage.text)
    visits = corrected(visits, passage.text, stays_in)
    before = known.stops
    known, loose = with_changed_nights(visits, loose, known, said)
    if any(visit.role is Role.LEFT_OUT and visit.city == only for visit in visits):  # `cancel Amsterdam only`
        only = None
    for visit in visits:  # `change Paris to 2 nights`
        if visit.role is Role.REPLACED and visit.has_nights and {each.city for each in visits} <= stays_in:
            visit.role = Role.PLACE
    _for_another(visits, known, passage)
    visits, unread = _without_legs(visits, known, whole)
    take_stays(passage)
    if not is_added:
        unclear = _unclear_place(visits, known, whole, asked=asked, is_leg=bool(unread))
        is_added = bool(known.stops) and has_role(Role.VIA, visits) and _SAYS.back.search(whole) is not None
        if unclear is not None and not is_added:
            said.doubts.append(unclear)
            return unread
    stops = _assemble(visits, said, known, unread, is_added=is_added)
    now = tuple(stop for stop in (known.stops if stops is None else stops) if only in (None, stop.city))
    is_answer = only is not None or (not visits and known.stops != ())
    now = with_loose_nights(now, loose, named={each.city for each in visits if not each.has_nights}, is_answer=is_answer)
    now = _with_total(now, stays, loose, said)
    if now and now[-1].city is not None and said.fields.get("return_to") == now[-1].city:
        said.fields |= {"return_to": None, "one_way": True}
    if now != before:
        said.fields["stops"] = now
        if any(stay.unit == "day" and stay.change is None for stay in stays):
            lasting = [n for n, stop in enumerate(now) if stop.nights]
            said.notes += [(f"stops[{n}].nights", "a night for each day") for n in lasting]
    stay_in = {stop.city for stop in (*now, *known.stops)}
    counts = {*(stop.nights for stop in now), sum(stop.nights or 0 for stop in now), said.fields.get("total_nights")}
    return [
        *unread,
        *(f"without {each.place.said}" for each in visits if each.role is Role.LEFT_OUT and each.city not in stay_in),
        *(f"home from {each.place.said}" for each in visits if each.role is Role.LEFT_LAST and now and each.city != now[-1].city),
        *(stay.said for stay in loose if now and stay.nights not in counts),
    ]


def _with_total(now: tuple[PartialStop, ...], stays: list[Stay], loose: list[Stay], said: Said) -> tuple[PartialStop, ...]:
    """Take how long the whole trip is, and return the stops, of which a single one lasts as long as its dates."""
    totals = {stay.nights for stay in loose if stay.kind not in ("each", "listed") and stay.nights is not None}
    if len(totals) == 1 and len(now) > 1 and any(stop.nights is None for stop in now):
        said.fields["total_nights"] = totals.pop()
    if len(now) == 1 and now[0].nights is None and len(stays) == 1 and stays[0].nights is None:
        said.fields["total_nights"] = stays[0].about
    begins, ends_on = (said.fields.get(name) for name in ("first", "last"))
    in_days = now[0].nights if len(now) == 1 and {stay.unit for stay in stays} == {"day"} else None
    if in_days and begins and ends_on and in_days == (ends_on - begins).days + 1 and not said.fields.get("is_rough"):
        now = (now[0].lasting(in_days - 1),)  # `5 days, 10 to 14 June`
    return now


def _is_wondered(visits: list[Visit], text: str) -> bool:
    """Tell whether somebody only wonders about a whole way: `Bonn to Sylt? Too dear.`"""
    ways = (there.end for here, there in pairwise(visits) if here.role is Role.ORIGIN and there.role is Role.LEFT_OUT)
    return any(text[end:].lstrip().startswith("?") for end in ways)


def _only_stop(passage: Passage, known: PartialRequest) -> str | None:
    """Read `Paris only`: the other stops are left out."""
    found = passage.first(_SAYS.only)
    place = found and (found.get("place", Place) or found.get("after", Place))
    is_one = place is not None and len({each.city for each in passage.values(Place)}) == 1
    return place.city if place and is_one and place.city in [stop.city for stop in known.stops] else None


def _for_another(visits: list[Visit], known: PartialRequest, passage: Passage) -> None:
    """Read `Brussels for Amsterdam`: one city for another."""
    stays = {stop.city for stop in known.stops}
    for new, old in pairwise(visits):
        is_swapped = new.city not in stays and old.city in stays and not (new.has_nights or old.has_nights)
        if is_swapped and new.role is Role.BARE and _SAYS["for"].fullmatch(passage.text, new.end, old.start):
            old.role = Role.REPLACED


# -- a route that is known already ---------------------------------------------------------------------------------------


def _without_legs(visits: list[Visit], known: PartialRequest, whole: str) -> tuple[list[Visit], list[str]]:
    """Leave out legs, and name them: `a train from Paris to Rome` starts no trip of somebody who stays in Paris."""
    stays = {stop.city for stop in known.stops}
    starts = [visit for visit in visits if visit.role is Role.ORIGIN and visit.city in stays and visit.city != known.origin]
    if known.origin is None or not starts or _SAYS.starts_anew.search(whole) or any(visit.has_nights for visit in visits):
        return visits, []
    left_out = [*starts, *(each for each in visits if each.role is Role.NEXT and each.city in {*stays, known.origin})]
    return [visit for visit in visits if visit not in left_out], [f"from {' to '.join(visit.place.said for visit in left_out)}"]


def _unclear_place(visits: list[Visit], known: PartialRequest, whole: str, *, asked: str | None, is_leg: bool) -> Question | None:
    """Ask about a new city, if nobody said whether it replaces another one."""
    stays = list(dict.fromkeys(stop.city for stop in known.stops if stop.city is not None))
    if not stays or any(stop.city is None for stop in known.stops) or asked == "stops":
        return None
    if len(visits) != 1 or visits[0].role not in WHERE or visits[0].city in (*stays, known.origin):
        return None
    visit = visits[0]
    if visit.city is None:
        return unknown_city("stops", visit.place.unknown, visit.place.candidates)
    if len(stays) == 1 and visit.role is not Role.VIA and not is_leg and _SAYS.replaces.search(whole):
        return None
    what = visit.city if visit.nights is None else f"{count_text(visit.nights, 'night')} in {visit.city}"
    candidates = (*(f"{what} instead of {city}" for city in stays), f"also add {what}")
    text = f"{what}: instead of {' or '.join(stays)}, or in addition (“add”)?"
    return Question(field="stops", text=text, candidates=candidates)


def _replaced(visits: list[Visit], said: Said, known: PartialRequest, unread: list[str]) -> bool:
    """Read `Rome instead of Paris`, `change Paris to Rome`: for the same nights, unless others are said."""
    old = [visit for visit in visits if visit.role is Role.REPLACED]
    new = [visit for visit in visits if visit.role is not Role.REPLACED]
    stays = {stop.city: stop for stop in known.stops}
    if len(old) != 1 or len(new) != 1 or new[0].city is None or old[0].city not in {*stays, known.origin}:
        return False
    before, after = old[0].city, new[0].city
    if after in (*stays, known.origin):
        unread.append(f"{old[0].place.said} and {new[0].place.said}")
    elif before == known.origin:
        said.fields["return_to" if new[0].role is Role.RETURN else "origin"] = after
    else:
        nights = new[0].nights or stays[before].nights
        said.fields["stops"] = tuple(new[0].stop.lasting(nights) if stop.city == before else stop for stop in known.stops)
    return True


# -- a route from its cities ---------------------------------------------------------------------------------------------


def _assemble(
    visits: list[Visit], said: Said, known: PartialRequest, unread: list[str], *, is_added: bool
) -> tuple[PartialStop, ...] | None:
    """Return the stops; None: nothing is said about them."""
    if _replaced(visits, said, known, unread):
        return said.fields.get("stops")
    visits = [visit for visit in _with_alternatives_as_one(visits) if visit.role is not Role.REPLACED]
    origin = said.fields["origin"] = _origin(visits, said)
    returns = [visit.place for visit in visits if visit.role is Role.RETURN and not visit.has_nights]
    if returns:  # `back to Berlin for a night` is a stop
        said.fields["return_to"] = returns[-1].city
        if origin is None and known.origin is None:
            origin = said.fields["origin"] = returns[-1].city
        if returns[-1].city is None:
            said.doubts.append(unknown_city("return_to", returns[-1].unknown, returns[-1].candidates, returns[-1].likely))
    if origin is None and known.origin is None and not known.stops and (start := _start_without_nights(visits)):
        said.notes.append(("origin", "the city without nights"))
        origin, start.role = start.city, Role.ORIGIN
        said.fields["origin"] = origin
    going = _by_way([visit for visit in visits if _is_on_the_way(visit, origin)])
    stops = _in_order(going, said)
    home = [stop for stop in stops if stop.city is not None and stop.city == origin and stop.nights is None]
    if home:
        said.fields["return_to"] = origin
        stops = [stop for stop in stops if stop not in home]
    merged = _merged(stops, going, known.stops, is_added=is_added)
    left_out = {visit.city for visit in visits if visit.role is Role.LEFT_OUT}
    if left_out:
        merged = tuple(stop for stop in (known.stops if merged is None else merged) if stop.city not in left_out)
    return merged


def _start_without_nights(visits: list[Visit]) -> Visit | None:
    """Read `5 nights in Malta in May, Bristol`: where nobody stays, the trip starts."""
    without = [visit for visit in visits if not visit.has_nights]
    is_loose = len(visits) > 1 and len(without) == 1 and without[0].role in (Role.BARE, Role.COMMA)
    return without[0] if is_loose and without[0].city is not None else None


def _with_alternatives_as_one(visits: list[Visit]) -> list[Visit]:
    """Treat `Paris or Rome` as one place that is not known yet."""
    joined: list[Visit] = []
    for visit in visits:
        if visit.role is Role.ALTERNATIVE and joined:
            earlier = joined.pop()
            named = f"{earlier.place.said} or {visit.place.said}"
            has_nights = earlier.has_nights or visit.has_nights
            place = Place(named, None, named)
            visit = Visit(earlier.start, visit.end, place, earlier.role, earlier.nights or visit.nights, has_nights)
        joined.append(visit)
    return joined


def _origin(visits: list[Visit], said: Said) -> str | None:
    origins = [visit.place for visit in visits if visit.role is Role.ORIGIN]
    unknown = next((place for place in origins if place.city is None), None)
    named = list(dict.fromkeys(place.city for place in origins if place.city))
    if unknown is not None:
        said.doubts.append(unknown_city("origin", unknown.unknown, unknown.candidates, unknown.likely))
    elif len(named) > 1:
        said.ask("origin", f"Where does the trip start: {' or '.join(named)}?")
    elif named:
        return named[0]
    return None


def _by_way(going: list[Visit]) -> list[Visit]:
    """Put cities on the way first: `to Paris via Reykjavik` comes to Reykjavik first."""
    ordered: list[Visit] = []
    for visit in going:
        follows = ordered and ordered[-1].role in (Role.NEXT, Role.BARE) and visit.role is Role.VIA
        ordered.insert(len(ordered) - 1 if follows else len(ordered), visit)
    return ordered


def _is_on_the_way(visit: Visit, origin: str | None) -> bool:
    match visit.role:
        case Role.ORIGIN | Role.LEFT_OUT:
            return False
        case Role.RETURN:
            return visit.has_nights
        case Role.NEXT | Role.VIA:
            return True
        case _:
            return visit.city is None or visit.city != origin


def _in_order(going: list[Visit], said: Said) -> list[PartialStop]:
    """Put the cities in order. One that is mentioned again is the same stop, unless one travels there again."""
    stops: list[PartialStop] = []
    for visit in going:
        same = [n for n, stop in enumerate(stops) if visit.city is not None and stop.city == visit.city]
        travels_again = visit.role in (Role.NEXT, Role.VIA) and same != [len(stops) - 1]
        completes = visit.has_nights and any(stops[n].nights is None for n in same)
        if not same or (travels_again and not completes):
            stops.append(visit.stop)
        elif visit.has_nights:
            n = next((n for n in same if stops[n].nights is None), same[0])
            before = stops[n].nights
            if before is not None and before != visit.nights:
                said.ask(f"stops[{n}].nights", f"How many nights in {visit.city}: {before} or {visit.nights}?")
            stops[n] = stops[n].lasting(visit.nights if before in (None, visit.nights) else None)
    return stops


def _merged(
    said: list[PartialStop], going: list[Visit], known: tuple[PartialStop, ...], *, is_added: bool
) -> tuple[PartialStop, ...] | None:
    """Merge what is said now with the earlier stops."""
    if not said:
        return None
    before = {stop.city: stop for stop in known if stop.city is not None}
    now = {stop.city: stop for stop in reversed(said) if stop.nights is not None}
    fresh = [stop for stop in said if stop.city not in before]
    travels = has_role(Role.NEXT, going) or has_role(Role.VIA, going)
    is_whole = travels and {stop.city for stop in said} == before.keys()
    if known and (is_added or (not fresh and not is_whole)):
        return (*(stop.lasting(now[stop.city].nights) if stop.city in now else stop for stop in known), *fresh)
    gap = next((n for n, stop in enumerate(known) if stop.city is None), None)
    if gap is not None and len(said) == 1:
        return (*known[:gap], said[0].lasting(said[0].nights or known[gap].nights), *known[gap + 1 :])
    kept = ((stop, before.get(stop.city or "", stop)) for stop in said)
    # nights and stars that were said before hold until others are said
    return tuple(
        stop.model_copy(update={"nights": stop.nights or was.nights, "stars": stop.stars or was.stars}) for stop, was in kept
    )
