"""Changes: `one night longer`, `skip it`, computed from what was said before; else, a question."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.partial import with_nights
from sagagraph.domains.travel.text.stays import Role, Stay, Visit
from sagagraph.domains.travel.wording import count_text
from sagagraph.language.forms import Forms

if TYPE_CHECKING:
    from sagagraph.domains.travel.partial import PartialRequest, Said

_SAYS: Final = Forms(__file__, "changes")


def with_named(text: str, known: PartialRequest) -> str:
    """Return the text with the one known city that it has named before, in place of `it`; a hotel there may be meant as well."""
    found = _SAYS.of_it.search(text)
    before = text[: found.start()].casefold() if found else ""
    named = [stop.city for stop in known.stops if stop.city and stop.city.casefold() in before]
    if found is None or len(named) != 1 or _SAYS.of_a_part.search(before):
        return text
    return f"{found['verb']} {named[0]}{text[found.end() :]}"


# -- nights ---------------------------------------------------------------------------------------------------------------


def with_changed_nights(
    visits: list[Visit], loose: list[Stay], known: PartialRequest, said: Said
) -> tuple[PartialRequest, list[Stay]]:
    """Change nights that are said as more or fewer than before. Return what is known then, and the stays that are not."""
    cities = [stop.city or "" for stop in known.stops]
    changes: list[tuple[Stay, list[int]]] = []
    for visit in visits:
        if visit.changed is not None and visit.city in cities:
            changes.append((visit.changed, [cities.index(visit.city or "")]))
            visit.nights, visit.has_nights = None, False
    for stay in loose if cities else ():
        if stay.change is not None:
            named = [n for n, city in enumerate(cities) if city and city in stay.said]  # `cut the stay in Paris by one night`
            only = [0] if len(cities) == 1 else []
            changes.append((stay, [*range(len(cities))] if stay.kind == "each" else named[:1] or only))
    given = dict(enumerate(stop.nights for stop in known.stops))
    for stay, meant in changes:
        if not meant:
            how = f"{count_text(abs(stay.change or 0), 'night')} {'more' if (stay.change or 0) > 0 else 'less'}"
            said.ask("stops", f"{stay.said!r}: where, in {' or '.join(cities)}?", tuple(f"{how} in {city}" for city in cities))
        for n in meant:
            nights = given[n]
            if (last := known.day_of_return()) is not None:
                said.fields["last"] = last + timedelta(days=stay.change or 0)
                if n in known.from_the_dates():
                    continue
            if nights is not None and nights + (stay.change or 0) < 1:
                text = f"{stay.said!r} leaves no night in {cities[n]}: how many nights do you want to stay there?"
                said.ask(f"stops[{n}].nights", text)
            elif nights is not None:
                given[n] = nights + (stay.change or 0)
    left = [stay for stay in loose if stay.change is None]
    return known.model_copy(update={"stops": with_nights(known.stops, given)}), left


# -- order ----------------------------------------------------------------------------------------------------------------


def anchors_of(visits: list[Visit], stays_in: set[str | None]) -> list[Visit]:
    """Return the stops that are to be beside another one (`before Cologne`), first or last: the board puts them in order."""
    anchors = [visit for visit in visits if visit.role in (Role.ORIGIN, Role.RETURN) and visit.city in stays_in]
    anchors = anchors if len({visit.role for visit in anchors}) > 1 else []
    for visit in visits:
        if visit.role in (Role.BEFORE, Role.AFTER, Role.BETWEEN):
            if visit.city in stays_in:
                anchors.append(visit)
            else:
                visit.role = Role.BARE
    return anchors
