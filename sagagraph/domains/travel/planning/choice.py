"""Choice: what a model may choose of a trip: among offers that are shown to it, and nothing else."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from sagagraph.context.slice import Fact
from sagagraph.domains.travel.money import PRICE_CURRENCY
from sagagraph.domains.travel.plan import Choice, Itinerary
from sagagraph.domains.travel.planning.exchange import converted
from sagagraph.domains.travel.planning.search import cents
from sagagraph.domains.travel.wording import headline
from sagagraph.validators.verdict import Verdict, Violation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sagagraph.domains.travel.provider.provider import ReservationProvider
    from sagagraph.domains.travel.request import TripRequest

MOST_LEGS = 20
_SHOWN_OF_AN_ID = 60
INSTRUCTIONS = (
    "You choose a trip. The data holds the request, some trips with their offers in the order of travel, and offers that can be "
    "had instead of one in the first trip. Choose one offer for every journey and stay, in the order of travel, so that the trip "
    "keeps every wish of the request and its budget. Use only offer ids from the data, exactly as they are written. "
    "Say in a sentence or two why, and what you considered instead."
)


class TripChoice(BaseModel):
    """The answer."""

    model_config = ConfigDict(extra="forbid", strict=True)

    offers: list[str] = Field(min_length=1, max_length=MOST_LEGS)
    reasoning: str = Field(max_length=2000)
    considered: list[str] = Field(max_length=10)


def trip_facts(request: TripRequest, trips: Sequence[Itinerary]) -> tuple[Fact, ...]:
    """Return facts for the model: the request and the first trip are critical; then other trips, and alternatives to its
    offers.
    """
    wishes = {name: value for name, value in request.model_dump(mode="json").items() if value is not None}
    return (
        Fact("request", wishes, critical=True),
        *(Fact(f"trip {n}", _trip(trip), critical=n == 1, priority=n) for n, trip in enumerate(trips, 1)),
        *(Fact(f"instead of {leg_id}", offers, priority=2) for leg_id, offers in _instead(trips[0])),
    )


def _trip(trip: Itinerary) -> Mapping[str, Any]:
    legs = [{"id": leg.offer.offer_id, "what": headline(leg.offer), "price": str(leg.offer.price)} for leg in trip.legs]
    return {"legs": legs, "total": str(trip.total), "note": next(iter(trip.reasons), "")}


def _instead(trip: Itinerary) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for leg in trip.legs:
        if leg.choice and leg.choice.alternatives:
            others = [{"id": each.offer_id, "what": each.title, "price": str(each.price)} for each in leg.choice.alternatives]
            yield leg.offer.offer_id, others


async def chosen_trip(
    request: TripRequest, choice: TripChoice, trips: Sequence[Itinerary], provider: ReservationProvider
) -> Itinerary | Verdict:
    """Return the trip of these offers, as quoted now. Ids that were not shown never reach the provider."""
    known = _choices(trips)
    if strange := [each for each in choice.offers if each not in known]:
        return Verdict.of([_unknown(each) for each in dict.fromkeys(strange)])
    offers = await asyncio.gather(*(provider.offer(each) for each in choice.offers))
    if gone := [name for name, offer in zip(choice.offers, offers, strict=True) if offer is None]:
        return Verdict.of([Violation(code="UNAVAILABLE", message=f"{gone[0]} is not on offer any more")])
    found = [offer for offer in offers if offer is not None]
    rates = None if request.currency == PRICE_CURRENCY or request.budget is None else await provider.rates()
    total = sum(cents(offer.price) for offer in found)
    return Itinerary.of(
        request,
        found,
        converted=converted(request, total, rates),
        reasons=("chosen by a model among what the solver found",),
        considered=tuple(choice.considered),
        choices=[known[offer.offer_id] for offer in found],
    )


def _choices(trips: Sequence[Itinerary]) -> dict[str, Choice]:
    """Return every offer that may be shown, with known reasons to take it, which fill in what a model leaves out."""
    known: dict[str, Choice] = {}
    for trip in trips:
        for leg in trip.legs:
            known.setdefault(leg.offer.offer_id, leg.choice or Choice())
    for leg in trips[0].legs:
        for each in leg.choice.alternatives if leg.choice else ():
            known.setdefault(each.offer_id, Choice(why=f"chosen instead of {headline(leg.offer)}"))
    return known


def _unknown(offer_id: str) -> Violation:
    return Violation(code="UNKNOWN_OFFER", message=f"{offer_id[:_SHOWN_OF_AN_ID]!r} is not among the offers that were shown")
