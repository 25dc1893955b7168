"""Renewal: a new plan for a saga that has begun, named so that what is done and still wanted is not done again. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from sagagraph.saga.core.state import Operation, Saga
from sagagraph.saga.engine.actions import to_json
from sagagraph.validators.document import PLAN, PlanDocument, Step


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
    """Return the plan as JSON, with each step named after the operation that has done it, and all others by new names."""
    names: dict[str, str] = {}
    steps: dict[str, Step] = {}
    done = {each.spec.id: each for each in kept(saga)}
    for step in _in_order(plan):
        moved = _renamed(step, names)
        same = next((name for name, each in done.items() if _does(each, moved)), None)
        if same is not None:
            del done[same]
        names[step.id] = same or (f"{step.id}.{saga.plan.version + 1}" if step.id in saga.operations else step.id)
        steps[step.id] = moved.model_copy(update={"id": names[step.id]})
    ordered = tuple(steps[step.id] for step in plan.steps)
    document: dict[str, Any] = PLAN.dump_python(plan.model_copy(update={"steps": ordered}), mode="json")
    return document


def _in_order(plan: PlanDocument) -> list[Step]:
    """Return the steps, each after those that it waits for; as they stand if they wait for each other: validators refuse that."""
    by_id = {step.id: step for step in plan.steps}
    waits = {step.id: [each for each in step.depends_on if each in by_id] for step in plan.steps}
    try:
        return [by_id[name] for name in TopologicalSorter(waits).static_order()]
    except CycleError:
        return list(plan.steps)


def _renamed(step: Step, names: Mapping[str, str]) -> Step:
    depends_on = tuple(names.get(each, each) for each in step.depends_on)
    return step.model_copy(update={"depends_on": depends_on, "inputs": _referring(to_json(step.inputs), names)})


def _referring(inputs: Any, names: Mapping[str, str]) -> Any:
    """Return inputs whose references follow the new names."""
    if isinstance(inputs, Mapping):
        if "$from" in inputs:
            return {**inputs, "$from": names.get(str(inputs["$from"]), inputs["$from"])}
        return {name: _referring(each, names) for name, each in inputs.items()}
    return [_referring(each, names) for each in inputs] if isinstance(inputs, list) else inputs


def _does(done: Operation, step: Step) -> bool:
    return done.spec.action == step.action and done.spec.inputs == to_json(step.inputs)
