"""Rule 11: after the store was restored, what the journal does not show may have happened. The pure core."""

from __future__ import annotations

import pytest
from msgspec import structs

from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Doubt, Stage
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.core.steps import CallAction, CallCompensation, CallProbe, CallVoid, Record, Verify, Wait
from sagagraph.validators.verdict import Verdict, VerdictStatus
from sagagraph.workflow.condition import Failed
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.policy import Catch
from tests.saga.story import NO, Story, spec

pytestmark = pytest.mark.quick

COMPENSATABLE, PIVOT, READ_ONLY = ActionKind.COMPENSATABLE, ActionKind.PIVOT, ActionKind.READ_ONLY
LANDED, ABSENT, UNDONE = e.ProbeAnswer.LANDED, e.ProbeAnswer.ABSENT, e.ProbeAnswer.UNDONE
LATER_S = 50.0
INVALID = Verdict(verdict=VerdictStatus.INVALID)


def restore(story: Story, *, store_epoch: int = 2) -> Story:
    story.now += LATER_S
    story.append(e.LeaseTaken("another", store_epoch=store_epoch), epoch=story.saga.epoch + 1)
    story.settle()
    return story


def a_then_b(**terms: object) -> Story:
    story = Story(spec("A", **terms), spec("B", COMPENSATABLE, "A", **terms))  # type: ignore[arg-type]
    story.succeed("A")
    return story


def test_a_takeover_of_the_same_store_doubts_nothing() -> None:
    story = a_then_b()
    story.append(e.LeaseTaken("another", store_epoch=None), epoch=2)
    assert story.due() == (CallAction("B"),)


def test_a_first_call_is_preceded_by_a_probe() -> None:
    story = restore(a_then_b())
    assert story.saga.doubt == Doubt(100.0, 150.0)
    assert (story["B"].status, story.due()) == (OperationStatus.IN_DOUBT, (CallProbe("B"),))
    story.probe("B", LANDED)
    assert story["B"].status is OperationStatus.SUCCEEDED
    assert isinstance(story.due()[0], Verify)


@pytest.mark.parametrize("store_epoch", [2, 3])
def test_what_is_absent_is_held_unless_a_repetition_is_harmless(store_epoch: int) -> None:
    story = restore(a_then_b(), store_epoch=store_epoch)
    story.probe("B", ABSENT)
    story.settle()
    assert (story["B"].status, status_of(story.saga)) == (OperationStatus.HELD, SagaStatus.HELD)


def test_a_key_is_remembered_from_the_last_moment_that_the_journal_knows() -> None:
    assert restore(a_then_b(probe=False, dedup_s=LATER_S + 12)).due() == (CallAction("B"),)
    forgotten = restore(a_then_b(probe=False, dedup_s=LATER_S + 10))
    assert forgotten["B"].status is OperationStatus.HELD


def test_a_deadline_is_waited_out_from_the_takeover() -> None:
    story = restore(a_then_b(deadline=True))
    story.probe("B", ABSENT)
    (step,) = story.due()
    assert step == Wait(100.0 + LATER_S + 10.0 + 1.0)
    story.now = step.until  # type: ignore[union-attr]
    assert story.due() == (CallProbe("B"),)
    story.probe("B", ABSENT)
    assert story.due() == (CallAction("B"),)


def test_a_deadline_is_waited_out_from_the_takeover_by_what_was_in_doubt_before_too() -> None:
    story = a_then_b(deadline=True)
    story.lose("B")
    story.now += 100.0  # its deadline has passed: another call may have gone out since, with a later one
    restore(story).probe("B", ABSENT)
    assert story.due() == (Wait(story.now + 10.0 + 1.0),)


def test_a_doubted_call_does_not_count_against_its_policy() -> None:
    story = restore(a_then_b(dedup_s=1e6))
    story.probe("B", ABSENT)
    story.lose("B")
    story.probe("B", ABSENT)
    assert story.due() == (CallAction("B"),)


def test_a_read_is_simply_done() -> None:
    story = Story(spec("A"), spec("B", READ_ONLY, "A"))
    story.succeed("A")
    assert restore(story).due() == (CallAction("B"),)


def test_what_is_planned_later_is_doubted_too() -> None:
    story = Story(driver=e.Driver.BODY)
    restore(story)
    story.append(e.OperationPlanned(spec("A")))
    assert isinstance(story.due()[0], Record)
    story.settle()
    assert story.due() == (CallProbe("A"),)


def test_only_the_first_takeover_doubts() -> None:
    story = restore(a_then_b(dedup_s=1e6))
    story.probe("B", ABSENT)
    story.call("B")
    story.tell(c.ActionReplied("B", {}))
    story.append(e.LeaseTaken("a third", store_epoch=2), epoch=9)
    assert isinstance(story.due()[0], Verify)


def test_a_saga_begun_after_the_restoration_is_believed() -> None:
    story = Story(driver=e.Driver.BODY)
    story.saga = type(story.saga)(**{f: getattr(story.saga, f) for f in story.saga.__struct_fields__} | {"store_epoch": 2})
    restore(story)
    assert story.saga.doubt is None


# -- going back -------------------------------------------------------------------------------------------------------


def cancelled(story: Story) -> Story:
    story.tell(c.Cancel("Anna"))
    story.settle()
    return story


def test_what_may_have_been_reached_is_sealed_before_what_it_rests_on() -> None:
    story = cancelled(restore(Story(spec("A"), spec("B", COMPENSATABLE, "A"))))
    assert story.due() == (CallProbe("A"),)
    story.probe("A", LANDED)
    story.settle()
    assert story.due() == (CallProbe("B"),)
    story.probe("B", LANDED)
    story.settle()
    assert story.due() == (CallCompensation("B"),)


