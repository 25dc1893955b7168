"""Agents of a trip (SagaLLM section 4.3.1): itinerary, flight, hotel, train and budget.

The search finds whole trips. The itinerary agent decides between their days; the flight, hotel and train agents between the
offers of those days; the same search makes a compatible choice among their candidates; the budget agent decides between such
choices by cost.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from sagagraph.context.slice import content_hash
from sagagraph.domains.travel.money import PRICE_CURRENCY, money_text
from sagagraph.domains.travel.offers import Offer
from sagagraph.domains.travel.plan import Choice, Itinerary, Leg
from sagagraph.domains.travel.planning.explanation import terms
from sagagraph.domains.travel.planning.market import Market, slot_of
from sagagraph.domains.travel.planning.measures import balance, cents, converted, price_alone
from sagagraph.domains.travel.planning.search import best_path
from sagagraph.domains.travel.provider.provider import ReservationProvider
from sagagraph.domains.travel.request import TripRequest
from sagagraph.domains.travel.wording import compared, duration_text, headline
from sagagraph.planning.agents.team import Option, Role, Said, Task
from sagagraph.planning.domain import Proposal
from sagagraph.validators.candidates import LONGEST_REASON, MOST_CANDIDATES, Candidate
from sagagraph.validators.verdict import Verdict, Violation

DAYS, SPENDING = "days", "spending"
ITINERARY, BUDGET = "itinerary", "budget"
MOST_INSTEAD: Final = MOST_CANDIDATES - 1
_HOW: Final = (
    "For each part of `inputs`, choose one option, or several with the best one first. Use only the ids of that part's options, "
    "exactly as they are written. Give each a reason of one sentence that uses only numbers from the data, and your confidence "
    "from 0 to 1. Keep every wish in the data."
)


def _role(name: str, does: str, *reads: str, after: tuple[str, ...]) -> Role:
    return Role(name, f"You are the {name} agent of a team that plans a trip. {does} {_HOW}", reads, after)


ROLES: Final = (
    _role(
        ITINERARY,
        "You choose the days and the order of the stops.",
        *("origin", "stops", "return_to", "window", "depart", "travellers", "children"),
        *("direct", "hours", "not_on", "order", "train_if"),
        after=(),
    ),
    _role("flight", "You choose the flights.", "travellers", "children", "direct", "hours", "not_on", after=(ITINERARY,)),
    _role("hotel", "You choose the hotels.", "stops", "stars", "rooms", after=(ITINERARY,)),
    _role(
        "train",
        "You choose the trains; they must fit the flights.",
        *("travellers", "children", "hours", "not_on", "train_if"),
        after=(ITINERARY, "flight"),
    ),
    _role(BUDGET, "You choose between whole trips by what they cost.", "budget", "currency", after=("flight", "hotel", "train")),
)


@dataclass(frozen=True)
class TripTeam:
    """Team: the agents at work on one request. `trips`: what the search found, in the order of `solved`."""

    request: TripRequest
    trips: tuple[Itinerary, ...]
    solved: tuple[Proposal, ...]
    provider: ReservationProvider
    proposal: Callable[[Itinerary], Awaitable[Proposal]]

    async def task(self, role: str, said: Mapping[str, Said]) -> Task:
        if role == ITINERARY:
            return _choice_of(DAYS, [(f"trip {n}", _days(trip), trip, trip.reasons[0]) for n, trip in enumerate(self.trips, 1)])
        if role == BUDGET:
            is_found = all(each.is_of_the_search for each in said.values())
            wholes = self.trips if is_found else await self._wholes(said)
            if isinstance(wholes, Verdict):
                return Task({}, {})
            return _choice_of(SPENDING, [(_id(each), _spent(each), each, _on_budget(self.request, each)) for each in wholes])
        trip, options, proposed = self._trip(said), {}, {}
        for leg in trip.legs:
            if leg.offer.kind == role:
                options[leg.label], proposed[leg.label] = _of_leg(leg, self.trips)
        return Task(options, proposed)

    def _trip(self, said: Mapping[str, Said]) -> Itinerary:
        """Return the search's trip on the days that the itinerary agent prefers."""
        chosen = said[ITINERARY].candidates[DAYS][0].choose
        return self.trips[int(chosen.removeprefix("trip ")) - 1]

    async def composed(self, said: Mapping[str, Said]) -> Proposal | Verdict:
        wholes = await self._wholes(said)
        if isinstance(wholes, Verdict):
            return wholes
        by_id = {_id(trip): trip for trip in wholes}
        preferred = [each.choose for each in said[BUDGET].candidates.get(SPENDING, ())]
        trip = next((by_id[name] for name in preferred if name in by_id), wholes[0])
        models = [each for each in said.values() if not each.is_of_the_search]
        reasons = [f"{each.agent}, {part}: {some[0].reason}" for each in models for part, some in each.candidates.items()]
        return replace(await self.proposal(trip), reasoning=" ".join(reasons))

    async def _wholes(self, said: Mapping[str, Said]) -> tuple[Itinerary, ...] | Verdict:
        """Return trips of the candidates: what the agents prefer, and the cheapest; if none fits, their first candidates."""
        of_legs = (each.candidates for each in said.values() if each.agent not in (ITINERARY, BUDGET))
        chosen = {part: some for candidates in of_legs for part, some in candidates.items()}
        names = dict.fromkeys(each.choose for some in chosen.values() for each in some)
        quotes = await asyncio.gather(*map(self.provider.offer, names))
        offers = {name: offer for name, offer in zip(names, quotes, strict=True) if offer is not None}
        left = {part: [each for each in some if each.choose in offers] for part, some in chosen.items()}
        if gone := [part for part, some in left.items() if not some]:
            message = f"{gone[0]}: none of the chosen offers is available any more"
            return Verdict.of([Violation(code="UNAVAILABLE", message=message, scope={"leg": gone[0]})])
        rates = None if self.request.currency == PRICE_CURRENCY or self.request.budget is None else await self.provider.rates()
        market = Market.of(offers.values(), await self.provider.now(), self._trip(said).legs[0].begins, rates)
        why = {each.choose: (each, by.by) for by in said.values() for some in by.candidates.values() for each in some}
        ranks = {each.choose: rank for some in left.values() for rank, each in enumerate(some)}
        weigh_trip = balance(self.request)
        preferred = best_path(self.request, market, lambda offer: (ranks[offer.offer_id], *weigh_trip(offer)))
        paths = [path for path in (preferred, best_path(self.request, market, price_alone)) if path is not None]
        wholes = list({path.ids: path.offers for path in paths}.values())
        if not wholes:
            in_order = sorted(left, key=lambda label: int(label.removeprefix("T")))
            wholes = [tuple(offers[left[label][0].choose] for label in in_order)]
        return tuple(self._itinerary(found, rates, why, said) for found in wholes)

    def _itinerary(
        self, offers: Sequence[Offer], rates: Any, why: Mapping[str, tuple[Candidate, str]], said: Mapping[str, Said]
    ) -> Itinerary:
        known = {leg.offer.offer_id: leg.choice for trip in self.trips for leg in trip.legs if leg.choice}
        choices = []
        for offer in offers:
            candidate, by = why[offer.offer_id]
            others = known[offer.offer_id].alternatives if offer.offer_id in known else ()
            choices.append(Choice(why=candidate.reason, alternatives=others, by=by, confidence=candidate.confidence))
        total = sum(cents(offer.price) for offer in offers)
        authors = ", ".join(dict.fromkeys(each.by for each in said.values()))
        return Itinerary.of(
            self.request,
            offers,
            converted=converted(self.request, total, rates),
            reasons=(f"proposed by the agents of the trip ({authors}), put together by the search",),
            considered=tuple(f"{each.agent}: {some[0].reason}" for each in said.values() for some in each.candidates.values()),
            choices=choices,
        )


