"""Cities that are named when a route is known already: what they can mean for it, and what is asked before it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.reading.partial import Question, unknown_city
from sagagraph.domains.travel.reading.passage import Passage, pattern
from sagagraph.domains.travel.reading.roles import Role
from sagagraph.domains.travel.wording import count_text

if TYPE_CHECKING:
    from sagagraph.domains.travel.reading.partial import PartialRequest
    from sagagraph.domains.travel.reading.visits import Visit

_STARTS_ANEW: Final = pattern(
    r"\b(?:start\w*|begin\w*|actually|instead|rather|sorry|i mean|meant|correction|home is|based|live|living|am in|are in)\b"
)
_REPLACES: Final = pattern(
    r"\b(?:instead|rather|actually|(?:what|how) about|make (?:it|that)|chang\w+|switch\w*|better|prefer\w*|sorry|i mean|meant"
    r"|correction)\b|^\W*no\b"
)
_ON_THE_WAY_BACK: Final = pattern(r"\b(?:back|return\w*|home|way back)\b")
_WHERE: Final = (Role.BARE, Role.PLACE, Role.NEXT, Role.LISTED, Role.COMMA, Role.VIA)


def without_legs(visits: list[Visit], known: PartialRequest, passage: Passage) -> tuple[list[Visit], tuple[str, ...]]:
    """`a train from Paris to Rome` of somebody who stays in Paris is no trip that starts there: left out, and named."""
    stays = {stop.city for stop in known.stops}
    starts = [visit for visit in visits if visit.role is Role.ORIGIN and visit.city in stays and visit.city != known.origin]
    if known.origin is None or not starts or passage.has(_STARTS_ANEW) or any(visit.has_nights for visit in visits):
        return visits, ()
    following = [visit for visit in visits if visit.role is Role.NEXT and visit.city in {*stays, known.origin}]
    left_out = [*starts, *following]
    named = " to ".join(visit.mention.said for visit in (*starts, *following))
    return [visit for visit in visits if visit not in left_out], (f"from {named}",)


def on_the_way(visits: list[Visit], known: PartialRequest, passage: Passage) -> bool:
    """`return via London`: one stop more, on the way back."""
    return bool(known.stops) and any(visit.role is Role.VIA for visit in visits) and passage.has(_ON_THE_WAY_BACK)


def unclear_place(
    visits: list[Visit], known: PartialRequest, passage: Passage, *, asked: str | None, is_leg: bool
) -> Question | None:
    """One more city, of which nobody said whether it takes another's place."""
    stays = [stop.city for stop in known.stops if stop.city is not None]
    if not stays or len(stays) != len(known.stops) or asked == "stops":
        return None
    if len(visits) != 1 or visits[0].role not in _WHERE or visits[0].city in (*stays, known.origin):
        return None
    visit = visits[0]
    if visit.city is None:
        return unknown_city("stops", visit.mention.unknown, visit.mention.candidates)
    if len(stays) == 1 and visit.role is not Role.VIA and not is_leg and passage.has(_REPLACES):
        return None
    what = visit.city if visit.nights is None else f"{count_text(visit.nights, 'night')} in {visit.city}"
    places = tuple(dict.fromkeys(stays))
    candidates = (*(f"{what} instead of {city}" for city in places), f"also add {what}")
    return Question(
        field="stops", text=f"{what}: instead of {' or '.join(places)}, or in addition (“add”)?", candidates=candidates
    )