def test_what_was_never_reached_needs_no_sealing() -> None:
    story = Story(spec("A", deadline=True), spec("B", COMPENSATABLE, "A", deadline=True))
    cancelled(restore(story))
    story.now += 100.0
    assert story.due() == (CallProbe("A"),)
    story.probe("A", ABSENT)
    story.settle()
    assert (story["A"].status, story["B"].status) == (OperationStatus.FAILED, OperationStatus.SKIPPED)
    assert isinstance(story.due()[0], Verify)


@pytest.mark.parametrize(
    ("answer", "status"), [(UNDONE, OperationStatus.COMPENSATED), (LANDED, OperationStatus.COMPENSATION_FAILED)]
)
def test_an_undo_that_may_have_been_made_is_asked_for_first(answer: e.ProbeAnswer, status: OperationStatus) -> None:
    story = Story(spec("A"))
    story.succeed("A")
    cancelled(restore(story))
    assert story.due() == (CallProbe("A"),)
    story.probe("A", answer)
    story.settle()
    assert story["A"].status is status


def test_nothing_is_undone_while_the_pivot_may_have_landed_unseen() -> None:
    story = Story(spec("A"), spec("pay", PIVOT, "A"))
    story.succeed("A")
    cancelled(restore(story))
    assert (story.saga.stage, story.due()) == (Stage.RUNNING, (CallProbe("pay"),))
    story.probe("pay", LANDED)
    story.settle()
    assert story.saga.pivot_has_landed


def test_a_pivot_that_cannot_be_asked_is_held_and_nothing_is_undone() -> None:
    story = Story(spec("A"), spec("pay", PIVOT, "A", probe=False))
    story.succeed("A")
    cancelled(restore(story))
    assert (story["pay"].status, story["A"].status) == (OperationStatus.HELD, OperationStatus.SUCCEEDED)


def test_a_failure_elsewhere_seals_the_pivot_first() -> None:
    story = Story(spec("A"), spec("pay", PIVOT, "A"))
    restore(story)
    story.probe("A", ABSENT)
    story.settle()
    story.tell(c.Resolve("A", e.Resolution.ABSENT, "Anna", None))
    story.settle()
    story.call("A")
    story.tell(c.ActionRefused("A", NO))
    story.settle()
    assert story["pay"].status in (OperationStatus.IN_DOUBT, OperationStatus.SKIPPED)
    assert story.saga.stage is not Stage.COMPENSATED


def test_what_a_person_says_is_absent_lets_what_would_come_after_it_go() -> None:
    story = Story(spec("A", probe=False), spec("B", COMPENSATABLE, "A"))
    story.start(CallAction("A"))
    restore(story)
    story.tell(c.Cancel("ada"))
    story.settle()
    assert story["A"].status is OperationStatus.HELD
    story.tell(c.Resolve("A", e.Resolution.ABSENT, "ada"))
    story.settle()
    assert (story["B"].status, story.saga.stage) == (OperationStatus.SKIPPED, Stage.COMPENSATED)


def with_a_handler(**terms: object) -> Story:
    """The second hotel is for the case that the first one is sold out."""
    first = spec("first", probe=True, dedup_s=3600.0)
    caught = structs.replace(first, policy=structs.replace(first.policy, catch=(Catch(("*",), "second"),)))
    second = structs.replace(spec("second", COMPENSATABLE, "first", **terms), condition=Failed("first"))  # type: ignore[arg-type]
    return restore(Story(caught, second))


def test_a_handler_that_is_not_needed_this_time_is_found_and_undone() -> None:
    story = with_a_handler(void=True)
    story.probe("first", ABSENT)
    story.succeed("first")
    story.settle()
    assert story["second"].removed
    assert (story["second"].status, story.due()) == (OperationStatus.IN_DOUBT, (CallVoid("second"),))
    story.start(CallVoid("second"))
    story.tell(c.UndoReplied("second", None))
    story.settle()
    assert story["second"].status is OperationStatus.VOIDED
    assert story["first"].succeeded
    assert isinstance(story.due()[0], Verify)


def test_a_handler_is_held_where_nobody_can_say_whether_it_ran() -> None:
    story = with_a_handler(probe=False)
    story.probe("first", ABSENT)
    story.succeed("first")
    story.settle()
    assert (story["second"].status, status_of(story.saga)) == (OperationStatus.HELD, SagaStatus.HELD)


def test_what_needs_a_rejected_operation_is_sealed_before_that_is_undone() -> None:
    """Each would wait for the other otherwise: the table to be undone for the room, the room to be skipped for the table."""
    room = spec("room", probe=True, dedup_s=3600.0)
    caught = structs.replace(room, policy=structs.replace(room.policy, catch=(Catch(("*",), "second"),)))
    table, chair = spec("table", COMPENSATABLE, "room", void=True), spec("chair", COMPENSATABLE, "table", void=True)
    second = structs.replace(spec("second", COMPENSATABLE, "room", probe=False, dedup_s=3600.0), condition=Failed("room"))
    story = restore(Story(caught, table, chair, second))
    story.probe("room", ABSENT)
    story.call("room")
    story.tell(c.ActionReplied("room", {}, (INVALID,)))
    story.settle()
    assert CallVoid("table") not in story.due()
    for name in ("chair", "table"):
        assert CallVoid(name) in story.due()
        story.start(CallVoid(name))
        story.tell(c.UndoReplied(name, None))
        story.settle()
    assert story.due() == (CallCompensation("room"),)
    story.start(CallCompensation("room"))
    story.tell(c.UndoReplied("room", None))
    story.settle()
    story.succeed("second")
    assert {each.status for each in (story["table"], story["chair"])} == {OperationStatus.VOIDED}
    assert isinstance(story.due()[0], Verify)
