"""Goals over registered actions as a domain: planned by templates or a model, run by the planning graph like any other saga."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sagagraph.context.model import Model
from sagagraph.context.slice import content_hash
from sagagraph.planning.domain import Infeasible, Proposal, Revision
from sagagraph.planning.goals.decomposition import Decomposer
from sagagraph.planning.goals.rounds import Round
from sagagraph.planning.goals.templates import TemplateLibrary
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.actions import Action, to_json
from sagagraph.saga.engine.views.view import Account, Cost
from sagagraph.validators.document import PLAN
from sagagraph.validators.verdict import Verdict
from sagagraph.workflow.operation import OperationSpec


class Goals:
    """A request is `{"goal": "in words"}`, or `{"type": NAME, …}` of a template; `budget` bounds the estimated cost of either.

    A plan that fails is undone, not repaired.
    """

    def __init__(self, name: str, actions: Sequence[Action], templates: TemplateLibrary, model: Model | None = None) -> None:
        self.name = name
        self._actions = tuple(actions)
        self._decomposer = Decomposer(actions, templates, model)

    @property
    def actions(self) -> tuple[Action, ...]:
        return self._actions

    async def propose(self, request: Any) -> tuple[Proposal, ...] | Infeasible:
        wanted = {name: value for name, value in request.items() if name != "budget"}
        found = await self._decomposer.decompose(wanted, budget=request.get("budget"))
        rounds = tuple(_told(each) for each in found.rounds)
        if not found.verdict.is_valid:
            objections = tuple(each.message for each in found.verdict.violations) or (found.verdict.reason,)
            return Infeasible((f"no plan by {found.made_by} holds", *objections, *rounds))
        plan = to_json(found.plan)
        cost = sum(step.cost for step in PLAN.validate_python(plan).steps)
        return (Proposal(plan, content_hash(plan), self.title(plan), Cost(cost, None), (f"made by {found.made_by}", *rounds)),)

    async def repair(self, saga: Saga) -> Infeasible:
        del saga
        return Infeasible(("a plan of this kind is undone, not repaired",))

    async def evidence(self, saga: Saga) -> Any:
        del saga
        return None

    async def validate(self, request: Any, plan: Any, shown: Any) -> Verdict:
        del shown
        return await self._decomposer.judged(plan, request.get("budget"))

    def needs_approval(self, saga: Saga) -> bool:
        del saga
        return True

    def title(self, plan: Any) -> str:
        return "; ".join(f"{step.id}: {step.action}" for step in PLAN.validate_python(plan).steps)

    def workflow(self, plan: Any) -> tuple[OperationSpec, ...]:
        return self._decomposer.workflow(plan)

    def revision(self, saga: Saga) -> Revision:
        return Revision(self.workflow(saga.plan.content))

    def account(self, saga: Saga) -> Account:
        del saga
        return Account()


def _told(spent: Round) -> str:
    usage = spent.usage
    outcome = " ".join(spent.outcome.split())
    return f"round {spent.number} of {usage.model}: {usage.tokens_in} tokens in, {usage.tokens_out} out: {outcome}"
