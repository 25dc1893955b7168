"""What an answer proves, and what it does not."""

from __future__ import annotations

import pytest

from sagagraph.errors import ConflictError, NotAllowedError, SagaClosedError, WorkflowError
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.decide.decide import decide, intent
from sagagraph.saga.core.next_steps import next_steps
from sagagraph.saga.core.state import Stage
from sagagraph.saga.core.status import OperationStatus
from sagagraph.saga.core.steps import CallAction, CallCompensation, CallVoid
from sagagraph.validators.verdict import Verdict, VerdictStatus
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import reference
from tests.saga.story import FAULT, NO, Story, spec

pytestmark = pytest.mark.quick

ABSENT, LANDED, UNDONE = e.ProbeAnswer.ABSENT, e.ProbeAnswer.LANDED, e.ProbeAnswer.UNDONE
INVALID = Verdict(verdict=VerdictStatus.INVALID)


def names(events: tuple[e.Event, ...]) -> list[str]:
    return [type(event).__name__ for event in events]


# -- rule 2: identity --------------------------------------------------------------------------------------------------


def test_rule_2_an_ambiguous_end_keeps_the_key() -> None:
    story = Story(spec("flight", dedup_s=3600.0))
    first = intent(story.saga, CallAction("flight"), story.now)
    story.lose("flight")
    again = intent(story.saga, CallAction("flight"), story.now)
    assert isinstance(first, e.AttemptStarted)
    assert isinstance(again, e.AttemptStarted)
    assert (first.key, first.attempt) == ("trip/flight/1", 1)
    assert (again.key, again.attempt) == ("trip/flight/1", 2)


def test_rule_2_a_final_refusal_makes_the_next_key() -> None:
    story = Story(spec("flight"))
    story.call("flight")
    assert names(story.tell(c.ActionRefused("flight", NO, transient=True))) == ["AttemptRefused"]
    started = intent(story.saga, CallAction("flight"), story.now)
    assert isinstance(started, e.AttemptStarted)
    assert started.key == "trip/flight/2"


def test_rule_3a_a_refusal_for_now_says_nothing_about_an_earlier_call_that_was_lost() -> None:
    """Not even where refusals are final: "too many requests" is recorded by nobody."""
    story = Story(spec("flight", dedup_s=3600.0, refusals_final=True))
    story.lose("flight")
    story.probe("flight", ABSENT)
    story.call("flight")
    assert names(story.tell(c.ActionRefused("flight", NO, transient=True))) == ["AttemptLost"]
    assert story["flight"].generation == 1


def test_rule_2_a_compensation_has_a_key_of_its_own_and_a_void_has_the_operation_s() -> None:
    story = Story(spec("flight", void=True))
    story.succeed("flight")
    undo, void = (intent(story.saga, step, story.now) for step in (CallCompensation("flight"), CallVoid("flight")))
    assert isinstance(undo, e.CompensationStarted)
    assert isinstance(void, e.VoidStarted)
    assert (undo.key, void.key) == ("trip/flight/1/undo/1", "trip/flight/1")


def test_rule_2_the_same_id_with_other_arguments_is_a_conflict_and_no_second_effect() -> None:
    story = Story(driver=e.Driver.BODY)
    story.tell(c.PlanOperation(spec("flight", inputs={"to": "BER"})))
    story.succeed("flight")
    with pytest.raises(ConflictError, match="flight"):
        decide(story.saga, c.PlanOperation(spec("flight", inputs={"to": "CGN"})), story.now)
    assert decide(story.saga, c.PlanOperation(spec("flight", inputs={"to": "BER"})), story.now) == ()


# -- rule 3a: what proves that nothing happened ----------------------------------------------------------------------------


def test_rule_3a_a_first_refusal_is_definite() -> None:
    story = Story(spec("flight"))
    story.call("flight")
    assert names(story.tell(c.ActionRefused("flight", NO))) == ["OperationFailed"]


