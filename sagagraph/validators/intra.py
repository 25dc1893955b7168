"""Intra-agent validators, which judge what one agent proposes (SagaLLM section 3.3.1). Deterministic; each declares what it
reads.

All but the syntactic one judge plan documents: for anything else they answer UNKNOWN, and leave it to the syntactic one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from pydantic import TypeAdapter, ValidationError

from sagagraph.context.slice import ContextSlice
from sagagraph.validators.document import PLAN, Claim, PlanDocument, Step, Term, leaves
from sagagraph.validators.verdict import Verdict, Violation
from sagagraph.workflow.condition import Comparison, compares, value_at
from sagagraph.workflow.values import Json

MOST_SHOWN = 20
"""Violations of one kind in one verdict: enough for a repair, few enough to read."""


class Syntactic:
    """The artifact matches `adapter`: a plan document, unless stated otherwise."""

    name = "syntactic"
    version = 1
    reads: tuple[str, ...] = ()

    def __init__(self, adapter: TypeAdapter[Json] = PLAN) -> None:
        self._adapter = adapter

    def validate(self, artifact: Json, context: ContextSlice) -> Verdict:
        del context
        try:
            self._adapter.validate_python(artifact)
        except ValidationError as exc:
            found = exc.errors(include_url=False, include_input=False, include_context=False)[:MOST_SHOWN]
            return Verdict.of([_malformed(error["loc"], error["msg"]) for error in found])
        return Verdict.of([])


def _malformed(location: tuple[int | str, ...], message: str) -> Violation:
    field = ".".join(map(str, location)) or "artifact"
    return Violation(code="MALFORMED", message=f"{field}: {message}", scope={"field": field})


class PlanValidator:
    """One check of a plan document. `reads` names the facts that it is shown; each may be missing."""

    name = ""
    version = 1
    reads: tuple[str, ...] = ()

    def validate(self, artifact: Json, context: ContextSlice) -> Verdict:
        try:
            plan = PLAN.validate_python(artifact)
        except ValidationError:
            return Verdict.unknown("it is not a plan document")
        return Verdict.of(list(self.violations(plan, context.facts))[:MOST_SHOWN])

    def violations(self, plan: PlanDocument, facts: Mapping[str, Json]) -> Iterator[Violation]:
        raise NotImplementedError


def at_step(step: str, code: str, message: str, **evidence: Json) -> Violation:
    return Violation(code=code, message=f"{step}: {message}", scope={"operation": step}, evidence=evidence)


class Semantic(PlanValidator):
    """Nothing ends before it begins; `span` (first, last, actions) is covered by steps of those actions, without a gap."""

    name = "semantic"
    reads = ("span",)

    def violations(self, plan: PlanDocument, facts: Mapping[str, Json]) -> Iterator[Violation]:
        for step in plan.steps:
            if step.begins and step.ends and step.ends < step.begins:
                yield at_step(step.id, "BACKWARDS", f"ends {step.ends}, before it begins {step.begins}")
        span = facts.get("span")
        if span is not None:
            actions = set(span["actions"])
            times = sorted(
                (step.begins, step.ends) for step in plan.steps if step.action in actions and step.begins and step.ends
            )
            yield from _gaps(times, datetime.fromisoformat(span["first"]), datetime.fromisoformat(span["last"]))


def _gaps(times: Sequence[tuple[datetime, datetime]], first: datetime, last: datetime) -> Iterator[Violation]:
    reached = first
    for begins, ends in [*times, (last, last)]:
        if begins > reached:
            message = f"nothing covers the time from {reached.isoformat()} to {begins.isoformat()}"
            yield Violation(code="GAP", message=message, evidence={"from": reached.isoformat(), "to": begins.isoformat()})
        reached = max(reached, ends)


class Factual(PlanValidator):
    """A step that names one of the `facts` agrees with it."""

    name = "factual"
    reads = ("facts",)

    def violations(self, plan: PlanDocument, facts: Mapping[str, Json]) -> Iterator[Violation]:
        given = facts.get("facts") or {}
        for step in plan.steps:
            for name, value in leaves(step.inputs):
                if name in given and not compares(value, Comparison.EQUAL, given[name]):
                    evidence = {"stated": value, "given": given[name]}
                    yield at_step(step.id, "FACT_CHANGED", f"{name} is {value!r}, and was given as {given[name]!r}", **evidence)


class ConstraintAdherence(PlanValidator):
    """All `constraints` (name, path, comparison, value) hold; no capacity in `capacities` is overdrawn at any time.

    A path leads into the plan document, or to `total_cost`, `step_count`, `begins` or `ends` of the whole plan.
    """

    name = "constraint adherence"
    reads = ("constraints", "capacities")

    def violations(self, plan: PlanDocument, facts: Mapping[str, Json]) -> Iterator[Violation]:
        said = {**plan.model_dump(mode="json"), **_measures(plan)}
        for each in facts.get("constraints") or ():
            found = value_at(said, tuple(each["path"]))
            if not compares(found, Comparison(each["comparison"]), each["value"]):
                message = f"{each['name']}: found {found!r}, must be {each['comparison']} {each['value']!r}"
                yield Violation(code="CONSTRAINT", message=message, scope={"constraint": each["name"]}, evidence={"found": found})
        for resource, capacity in (facts.get("capacities") or {}).items():
            yield from _overdrawn(plan.steps, resource, capacity)


def _measures(plan: PlanDocument) -> dict[str, Json]:
    begins = [step.begins for step in plan.steps if step.begins]
    ends = [step.ends for step in plan.steps if step.ends]
    return {
        "total_cost": sum(step.cost for step in plan.steps),
        "step_count": len(plan.steps),
        "begins": min(begins).isoformat() if begins else None,
        "ends": max(ends).isoformat() if ends else None,
    }


def _overdrawn(steps: Sequence[Step], resource: str, capacity: float) -> Iterator[Violation]:
    """Yield each step at whose start too much is taken. A step without times takes its share all the time."""
    takers = [step for step in steps if step.takes.get(resource)]
    for step in takers:
        beside = [other for other in takers if other is step or _is_under_way(other, step.begins)]
        taken = sum(other.takes[resource] for other in beside)
        if taken > capacity:
            message = f"{taken:g} of {resource} are taken, and there are {capacity:g}"
            yield at_step(step.id, "CAPACITY", message, by=[each.id for each in beside])


def _is_under_way(step: Step, moment: datetime | None) -> bool:
    if moment is None or step.begins is None or step.ends is None:
        return True
    return step.begins <= moment < step.ends


class Reasoning(PlanValidator):
    """Every claim rests on given facts or earlier claims, uses no others, and follows from them by arithmetic."""

    name = "reasoning"
    reads = ("facts",)

    def violations(self, plan: PlanDocument, facts: Mapping[str, Json]) -> Iterator[Violation]:
        given = facts.get("facts") or {}
        known = set(given)
        for claim in plan.claims:
            if unfounded := [each for each in claim.because if each not in known]:
                yield _unsound(claim, "UNFOUNDED", f"rests on {unfounded[0]!r}, which is neither a fact nor an earlier claim")
            elif unnamed := [each.fact for each in (*claim.left, claim.right) if each.fact and each.fact not in claim.because]:
                yield _unsound(claim, "UNFOUNDED", f"uses {unnamed[0]!r} without resting on it")
            elif not _follows(claim, given):
                yield _unsound(claim, "NON_SEQUITUR", "does not follow from what it rests on")
            known.add(claim.id)


def _unsound(claim: Claim, code: str, message: str) -> Violation:
    return Violation(code=code, message=f"claim {claim.id}: {message}", scope={"claim": claim.id})


def _follows(claim: Claim, given: Mapping[str, Json]) -> bool:
    left = [_value(term, given) for term in claim.left]
    total = left[0] if len(left) == 1 else _sum(left)
    return compares(total, claim.comparison, _value(claim.right, given))


def _value(term: Term, given: Mapping[str, Json]) -> Json:
    return term.value if term.fact is None else given.get(term.fact)


def _sum(values: Sequence[Json]) -> Json:
    """Return the sum; None, which compares with nothing, if they are not all numbers."""
    is_countable = values and all(isinstance(each, int | float) and not isinstance(each, bool) for each in values)
    return sum(values) if is_countable else None


class ContextRetention(PlanValidator):
    """All `critical` wishes are among those that the plan says it was made for, unchanged."""

    name = "context retention"
    reads = ("critical",)

    def violations(self, plan: PlanDocument, facts: Mapping[str, Json]) -> Iterator[Violation]:
        for name, value in (facts.get("critical") or {}).items():
            if name not in plan.request:
                yield Violation(code="DROPPED", message=f"{name} was asked for, and is lost", scope={"wish": name})
            elif plan.request[name] != value:
                message = f"{name} was asked for as {value!r}, and has become {plan.request[name]!r}"
                yield Violation(code="DROPPED", message=message, scope={"wish": name})
