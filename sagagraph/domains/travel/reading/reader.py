"""Puts together what the extractors understand: each reads what the ones before it have left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.cities import name_key
from sagagraph.domains.travel.reading.budget import Budget, Share, bare_amount, bare_currency, read_budget
from sagagraph.domains.travel.reading.dates import read_dates
from sagagraph.domains.travel.reading.hours import read_hours, read_weekdays
from sagagraph.domains.travel.reading.numerals import COUNT, ORDINALS, count_of
from sagagraph.domains.travel.reading.order import read_order
from sagagraph.domains.travel.reading.partial import MONEY_FIELDS, OPTIONAL_FIELDS, PartialRequest, Question
from sagagraph.domains.travel.reading.party import read_party
from sagagraph.domains.travel.reading.passage import Passage, pattern
from sagagraph.domains.travel.reading.route import read_route
from sagagraph.domains.travel.reading.wishes import read_direct, read_stars

if TYPE_CHECKING:
    from datetime import date
    from decimal import Decimal

    from sagagraph.domains.travel.cities import Gazetteer

_SKIPPED: Final = pattern(
    r"^\W*(?:no|none|nothing|any|anything|skip(?: it| that)?|never mind|forget (?:it|that)|whatever|(?:it |that )?doesn'?t matter"
    r"|(?:i )?don'?t (?:care|mind)|no (?:preference|matter|idea)|not important)\W*$"
)
_PLACE_OF_STOP: Final = pattern(r"stops\[(\d+)\]\.nights")
_A_NUMBER: Final = pattern(r"\d")
_RELATED: Final = pattern(r"\b(?:before|after|by|until|till|from|between|earlier|later|earliest|latest)\b")
_TWO_TIMES: Final = pattern(r"\d\D+(?:and|to|-)\s*\d")
_MAKE_IT: Final = pattern(r"^(?:(?:ok(?:ay)?|no|well|actually|sorry|rather)[, ]+)*(?:make (?:it|that)|rather|say|actually)\s+")
_AROUND_A_CHOICE: Final = pattern(r"\b(?:the|one|in|i mean|please|city|of course)\b|[.!]")
_EVENLY: Final = pattern(r"\b(?:evenly|equally|even split|half and half|fifty[- ]fifty|50[/-]50)\b")
_COUNTS_ALONE: Final = pattern(rf"\s*{COUNT}(?:(?:\s*,\s*|\s+and\s+|\s*,\s*and\s+|\s+){COUNT})*\s*[.!]?\s*")


def read_request(text: str, *, cities: Gazetteer, today: date, known: PartialRequest | None = None) -> PartialRequest:
    """What `text` says, on top of what is `known` from before. A bare city or number answers the first open question.

    Raises:
        InvalidInputError: the text is far too long.
    """
    before = known or PartialRequest()
    passage = Passage.of(text)
    asked = next((question.field for question in before.missing()), None) if known else None
    chosen = _chosen(passage, next(iter(before.missing()), None) if known else None)
    passage = chosen or passage
    if asked in OPTIONAL_FIELDS and passage.has(_SKIPPED):
        return before.without_doubt(asked)
    if asked == "hours" and passage.has(_A_NUMBER) and not passage.has(_RELATED):
        passage = Passage(f"between {passage.text}" if passage.has(_TWO_TIMES) else f"leave after {passage.text}")
    said = _bare_number(passage, before, asked) or _sentence(passage, before, asked, cities, today)
    return before.updated_by(said).sharing(evenly=passage.has(_EVENLY))


def _chosen(passage: Passage, question: Question | None) -> Passage | None:
    """`Maine`, `the second`: the one of the cities asked about that an answer names; None where it names none, or several."""
    if question is None or not question.candidates:
        return None
    key = name_key(_AROUND_A_CHOICE.sub(" ", passage.text))
    ordinal = ORDINALS.get(key, int(key) if key.isdecimal() else 0)
    if 1 <= ordinal <= len(question.candidates):
        return Passage(question.candidates[ordinal - 1])
    words = set(key.split())
    named = [name for name in question.candidates if words and words <= set(name_key(name).split())]
    if len(named) > 1:
        named = [name for name in named if name_key(name) == key]
    return Passage(named[0]) if len(named) == 1 else None


def _sentence(passage: Passage, known: PartialRequest, asked: str | None, cities: Gazetteer, today: date) -> PartialRequest:
    order = read_order(passage)
    budget = read_budget(order.rest)
    stars = read_stars(budget.rest)
    direct = read_direct(stars.rest)
    hours = read_hours(direct.rest)
    weekdays = read_weekdays(hours.rest)
    dates = read_dates(weekdays.rest, today=today)
    party = read_party(dates.rest)
    route = read_route(party.rest, cities, known, asked=asked)
    travellers = party.meaning.travellers or known.travellers
    party_doubts = tuple(doubt for doubt in party.doubts if doubt.field != "travellers" or known.travellers is None)
    return PartialRequest(
        origin=route.origin,
        stops=route.stops or (),
        return_to=route.return_to,
        one_way=route.one_way,
        first=dates.meaning.first,
        last=dates.meaning.last,
        depart=dates.meaning.depart,
        travellers=party.meaning.travellers,
        rooms=travellers if party.meaning.has_own_rooms else party.meaning.rooms,
        budget=_amount_for(Share.TRIP, budget.meaning),
        budget_each=_amount_for(Share.PERSON, budget.meaning),
        currency=budget.meaning.currency if budget.meaning is not None else None,
        no_limit=True if budget.meaning is not None and budget.meaning.amount is None else None,
        stars=stars.meaning,
        direct=direct.meaning,
        hours=hours.meaning,
        not_on=weekdays.meaning,
        order=order.meaning,
        total_nights=route.total_nights,
        unread=route.unread,
        doubts=(
            *route.doubts,
            *dates.doubts,
            *party_doubts,
            *budget.doubts,
            *stars.doubts,
            *direct.doubts,
            *hours.doubts,
            *weekdays.doubts,
        ),
    )


def _amount_for(share: Share, budget: Budget | None) -> Decimal | None:
    return budget.amount if budget is not None and budget.share is share else None


def _bare_number(passage: Passage, known: PartialRequest, asked: str | None) -> PartialRequest | None:
    """`4 and 2` in answer to a question for nights; None where the text is more, or another question is open."""
    if asked in MONEY_FIELDS and (amount := bare_amount(passage.text)) is not None:
        return PartialRequest(budget=amount)
    if asked == "currency" and (currency := bare_currency(passage.text)) is not None:
        return PartialRequest(currency=currency)
    made = _MAKE_IT.match(passage.text)
    if made and known.budget is not None and (amount := bare_amount(passage.text[made.end() :])) is not None and amount >= 100:
        return PartialRequest(budget=amount)
    if asked is None or not _COUNTS_ALONE.fullmatch(passage.text):
        return None
    counts = [count_of(word) for word in pattern(COUNT).findall(passage.text)]
    if asked in ("travellers", "rooms") and len(counts) == 1:
        return PartialRequest(travellers=counts[0]) if asked == "travellers" else PartialRequest(rooms=counts[0])
    if asked.endswith(".nights"):
        return _nights_in_order(known, counts) or _nights_of(known, asked, counts)
    return None


def _nights_of(known: PartialRequest, asked: str, counts: list[int]) -> PartialRequest | None:
    """Other nights for the stop that was asked about."""
    place = _PLACE_OF_STOP.fullmatch(asked)
    if place is None or len(counts) != 1:
        return None
    stops = tuple(stop.lasting(counts[0]) if n == int(place[1]) else stop for n, stop in enumerate(known.stops))
    return PartialRequest(stops=stops)


def _nights_in_order(known: PartialRequest, counts: list[int]) -> PartialRequest | None:
    open_stops = [n for n, stop in enumerate(known.stops) if stop.nights is None]
    if len(counts) > len(open_stops):
        return None
    given = dict(zip(open_stops, counts, strict=False))
    stops = tuple(stop.lasting(given.get(n, stop.nights)) for n, stop in enumerate(known.stops))
    return PartialRequest(stops=stops)
