"""Reader: a sentence, its values tagged, goes through the slots; each takes what it understands, and the rest is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.completion import with_currency_at_home, with_the_nearest
from sagagraph.domains.travel.partial import PartialRequest, Said
from sagagraph.domains.travel.request import CURRENCIES
from sagagraph.domains.travel.text.answers import SKIPPED, answered, chosen
from sagagraph.domains.travel.text.changes import with_named
from sagagraph.domains.travel.text.route import read_route
from sagagraph.domains.travel.text.slots import (
    CUES,
    FILLING,
    TRIP_UNITS,
    WE,
    read_budget,
    read_party,
    read_stars,
    read_words,
    tag_stars,
)
from sagagraph.domains.travel.text.stays import tag_nights
from sagagraph.domains.travel.text.when import read_dates, read_hours, read_shift, read_weekdays
from sagagraph.language.forms import Forms
from sagagraph.language.numbers import Number
from sagagraph.language.passage import Found, Passage
from sagagraph.language.people import Company
from sagagraph.language.places import Place, tag_places
from sagagraph.language.tagging import tagged

if TYPE_CHECKING:
    import re
    from datetime import date

    from sagagraph.domains.travel.cities import Gazetteer
    from sagagraph.domains.travel.partial import Question

_SAYS: Final = Forms(__file__, "reader")
_SHORT_LINE: Final = 60
_ASKED_FIRST: Final = _SAYS.text("ASKED_FIRST").split()


def read_request(text: str, *, cities: Gazetteer, today: date, known: PartialRequest | None = None) -> PartialRequest:
    """Read what `text` says, on top of what is `known`. A bare city or number answers the first open question.

    Raises:
        InvalidInputError: the text is far too long.
    """
    before = known or PartialRequest()
    passage = _tagged(with_named(text, before), today)
    question = next(iter(before.missing()), None) if known else None
    if question is not None:
        if passage.has(SKIPPED) and before.can_do_without(question):
            return before.without_doubt(question.field)
        if full := chosen(passage.said(), question):
            passage = _tagged(full, today)
    fields = answered(passage, before, question)
    said = PartialRequest(**fields) if fields is not None else _sentence(passage, before, question, cities, today)
    return with_currency_at_home(with_the_nearest(before.updated_by(said), cities), cities)


_MONTH_FIRST: Final = {"United States", "Canada", "Philippines"}
"""Where dates in figures may put the month first."""


def _read_parts(text: str, said: Said, known: PartialRequest, *, has_way: bool) -> None:
    """Assume that nobody travels where a hotel is all that is spoken of; whoever says later from where, does travel."""
    origin = said.fields.get("origin")
    is_open = origin is None and known.origin is None and not said.asks("origin")
    if known.stay_only and origin is not None:
        said.fields["stay_only"] = False
    elif is_open and (has_way or _SAYS.hotel.search(text)) and not _SAYS.journey.search(text):
        said.fields |= {"stay_only": True, "by": None}
        said.notes.append(("origin", "only a hotel was mentioned"))


def _label_words(passage: Passage) -> frozenset[str]:
    """Write what labels mean into the text: from where, to where, how many. Return their words, which are understood then."""
    words: list[str] = []

    def written(match: re.Match[str]) -> str:
        found = Found(passage, match)
        words.extend(found["label"].split())
        cue = "from " if _SAYS.starts.search(found["label"]) else "back to " if _SAYS.ends.search(found["label"]) else "to "
        return match[0] + ("" if found.get("place", Place) is None or found["link"] else cue)

    passage.tag("company", _SAYS.party, lambda found: Company(found.values(Number)[0].count), "number")
    passage.text = _SAYS.label.sub(written, passage.text)
    return frozenset(words)


def left_unread(text: str) -> tuple[str, ...]:
    """Return what means something in a text of which nothing is understood."""
    return Passage.of(text).unread(FILLING)


def _tagged(text: str, today: date) -> Passage:
    lines = [line.strip().lstrip("-*• ") for line in text.splitlines() if line.strip()]
    text = (". " if max(map(len, lines), default=0) <= _SHORT_LINE else " ").join(lines)
    return tagged(text, today=today, units=TRIP_UNITS, currencies=CURRENCIES, cues=CUES)


def _sentence(
    passage: Passage, known: PartialRequest, question: Question | None, cities: Gazetteer, today: date
) -> PartialRequest:
    is_about_a_city = question is not None and question.field == "stops" and question.candidates != ()
    asked = question.field if question is not None and not is_about_a_city else None
    passage.take(_SAYS.introduced)
    had = [*passage.take(_SAYS.had), *passage.take(_SAYS.drives, lambda found: not found["not"])]
    tag_places(passage, cities)
    understood = FILLING | _label_words(passage)
    refused = [*passage.take(_SAYS.only_if), *passage.take(_SAYS.freed)]
    near = passage.take(_SAYS.near, lambda found: (place := found.get("place", Place)) is not None and place.city is None)
    tag_stars(passage)
    tag_nights(passage)
    whole, said, are_we = passage.said(), Said(), passage.has(WE)
    read_words(passage, said, "order", "direct", "no_limit", "hotels", *(() if refused or passage.has(_SAYS.flies) else ("by",)))
    read_budget(passage, said, known)
    read_stars(passage, said, known)
    read_hours(passage, said)
    read_weekdays(passage, said, known)
    read_shift(passage, said, known)
    countries = {city.country for each in passage.values(Place) if each.city and (city := cities.find_name(each.city))}
    order = "day" if countries and countries.isdisjoint(_MONTH_FIRST) else "month" if countries == {"United States"} else ""
    read_dates(passage, said, today, known, order)
    read_party(passage, said, known, is_we=are_we)
    read_words(passage, said, "one_way")
    not_understood = read_route(passage, said, known, asked=asked, whole=whole)
    _read_parts(whole, said, known, has_way=had != [])
    stops = said.fields.get("stops", known.stops)
    stops = tuple(each.model_copy(update={"stars": said.stars_in.get(each.city or "", each.stars)}) for each in stops)
    if stops != known.stops:
        said.fields["stops"] = stops
    if said.fields.get("stay_only", known.stay_only):
        passage.take(_SAYS.hotel)
    else:
        refused += [*had, *passage.find(_SAYS.not_planned)]
    not_understood += [" ".join(found.said.split()) for found in (*refused, *near)]
    left = (*not_understood, *passage.unread(understood))
    left = tuple(each for each in left if not any(f" {each} " in f" {other} " for other in left if other != each))
    doubts = sorted(said.doubts, key=lambda doubt: _ASKED_FIRST.index(doubt.field.partition("[")[0]))
    return PartialRequest(**said.fields, notes=tuple(said.notes), unread=tuple(dict.fromkeys(left)), doubts=tuple(doubts))
