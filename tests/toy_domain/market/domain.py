"""The domain: what the planning graph asks of it (`sagagraph.planning.domain.Domain`)."""

from __future__ import annotations

from market.actions import BUY, buying
from market.planning import cheapest
from market.request import Purchase, Round, ShoppingList, parse_list
from market.rules import judge
from market.stalls import PRICES, Stalls

from sagagraph.context.slice import content_hash
from sagagraph.planning.domain import Infeasible, Json, Proposal, Revision, object_of
from sagagraph.saga.core.amendments import amended_by
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.views.view import Account, Cost
from sagagraph.validators.verdict import Verdict
from sagagraph.workflow.operation import OperationSpec


class Market:
    name = "market"

    def __init__(self, stalls: Stalls) -> None:
        self.stalls = stalls
        self._buy = buying(stalls)

    @property
    def actions(self) -> tuple[Action, ...]:
        return (self._buy,)

    async def propose(self, request: Json) -> tuple[Proposal, ...] | Infeasible:
        found = cheapest(parse_list(request))
        return found if isinstance(found, Infeasible) else (_proposal(found),)

    async def repair(self, saga: Saga) -> Proposal | Infeasible:
        """What is bought stays; what was refused is bought at another stall. After the commit there is nothing to repair."""
        if amended_by(saga) is not None:
            return Infeasible(("what is bought stays as it is: cancel it, and begin again",))
        refused = {(each.spec.inputs["kind"], each.spec.inputs["stall"]) for each in saga.in_order() if each.failed}
        found = cheapest(parse_list(saga.request), refused, _bought(saga))
        return found if isinstance(found, Infeasible) else _proposal(found)

    async def evidence(self, saga: Saga) -> Json:
        return {"prices": PRICES}

    async def validate(self, request: Json, plan: Json, shown: Json) -> Verdict:
        prices = object_of(object_of(shown)["prices"])
        return judge(ShoppingList.model_validate(request), Round.model_validate(plan), prices)

    def needs_approval(self, saga: Saga) -> bool:
        return Round.model_validate(saga.plan.content).total > Round.model_validate(saga.plan.accepted.content).total

    def title(self, plan: Json) -> str:
        return title(plan)

    def workflow(self, plan: Json) -> tuple[OperationSpec, ...]:
        return self._operations(Round.model_validate(plan).purchases, "")

    def revision(self, saga: Saga) -> Revision:
        kept = _bought(saga)
        fresh = tuple(each for each in Round.model_validate(saga.plan.content).purchases if each not in kept)
        removed = tuple(each.id for each in saga.in_order() if not each.succeeded and not each.removed)
        return Revision(self._operations(fresh, f".{saga.plan.version + 1}"), removed)

    def account(self, saga: Saga) -> Account:
        return account(saga)

    def _operations(self, purchases: tuple[Purchase, ...], suffix: str) -> tuple[OperationSpec, ...]:
        return tuple(self._buy.spec(f"{each.kind}{suffix}", each) for each in purchases)


def title(plan: Json) -> str:
    return "; ".join(f"{each.count} {each.kind} from {each.stall}" for each in Round.model_validate(plan).purchases)


def account(saga: Saga) -> Account:
    return Account(Cost(sum(each.price for each in _bought(saga)), "USD"))


def _bought(saga: Saga) -> tuple[Purchase, ...]:
    done = [each for each in saga.in_order() if each.spec.action == BUY and each.succeeded and not each.removed]
    return tuple(Purchase.model_validate(each.spec.inputs) for each in done)


def _proposal(plan: Round) -> Proposal:
    content = plan.model_dump(mode="json")
    return Proposal(content, content_hash(content), title(content), Cost(plan.total, "USD"))
