"""Judging: plans of registered actions, by generic validators and their structure, whoever made them (PRD-102 section 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

from msgspec import structs
from pydantic import TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema

from sagagraph.context.slice import content_hash
from sagagraph.planning.checking import over_budget, structural_faults
from sagagraph.saga.core.state import Operation, Saga
from sagagraph.saga.engine.actions import Action, to_json
from sagagraph.validators.document import PLAN, PlanDocument, Step
from sagagraph.validators.kinds import Kind
from sagagraph.validators.registry import Judgement, facts_of, generic_validators, judge_by
from sagagraph.validators.verdict import Verdict, Violation
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec


async def judged(plan: Any, actions: Sequence[Action], budget: float | None) -> Verdict:
    """Judge a plan document. `budget` limits the estimated cost of all its steps; None: no limit."""
    undoable = [each.name for each in actions if each.compensate is not None]
    facts = {"interfaces": interfaces_of(actions), "undoable": undoable}
    claimable = {} if budget is None else {"budget": budget}  # a claim may use it; inputs of that name are independent of it
    by_kind: list[Verdict] = []
    for each in generic_validators():
        known = {**facts, "facts": claimable} if Kind.REASONING in each.kinds else facts
        by_kind += (await judge_by([each.validator], plan, facts_of(known))).verdicts
    verdict = Judgement(tuple(by_kind)).verdict
    if not verdict.is_valid:
        return verdict
    document = PLAN.validate_python(plan)
    versions = {each.name: each.version for each in actions}
    specs = [structs.replace(each, action_version=versions[each.action]) for each in document.specs]
    faults = [*structural_faults(specs, actions), *_done_twice(document.steps), *over_budget(cost_of(plan), budget)]
    return Verdict.of(faults)


def cost_of(plan: Any) -> float:
    return sum(step.cost for step in PLAN.validate_python(plan).steps)


def workflow_of(plan: Any, actions: Sequence[Action]) -> tuple[OperationSpec, ...]:
    """Return the operations of a plan that was judged VALID."""
    known = {each.name: each for each in actions}
    steps = PLAN.validate_python(plan).steps
    return tuple(known[step.action].spec(step.id, step.inputs, step.depends_on) for step in steps)


def _done_twice(steps: Sequence[Step]) -> Iterator[Violation]:
    """Check for steps with the same effect: a room that is booked twice is booked once too often."""
    first: dict[str, str] = {}
    for step in steps:
        effect = content_hash([step.action, to_json(step.inputs)])
        if step.kind is not ActionKind.READ_ONLY and first.setdefault(effect, step.id) != step.id:
            message = f"{step.id}: does again what {first[effect]} does: {step.action} with the same inputs"
            scope = {"operation": step.id, "operations": [first[effect], step.id]}
            yield Violation(code="DOUBLE_BOOKED", message=message, scope=scope)


def interfaces_of(actions: Sequence[Action]) -> dict[str, dict[str, Any]]:
    """Return what each action takes and returns, as the contract validator reads it: for objects with known fields."""
    found: dict[str, dict[str, Any]] = {}
    for each in actions:
        interface: dict[str, Any] = {"kind": each.kind.value}
        takes, gives = _schema(each.request_type), _schema(each.result_type)
        if takes is not None:
            interface["inputs"] = _types(takes)
            interface["optional"] = sorted(takes["properties"].keys() - set(takes.get("required", ())))
        if gives is not None:
            interface["output"] = _types(gives)
        found[each.name] = interface
    return found


def _schema(kind: Any) -> Mapping[str, Any] | None:
    try:
        schema = TypeAdapter(kind).json_schema()
    except PydanticInvalidForJsonSchema:
        return None
    return schema if "properties" in schema else None


def _types(schema: Mapping[str, Any]) -> dict[str, str]:
    return {name: field.get("type", "any") for name, field in schema["properties"].items()}


def refused(saga: Saga) -> tuple[Operation, ...]:
    """Return the operations that failed, the earliest first."""
    return tuple(each for each in saga.in_order() if each.failed)


def kept(saga: Saga) -> tuple[Operation, ...]:
    """Return the operations that are done, and that no later plan has left out."""
    return tuple(each for each in saga.in_order() if each.succeeded and not each.removed)


def repeats_refused(plan: PlanDocument, saga: Saga) -> bool:
    """Tell whether a step asks again for what was refused."""
    asked = [(each.spec.action, each.spec.inputs) for each in refused(saga)]
    return any((step.action, to_json(step.inputs)) in asked for step in plan.steps)


def renewed(plan: PlanDocument, saga: Saga) -> dict[str, Any]:
    """Return the plan as JSON, with each step named after the operation that has done it, and all others under new names."""
    names: dict[str, str] = {}
    steps: dict[str, Step] = {}
    done = {each.spec.id: each for each in kept(saga)}
    for step in _in_order(plan):
        depends_on = tuple(names.get(each, each) for each in step.depends_on)
        moved = step.model_copy(update={"depends_on": depends_on, "inputs": _referring(to_json(step.inputs), names)})
        wanted = step.action, to_json(moved.inputs)
        same = next((name for name, each in done.items() if (each.spec.action, each.spec.inputs) == wanted), None)
        if same is not None:
            del done[same]
        names[step.id] = same or (f"{step.id}.{saga.plan.version + 1}" if step.id in saga.operations else step.id)
        steps[step.id] = moved.model_copy(update={"id": names[step.id]})
    ordered = tuple(steps[step.id] for step in plan.steps)
    document: dict[str, Any] = PLAN.dump_python(plan.model_copy(update={"steps": ordered}), mode="json")
    return document


def _in_order(plan: PlanDocument) -> list[Step]:
    """Return the steps, each after those that it waits for; unchanged if they wait for each other, which validators reject."""
    by_id = {step.id: step for step in plan.steps}
    waits = {step.id: [each for each in step.depends_on if each in by_id] for step in plan.steps}
    try:
        return [by_id[name] for name in TopologicalSorter(waits).static_order()]
    except CycleError:
        return list(plan.steps)


def _referring(inputs: Any, names: Mapping[str, str]) -> Any:
    """Return inputs whose references use the new names."""
    if isinstance(inputs, Mapping):
        if "$from" in inputs:
            return {**inputs, "$from": names.get(str(inputs["$from"]), inputs["$from"])}
        return {name: _referring(each, names) for name, each in inputs.items()}
    return [_referring(each, names) for each in inputs] if isinstance(inputs, list) else inputs
