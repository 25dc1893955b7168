"""Travel as a domain: proposals, judgement, operations and money of a trip."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any

from sagagraph.domains.travel import planner
from sagagraph.domains.travel.actions import travel_actions
from sagagraph.domains.travel.cities import Gazetteer
from sagagraph.domains.travel.money import PRICE_CURRENCY, as_json_number, money_text
from sagagraph.domains.travel.offers import Offer
from sagagraph.domains.travel.plan import Itinerary, plan_hash
from sagagraph.domains.travel.problem import TripRequest
from sagagraph.domains.travel.provider import ReservationProvider
from sagagraph.domains.travel.validator import validate_itinerary
from sagagraph.domains.travel.wording import headline
from sagagraph.domains.travel.workflow import itinerary_workflow
from sagagraph.planning.domain import Infeasible, Proposal
from sagagraph.saga.action import Action
from sagagraph.saga.model import Operation, Saga, Stage
from sagagraph.saga.redaction import is_redacted
from sagagraph.saga.view import Account, Cost
from sagagraph.validators.verdict import Verdict
from sagagraph.workflow.operation import OperationSpec

NAME = "travel"
BOOKINGS = frozenset({"book_flight", "book_hotel", "book_train"})


class Travel:
    """Made by `Travel.connect`: what the provider guarantees and which cities it knows is asked once."""

    name = NAME

    def __init__(self, provider: ReservationProvider, cities: Gazetteer, actions: tuple[Action, ...]) -> None:
        self.provider = provider
        self.cities = cities
        self._actions = {each.name: each for each in actions}

    @classmethod
    async def connect(cls, provider: ReservationProvider, outbox: Path) -> Travel:
        """Raises `ProviderError` when the provider can not be reached."""
        guarantees, cities = await asyncio.gather(provider.guarantees(), provider.cities())
        return cls(provider, Gazetteer(cities), travel_actions(provider, guarantees, outbox))

    @property
    def actions(self) -> tuple[Action, ...]:
        return tuple(self._actions.values())

    async def propose(self, request: Any) -> tuple[Proposal, ...] | Infeasible:
        proposed = await planner.propose(TripRequest.model_validate(request), self.provider)
        if isinstance(proposed, planner.Infeasible):
            return Infeasible(proposed.reasons, proposed.conflict, proposed.relaxations)
        return tuple(_proposal(itinerary) for itinerary in proposed)

    async def validate(self, request: Any, plan: Any) -> Verdict:
        """Judged against what the provider quotes now, by checks that share nothing with the planner."""
        itinerary = Itinerary.model_validate(plan)
        quoted = await asyncio.gather(*(self.provider.offer(leg.offer.offer_id) for leg in itinerary.legs))
        quotes: dict[str, Offer] = {offer.offer_id: offer for offer in quoted if offer is not None}
        now, wanted = await self.provider.now(), TripRequest.model_validate(request)
        rates = None if wanted.currency == PRICE_CURRENCY else await self.provider.rates()
        return validate_itinerary(itinerary, wanted, quotes, now=now, cities=self.cities, rates=rates)

    def title(self, plan: Any) -> str:
        return travel_title(plan)

    def workflow(self, plan: Any) -> tuple[OperationSpec, ...]:
        return itinerary_workflow(Itinerary.model_validate(plan), self._actions)

    def account(self, saga: Saga) -> Account:
        return account_of(saga)


def _proposal(itinerary: Itinerary) -> Proposal:
    return Proposal(
        plan=itinerary.model_dump(mode="json"),
        plan_hash=plan_hash(itinerary),
        title=_title(itinerary),
        cost=Cost(as_json_number(itinerary.total), itinerary.currency),
        reasons=itinerary.reasons,
        considered=itinerary.considered,
    )


def travel_title(plan: Any) -> str:
    return _title(Itinerary.model_validate(plan))


def _title(itinerary: Itinerary) -> str:
    return "; ".join(headline(leg.offer) for leg in itinerary.legs)


def account_of(saga: Saga) -> Account:
    """What stands booked, what undoing has cost, and what can not be undone: fees, and a message that was sent."""
    plan = saga.plan.content or {}
    booked = [each for each in saga.in_order() if each.succeeded and each.spec.action in BOOKINGS]
    undone = [each for each in saga.in_order() if _fee(each)]
    planned = _amount(plan.get("total", 0))
    if saga.stage in (Stage.PLANNING, Stage.AWAITING_APPROVAL):
        total = planned
    else:
        total = sum((_amount(each.output["price"]) for each in booked), Decimal(0))
    currency = plan.get("currency")
    residue = tuple(f"{each.id}: a cancellation fee of {money_text(_fee(each))}" for each in undone)
    fees = sum((_fee(each) for each in undone), Decimal(0))
    return Account(Cost(as_json_number(total), currency, as_json_number(fees)), residue)


def _fee(operation: Operation) -> Decimal:
    output = operation.undo_output
    return _amount(output.get("fee", 0)) if isinstance(output, dict) else Decimal(0)


def _amount(value: Any) -> Decimal:
    return Decimal(0) if is_redacted(value) else Decimal(str(value))
