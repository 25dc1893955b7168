"""What is rejected before any of it runs."""

from __future__ import annotations

import re

import pytest

from sagagraph.errors import WorkflowError
from sagagraph.workflow.condition import Succeeded
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec, rebind, reference, references, resolve
from sagagraph.workflow.policy import Catch, Policy
from sagagraph.workflow.wellformed import better_order, check_workflow
from tests.saga.cases import Case, is_well_formed, shapes
from tests.saga.world import Profile

pytestmark = pytest.mark.quick

COMPENSATABLE, PIVOT, RETRIABLE, READ_ONLY = ActionKind


def spec(name: str, kind: ActionKind = COMPENSATABLE, *after: str, **more: object) -> OperationSpec:
    return OperationSpec(name, f"book {name}", kind, more.pop("inputs", None), after, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("specs", "fault"),
    [
        ([spec("a"), spec("a")], "'a' occurs 2 times"),
        ([spec("a", COMPENSATABLE, "b")], "'a' depends on 'b', which is not in the workflow"),
        ([spec("a"), spec("b", inputs=reference("a", "id"))], "'b' uses the outcome of 'a' without depending on it"),
        ([spec("a"), spec("b", condition=Succeeded("a"))], "'b' uses the outcome of 'a' without depending on it"),
        ([spec("a", COMPENSATABLE, "b"), spec("b", COMPENSATABLE, "a")], "wait for each other: "),
        ([spec("a", COMPENSATABLE, "a")], "wait for each other: a → a"),
        ([spec("pay", PIVOT), spec("pay2", PIVOT)], "more than one pivot: pay, pay2"),
        ([spec("send", RETRIABLE)], "'send' is retriable but does not come after a pivot"),
        (
            [spec("a", policy=Policy(catch=(Catch(("*",), "b"),))), spec("b")],
            "names 'b' as its handler, which does not depend on it",
        ),
    ],
)
def test_a_fault_is_named(specs: list[OperationSpec], fault: str) -> None:
    with pytest.raises(WorkflowError, match=re.escape(fault)):
        check_workflow(specs)


def test_rule_5_a_compensatable_operation_after_the_pivot_is_rejected_with_a_better_order() -> None:
    specs = [spec("pay", PIVOT), spec("hotel", COMPENSATABLE, "pay"), spec("send", RETRIABLE, "pay")]
    with pytest.raises(WorkflowError, match=re.escape("comes after the pivot 'pay'; an order that works: hotel → pay → send")):
        check_workflow(specs)


def test_rule_5_where_data_flows_out_of_the_pivot_there_is_no_better_order() -> None:
    specs = [spec("pay", PIVOT), spec("hotel", COMPENSATABLE, "pay", inputs=reference("pay", "receipt"))]
    assert better_order(specs) is None
    with pytest.raises(WorkflowError) as rejected:
        check_workflow(specs)
    assert "an order that works" not in str(rejected.value)


def test_a_reversal_is_behind_another_saga_s_pivot() -> None:
    check_workflow([spec("refund", RETRIABLE)], behind_pivot=True)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_rule_5_is_what_the_exploration_takes_it_for(count: int) -> None:
    """Two independent writings of it agree on every saga of up to three operations."""
    for edges in shapes(count):
        for number in range(len(ActionKind) ** count):
            kinds = tuple(list(ActionKind)[number // len(ActionKind) ** i % len(ActionKind)] for i in range(count))
            case = Case(kinds, edges, (Profile(),) * count)
            assert is_accepted([case.spec(i) for i in range(count)]) == is_well_formed(kinds, edges), case


def is_accepted(specs: list[OperationSpec]) -> bool:
    try:
        check_workflow(specs)
    except WorkflowError:
        return False
    return True


def test_references_are_found_and_resolved_wherever_they_stand() -> None:
    inputs = {"seat": reference("flight", "seat"), "names": ["Anna", reference("guest", "names", 0)], "nights": 3}
    assert set(references(inputs)) == {"flight", "guest"}
    outputs = {"flight": {"seat": "12A"}, "guest": {"names": ["Ben"]}}
    assert resolve(inputs, outputs) == {"seat": "12A", "names": ["Anna", "Ben"], "nights": 3}


def test_a_reference_to_nothing_is_none() -> None:
    assert resolve(reference("flight", "seat"), {}) is None


@pytest.mark.parametrize("path", [None, 5, [None], [[]], {}])
def test_what_only_looks_like_a_reference_is_data(path: object) -> None:
    inputs = {"to": {"$from": "T1", "path": path}}
    assert list(references(inputs)) == []
    assert resolve(inputs, {"T1": {}}) == inputs


def test_who_handles_a_failure_is_replaced_with_the_plan() -> None:
    caught = spec("insurance", COMPENSATABLE, "fare", policy=Policy(catch=(Catch(("*",), "payment"),)))
    again = rebind(caught, {"payment": "payment.2"})
    assert (again.policy.catch[0].handler, again.depends_on) == ("payment.2", ("fare",))
    assert rebind(caught, {"fare": "fare.2"}).depends_on == ("fare.2",)
    assert rebind(caught, {"other": "other.2"}) is caught