def test_rule_3a_a_refusal_after_a_lost_attempt_does_not_prove_anything() -> None:
    story = Story(spec("flight", dedup_s=3600.0))
    story.lose("flight")
    story.call("flight")
    assert names(story.tell(c.ActionRefused("flight", NO))) == ["OperationGivenUp"]
    assert story["flight"].status is OperationStatus.IN_DOUBT


def test_rule_3a_unless_the_provider_s_refusals_are_final() -> None:
    story = Story(spec("flight", dedup_s=3600.0, refusals_final=True))
    story.lose("flight")
    story.call("flight")
    assert names(story.tell(c.ActionRefused("flight", NO))) == ["OperationFailed"]


def test_rule_3a_any_end_without_an_answer_is_in_doubt() -> None:
    story = Story(spec("flight"))
    story.lose("flight")
    assert story["flight"].status is OperationStatus.IN_DOUBT


def test_rule_3a_a_probe_that_finds_it_adopts_it() -> None:
    story = Story(spec("flight"))
    story.lose("flight")
    assert names(story.probe("flight", LANDED)) == ["OperationSucceeded"]
    assert story["flight"].via is e.Via.PROBE


def test_rule_3a_a_probe_that_finds_it_cancelled_ends_it_without_effect() -> None:
    story = Story(spec("flight"))
    story.lose("flight")
    assert names(story.probe("flight", UNDONE)) == ["OperationVoided"]


def test_rule_3a_absent_alone_settles_nothing() -> None:
    story = Story(spec("flight"))
    story.lose("flight")
    assert names(story.probe("flight", ABSENT)) == ["OperationProbed"]


def test_rule_3a_an_answer_that_comes_after_the_call_was_given_up_changes_nothing() -> None:
    story = Story(spec("flight"))
    story.lose("flight")
    assert story.tell(c.ActionReplied("flight", None)) == ()
    assert story.tell(c.ActionRefused("flight", NO)) == ()
    assert story.tell(c.ActionLost("flight", FAULT)) == ()


# -- rule 3b: sealing --------------------------------------------------------------------------------------------------


def test_rule_3b_finding_one_of_several_calls_landed_does_not_seal_the_others() -> None:
    story = Story(spec("flight", dedup_s=3600.0))
    story.lose("flight")
    story.lose("flight")
    story.append(e.OperationGivenUp("flight", "cancelled"))
    story.now += 10_000.0  # the provider has forgotten the key: the other call would land a second time
    assert names(story.probe("flight", LANDED)) == ["OperationProbed"]


def test_rule_3b_finding_the_only_call_landed_seals_it() -> None:
    story = Story(spec("flight"))
    story.lose("flight")
    story.append(e.OperationGivenUp("flight", "cancelled"))
    assert names(story.probe("flight", LANDED)) == ["OperationSucceeded"]


# -- rule 4: compensation ----------------------------------------------------------------------------------------------


def compensating(**terms: object) -> Story:
    story = Story(spec("flight", **terms))  # type: ignore[arg-type]
    story.succeed("flight")
    story.tell(c.Cancel("Anna"))
    story.settle()
    story.start(CallCompensation("flight"))
    return story


def test_rule_4_a_refused_compensation_is_stuck_and_named() -> None:
    story = compensating()
    assert names(story.tell(c.UndoRefused("flight", NO))) == ["CompensationRefused", "CompensationFailed"]
    assert story["flight"].status is OperationStatus.COMPENSATION_FAILED


def test_rule_4_a_refusal_after_a_lost_compensation_does_not_prove_anything() -> None:
    story = compensating(dedup_s=3600.0)
    story.tell(c.UndoLost("flight", FAULT))
    story.start(CallCompensation("flight"))
    assert names(story.tell(c.UndoRefused("flight", NO))) == ["CompensationLost"]


def test_rule_4_an_undo_in_doubt_closes_on_evidence_and_never_on_absence() -> None:
    story = compensating()
    story.tell(c.UndoLost("flight", FAULT))
    assert names(story.probe("flight", ABSENT)) == ["OperationProbed"]
    assert names(story.probe("flight", UNDONE)) == ["OperationCompensated"]


