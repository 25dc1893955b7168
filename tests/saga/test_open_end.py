"""An operation that is never started: a saga that stays open after all else has been done (ADR-0013)."""

from __future__ import annotations

from msgspec.structs import replace

from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.next_steps import is_quiet, is_ready_for_repair, status_of
from sagagraph.saga.core.state import Stage
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.core.steps import CallAction, CallCompensation
from sagagraph.workflow.kind import ActionKind
from tests.saga.story import Story, spec

END = replace(spec("day", ActionKind.PIVOT, "ann", "bob"), open_end=True)


def day() -> Story:
    story = Story()
    story.tell(c.ProposePlan("one", {}, None))
    story.append(e.PlanApproved("one", "Anna"))
    story.tell(c.AcceptPlan((spec("ann"), spec("bob"), END), revisable=True))
    return story


def test_it_keeps_the_saga_running_and_quiet() -> None:
    story = day()
    story.succeed("ann", "bob")
    assert story.due() == ()
    assert is_quiet(story.saga)
    assert status_of(story.saga) is SagaStatus.RUNNING


def test_a_later_plan_that_does_without_it_lets_the_saga_commit() -> None:
    story = day()
    story.succeed("ann", "bob")
    story.tell(c.ChangeRequest({"is_over": True}, "Anna"))
    assert is_ready_for_repair(story.saga)
    story.tell(c.ProposePlan("two", {}, None))
    story.append(e.PlanApproved("two", "Anna"))
    story.tell(c.AcceptPlan((spec("day.2", ActionKind.PIVOT, "ann", "bob"),), ("day",), revisable=True))
    assert story["day"].status is OperationStatus.SKIPPED
    assert story.due() == (CallAction("day.2"),)


def test_a_cancel_undoes_what_had_been_done_beside_it() -> None:
    story = day()
    story.succeed("ann", "bob")
    story.tell(c.Cancel("Anna"))
    story.settle()
    assert story.saga.stage is Stage.COMPENSATING
    assert set(story.due()) == {CallCompensation("ann"), CallCompensation("bob")}
