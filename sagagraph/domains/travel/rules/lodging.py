"""Lodging: each stay by itself: on offer, with as many rooms as needed, as long as its dates say, and not yet past."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from msgspec import Struct

from sagagraph.domains.travel.rules.case import at
from sagagraph.domains.travel.rules.offered import Quote, Stay, check_amount, check_quote, described, quote_of
from sagagraph.validators.concern import Concern
from sagagraph.validators.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sagagraph.domains.travel.rules.case import Case
    from sagagraph.validators.verdict import Violation


class LodgingView(Struct, frozen=True):
    label: str
    planned: Stay
    quote: Quote | None
    rooms: int
    now: datetime
    zone: str | None
    """Of the hotel's city; None: not known."""
    has_begun: bool


def _scopes(case: Case) -> Iterator[tuple[str, LodgingView]]:
    for leg in case.itinerary.legs:
        planned = described(leg.offer)
        if isinstance(planned, Stay):
            yield (
                leg.label,
                LodgingView(
                    label=leg.label,
                    planned=planned,
                    quote=quote_of(leg.offer, case),
                    rooms=case.request.rooms,
                    now=case.now,
                    zone=case.zones((planned.city,)).get(planned.city),
                    has_begun=leg.label in case.begun,
                ),
            )


def _check(view: LodgingView) -> Iterator[Violation]:
    yield from check_amount(view.label, view.planned)
    yield from check_quote(view.label, view.planned, view.quote, view.rooms)
    yield from _rooms(view)
    yield from _nights(view)
    yield from _not_past(view)


def _rooms(view: LodgingView) -> Iterator[Violation]:
    """Check that everybody has a bed."""
    if view.planned.rooms != view.rooms:
        message = f"has {view.planned.rooms} rooms, and {view.rooms} are needed"
        yield at(view.label, "PARTY", message, rooms=view.planned.rooms, needed=view.rooms)


def _nights(view: LodgingView) -> Iterator[Violation]:
    nights = (view.planned.check_out - view.planned.check_in).days
    if nights != view.planned.nights:
        message = f"says {view.planned.nights} nights, and its dates {nights}"
        yield at(view.label, "NIGHTS", message, stated=view.planned.nights, dates=nights)


def _not_past(view: LodgingView) -> Iterator[Violation]:
    today = view.now.astimezone(UTC if view.zone is None else ZoneInfo(view.zone)).date()
    if view.planned.check_in < today and not view.has_begun:
        message = f"begins on {view.planned.check_in}; it is {today} there"
        yield at(view.label, "DATE_PAST", message, check_in=view.planned.check_in, today=today)


LODGING = Concern("lodging", Kind.FACTUAL, LodgingView, _scopes, _check)
