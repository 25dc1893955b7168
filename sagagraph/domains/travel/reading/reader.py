"""Puts together what the extractors understand: each reads what the ones before it have left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.reading.answers import bare_answer, in_full, is_skipped
from sagagraph.domains.travel.reading.budget import Budget, Share, read_budget
from sagagraph.domains.travel.reading.changes import read_changes, with_changed_nights
from sagagraph.domains.travel.reading.dates import read_dates
from sagagraph.domains.travel.reading.hours import read_hours, read_weekdays
from sagagraph.domains.travel.reading.order import read_order
from sagagraph.domains.travel.reading.partial import PartialRequest
from sagagraph.domains.travel.reading.party import read_party
from sagagraph.domains.travel.reading.passage import Passage, pattern
from sagagraph.domains.travel.reading.route import read_route
from sagagraph.domains.travel.reading.wishes import read_direct, read_stars

if TYPE_CHECKING:
    from datetime import date
    from decimal import Decimal

    from sagagraph.domains.travel.cities import Gazetteer
    from sagagraph.domains.travel.reading.partial import Question

_EVENLY: Final = pattern(r"\b(?:evenly|equally|even split|half and half|fifty[- ]fifty|50[/-]50)\b")


def read_request(text: str, *, cities: Gazetteer, today: date, known: PartialRequest | None = None) -> PartialRequest:
    """What `text` says, on top of what is `known` from before. A bare city or number answers the first open question.

    Raises:
        InvalidInputError: the text is far too long.
    """
    before = known or PartialRequest()
    passage = Passage.of(text)
    question = next(iter(before.missing()), None) if known else None
    if question is not None and is_skipped(passage) and before.can_do_without(question):
        return before.without_doubt(question.field)
    passage = in_full(passage, question, before)
    said = bare_answer(passage, before, question) or _sentence(passage, before, question, cities, today)
    return before.updated_by(said).sharing(evenly=passage.has(_EVENLY))


def _sentence(
    passage: Passage, known: PartialRequest, question: Question | None, cities: Gazetteer, today: date
) -> PartialRequest:
    is_about_a_city = question is not None and question.field == "stops" and question.candidates != ()
    asked = question.field if question is not None and not is_about_a_city else None
    order = read_order(passage)
    changes = read_changes(order.rest, cities, known, today)
    budget = read_budget(changes.rest)
    stars = read_stars(budget.rest)
    direct = read_direct(stars.rest)
    hours = read_hours(direct.rest)
    weekdays = read_weekdays(hours.rest)
    dates = read_dates(weekdays.rest, today=today, first=known.first or known.depart, last=known.last)
    party = read_party(dates.rest, is_counted=known.travellers is not None)
    route = read_route(party.rest, cities, known, asked=asked)
    travellers = party.meaning.travellers or changes.meaning.said.travellers or known.travellers
    more = changes.meaning.said
    changed, night_doubts = with_changed_nights(known.stops if route.stops is None else route.stops, changes.meaning.nights)
    stops = changed if changed != known.stops else route.stops or ()
    return PartialRequest(
        origin=route.origin,
        stops=stops,
        return_to=route.return_to,
        one_way=route.one_way,
        first=dates.meaning.first or more.first,
        last=dates.meaning.last or more.last,
        depart=dates.meaning.depart or more.depart,
        travellers=party.meaning.travellers or more.travellers,
        rooms=travellers if party.meaning.has_own_rooms else party.meaning.rooms or more.rooms,
        budget=_amount_for(Share.TRIP, budget.meaning) or more.budget,
        budget_each=_amount_for(Share.PERSON, budget.meaning),
        currency=budget.meaning.currency if budget.meaning is not None else None,
        no_limit=True if budget.meaning is not None and budget.meaning.amount is None else None,
        stars=stars.meaning or more.stars,
        direct=direct.meaning,
        hours=hours.meaning,
        not_on=weekdays.meaning,
        order=order.meaning,
        total_nights=route.total_nights,
        unread=route.unread,
        doubts=(
            *route.doubts,
            *night_doubts,
            *changes.doubts,
            *dates.doubts,
            *party.doubts,
            *budget.doubts,
            *stars.doubts,
            *direct.doubts,
            *hours.doubts,
            *weekdays.doubts,
        ),
    )


def _amount_for(share: Share, budget: Budget | None) -> Decimal | None:
    return budget.amount if budget is not None and budget.share is share else None
