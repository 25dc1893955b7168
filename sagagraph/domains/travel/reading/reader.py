"""Puts together what the extractors understand: each reads what the ones before it have left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.reading.budget import Budget, Share, bare_amount, read_budget
from sagagraph.domains.travel.reading.dates import read_dates
from sagagraph.domains.travel.reading.numerals import COUNT, count_of
from sagagraph.domains.travel.reading.partial import MONEY_FIELDS, PartialRequest
from sagagraph.domains.travel.reading.party import read_party
from sagagraph.domains.travel.reading.passage import Passage, pattern
from sagagraph.domains.travel.reading.route import read_route
from sagagraph.domains.travel.reading.wishes import read_direct, read_stars

if TYPE_CHECKING:
    from datetime import date
    from decimal import Decimal

    from sagagraph.domains.travel.cities import Gazetteer

_COUNTS_ALONE: Final = pattern(rf"\s*{COUNT}(?:(?:\s*,\s*|\s+and\s+|\s*,\s*and\s+|\s+){COUNT})*\s*[.!]?\s*")


def read_request(text: str, *, cities: Gazetteer, today: date, known: PartialRequest | None = None) -> PartialRequest:
    """What `text` says, on top of what is `known` from before. A bare city or number answers the first open question.

    Raises:
        InvalidInputError: the text is far too long.
    """
    before = known or PartialRequest()
    passage = Passage.of(text)
    asked = next((question.field for question in before.missing()), None) if known else None
    said = _bare_number(passage, before, asked) or _sentence(passage, before, asked, cities, today)
    return before.updated_by(said)


def _sentence(passage: Passage, known: PartialRequest, asked: str | None, cities: Gazetteer, today: date) -> PartialRequest:
    budget = read_budget(passage)
    stars = read_stars(budget.rest)
    direct = read_direct(stars.rest)
    dates = read_dates(direct.rest, today=today)
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
        no_limit=True if budget.meaning is not None and budget.meaning.amount is None else None,
        stars=stars.meaning,
        direct=direct.meaning,
        doubts=(*route.doubts, *dates.doubts, *party_doubts, *budget.doubts, *stars.doubts, *direct.doubts),
    )


def _amount_for(share: Share, budget: Budget | None) -> Decimal | None:
    return budget.amount if budget is not None and budget.share is share else None


def _bare_number(passage: Passage, known: PartialRequest, asked: str | None) -> PartialRequest | None:
    """`4 and 2` in answer to a question for nights; None where the text is more, or another question is open."""
    if asked in MONEY_FIELDS and (amount := bare_amount(passage.text)) is not None:
        return PartialRequest(budget=amount)
    if asked is None or not _COUNTS_ALONE.fullmatch(passage.text):
        return None
    counts = [count_of(word) for word in pattern(COUNT).findall(passage.text)]
    if asked in ("travellers", "rooms") and len(counts) == 1:
        return PartialRequest(travellers=counts[0]) if asked == "travellers" else PartialRequest(rooms=counts[0])
    if asked.endswith(".nights"):
        return _nights_in_order(known, counts)
    return None


def _nights_in_order(known: PartialRequest, counts: list[int]) -> PartialRequest | None:
    open_stops = [n for n, stop in enumerate(known.stops) if stop.nights is None]
    if len(counts) > len(open_stops):
        return None
    given = dict(zip(open_stops, counts, strict=False))
    stops = tuple(stop.lasting(given.get(n, stop.nights)) for n, stop in enumerate(known.stops))
    return PartialRequest(stops=stops)