def test_rule_6_an_acknowledgement_that_a_superseded_worker_wrote_down_counts_for_its_own_key_only() -> None:
    story = compensating()
    story.take_over()
    kind = c.CallKind.COMPENSATION
    assert story.tell(c.EvidenceFound("flight", kind, "trip/flight/1/undo/2", None)) == ()
    assert names(story.tell(c.EvidenceFound("flight", kind, "trip/flight/1/undo/1", None))) == ["OperationCompensated"]
    assert story["flight"].via is e.Via.EVIDENCE


# -- rule 5: the pivot -------------------------------------------------------------------------------------------------


def test_rule_5_a_cancel_is_recorded_at_once_and_asked_for_once() -> None:
    story = Story(spec("pay", ActionKind.PIVOT))
    assert names(story.tell(c.Cancel("Anna", request=1))) == ["CancelRequested"]
    assert names(story.tell(c.Cancel("Ben", request=2))) == ["RequestRefused"]


def test_rule_5_a_cancel_after_the_end_asks_for_a_reversal() -> None:
    story = Story(spec("pay", ActionKind.PIVOT))
    story.succeed("pay")
    story.append(e.SagaCommitted())
    assert names(story.tell(c.Cancel("Anna"))) == ["CancelRequested"]


def test_rule_5_what_is_refused_after_the_pivot_is_held_and_not_failed() -> None:
    story = Story(spec("pay", ActionKind.PIVOT), spec("send", ActionKind.RETRIABLE, "pay"))
    story.succeed("pay")
    story.call("send")
    assert names(story.tell(c.ActionRefused("send", NO))) == ["AttemptRefused", "OperationHeld"]


def test_rule_5_a_body_cannot_plan_a_compensatable_operation_after_the_pivot() -> None:
    story = Story(driver=e.Driver.BODY)
    story.tell(c.PlanOperation(spec("pay", ActionKind.PIVOT)))
    story.succeed("pay")
    with pytest.raises(WorkflowError, match="before the pivot"):
        decide(story.saga, c.PlanOperation(spec("hotel")), story.now)


def test_rule_5_what_a_body_plans_after_the_pivot_depends_on_it() -> None:
    story = Story(driver=e.Driver.BODY)
    story.tell(c.PlanOperation(spec("pay", ActionKind.PIVOT)))
    story.tell(c.PlanOperation(spec("send", ActionKind.RETRIABLE)))
    assert story["send"].spec.depends_on == ("pay",)


def test_rule_5_a_body_has_one_pivot_also_while_that_waits_for_its_turn() -> None:
    story = Story(driver=e.Driver.BODY)
    story.tell(c.PlanOperation(spec("flight")))
    story.tell(c.PlanOperation(spec("pay", ActionKind.PIVOT)))
    with pytest.raises(WorkflowError, match="pivot"):
        decide(story.saga, c.PlanOperation(spec("pay again", ActionKind.PIVOT)), story.now)


def test_rule_5_a_pivot_that_waits_for_its_turn_waits_for_what_a_body_plans_meanwhile() -> None:
    story = Story(driver=e.Driver.BODY)
    story.tell(c.PlanOperation(spec("flight")))
    story.tell(c.PlanOperation(spec("pay", ActionKind.PIVOT, "flight")))
    story.tell(c.PlanOperation(spec("hotel")))
    story.succeed("flight")
    assert next_steps(story.saga, story.now) == (CallAction("hotel"),)
    with pytest.raises(WorkflowError, match="before the pivot"):
        decide(story.saga, c.PlanOperation(spec("car", ActionKind.COMPENSATABLE, "pay")), story.now)


def test_an_invalid_output_is_undone_and_does_not_count() -> None:
    story = Story(spec("flight"))
    story.call("flight")
    assert names(story.tell(c.ActionReplied("flight", {}, (INVALID,)))) == ["OperationRejected"]
    assert story["flight"].rejected
    assert not story["flight"].succeeded


