"""Faults in the operations that are made of a plan: they can be put into those of any domain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import structs

from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec
from tests.planning.faults.table import Case, Fault, Specs


def first_of(of: ActionKind, /, **changes: Any) -> Callable[[Specs], Specs]:
    """Changes the first operation of a kind."""

    def change(specs: Specs) -> Specs:
        place = next(n for n, spec in enumerate(specs) if spec.kind is of)
        return [structs.replace(spec, **changes) if n == place else spec for n, spec in enumerate(specs)]

    return change


def circle(specs: Specs) -> Specs:
    return [structs.replace(specs[0], depends_on=(specs[-1].id,)), *specs[1:]]


def same_resource(specs: Specs) -> Specs:
    one, other = [spec for spec in specs if spec.resources][:2]
    return [structs.replace(spec, resources=one.resources) if spec is other else spec for spec in specs]


def first_input(name: str, value: Any) -> Callable[[Specs], Specs]:
    def change(specs: Specs) -> Specs:
        place = next(n for n, spec in enumerate(specs) if spec.kind is ActionKind.COMPENSATABLE)
        inputs = {**specs[place].inputs, name: value}
        if value is None:
            del inputs[name]
        return [structs.replace(spec, inputs=inputs) if n == place else spec for n, spec in enumerate(specs)]

    return change


def again(specs: Specs) -> Specs:
    return [*specs, specs[0]]


def second_pivot(specs: Specs) -> Specs:
    pay = next(spec for spec in specs if spec.kind is ActionKind.PIVOT)
    again: OperationSpec = structs.replace(pay, id="payment-2")
    return [*specs, again]


def plan_fault(change: Callable[[Case], None], *codes: str, needs: Callable[[Case], bool] | None = None) -> Fault:
    return Fault(frozenset(codes), in_plan=change, **({} if needs is None else {"needs": needs}))


def workflow_fault(change: Callable[[Specs], Specs], code: str) -> Fault:
    return Fault(frozenset({code}), in_workflow=change)
