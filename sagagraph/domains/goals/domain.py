"""Goals as a domain: planned by templates or a model, judged by the generic validators, run by the planning graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import BaseModel

from sagagraph.context.slice import Fact, content_hash
from sagagraph.domains.goals.judging import cost_of, interfaces_of, judged, kept, refused, renewed, repeats_refused, workflow_of
from sagagraph.domains.goals.library import GoalLibrary
from sagagraph.planning.domain import Infeasible, Json, Proposal, Revision, object_of
from sagagraph.planning.models.model_planner import Assignment
from sagagraph.saga.core.amendments import amended_by
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.views.view import Account, Cost
from sagagraph.validators.document import PLAN, PlanDocument
from sagagraph.validators.verdict import Verdict, Violation
from sagagraph.workflow.operation import OperationSpec

NAME: Final = "goals"
_INSTRUCTIONS = (
    "You plan a goal as steps. The data holds the goal and the actions that there are, with their inputs, outputs and kinds. "
    "Use only these actions. Steps wait for those in depends_on; a step that uses an output of another one says "
    '{"$from": step id, "path": [field]} in its inputs, and depends on it. Steps never wait for each other in a circle. '
    "Everything compensatable comes before the one pivot, everything retriable after it. The estimated costs of all steps "
    "stay within the budget. Where the data says what is done, name it again, with the same inputs, to keep it; never ask "
    "again for what was refused. Answer with the steps."
)
_BEGIN_AGAIN = Infeasible(("what is done stays as it is: cancel it, and begin again",))


class Goals:
    """Goals domain. A request is `{"type": NAME, …}` of a template, or `{"goal": "in words"}`, which needs a model; `budget`
    bounds the estimated cost of either.

    What fails is repaired by the template's alternatives, or by the model; whatever is done and still wanted is kept.
    """

    name = NAME

    def __init__(self, library: GoalLibrary) -> None:
        self._library = library

    @property
    def actions(self) -> tuple[Action, ...]:
        return self._library.actions

    async def propose(self, request: Json) -> tuple[Proposal, ...] | Infeasible:
        if not self._library.knows(object_of(request)):
            return Infeasible(("no template fits the request, and no model is available",))
        return await self._first_valid(request, self._library.plans_of(object_of(request)))

    async def repair(self, saga: Saga) -> Proposal | Infeasible:
        """Return the template's next alternative that asks for nothing that was refused."""
        if amended_by(saga) is not None:
            return _BEGIN_AGAIN
        plans = [PLAN.validate_python(each) for each in self._library.plans_of(object_of(saga.request))]
        left = [renewed(each, saga) for each in plans if not repeats_refused(each, saga)]
        found = await self._first_valid(saga.request, left)
        return found if isinstance(found, Infeasible) else found[0]

    async def _first_valid(self, request: Json, plans: Iterable[Mapping[str, Any]]) -> tuple[Proposal, ...] | Infeasible:
        why = ["no alternative is known"]
        for plan in plans:
            verdict = await self.validate(request, plan)
            if verdict.is_valid:
                return (_proposal(plan),)
            why += [each.message for each in verdict.violations]
        return Infeasible(tuple(why))

    # -- what a model plans: novel goals. A request of a known type is planned, and repaired, by its template ---------------

    async def assignment(self, request: Json) -> Assignment | tuple[Proposal, ...] | Infeasible:
        if self._library.knows(object_of(request)):
            return await self.propose(request)
        return self._assignment(request)

    async def chosen(self, request: Json, answer: BaseModel, assignment: Assignment) -> Proposal | Verdict:
        del assignment
        return await self._taken(request, PLAN.dump_python(PlanDocument.model_validate(answer), mode="json"))

    async def mending(self, saga: Saga) -> Assignment | tuple[Proposal, ...] | Infeasible:
        if amended_by(saga) is not None or self._library.knows(object_of(saga.request)):
            found = await self.repair(saga)
            return found if isinstance(found, Infeasible) else (found,)
        done = [{"id": each.spec.id, "action": each.spec.action, "inputs": each.spec.inputs} for each in kept(saga)]
        failed = [{"action": each.spec.action, "inputs": each.spec.inputs} for each in refused(saga)]
        return self._assignment(saga.request, Fact("done", done, critical=True), Fact("refused", failed, critical=True))

    async def mended(self, saga: Saga, answer: BaseModel) -> Proposal | Verdict:
        plan = PlanDocument.model_validate(answer)
        if repeats_refused(plan, saga):
            return Verdict.of([Violation(code="REFUSED_BEFORE", message="a step asks again for what was refused")])
        return await self._taken(saga.request, renewed(plan, saga))

    def _assignment(self, request: Json, *more: Fact) -> Assignment:
        wanted = object_of(request)
        goal = {name: value for name, value in wanted.items() if name != "budget"}
        facts = [Fact("goal", goal, critical=True), Fact("actions", interfaces_of(self.actions), critical=True), *more]
        if wanted.get("budget") is not None:
            facts.append(Fact("budget", wanted["budget"], critical=True))
        return Assignment(_INSTRUCTIONS, tuple(facts), PlanDocument, ())

    async def _taken(self, request: Json, plan: Mapping[str, Any]) -> Proposal | Verdict:
        verdict = await self.validate(request, plan)
        return _proposal(plan) if verdict.is_valid else verdict

    async def evidence(self, saga: Saga) -> Json:
        del saga
        return None

    async def validate(self, request: Json, plan: Json, shown: Json = None) -> Verdict:
        del shown
        budget = object_of(request).get("budget")
        return await judged(plan, self.actions, float(budget) if isinstance(budget, int | float) else None)

    def needs_approval(self, saga: Saga) -> bool:
        del saga
        return True

    def title(self, plan: Json) -> str:
        return title_of(plan)

    def workflow(self, plan: Json) -> tuple[OperationSpec, ...]:
        return workflow_of(plan, self.actions)

    def revision(self, saga: Saga) -> Revision:
        """Return the changes. Steps of a repaired plan that are done have the names of their operations."""
        wanted = self.workflow(saga.plan.content)
        done = {each.spec.id for each in kept(saga)}
        names = {each.id for each in wanted}
        removed = tuple(each.spec.id for each in saga.in_order() if not each.removed and each.spec.id not in names)
        return Revision(tuple(each for each in wanted if each.id not in done), removed)

    def account(self, saga: Saga) -> Account:
        del saga
        return Account()


def _proposal(plan: Mapping[str, Any]) -> Proposal:
    document = PLAN.dump_python(PLAN.validate_python(plan), mode="json")
    return Proposal(document, content_hash(document), title_of(document), Cost(cost_of(document), None))


def title_of(plan: Json) -> str:
    return "; ".join(f"{step.id}: {step.action}" for step in PLAN.validate_python(plan).steps)