def test_an_invalid_output_of_the_pivot_is_held_since_it_cannot_be_undone() -> None:
    story = Story(spec("pay", ActionKind.PIVOT))
    story.call("pay")
    assert names(story.tell(c.ActionReplied("pay", {}, (INVALID,)))) == ["AttemptLost", "OperationHeld"]


# -- rules 2 and 8: plans ----------------------------------------------------------------------------------------------


def test_rule_2_what_is_in_doubt_cannot_be_removed_from_the_plan() -> None:
    story = Story(spec("flight"))
    story.lose("flight")
    with pytest.raises(ConflictError, match="settle it first"):
        decide(story.saga, c.AcceptPlan((spec("train"),), ("flight",)), story.now)


def test_rule_8_what_a_kept_operation_depends_on_cannot_be_removed() -> None:
    story = Story(spec("flight"), spec("hotel", ActionKind.COMPENSATABLE, "flight"))
    story.succeed("flight", "hotel")
    with pytest.raises(ConflictError, match="'hotel' depends on it"):
        decide(story.saga, c.AcceptPlan((spec("train"),), ("flight",)), story.now)


def test_rule_8_a_pivot_that_landed_cannot_be_removed() -> None:
    story = Story(spec("pay", ActionKind.PIVOT))
    story.succeed("pay")
    with pytest.raises(ConflictError, match="the pivot 'pay' cannot be taken back"):
        decide(story.saga, c.AcceptPlan((), ("pay",)), story.now)


def test_rule_5_once_the_pivot_is_under_way_no_plan_adds_what_may_have_to_be_undone() -> None:
    story = Story(spec("pay", ActionKind.PIVOT))
    story.call("pay")
    with pytest.raises(ConflictError, match="'hotel' comes too late"):
        decide(story.saga, c.AcceptPlan((spec("hotel"),)), story.now)


def test_rule_8_what_is_kept_depends_on_what_took_the_place_of_a_removed_operation() -> None:
    story = Story(spec("flight"), spec("hotel", ActionKind.COMPENSATABLE, "flight"))
    story.succeed("flight", "hotel")
    story.tell(c.AcceptPlan((spec("train"),), ("flight",), {"flight": "train"}))
    assert story["hotel"].spec.depends_on == ("train",)
    assert story.due() == (CallCompensation("flight"), CallAction("train"))


def test_rule_8_what_has_still_to_be_called_with_an_outcome_keeps_the_operation_that_brings_it() -> None:
    ticket = spec("ticket", ActionKind.COMPENSATABLE, "flight", inputs=reference("flight", "code"))
    story = Story(spec("flight"), ticket)
    story.succeed("flight")
    story.lose("ticket")
    with pytest.raises(ConflictError, match="'ticket' depends on it"):
        decide(story.saga, c.AcceptPlan((spec("train"),), ("flight",), {"flight": "train"}), story.now)


def test_rule_8_only_what_is_removed_can_be_replaced() -> None:
    story = Story(spec("flight"), spec("hotel", ActionKind.COMPENSATABLE, "flight"))
    with pytest.raises(ConflictError, match="'flight' is replaced without being removed"):
        decide(story.saga, c.AcceptPlan((spec("train"),), (), {"flight": "train"}), story.now)


def test_rule_8_the_id_of_a_removed_operation_is_not_given_again() -> None:
    story = Story(spec("flight"))
    story.succeed("flight")
    with pytest.raises(ConflictError, match="new id"):
        decide(story.saga, c.AcceptPlan((spec("flight"),), ("flight",)), story.now)


def test_rule_8_a_plan_version_counts_up_and_kept_operations_keep_their_effects() -> None:
    story = Story(spec("flight"), spec("hotel"))
    story.succeed("flight", "hotel")
    story.tell(c.AcceptPlan((spec("train"),), ("flight",)))
    assert (story.saga.plan.version, story["flight"].removed, story["hotel"].removed) == (2, True, False)
    assert story["hotel"].succeeded


