"""Legs: days beside cities (`Rome until 9 May, then Athens until the 13th`), from which follows how long to stay in each."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.text.stays import Role, find_visits
from sagagraph.language.calendar import Expression, NoSuchDateError, resolved
from sagagraph.language.forms import Forms
from sagagraph.language.places import Place
from sagagraph.language.quantities import NIGHTS, Quantity

if TYPE_CHECKING:
    from datetime import date

    from sagagraph.domains.travel.text.slots import Said
    from sagagraph.language.passage import Passage

_SAYS: Final = Forms(__file__, "legs")


def read_legs(passage: Passage, said: Said, today: date) -> None:
    """Put nights in the place of such days. Where somebody says how many nights, or days run backwards, they stay days."""
    legs, expressions = passage.find(_SAYS.leg), passage.values(Expression)
    dated = [expression for leg in legs for expression in leg.values(Expression)]
    has_nights = any(each.unit in NIGHTS and not each.change for each in passage.values(Quantity))
    if len(legs) < 2 or has_nights or any(each.is_month for each in expressions):
        return
    roles = {id(visit.place): visit.role for visit in find_visits(passage)}
    is_end = [bool(leg["until"]) or roles[id(leg.values(Place)[0])] is Role.ORIGIN for leg in legs]
    try:
        days = [resolved(each, expressions, today) for each in dated]
    except NoSuchDateError:
        return
    ranges = [each.is_range for each in dated]
    begins = [None if end and not long else first for (first, _), end, long in zip(days, is_end, ranges, strict=True)]
    ends = [last if end or long else None for (_, last), end, long in zip(days, is_end, ranges, strict=True)]
    for n, after in pairwise(range(len(legs))):
        begins[after], ends[n] = begins[after] or ends[n], ends[n] or begins[after]
    stays = [(leg, (end - begin).days) for leg, begin, end in zip(legs, begins, ends, strict=True) if begin and end]
    known = [day for pair in zip(begins, ends, strict=True) for day in pair if day is not None]
    if known != sorted(known) or not stays or any(nights < 1 for _, nights in stays):
        return
    said.fields |= {"depart": known[0], "first": known[0], "last": known[-1], "is_rough": False}
    spans = [leg.match.span("when" if leg["when"] else "then") for leg, _ in stays]
    passage.tag_spans("span", [(*span, Quantity((Decimal(n),), "night")) for span, (_, n) in zip(spans, stays, strict=True)])
