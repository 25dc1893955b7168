"""What a journalled fact changes."""

from __future__ import annotations

import pytest

from sagagraph.errors import JournalError
from sagagraph.saga import commands as c
from sagagraph.saga import events as e
from sagagraph.saga.evolve import evolve, fold
from sagagraph.saga.status import OperationStatus
from sagagraph.saga.step import CallCompensation
from sagagraph.workflow.kind import ActionKind
from tests.saga.story import FAULT, NO, Story, spec

BEGUN = e.Entry(1, 1, 0.0, e.SagaBegun(e.Driver.WORKFLOW, "test", None))


def held_flight() -> Story:
    story = Story(spec("flight"))
    story.lose("flight")
    story.append(e.OperationHeld("flight", "absent"))
    return story


@pytest.mark.parametrize(
    "entries",
    [[], [e.Entry(2, 1, 0.0, BEGUN.event)], [e.Entry(1, 1, 0.0, e.LeaseTaken("x"))], [BEGUN, BEGUN]],
    ids=["empty", "without its beginning", "beginning with something else", "with the same version twice"],
)
def test_rule_10_a_journal_with_a_gap_is_not_folded(entries: list[e.Entry]) -> None:
    with pytest.raises(JournalError):
        fold("trip", entries)


def test_a_journal_does_not_begin_twice() -> None:
    with pytest.raises(JournalError, match="begins twice"):
        fold("trip", [BEGUN, e.Entry(2, 1, 0.0, BEGUN.event)])


def test_rule_6_an_append_of_a_former_epoch_is_refused() -> None:
    story = Story(spec("flight"))
    story.take_over()
    late = e.Entry(story.saga.version + 1, 1, story.now, e.AttemptStarted("flight", 1, 1, "trip/flight/1", 0.0))
    with pytest.raises(JournalError, match="epoch 1"):
        evolve(story.saga, late)


def test_rule_6_an_append_at_a_version_that_is_taken_is_refused() -> None:
    story = Story(spec("flight"))
    with pytest.raises(JournalError, match="version 2"):
        evolve(story.saga, e.Entry(2, 1, story.now, e.LeaseTaken("another")))


def test_rule_6_a_takeover_puts_what_was_under_way_in_doubt() -> None:
    story = Story(spec("flight"))
    story.call("flight")
    story.take_over()
    assert (story["flight"].status, story["flight"].lost) == (OperationStatus.IN_DOUBT, 1)
    assert not story["flight"].in_flight


def test_rule_6_a_takeover_puts_an_undo_that_was_under_way_in_doubt() -> None:
    story = Story(spec("flight"))
    story.succeed("flight")
    story.append(e.SagaTurnedBack("cancelled"))
    story.start(CallCompensation("flight"))
    story.take_over()
    assert story["flight"].status is OperationStatus.COMPENSATING
    assert story["flight"].undo is not None
    assert story["flight"].undo.lost == 1


def test_a_takeover_looks_again_at_what_was_held() -> None:
    story = held_flight()
    story.take_over()
    assert (story["flight"].status, story["flight"].probe) == (OperationStatus.IN_DOUBT, None)


def test_going_back_looks_again_at_what_was_held() -> None:
    story = held_flight()
    story.append(e.SagaTurnedBack("cancelled"))
    assert story["flight"].status is OperationStatus.IN_DOUBT


def test_rule_2_a_refused_attempt_leaves_nothing_of_its_generation() -> None:
    story = Story(spec("flight"))
    story.call("flight")
    story.tell(c.ActionRefused("flight", NO, transient=True))
    flight = story["flight"]
    assert (flight.status, flight.generation, flight.attempts, flight.lost) == (OperationStatus.PLANNED, 2, 0, 0)
    assert flight.total_attempts == 1


def test_rule_4_an_undo_that_a_last_check_contradicts_is_in_doubt_again() -> None:
    story = Story(spec("flight"))
    story.succeed("flight")
    story.append(e.SagaTurnedBack("cancelled"))
    story.start(CallCompensation("flight"))
    story.tell(c.UndoReplied("flight", None))
    story.tell(c.Verified(False, {"flight": e.ProbeAnswer.MULTIPLE}, ()))
    assert story["flight"].status is OperationStatus.COMPENSATION_FAILED
    assert story["flight"].undo is not None
    assert story["flight"].undo.lost == 1


def test_a_person_s_absent_begins_a_new_generation() -> None:
    story = held_flight()
    story.tell(c.Resolve("flight", e.Resolution.ABSENT, "Anna"))
    assert (story["flight"].status, story["flight"].generation) == (OperationStatus.PLANNED, 2)


def test_a_person_s_landed_adopts_it() -> None:
    story = held_flight()
    story.tell(c.Resolve("flight", e.Resolution.LANDED, "Anna", output={"id": 7}))
    assert story["flight"].succeeded
    assert (story["flight"].output, story["flight"].via) == ({"id": 7}, e.Via.PERSON)


def test_rule_6_a_request_is_consumed_once() -> None:
    story = Story(spec("pay", ActionKind.PIVOT))
    story.tell(c.Cancel("Anna", request=3))
    assert story.saga.last_request == 3


def test_rule_9_what_never_started_is_skipped_when_the_saga_is_compensated() -> None:
    story = Story(spec("flight"))
    story.append(e.SagaTurnedBack("cancelled"), e.SagaCompensated())
    assert story["flight"].status is OperationStatus.SKIPPED


def test_rule_8_dependents_are_remembered_over_all_plan_versions() -> None:
    story = Story(spec("flight"))
    story.succeed("flight")
    story.tell(c.AcceptPlan((spec("hotel", ActionKind.COMPENSATABLE, "flight"),)))
    assert story.saga.dependents["flight"] == ("hotel",)


def test_a_compensation_that_ends_without_having_started_is_damage() -> None:
    story = Story(spec("flight"))
    with pytest.raises(JournalError, match="never started"):
        story.append(e.CompensationLost("flight", FAULT, 0.0))
