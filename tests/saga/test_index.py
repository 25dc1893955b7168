"""The index says at any moment what looking at every operation would say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.dependencies import descendants, is_closed, is_done_with, is_settled
from sagagraph.saga.core.evolve.index import index_of
from sagagraph.saga.core.state import Operation, Saga, Stage
from sagagraph.saga.core.status import OperationStatus
from sagagraph.saga.core.steps import CallAction, CallCompensation
from sagagraph.workflow.condition import Failed
from sagagraph.workflow.kind import ActionKind
from tests.saga.cases import COMPENSATABLE, PIVOT, READ_ONLY, RETRIABLE, Case
from tests.saga.explorer import Explorer
from tests.saga.story import FAULT, NO, Story, spec
from tests.saga.test_random_sagas import TROUBLES, apart, cases, choices, chosen, randomly

pytestmark = pytest.mark.quick

IN_DOUBT, COMPENSATING = OperationStatus.IN_DOUBT, OperationStatus.COMPENSATING


def check(saga: Saga) -> None:
    """Each part of the index against a plain look at all operations, written down a second time."""
    index, operations = saga.index, list(saga.operations.values())
    assert [each.id for each in saga.in_order()] == [each.id for each in sorted(operations, key=lambda each: each.ordinal)]
    after = descendants(saga, saga.pivot) if saga.pivot else frozenset()
    assert set(index.after_pivot) == after
    assert index.in_flight == sum(each.in_flight for each in operations)
    assert index.waiting_for_person == sum(each.waits_for_person for each in operations)
    assert index.unclosed == sum(not is_closed(each) for each in operations)
    assert index.unfinished == sum(not is_done_with(each) for each in operations)
    gate = [each for each in operations if each.id not in after and each.id != saga.pivot]
    assert index.unfinished_before_pivot == sum(not is_done_with(each) for each in gate)
    assert dict(index.due) == {each.id: each.ordinal for each in operations if is_due(saga, each)}
    assert saga.index == index_of(saga)


def is_due(saga: Saga, operation: Operation) -> bool:
    status, forward = operation.status, saga.stage is Stage.RUNNING and not operation.removed
    if operation.in_flight or saga.stage not in (Stage.RUNNING, Stage.COMPENSATING):
        return False
    if forward and status is OperationStatus.PLANNED:
        return all(is_settled(saga.operations[each]) for each in operation.spec.depends_on)
    if forward:
        return status in (IN_DOUBT, COMPENSATING)
    undoable = status is OperationStatus.SUCCEEDED and operation.spec.kind is COMPENSATABLE
    return (undoable or status in (IN_DOUBT, COMPENSATING)) and not is_closed(operation) and may_be_undone(saga, operation.id)


def may_be_undone(saga: Saga, name: str) -> bool:
    """Rule 4: all that depends on it is closed, however far away, but for what is reached only by the handlers of its failure."""
    resting = [each for each in saga.operations.values() if name in each.spec.depends_on and each.spec.condition != Failed(name)]
    below = {each.id for each in resting}.union(*(descendants(saga, each.id) for each in resting))
    return all(is_closed(saga.operations[each]) for each in below)


@st.composite
def all_cases(draw: st.DrawFn) -> Case:
    """Also replans, handlers of failures, and bodies of code."""
    case = draw(cases())
    last = case.count - 1
    match draw(st.sampled_from(["plan", "replan", "handler", "body"])):
        case "replan":
            return replace(case, alternative_of=draw(st.integers(0, last - 1)))
        case "handler":
            handled = draw(st.integers(0, last - 1))
            return replace(case, handler_of=handled, edges=(*case.edges[:-1], tuple({*case.edges[-1], handled})))
        case "body":
            return replace(case, driver=e.Driver.BODY)
        case _:
            return case


@pytest.mark.thorough
@randomly
@given(all_cases(), choices, st.booleans())
def test_it_is_what_a_look_at_all_operations_says_wherever_a_saga_gets(case: Case, picks: list[int], eager: bool) -> None:
    explorer = Explorer(case, TROUBLES, symmetric=False, key=apart, eager=eager)
    state = explorer.start()
    for pick in picks[:150]:
        check(state.saga)
        moves = list(explorer.moves(state))
        if not moves:
            break
        state = chosen(moves, pick, state).state
    check(state.saga)


# -- what random walks seldom meet -------------------------------------------------------------------------------------


class Checked(Story):
    """Every state of it is checked."""

    def append(self, *events: e.Event, epoch: int | None = None) -> tuple[e.Event, ...]:
        for event in events:
            super().append(event, epoch=epoch)
            check(self.saga)
        return events


def body(*operations: Any) -> Checked:
    story = Checked(driver=e.Driver.BODY)
    for each in operations:
        story.append(e.OperationPlanned(each))
    return story


def test_a_body_that_plans_one_operation_after_the_other() -> None:
    story = body(spec("flight"), spec("fares", READ_ONLY), spec("hotel", COMPENSATABLE, "flight", "fares", "flight"))
    story.succeed("flight", "fares", "hotel")
    story.append(e.OperationPlanned(spec("pay", PIVOT, "hotel")))
    story.append(e.OperationPlanned(spec("mail", RETRIABLE, "pay")), e.OperationPlanned(spec("note", RETRIABLE, "mail")))
    story.append(e.OperationPlanned(spec("map", READ_ONLY)))
    assert set(story.saga.index.after_pivot) == {"mail", "note"}
    assert set(story.saga.index.due) == {"pay", "map"}


def test_a_pivot_that_is_planned_after_another_one_failed() -> None:
    story = body(spec("pay", PIVOT), spec("mail", READ_ONLY, "pay"))
    story.call("pay")
    story.tell(c.ActionRefused("pay", NO))
    story.append(e.OperationPlanned(spec("card", PIVOT)), e.OperationPlanned(spec("letter", RETRIABLE, "card")))
    assert set(story.saga.index.after_pivot) == {"letter"}


def test_what_was_rejected_is_undone_before_what_it_depends_on_goes_on() -> None:
    story = Checked(spec("flight"), spec("hotel", COMPENSATABLE, "flight"), spec("tour", READ_ONLY, "hotel"))
    story.succeed("flight")
    story.call("hotel")
    story.append(e.OperationRejected("hotel", None, NO, e.Via.REPLY, ()))
    assert (set(story.saga.index.due), set(story.saga.index.fatal)) == ({"hotel"}, {"hotel"})
    story.start(CallCompensation("hotel"))
    story.tell(c.UndoReplied("hotel", None))
    assert "tour" in story.saga.index.due


def test_what_is_removed_is_undone_dependents_first() -> None:
    story = body(spec("flight"), spec("hotel", COMPENSATABLE, "flight"), spec("tour", READ_ONLY, "hotel"), spec("train"))
    story.succeed("flight", "hotel", "tour", "train")
    story.append(e.BodyCompleted(("flight", "hotel")))
    assert set(story.saga.index.due) == {"hotel"}
    story.start(CallCompensation("hotel"))
    story.tell(c.UndoReplied("hotel", None))
    assert set(story.saga.index.due) == {"flight"}


def test_a_read_below_what_is_removed_blocks_it_while_it_is_called() -> None:
    story = Checked(spec("flight"), spec("fares", READ_ONLY, "flight"), spec("notes", READ_ONLY, "fares"))
    story.succeed("flight", "fares")
    story.append(e.PlanAccepted(2, (), ("flight",)))
    assert set(story.saga.index.due) == {"flight", "notes"}
    story.call("notes")
    assert set(story.saga.index.due) == set()
    story.tell(c.ActionReplied("notes", None))
    assert set(story.saga.index.due) == {"flight"}
    story.append(e.OperationPlanned(spec("more", READ_ONLY, "notes")))
    story.start(CallAction("more"))
    assert set(story.saga.index.due) == set()


def test_going_back_what_a_last_check_contradicts_blocks_again_what_it_depends_on() -> None:
    story = Checked(*(spec(name, COMPENSATABLE, *after) for name, *after in ("a", "ba", "cb", "da")))
    story.succeed("a", "b", "c", "d")
    story.append(e.SagaTurnedBack("cancelled"))
    for name in "cb":
        assert name in story.saga.index.due
        story.start(CallCompensation(name))
        story.tell(c.UndoReplied(name, None))
    story.append(e.CompensationFailed("c", FAULT))
    assert (story.saga.index.below["b"], story.saga.index.below["a"]) == (1, 2)
    story.append(e.CompensationFailed("b", FAULT))
    story.tell(c.Resolve("b", e.Resolution.COMPENSATED, "Ada"))
    assert (story.saga.index.below["b"], story.saga.index.below["a"]) == (1, 2)
    story.tell(c.Resolve("c", e.Resolution.COMPENSATED, "Ada"))
    assert set(story.saga.index.due) == {"d"}


@pytest.mark.parametrize("kind", [ActionKind.COMPENSATABLE, ActionKind.READ_ONLY])
def test_a_cycle_which_only_a_damaged_journal_has_is_no_endless_loop(kind: ActionKind) -> None:
    story = Story(spec("a", kind, "b"), spec("b", kind, "a"))
    story.append(e.SagaTurnedBack("cancelled"))
    assert dict(story.saga.index.due) == {}