def test_rule_8_a_cancelled_saga_takes_no_further_plan_and_no_further_operation() -> None:
    story = Story(spec("pay", ActionKind.PIVOT))
    story.tell(c.Cancel("Anna"))
    with pytest.raises(NotAllowedError):
        decide(story.saga, c.AcceptPlan((spec("train"),)), story.now)
    with pytest.raises(SagaClosedError):
        decide(story.saga, c.PlanOperation(spec("train")), story.now)


# -- rule 9: the last check --------------------------------------------------------------------------------------------


def test_rule_9_a_last_check_that_contradicts_the_journal_keeps_the_saga_open() -> None:
    story = Story(spec("flight"))
    story.succeed("flight")
    assert names(story.tell(c.Verified(True, {"flight": ABSENT}, ()))) == ["OperationHeld"]
    assert story.saga.stage is Stage.RUNNING


def test_rule_9_what_cannot_be_asked_is_listed_as_unverified() -> None:
    story = Story(spec("flight"), spec("hotel", probe=False))
    story.succeed("flight", "hotel")
    story.tell(c.Verified(True, {"flight": e.ProbeAnswer.UNKNOWN}, ("hotel",)))
    assert story.saga.stage is Stage.COMMITTED
    assert story.saga.unverified == ("hotel", "flight")


def test_rule_9_a_cancel_that_overtakes_the_last_check_wins() -> None:
    story = Story(spec("flight"))
    story.succeed("flight")
    story.tell(c.Cancel("Anna"))
    assert story.tell(c.Verified(True, {"flight": LANDED}, ())) == ()


# -- people ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("resolution", e.Resolution)
def test_only_what_is_held_or_stuck_can_be_resolved(resolution: e.Resolution) -> None:
    story = Story(spec("flight"))
    story.succeed("flight")
    with pytest.raises(NotAllowedError, match="succeeded"):
        decide(story.saga, c.Resolve("flight", resolution, "Anna"), story.now)
    assert names(decide(story.saga, c.Resolve("flight", resolution, "Anna", request=7), story.now)) == ["RequestRefused"]


# -- what comes after the pivot, and reversals ---------------------------------------------------------------------------


def refused_while_an_earlier_call_may_land(story: Story, name: str) -> list[str]:
    story.lose(name)
    story.probe(name, ABSENT)
    story.call(name)
    return names(story.tell(c.ActionRefused(name, NO, transient=True)))


def test_rule_5_nothing_is_given_up_after_the_pivot() -> None:
    story = Story(spec("pay", ActionKind.PIVOT), spec("send", ActionKind.RETRIABLE, "pay", dedup_s=1000.0, void=True))
    story.succeed("pay")
    assert refused_while_an_earlier_call_may_land(story, "send") == ["AttemptLost"]
    story.settle()
    assert CallVoid("send") not in story.due()
    story.probe("send", ABSENT)
    story.settle()
    assert story["send"].status is OperationStatus.HELD


def test_rule_5_a_reversal_never_turns_back() -> None:
    story = Story(spec("undo flight", ActionKind.RETRIABLE, dedup_s=1000.0), driver=e.Driver.REVERSAL)
    assert refused_while_an_earlier_call_may_land(story, "undo flight") == ["AttemptLost"]
    story.settle()
    story.probe("undo flight", LANDED)
    story.settle()
    assert story.saga.turned_back_by is None
    assert story["undo flight"].status is OperationStatus.SUCCEEDED


def test_rule_5_nobody_says_of_an_undoing_that_it_was_undone() -> None:
    story = Story(spec("undo flight", ActionKind.RETRIABLE, probe=False), driver=e.Driver.REVERSAL)
    story.lose("undo flight")
    story.settle()
    assert story["undo flight"].status is OperationStatus.HELD
    with pytest.raises(NotAllowedError, match="landed, or is absent"):
        story.tell(c.Resolve("undo flight", e.Resolution.COMPENSATED, "Anna"))
