"""Travel as a domain: proposals, judgement, operations and costs of a trip."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from sagagraph.domains.travel.actions.actions import travel_actions
from sagagraph.domains.travel.actions.payer import Payer, charged_text
from sagagraph.domains.travel.actions.workflow import itinerary_workflow, revised_workflow
from sagagraph.domains.travel.cities import City, Gazetteer
from sagagraph.domains.travel.money import as_json_number, money_text
from sagagraph.domains.travel.monitor import missed_connections
from sagagraph.domains.travel.plan import Itinerary, Leg, moments, plan_hash
from sagagraph.domains.travel.planning import amendment as amendment
from sagagraph.domains.travel.planning import planner
from sagagraph.domains.travel.planning.agents import ROLES, TripTeam
from sagagraph.domains.travel.planning.conditions import conditional
from sagagraph.domains.travel.planning.market import pairs_of
from sagagraph.domains.travel.planning.planner import insured
from sagagraph.domains.travel.planning.repair import repair
from sagagraph.domains.travel.progress import BOOKINGS, amount, as_it_stands, fee_of
from sagagraph.domains.travel.provider.provider import ReservationProvider
from sagagraph.domains.travel.request import TripRequest, checked_request, parse_request
from sagagraph.domains.travel.rules.evidence import Evidence, gather_evidence
from sagagraph.domains.travel.rules.validator import parsed_itinerary, validate_itinerary
from sagagraph.domains.travel.wording import headline
from sagagraph.errors import NotAllowedError
from sagagraph.planning.background import apart
from sagagraph.planning.domain import Infeasible, Json, Proposal, Revision, object_of
from sagagraph.planning.monitor import Foreseen
from sagagraph.saga.core.amendments import amended_by
from sagagraph.saga.core.decide.providers import ProviderHere
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.reversals import is_undoing
from sagagraph.saga.core.state import Saga, Stage
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.views.view import Account, Cost
from sagagraph.validators.concern import Remembered, certified
from sagagraph.validators.verdict import Verdict, Violation
from sagagraph.workflow.operation import OperationSpec
from sagagraph.workflow.policy import Policy

NAME = "travel"


class Travel:
    """The travel domain. Make it with `Travel.connect`, which asks once for the provider's identity, guarantees and cities."""

    name = NAME
    roles = ROLES

    def __init__(
        self,
        provider: ReservationProvider,
        cities: Gazetteer,
        actions: tuple[Action, ...],
        provider_here: ProviderHere | None = None,
        payer: Payer | None = None,
    ) -> None:
        self.provider = provider
        self.provider_here = provider_here or ProviderHere("")
        self.cities = cities
        self._payer = payer or Payer()
        self._actions = {each.name: each for each in (*actions, *self._payer.actions)}
        self._judged = Remembered()

    @classmethod
    async def connect(
        cls,
        provider: ReservationProvider,
        outbox: Path,
        *,
        address: str = "",
        policy: Policy | None = None,
        payer: Payer | None = None,
    ) -> Travel:
        """Connect to the provider, which is reached at `address`, or inside this command if that is empty.

        `policy`: that of calls with effects; by default they are tried again for an hour. `payer`: who is charged, and how.
        Raises `ProviderError` if it cannot be reached.
        """
        guarantees, cities = await asyncio.gather(provider.guarantees(), provider.cities())
        # An adapter of an earlier release, which states no identity, is known by the name of its class.
        identity = await provider.identity() if hasattr(provider, "identity") else type(provider).__qualname__
        actions = travel_actions(provider, guarantees, outbox, identity=identity, policy=policy)
        return cls(provider, Gazetteer(cities), actions, ProviderHere(identity, address), payer)

    @property
    def actions(self) -> tuple[Action, ...]:
        return tuple(self._actions.values())

    async def propose(self, request: Json) -> tuple[Proposal, ...] | Infeasible:
        wanted = TripRequest.model_validate(request)
        proposed = await apart(planner.propose, wanted, self.provider, cities=self._cities_of(wanted))
        if isinstance(proposed, Infeasible):
            return proposed
        return tuple(await asyncio.gather(*map(self._completed, proposed)))

    async def team(self, request: Json) -> TripTeam | Infeasible:
        proposed = await self.propose(request)
        if isinstance(proposed, Infeasible):
            return proposed
        trips = tuple(Itinerary.model_validate(each.plan) for each in proposed)
        return TripTeam(TripRequest.model_validate(request), trips, proposed, self.provider, self._completed)

    async def repair(self, saga: Saga) -> Proposal | Infeasible:
        damage = await amendment.damage_of(saga, self.provider, self.cities)
        repaired = await apart(repair, damage, self.provider, self._cities_of(damage.request))
        return repaired if isinstance(repaired, Infeasible) else await self._insured(repaired)

    async def foreseen(self, saga: Saga, news: Json) -> Foreseen:
        """Say whether a journey that is late still reaches the next one, and what to change if it does not."""
        if status_of(saga) is not SagaStatus.COMMITTED:
            raise NotAllowedError(f"saga {saga.id!r} is {status_of(saga).value}: it is no booked trip", saga_id=saga.id)
        wish = amendment.wish_of(saga.request).model_dump(mode="json")
        wanted = checked_request({**wish, "late": object_of(news).get("late")})
        return missed_connections(as_it_stands(saga, saga.plan.content).legs, wanted, await self.provider.now())

    async def _completed(self, itinerary: Itinerary) -> Proposal:
        return await self._insured(await conditional(itinerary, self.provider))

    async def _insured(self, itinerary: Itinerary) -> Proposal:
        return self._proposal(await insured(itinerary, self.provider))

    def _proposal(self, planned: Itinerary) -> Proposal:
        itinerary = planned.model_copy(update={"charged": self._payer.charged})
        return Proposal(
            plan=itinerary.model_dump(mode="json"),
            plan_hash=plan_hash(itinerary),
            title=_title(itinerary),
            cost=Cost(as_json_number(itinerary.total), itinerary.currency, as_json_number(itinerary.fees)),
            reasons=(*itinerary.reasons, *([charged_text(itinerary, itinerary.charged)] if itinerary.charged else [])),
            considered=itinerary.considered,
        )

    def _cities_of(self, request: TripRequest) -> tuple[City, ...]:
        names = {name for journey in pairs_of(request) for name in journey}
        return tuple(city for name in sorted(names) if (city := self.cities.find_name(name)) is not None)

    async def evidence(self, saga: Saga) -> Json:
        proposed = Itinerary.model_validate(saga.plan.content)
        stands = await amendment.all_standing(saga, self.provider)
        shown = await gather_evidence(
            proposed, amendment.wish_of(saga.request), stands, amendment.all_fees_paid(saga), self.provider, self.cities
        )
        return shown.model_dump(mode="json")

    async def validate(self, request: Json, plan: Json, shown: Json) -> Verdict:
        """Validate by checks that share nothing with the planner, and by the evidence alone, without asking the provider
        again.
        """
        evidence = Evidence.model_validate(shown)
        itinerary = parsed_itinerary(plan)
        if isinstance(itinerary, Verdict):
            return itinerary
        if itinerary.charged != self._payer.charged:
            named = self._payer.charged
            at = "the reservation service" if named is None else f"{named.method} at {named.at}"
            return Verdict.of([Violation(code="OTHER_PAYER", message=f"the plan charges somebody else than the settings: {at}")])
        return validate_itinerary(
            itinerary,
            amendment.wish_of(request),
            {offer.offer_id: offer for offer in evidence.quotes},
            now=evidence.now,
            cities=self.cities,
            rates=evidence.rates,
            fees=evidence.fees,
            begun={leg.label: leg for leg in evidence.begun},
            remembered=self._judged,
        )

    def needs_approval(self, saga: Saga) -> bool:
        """Tell whether a person must approve: other times, a higher price, or another price for changed wishes.

        The approval covers a second choice after a refusal, at the same times and for no more money.
        """
        before, after = amendment.itinerary_before(saga), Itinerary.model_validate(saga.plan.content)
        if before is None or _times(before) != _times(after) or before.charged != after.charged:
            return True
        cost_before, cost_after = before.total + before.fees, after.total + after.fees
        return cost_after > cost_before or (cost_after < cost_before and before.request != after.request)

    def title(self, plan: Json) -> str:
        return travel_title(plan)

    def workflow(self, plan: Json) -> tuple[OperationSpec, ...]:
        return itinerary_workflow(Itinerary.model_validate(plan), self._actions)

    def revision(self, saga: Saga) -> Revision:
        proposed = Itinerary.model_validate(saga.plan.content)
        revise = revised_workflow if amended_by(saga) is None else amendment.amending_workflow
        return revise(saga, proposed, self._actions)

    def account(self, saga: Saga) -> Account:
        return account_of(saga)


