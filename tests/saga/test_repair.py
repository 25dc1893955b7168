"""A plan that may be repaired: what fails pauses the saga instead of turning it back (rules 3b, 5 and 8; ADR-0009)."""

from __future__ import annotations

import pytest

from sagagraph.errors import NotAllowedError
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.decide.decide import decide
from sagagraph.saga.core.next_steps import is_quiet, is_ready_for_repair, status_of
from sagagraph.saga.core.state import Stage
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.core.steps import CallAction, CallCompensation, CallProbe
from sagagraph.workflow.kind import ActionKind
from tests.saga.story import NO, Story, spec

pytestmark = pytest.mark.quick

OFFERED = {"hotel": "another one"}


def trip(**terms: object) -> Story:
    """A journey, two stays after it, and the payment."""
    story = Story()
    stays = [spec(name, ActionKind.COMPENSATABLE, "flight", **terms) for name in ("inn", "hotel")]
    plan = (spec("flight", **terms), *stays, spec("pay", ActionKind.PIVOT, "flight", "inn", "hotel"))
    story.tell(c.ProposePlan("one", {"hotel": "the first"}, None))
    story.append(e.PlanApproved("one", "Anna"))
    story.tell(c.AcceptPlan(plan, revisable=True))
    return story


def refuse(story: Story, name: str) -> None:
    story.call(name)
    story.tell(c.ActionRefused(name, NO))
    story.settle()


def disrupted(**terms: object) -> Story:
    story = trip(**terms)
    story.succeed("flight", "inn")
    refuse(story, "hotel")
    return story


def test_a_failure_pauses_the_saga_and_nothing_further_starts() -> None:
    story = trip()
    story.succeed("flight")
    refuse(story, "hotel")
    assert story.saga.plan.disruption == "hotel: sold out"
    assert (story.saga.stage, story.due()) == (Stage.RUNNING, ())
    assert is_ready_for_repair(story.saga)
    assert story["inn"].status is OperationStatus.PLANNED


def test_without_leave_to_repair_a_failure_turns_the_saga_back() -> None:
    story = Story(spec("flight"))
    refuse(story, "flight")
    assert story.saga.stage is Stage.COMPENSATING


def test_a_pivot_that_failed_is_not_repaired() -> None:
    story = trip()
    story.succeed("flight", "inn", "hotel")
    refuse(story, "pay")
    assert story.saga.stage is Stage.COMPENSATING


def test_what_is_under_way_settles_before_the_repair() -> None:
    story = trip(dedup_s=3600.0)
    story.succeed("flight")
    story.call("inn")
    refuse(story, "hotel")
    assert not is_ready_for_repair(story.saga)
    story.tell(c.ActionLost("inn", NO))
    assert story.due() == (CallProbe("inn"),)
    story.probe("inn", e.ProbeAnswer.LANDED)
    assert is_ready_for_repair(story.saga)


def test_what_waits_for_a_person_keeps_the_repair_waiting() -> None:
    story = trip()
    story.succeed("flight")
    story.lose("inn")
    refuse(story, "hotel")
    story.probe("inn", e.ProbeAnswer.ABSENT)
    story.settle()
    assert status_of(story.saga) is SagaStatus.HELD
    assert not is_ready_for_repair(story.saga)
    story.tell(c.Resolve("inn", e.Resolution.LANDED, "Anna", {"booked": "inn"}))
    assert is_ready_for_repair(story.saga)


def test_a_repair_keeps_what_stands_and_goes_on_from_there() -> None:
    story = disrupted()
    story.tell(c.ProposePlan("two", OFFERED, None))
    assert status_of(story.saga) is SagaStatus.PLANNING
    story.tell(c.JudgePlan("two", {"verdict": "VALID"}, {"quotes": {}}))
    story.tell(c.AskApproval())
    assert status_of(story.saga) is SagaStatus.AWAITING_APPROVAL
    story.tell(c.ApprovePlan("Anna", "two"))
    new = (spec("hotel.2", ActionKind.COMPENSATABLE, "flight"), spec("pay.2", ActionKind.PIVOT, "flight", "inn", "hotel.2"))
    story.tell(c.AcceptPlan(new, ("hotel", "pay"), revisable=True))
    assert (story.saga.plan.version, story.saga.plan.disruption, story.saga.pivot) == (2, "", "pay.2")
    assert story.due() == (CallAction("hotel.2"),)
    assert story["pay"].status is OperationStatus.SKIPPED
    story.succeed("hotel.2")
    assert story.due() == (CallAction("pay.2"),)


def test_a_second_failure_is_repaired_as_the_first_was() -> None:
    story = disrupted()
    story.tell(c.AcceptPlan((spec("hotel.2", ActionKind.COMPENSATABLE, "flight"),), ("hotel",), revisable=True))
    refuse(story, "hotel.2")
    assert is_ready_for_repair(story.saga)


def test_a_repair_that_is_given_up_compensates_everything_dependents_first() -> None:
    story = disrupted()
    story.tell(c.ProposePlan("two", OFFERED, None))
    story.tell(c.GiveUpRepair(("nothing is left",)))
    assert (story.saga.plan.hash, story.saga.plan.content) == ("one", {"hotel": "the first"})
    story.settle()
    assert story.saga.stage is Stage.COMPENSATING
    assert story.due() == (CallCompensation("inn"),)


