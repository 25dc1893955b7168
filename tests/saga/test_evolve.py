"""What a journalled fact changes."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from sagagraph.errors import JournalError
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.evolve.evolve import evolve, fold
from sagagraph.saga.core.status import OperationStatus
from sagagraph.saga.core.steps import CallCompensation
from sagagraph.workflow.condition import Not, Succeeded
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec
from tests.saga.stores.every_event import KINDS, examples_of
from tests.saga.story import FAULT, NO, Story, spec

pytestmark = pytest.mark.quick

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


OUT_OF_PLACE = [
    e.OperationSucceeded("flight", None),
    e.OperationRejected("flight", None, FAULT, e.Via.REPLY, ()),
    e.AttemptRefused("flight", FAULT, 0.0),
    e.OperationFailed("flight", FAULT),
    e.AttemptLost("flight", FAULT, 0.0),
    e.OperationGivenUp("flight", "cancelled"),
    e.CompensationRefused("flight", FAULT, 0.0),
    e.CompensationLost("flight", FAULT, 0.0),
    e.OperationCompensated("flight", None),
]


@pytest.mark.parametrize("event", OUT_OF_PLACE, ids=lambda event: type(event).__name__)
def test_what_ends_without_having_started_is_damage(event: e.Event) -> None:
    story = Story(spec("flight"))
    with pytest.raises(JournalError, match=r"saga 'trip': version 3 .*'flight' ends that never started") as raised:
        story.append(event)
    assert (raised.value.saga_id, raised.value.operation_id) == ("trip", "flight")


UNKNOWN = [
    *(kind for kind in KINDS if "operation" in kind.__struct_fields__ and kind not in (e.OperationPlanned, e.SagaTurnedBack)),
    e.PlanAccepted,
    e.BodyCompleted,
    e.SagaReversed,
]


@pytest.mark.parametrize("kind", UNKNOWN, ids=lambda kind: kind.__name__)
def test_an_operation_that_was_never_planned_is_damage(kind: type[Any]) -> None:
    story = Story(spec("flight"))
    about = {"operation": "ghost", "removed": ("ghost",), "outputs": {"ghost": None}, "operations": ()}
    (event,) = examples_of(kind, 1)
    event = replace(event, **{name: value for name, value in about.items() if name in kind.__struct_fields__})
    with pytest.raises(JournalError, match=r"saga 'trip': version 3 of its journal names operation 'ghost'"):
        story.append(event)


@pytest.mark.parametrize(
    "planned",
    [spec("hotel", ActionKind.COMPENSATABLE, "ghost"), replace(spec("hotel"), condition=Not(Succeeded("ghost")))],
    ids=["depends on it", "names it in its condition"],
)
def test_a_prerequisite_that_was_never_planned_is_damage(planned: OperationSpec) -> None:
    for event in (e.OperationPlanned(planned), e.PlanAccepted(2, (planned,))):
        with pytest.raises(JournalError, match="operation 'hotel' depends on 'ghost'"):
            Story(spec("flight")).append(event)


def test_an_operation_that_is_planned_twice_is_damage() -> None:
    for event in (e.OperationPlanned(spec("flight")), e.PlanAccepted(2, (spec("flight"),))):
        with pytest.raises(JournalError, match="plans operation 'flight' twice"):
            Story(spec("flight")).append(event)


def test_a_plan_may_name_its_operations_in_any_order() -> None:
    story = Story(spec("hotel", ActionKind.COMPENSATABLE, "flight"), spec("flight"))
    assert story.saga.dependents["flight"] == ("hotel",)
