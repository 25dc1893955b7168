"""What is due next."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Stage
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.core.steps import CallAction, CallCompensation, CallProbe, CallVoid, Record, Reverse, Verify, Wait
from sagagraph.workflow.condition import Failed
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec
from sagagraph.workflow.policy import Catch
from tests.saga.story import AT_ONCE, FAULT, NO, Story, spec

pytestmark = pytest.mark.quick

ABSENT, LANDED = e.ProbeAnswer.ABSENT, e.ProbeAnswer.LANDED
PIVOT, RETRIABLE, READ_ONLY, COMPENSATABLE = (
    ActionKind.PIVOT,
    ActionKind.RETRIABLE,
    ActionKind.READ_ONLY,
    ActionKind.COMPENSATABLE,
)


def hotel_after_flight(**terms: object) -> Story:
    return Story(spec("flight", **terms), spec("hotel", COMPENSATABLE, "flight", **terms))  # type: ignore[arg-type]


def given_up(operation: OperationSpec) -> Story:
    """In doubt, and cancelled."""
    story = Story(operation)
    story.lose(operation.id)
    story.tell(c.Cancel("Anna"))
    story.settle()
    return story


# -- forward -----------------------------------------------------------------------------------------------------------


def test_independent_operations_are_due_together_and_dependents_afterwards() -> None:
    story = Story(spec("flight"), spec("train"), spec("hotel", COMPENSATABLE, "flight", "train"))
    assert story.due() == (CallAction("flight"), CallAction("train"))
    story.succeed("flight")
    assert story.due() == (CallAction("train"),)
    story.succeed("train")
    assert story.due() == (CallAction("hotel"),)


def test_rule_3a_in_doubt_is_probed_where_there_is_a_probe() -> None:
    story = Story(spec("flight"))
    story.lose("flight")
    assert story.due() == (CallProbe("flight"),)


def test_rule_3a_absent_is_held_where_nothing_is_guaranteed() -> None:
    story = Story(spec("flight"))
    story.lose("flight")
    story.probe("flight", ABSENT)
    story.settle()
    assert story["flight"].status is OperationStatus.HELD
    assert status_of(story.saga) is SagaStatus.HELD


def test_rule_3a_absent_is_tried_again_while_the_key_is_remembered() -> None:
    story = Story(spec("flight", dedup_s=60.0))
    story.lose("flight")
    story.probe("flight", ABSENT)
    assert story.due() == (CallAction("flight"),)


def test_rule_3a_the_retention_must_outlast_the_call_that_counts_on_it() -> None:
    story = Story(spec("flight", dedup_s=60.0))
    story.lose("flight")
    story.probe("flight", ABSENT)
    story.now += 49.0  # 10 seconds of the call, one second of margin, and the key would be forgotten meanwhile
    story.settle()
    assert story["flight"].status is OperationStatus.HELD


def test_rule_3a_absent_is_tried_again_after_a_deadline_and_a_probe_behind_it() -> None:
    story = Story(spec("flight", deadline=True))
    story.lose("flight")
    story.probe("flight", ABSENT)
    assert story.due() == (Wait(111.0),)
    story.now = 111.0
    assert story.due() == (CallProbe("flight"),)
    story.probe("flight", ABSENT)
    assert story.due() == (CallAction("flight"),)


def test_rule_3a_only_what_is_held_and_its_dependents_wait() -> None:
    story = Story(spec("flight"), spec("hotel", COMPENSATABLE, "flight"), spec("train"))
    story.lose("flight")
    story.probe("flight", ABSENT)
    story.settle()
    assert story.due() == (CallAction("train"),)


def test_rule_3a_an_unknown_probe_is_asked_again_and_then_held() -> None:
    story = Story(spec("flight"))
    story.lose("flight")
    for _ in range(3):
        assert story.due() == (CallProbe("flight"),)
        story.probe("flight", e.ProbeAnswer.UNKNOWN)
    story.settle()
    assert story["flight"].status is OperationStatus.HELD


def test_a_read_that_was_lost_is_simply_repeated() -> None:
    story = Story(spec("fares", READ_ONLY, probe=False))
    story.lose("fares")
    assert story.due() == (CallAction("fares"),)


# -- rule 3b: sealing --------------------------------------------------------------------------------------------------


def test_rule_3b_a_void_seals_at_once() -> None:
    assert given_up(spec("flight", void=True, deadline=True, dedup_s=60.0)).due() == (CallVoid("flight"),)


def test_rule_3b_else_a_deadline_is_waited_out_and_then_probed() -> None:
    story = given_up(spec("flight", deadline=True))
    assert story.due() == (Wait(111.0),)
    story.now = 111.0
    assert story.due() == (CallProbe("flight"),)
    story.probe("flight", ABSENT)
    story.settle()
    assert story["flight"].status is OperationStatus.FAILED


def test_rule_3b_else_it_is_claimed_under_the_same_key_to_be_undone() -> None:
    story = given_up(spec("flight", dedup_s=60.0))
    story.probe("flight", ABSENT)
    assert story.due() == (CallAction("flight", claim=True),)
    story.start(CallAction("flight", claim=True))
    story.tell(c.ActionReplied("flight", None))
    assert story.due() == (CallCompensation("flight"),)


def test_rule_3b_else_it_is_held_for_absent_alone_never_closes_anything() -> None:
    story = given_up(spec("flight"))
    story.probe("flight", ABSENT)
    story.settle()
    assert story["flight"].status is OperationStatus.HELD
    assert status_of(story.saga) is SagaStatus.STUCK


def test_rule_3b_a_claim_does_not_land_what_rests_on_something_undone() -> None:
    story = hotel_after_flight(dedup_s=60.0)
    story.succeed("flight")
    story.call("hotel")
    story.tell(c.ActionRefused("hotel", NO))
    story.settle()
    story.start(CallCompensation("flight"))
    story.tell(c.UndoReplied("flight", None))
    story.tell(c.Verified(False, {"flight": e.ProbeAnswer.UNDONE, "hotel": e.ProbeAnswer.MULTIPLE}, ()))
    story.take_over()
    story.probe("hotel", ABSENT)
    story.settle()
    assert story["hotel"].status is OperationStatus.HELD


# -- rule 4: compensation ----------------------------------------------------------------------------------------------


def test_rule_4_dependents_are_undone_before_what_they_depend_on() -> None:
    story = hotel_after_flight()
    story.succeed("flight", "hotel")
    story.tell(c.Cancel("Anna"))
    story.settle()
    assert story.due() == (CallCompensation("hotel"),)
    story.start(CallCompensation("hotel"))
    assert story.due() == ()
    story.tell(c.UndoReplied("hotel", None))
    assert story.due() == (CallCompensation("flight"),)


def test_rule_4_through_a_dependent_that_was_skipped() -> None:
    story = Story(spec("flight"), spec("train", COMPENSATABLE, "flight"), spec("hotel", COMPENSATABLE, "train"))
    story.succeed("flight")
    story.append(e.OperationSkipped("train", "its condition does not hold"))
    story.succeed("hotel")
    story.append(e.SagaTurnedBack("cancelled"))
    assert story.due() == (CallCompensation("hotel"),)


def test_rule_4_independent_branches_are_undone_in_parallel() -> None:
    story = Story(spec("flight"), spec("train"))
    story.succeed("flight", "train")
    story.append(e.SagaTurnedBack("cancelled"))
    assert story.due() == (CallCompensation("flight"), CallCompensation("train"))


def test_rule_4_no_compensation_starts_before_the_calls_have_settled() -> None:
    story = Story(spec("flight"), spec("train"))
    story.succeed("flight")
    story.call("train")
    story.tell(c.Cancel("Anna"))
    story.settle()
    assert story.due() == ()
    story.tell(c.ActionLost("train", FAULT))
    assert set(story.due()) == {CallCompensation("flight"), CallProbe("train")}


def test_rule_4_a_stuck_operation_blocks_what_it_depends_on_only() -> None:
    story = Story(spec("flight"), spec("train"), spec("hotel", COMPENSATABLE, "flight"))
    story.succeed("flight", "train", "hotel")
    story.append(e.SagaTurnedBack("cancelled"))
    story.start(CallCompensation("hotel"))
    story.tell(c.UndoRefused("hotel", NO))
    assert story.due() == (CallCompensation("train"),)


def test_rule_4_a_lost_compensation_without_a_key_is_not_repeated() -> None:
    story = Story(spec("flight", probe=False))
    story.succeed("flight")
    story.append(e.SagaTurnedBack("cancelled"))
    story.start(CallCompensation("flight"))
    story.tell(c.UndoLost("flight", FAULT))
    story.settle()
    assert story["flight"].status is OperationStatus.COMPENSATION_FAILED
    assert status_of(story.saga) is SagaStatus.STUCK


def test_rule_4_a_lost_compensation_with_a_key_is_repeated() -> None:
    story = Story(spec("flight", probe=False, dedup_s=100.0))
    story.succeed("flight")
    story.append(e.SagaTurnedBack("cancelled"))
    story.start(CallCompensation("flight"))
    story.tell(c.UndoLost("flight", FAULT))
    assert story.due() == (CallCompensation("flight"),)


# -- rule 5: the pivot -------------------------------------------------------------------------------------------------


def test_rule_5_the_pivot_waits_for_everything_that_does_not_come_after_it() -> None:
    story = Story(spec("flight"), spec("pay", PIVOT), spec("send", RETRIABLE, "pay"))
    assert story.due() == (CallAction("flight"),)
    story.succeed("flight")
    assert story.due() == (CallAction("pay"),)


def test_rule_5_the_pivot_waits_for_a_read_that_was_lost() -> None:
    story = Story(spec("fares", READ_ONLY, probe=False), spec("pay", PIVOT))
    story.lose("fares")
    assert story.due() == (CallAction("fares"),)


def test_rule_5_while_the_pivot_is_open_a_cancel_waits() -> None:
    story = Story(spec("flight"), spec("pay", PIVOT, "flight"))
    story.succeed("flight")
    story.call("pay")
    story.tell(c.Cancel("Anna"))
    assert story.due() == ()
    assert story.saga.stage is Stage.RUNNING


def test_rule_5_a_pivot_in_doubt_gives_way_to_a_cancel_where_it_can_be_sealed() -> None:
    story = Story(spec("pay", PIVOT, void=True))
    story.lose("pay")
    story.tell(c.Cancel("Anna"))
    story.settle()
    assert story.due() == (CallVoid("pay"),)


def test_rule_5_a_pivot_does_not_give_way_once_something_after_it_has_landed() -> None:
    story = Story(spec("pay", PIVOT, void=True), spec("send", RETRIABLE, "pay"))
    story.succeed("pay", "send")
    story.tell(c.Verified(True, {"pay": e.ProbeAnswer.MULTIPLE, "send": LANDED}, ()))
    story.tell(c.Cancel("Anna"))
    assert story.due() == (CallProbe("pay"),)


def test_rule_5_a_cancel_after_the_pivot_reverses() -> None:
    story = Story(spec("pay", PIVOT), spec("send", RETRIABLE, "pay"))
    story.succeed("pay")
    story.tell(c.Cancel("Anna"))
    assert story.due() == (Reverse(),)


def test_rule_5_what_exhausts_its_attempts_after_the_pivot_is_held() -> None:
    story = Story(spec("pay", PIVOT), spec("send", RETRIABLE, "pay", dedup_s=1000.0))
    story.succeed("pay")
    for _ in range(2):
        story.lose("send")
        story.probe("send", ABSENT)
    story.settle()
    assert story["send"].status is OperationStatus.HELD


def test_rule_5_what_a_person_undid_turns_the_saga_back_instead_of_letting_the_pivot_land() -> None:
    story = Story(spec("flight"), spec("pay", PIVOT))
    story.lose("flight")
    story.append(e.OperationHeld("flight", "absent"))
    story.tell(c.Resolve("flight", e.Resolution.COMPENSATED, "Anna"))
    story.settle()
    assert story.saga.turned_back_by is not None
    assert CallAction("pay") not in story.due()


# -- rules 8 and 9 -----------------------------------------------------------------------------------------------------


def test_rule_8_a_removed_operation_is_undone_while_the_saga_goes_forward() -> None:
    story = Story(spec("flight"))
    story.succeed("flight")
    story.tell(c.AcceptPlan((spec("train"),), ("flight",)))
    assert story.due() == (CallCompensation("flight"), CallAction("train"))


def test_rule_9_the_end_is_declared_after_a_last_check_of_what_can_be_probed() -> None:
    story = Story(spec("flight"), spec("hotel", probe=False))
    story.succeed("flight", "hotel")
    assert story.due() == (Verify(("flight",), ("hotel",), committing=True),)


def test_rule_9_with_nothing_to_probe_the_end_is_declared_at_once() -> None:
    story = Story(spec("hotel", probe=False))
    story.succeed("hotel")
    assert story.due() == (Record(e.SagaCommitted(("hotel",))),)


def test_a_handler_waits_until_what_was_rejected_has_been_undone() -> None:
    story = hotel_after_flight()
    story.append(e.AttemptStarted("flight", 1, 1, "trip/flight/1", 0.0))
    story.append(e.OperationRejected("flight", None, NO, e.Via.REPLY, ()))
    assert CallAction("hotel") not in story.due()


def test_rule_4_a_handler_rests_on_what_had_come_before_the_failure() -> None:
    seat = replace(spec("seat", COMPENSATABLE, "flight"), policy=replace(AT_ONCE, catch=(Catch(("*",), "another seat"),)))
    story = Story(spec("flight"), seat, replace(spec("another seat", COMPENSATABLE, "seat"), condition=Failed("seat")))
    story.succeed("flight")
    story.call("seat")
    story.tell(c.ActionRefused("seat", NO))
    story.succeed("another seat")
    story.tell(c.Cancel("Anna"))
    story.settle()
    assert story.due() == (CallCompensation("another seat"),)