def _of_leg(leg: Leg, trips: Iterable[Itinerary]) -> tuple[tuple[Option, ...], tuple[Candidate, ...]]:
    """Return the options for a leg, and what the search proposes: its choice, then the choices in its other trips."""
    choice = leg.choice or Choice()
    instead = [each.offer for trip in trips for each in trip.legs if slot_of(each.offer) == slot_of(leg.offer)]
    told = [(leg.offer.offer_id, headline(leg.offer), leg.offer.price, terms(leg.offer))]
    told += [(each.offer_id, each.title, each.price, each.note) for each in choice.alternatives if each.fits]
    told += [(each.offer_id, headline(each), each.price, terms(each)) for each in instead]
    prices: dict[str, Decimal] = {}
    options: list[Option] = []
    for name, what, price, note in told:
        if name not in prices:
            prices[name] = price
            options.append(Option(name, {"what": what, "price": str(price), "note": note}))
    sure = 1.0 if choice.confidence is None else choice.confidence
    others = list(prices)[1:]
    less = round((1 - sure) / len(others), 2) if others else 0.0
    candidates = [Candidate(choose=leg.offer.offer_id, reason=choice.why or "it is in the best trip", confidence=sure)]
    for name in others[:MOST_INSTEAD]:
        reason = compared(prices[name] - leg.offer.price)
        candidates.append(Candidate(choose=name, reason=reason, confidence=less))
    return tuple(options), tuple(candidates)


def _choice_of(part: str, trips: Sequence[tuple[str, Mapping[str, Any], Itinerary, str]]) -> Task:
    """Return the choice between whole trips. The search's confidence in one is the mean of that in its legs."""
    proposed = []
    for name, _, trip, why in trips[:MOST_CANDIDATES]:
        sure = [leg.choice.confidence for leg in trip.legs if leg.choice and leg.choice.confidence is not None]
        confidence = round(sum(sure) / len(sure), 2) if sure else 1.0
        proposed.append(Candidate(choose=name, reason=why[:LONGEST_REASON], confidence=confidence))
    return Task({part: tuple(Option(name, facts) for name, facts, _, _ in trips)}, {part: tuple(proposed)})


def _days(trip: Itinerary) -> dict[str, Any]:
    stays = [f"{stay.city} {stay.check_in} to {stay.check_out}" for stay in trip.stays]
    return {
        "what": "; ".join([f"leave {trip.legs[0].begins}", *stays, f"end {trip.legs[-1].ends}"]),
        "total": str(trip.total),
        "under way": duration_text(trip.minutes_under_way),
    }


def _spent(trip: Itinerary) -> dict[str, Any]:
    """Return what it costs by kind, in all, and how much of the budget is left."""
    by_kind: defaultdict[str, Decimal] = defaultdict(Decimal)
    for leg in trip.legs:
        by_kind[f"{leg.offer.kind}s"] += leg.offer.price
    return {**{kind: str(amount) for kind, amount in by_kind.items()}, "total": str(trip.total)}


def _on_budget(request: TripRequest, trip: Itinerary) -> str:
    if request.budget is None:
        return f"{money_text(trip.total)} in all; no budget was named"
    spent = trip.total if trip.converted is None else trip.converted.total
    left = request.budget - spent
    words = money_text(abs(left), request.currency)
    return f"{words} {'below' if left >= 0 else 'over'} the budget of {money_text(request.budget, request.currency)}"


def _id(trip: Itinerary) -> str:
    """Return the name of a trip among those that are put together, made from its cost and its content, so that it stays
    the same.
    """
    return f"{trip.total:.0f}-{content_hash([leg.offer.offer_id for leg in trip.legs])[:6]}"