async def judged(wanted: Json, said: Json, travel: Travel) -> Verdict:
    """Judge a plan by what the provider quotes now: an itinerary, or a plan of `trip --plan-only` that contains one."""
    itinerary = said["plan"] if isinstance(said, Mapping) and "plan" in said else said
    now = await travel.provider.now()
    request = parse_request(wanted, cities=travel.cities, today=now.date())
    parsed = parsed_itinerary(itinerary)
    if isinstance(parsed, Verdict):
        return parsed
    evidence = await gather_evidence(parsed, request, (), Decimal(0), travel.provider, travel.cities)
    verdict = await travel.validate(request.model_dump(mode="json"), itinerary, evidence.model_dump(mode="json"))
    return certified(verdict, itinerary, travel.name)


def _times(itinerary: Itinerary) -> list[tuple[object, ...]]:
    return [(leg.offer.kind, *moments(leg.offer)) for leg in itinerary.legs]


def travel_title(plan: Json) -> str:
    return _title(Itinerary.model_validate(plan))


def _title(itinerary: Itinerary) -> str:
    return "; ".join(map(_headline, itinerary.legs))


def _headline(leg: Leg) -> str:
    if leg.only_if is None or leg.otherwise is None:
        return headline(leg.offer)
    hour, instead = leg.only_if.lands_before, headline(leg.otherwise.offer)
    return f"{headline(leg.offer)} (only if the flight before it lands before {hour:%H:%M}, otherwise {instead})"


def account_of(saga: Saga) -> Account:
    """Return what is booked, what undoing has cost, and what can no longer be undone: fees, and a message that was sent."""
    plan = saga.plan.content or {}
    booked = [each for each in saga.in_order() if each.succeeded and each.spec.action in BOOKINGS]
    undone: dict[str, Decimal] = {}
    for each in saga.in_order():
        fee = fee_of(each)
        if is_undoing(each) and each.succeeded and isinstance(each.output, dict):  # of an amended trip's bookings
            fee = amount(each.output.get("fee", 0)) or fee
        if fee:
            undone[each.id] = fee
    if saga.stage in (Stage.PLANNING, Stage.AWAITING_APPROVAL) or amended_by(saga):
        total = amount(plan.get("total", 0))
    else:
        total = sum((amount(each.output["price"]) for each in booked), Decimal(0))
    currency = plan.get("currency")
    residue = tuple(f"{name}: a cancellation fee of {money_text(fee)}" for name, fee in undone.items())
    all_fees = sum(undone.values(), Decimal(0))
    return Account(Cost(as_json_number(total), currency, as_json_number(all_fees)), residue)
