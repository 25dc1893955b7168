"""Checking: judges a plan before it can be accepted, by its domain's validators and its structure (PRD-102 section 5).

The same function judges a new plan and one that is replayed.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from sagagraph.context.slice import content_hash, tokens_of
from sagagraph.errors import InvalidInputError, ProviderError
from sagagraph.planning.domain import Domain
from sagagraph.saga.core.events import PlanJudged
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.actions import Action
from sagagraph.validators.concern import certified
from sagagraph.validators.verdict import Certificate, Verdict, VerdictStatus, Violation
from sagagraph.workflow.operation import OperationSpec, references
from sagagraph.workflow.wellformed import workflow_faults

TIME_LIMIT_S: Final = 60.0
"""Seconds for the validators of one plan."""
VERSION: Final = 1
"""The version of the judgement of a domain whose validator is shown everything at once."""
MOST_CERTIFICATES: Final = 100
"""How many certificates of one plan a journal holds; if there are more it holds the root hash, and `log` makes them again."""


async def judged_plan(domain: Domain, request: Any, plan: Any, shown: Any) -> Verdict:
    """Judge `plan` as a journal keeps it: with a certificate of the plan and of all that it was judged by, and one for each
    validator and slice unless these are too many.

    Raises:
        ProviderError: the validators did not answer in time. An outage is not a verdict: the plan is judged when the saga
            resumes.
    """
    verdict = await expanded_verdict(domain, request, plan, shown)
    return verdict if len(verdict.certificates) <= MOST_CERTIFICATES else verdict.model_copy(update={"certificates": ()})


async def expanded_verdict(domain: Domain, request: Any, plan: Any, shown: Any) -> Verdict:
    """Return the same verdict with all certificates, however many they are."""
    try:
        async with asyncio.timeout(TIME_LIMIT_S):
            verdict = await domain.validate(request, plan, shown)
    except TimeoutError as exc:
        raise ProviderError(f"the validators of {domain.name} did not answer within {TIME_LIMIT_S:g} s; try again later") from exc
    certificates = verdict.certificates
    if verdict.verdict is VerdictStatus.VALID:
        structure = list(structural_faults(domain.workflow(plan), domain.actions))
        verdict = Verdict.of(structure) if structure else verdict
    if certificates:
        return certified(verdict.model_copy(update={"certificates": certificates}), plan, domain.name)
    context = {"request": request, "shown": shown}
    certificate = Certificate(
        validator=domain.name,
        version=VERSION,
        artifact_hash=content_hash(plan),
        slice_hash=content_hash(context),
        slice_tokens=tokens_of(context),
    )
    return verdict.model_copy(update={"certificate": certificate})


def is_abridged(event: object) -> bool:
    """Tell whether a journal's event is a verdict on a plan that lacks the certificates of its slices."""
    if not isinstance(event, PlanJudged):
        return False
    verdict = Verdict.model_validate(event.verdict)
    return verdict.certificate is not None and verdict.certificate.slices > len(verdict.certificates)


async def unabridged(domain: Domain, saga: Saga, event: Any) -> Any:
    """Return the verdict of a `PlanJudged` with all certificates, or unchanged if they no longer lead to its root hash."""
    recorded = Verdict.model_validate(event.verdict)
    again = await expanded_verdict(domain, saga.request, saga.plan.content, event.shown)
    is_same = recorded.certificate == again.certificate
    return recorded.model_copy(update={"certificates": again.certificates}).model_dump(mode="json") if is_same else event.verdict


def judge_plan_of(domain: Domain) -> Callable[[Any, Any, Any], Any]:
    """Return `judged_plan` for one domain, in the form that a replay calls."""

    async def judge(request: Any, plan: Any, shown: Any) -> Verdict:
        return await judged_plan(domain, request, plan, shown)

    return judge


def structural_faults(specs: Sequence[OperationSpec], actions: Sequence[Action]) -> Iterator[Violation]:
    """Check for a DAG whose inputs and actions exist, with its pivot in the right place and no resource taken twice."""
    known = {(each.name, each.version): each for each in actions}
    for spec in specs:
        action = known.get((spec.action, spec.action_version))
        if action is None:
            yield _at(spec, "UNKNOWN_ACTION", f"there is no action {spec.action!r} of version {spec.action_version}")
        elif spec.kind is not action.kind:
            yield _at(spec, "WRONG_KIND", f"action {spec.action!r} is {action.kind.value}, not {spec.kind.value}")
        elif not any(True for _ in references(spec.inputs)):  # what is known before anything runs
            try:
                action.request_from_json(spec.inputs)
            except InvalidInputError as exc:
                yield _at(spec, "WRONG_TYPE", str(exc))
    for fault in workflow_faults(specs):
        yield Violation(code="STRUCTURE", message=fault)
    taken = Counter(resource for spec in specs for resource in spec.resources)
    for resource, times in taken.items():
        if times > 1:
            by = [spec.id for spec in specs if resource in spec.resources]
            message = f"{resource} is taken {times} times, by {', '.join(by)}"
            yield Violation(code="DOUBLE_BOOKED", message=message, scope={"resource": resource, "operations": by})


def _at(spec: OperationSpec, code: str, message: str) -> Violation:
    return Violation(code=code, message=f"{spec.id}: {message}", scope={"operation": spec.id})


def over_budget(cost: float, budget: float | None) -> Iterator[Violation]:
    """Tell whether the plan's estimated cost exceeds its budget. A cost that is not a number does."""
    if budget is not None and not cost <= budget:
        message = f"is estimated to cost {cost:g}, and the budget is {budget:g}"
        yield Violation(code="BUDGET", message=message, evidence={"cost": cost, "budget": budget})
