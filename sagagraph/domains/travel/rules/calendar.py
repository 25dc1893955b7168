"""Calendar: one bed for every night of every visit.

A visit of many stays is checked in windows: each begins with the nights that the stays before it have covered.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from msgspec import Struct

from sagagraph.domains.travel.rules.case import at, span
from sagagraph.validators.concern import Concern, windows
from sagagraph.validators.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sagagraph.domains.travel.rules.case import Case, Visit
    from sagagraph.validators.verdict import Violation


class Nights(Struct, frozen=True, array_like=True):
    label: str
    check_in: date
    check_out: date


class BedsView(Struct, frozen=True):
    """`covered`: the first night without a bed, after `last`, the leg before these stays."""

    city: str
    covered: date
    last: str
    stays: tuple[Nights, ...]
    needed: date
    """The day on which the traveller leaves."""
    is_end: bool
    """Whether no other stays of the visit follow."""


def _scopes(case: Case) -> Iterator[tuple[str, BedsView]]:
    for visit in case.visits:
        for view in _windows(visit):
            yield span([view.last, *(each.label for each in view.stays)]), view


def _windows(visit: Visit) -> Iterator[BedsView]:
    covered, last = visit.arrives, visit.arrived_by.label
    stays = [Nights(leg.label, hotel.check_in, hotel.check_out) for leg, hotel in visit.stays]
    shared = list(windows(stays)) or [[]]
    for number, window in enumerate(shared, start=1):
        yield BedsView(visit.city, covered, last, tuple(window), visit.leaves, is_end=number == len(shared))
        for each in window:
            covered, last = max(covered, each.check_out), each.label


def _check(view: BedsView) -> Iterator[Violation]:
    """Follow the stays through the visit."""
    covered, last = view.covered, view.last
    for stay in view.stays:
        if stay.check_in > covered:
            message = _without_bed(view, covered, stay.check_in)
            yield at(stay.label, "DATE_GAP", message, first=covered, until=stay.check_in)
        if stay.check_in < covered:
            message = f"begins on {stay.check_in}, before {covered}, when it is needed"
            yield at(stay.label, "DATE_OVERLAP", message, first=stay.check_in, until=covered)
        covered, last = max(covered, stay.check_out), stay.label
    if not view.is_end:
        return
    if covered < view.needed:
        yield at(last, "DATE_GAP", _without_bed(view, covered, view.needed), first=covered, until=view.needed)
    if covered > view.needed:
        message = f"ends on {covered}, after {view.needed}, when the traveller leaves {view.city}"
        yield at(last, "DATE_OVERLAP", message, first=view.needed, until=covered)


def _without_bed(view: BedsView, first: date, until: date) -> str:
    return f"no bed in {view.city} from {first} to {until}"


CALENDAR = Concern("calendar", Kind.TEMPORAL, BedsView, _scopes, _check)