def test_a_repair_that_is_rejected_compensates_everything() -> None:
    story = disrupted()
    story.tell(c.ProposePlan("two", OFFERED, None))
    story.tell(c.AskApproval())
    story.tell(c.RejectPlan("Anna", "two"))
    assert (story.saga.stage, story.saga.turned_back_by) == (Stage.COMPENSATING, "its repair was rejected by Anna")


@pytest.mark.parametrize("is_proposed", [False, True])
def test_a_cancel_is_heard_while_a_repair_is_looked_for(is_proposed: bool) -> None:
    story = disrupted()
    if is_proposed:
        story.tell(c.ProposePlan("two", OFFERED, None))
    story.tell(c.Cancel("Anna"))
    story.settle()
    assert story.due() == (CallCompensation("inn"),)


def test_a_disrupted_saga_is_not_complete_although_nothing_is_left_to_do() -> None:
    story = Story()
    story.tell(c.AcceptPlan((spec("hotel"),), revisable=True))
    refuse(story, "hotel")
    assert is_quiet(story.saga)
    assert story.due() == ()


def test_a_takeover_finds_the_disruption_again() -> None:
    story = disrupted()
    story.take_over()
    assert is_ready_for_repair(story.saga)


def test_a_plan_cannot_be_proposed_while_one_runs_undisturbed() -> None:
    story = trip()
    with pytest.raises(NotAllowedError, match="running"):
        decide(story.saga, c.ProposePlan("two", OFFERED, None), story.now)
    with pytest.raises(NotAllowedError, match="nothing to repair"):
        decide(story.saga, c.GiveUpRepair(("no",)), story.now)


def test_a_saga_with_a_plan_is_not_found_infeasible() -> None:
    story = disrupted()
    story.tell(c.ProposePlan("two", OFFERED, None))
    with pytest.raises(NotAllowedError, match="has a plan already"):
        decide(story.saga, c.DeclareInfeasible(("no",)), story.now)


def test_an_output_that_was_rejected_is_no_concern_of_the_plan_that_replaces_it() -> None:
    story = trip()
    story.succeed("flight")
    story.call("hotel")
    story.append(e.OperationRejected("hotel", {"stars": 1}, NO, e.Via.REPLY, ()))
    story.settle()
    story.append(e.CompensationStarted("hotel", 1, 1, "key", 0.0), e.OperationCompensated("hotel", None))
    assert is_ready_for_repair(story.saga)
    story.tell(c.AcceptPlan((spec("hotel.2", ActionKind.COMPENSATABLE, "flight"),), ("hotel",), revisable=True))
    story.settle()
    assert not story.saga.plan.disruption


# -- a person wishes for something else --------------------------------------------------------------------------------


def test_other_wishes_before_anything_is_accepted_begin_the_planning_anew() -> None:
    story = Story()
    story.tell(c.ProposePlan("one", {}, None))
    story.tell(c.AskApproval())
    story.tell(c.ChangeRequest({"stars": 4}, "Anna"))
    assert (story.saga.stage, story.saga.plan.hash, story.saga.request) == (Stage.PLANNING, None, {"stars": 4})
    assert not story.saga.plan.approved_in_advance_by


def test_other_wishes_disrupt_a_plan_that_is_being_carried_out() -> None:
    story = trip()
    story.succeed("flight")
    story.call("inn")
    story.tell(c.ChangeRequest({"stars": 4}, "Anna", approved_by="Anna"))
    assert not is_ready_for_repair(story.saga)
    story.tell(c.ActionReplied("inn", None))
    assert is_ready_for_repair(story.saga)
    assert story.saga.plan.approved_in_advance_by == "Anna"


def test_wishes_that_cannot_be_met_leave_the_old_ones_and_the_old_plan() -> None:
    story = trip()
    story.succeed("flight")
    before = story.saga.request
    story.tell(c.ChangeRequest({"stars": 4}, "Anna"))
    story.tell(c.ProposePlan("two", OFFERED, None))
    story.tell(c.GiveUpRepair(("no hotel has four stars",)))
    assert (story.saga.request, story.saga.plan.hash, story.saga.plan.revisable) == (before, "one", True)
    assert story.due() == (CallAction("inn"), CallAction("hotel"))


def test_wishes_while_a_repair_waits_for_approval_look_for_another_one() -> None:
    story = disrupted()
    story.tell(c.ProposePlan("two", OFFERED, None))
    story.tell(c.AskApproval())
    story.tell(c.ChangeRequest({"stars": 4}, "Anna"))
    assert is_ready_for_repair(story.saga)
    story.tell(c.GiveUpRepair(("no hotel has four stars",)))
    story.settle()
    assert is_ready_for_repair(story.saga)  # for the old wishes
    story.tell(c.GiveUpRepair(("nothing is left",)))
    story.settle()
    assert story.saga.stage is Stage.COMPENSATING


def test_the_same_wishes_change_nothing() -> None:
    story = trip()
    assert story.tell(c.ChangeRequest(story.saga.request, "Anna")) == ()


def test_wishes_come_too_late_once_the_pivot_is_under_way() -> None:
    story = trip()
    story.succeed("flight", "inn", "hotel")
    story.call("pay")
    with pytest.raises(NotAllowedError, match="its pivot 'pay' is under way"):
        decide(story.saga, c.ChangeRequest({"stars": 4}, "Anna"), story.now)


def test_a_saga_that_turns_back_hears_of_no_other_wishes() -> None:
    story = trip()
    story.tell(c.Cancel("Anna"))
    with pytest.raises(NotAllowedError, match="cannot be changed"):
        decide(story.saga, c.ChangeRequest({"stars": 4}, "Anna"), story.now)
