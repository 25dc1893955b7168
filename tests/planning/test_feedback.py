"""What validators said in earlier runs, as lessons: codes and counts, nobody's words."""

from __future__ import annotations

from typing import Any

import pytest

from sagagraph.planning.agents.briefing import MOST_LESSONS, lessons_of
from sagagraph.saga.core import events as e
from sagagraph.validators.verdict import Verdict, Violation
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec

pytestmark = pytest.mark.quick

SECRET = "Ms Lovelace's private note"


def journal(*events: e.Event) -> list[e.Entry]:
    return [e.Entry(version, 1, 0.0, event) for version, event in enumerate(events, 1)]


def rejected(*codes: str) -> dict[str, Any]:
    return Verdict.of([Violation(code=each, message=SECRET) for each in codes]).model_dump(mode="json")


PLANNED = e.PlanAccepted(1, (OperationSpec("T1", "book_hotel", ActionKind.COMPENSATABLE, {"guest": SECRET}),))


def test_objections_are_counted_once_a_run_and_the_most_frequent_come_first() -> None:
    once = journal(e.PlanJudged("h", rejected("BUDGET")), e.PlanJudged("i", rejected("BUDGET", "ROUTE")))
    again = journal(e.PlanJudged("j", rejected("BUDGET")), e.PlanJudged("k", Verdict.of([]).model_dump(mode="json")))
    assert lessons_of([once, again]) == (
        "a plan was rejected: BUDGET (in 2 earlier runs)",
        "a plan was rejected: ROUTE (in 1 earlier run)",
    )


def test_outputs_refusals_and_notes_of_validators_are_lessons_by_the_name_of_the_action() -> None:
    noted = {**Verdict.of([]).model_dump(mode="json"), "notes": ["late flights are often missed"]}
    told = journal(
        PLANNED,
        e.OperationRejected("T1", SECRET, e.Fault("x", SECRET), e.Via.REPLY, (rejected("PRICE"),)),
        e.OperationFailed("T1", e.Fault("sold_out", SECRET)),
        e.OperationSucceeded("T1", SECRET, verdicts=(noted,)),
    )
    lessons = lessons_of([told])
    assert lessons == (
        "an output of book_hotel was rejected: PRICE (in 1 earlier run)",
        "book_hotel failed: sold_out (in 1 earlier run)",
        "late flights are often missed (in 1 earlier run)",
    )


def test_nothing_that_people_or_providers_wrote_becomes_a_lesson() -> None:
    told = journal(
        PLANNED,
        e.PlanProposed("h", {"note": SECRET}, {}, reasons=(SECRET,)),
        e.PlanJudged("h", rejected("BUDGET"), SECRET),
        e.OperationFailed("T1", e.Fault(SECRET, SECRET)),
        e.OperationRejected("T1", SECRET, e.Fault("x", SECRET), e.Via.REPLY, (rejected("PRICE"),)),
    )
    assert SECRET not in " ".join(lessons_of([told]))


def test_there_are_only_so_many_lessons() -> None:
    many = [journal(e.PlanJudged("h", rejected(*(f"CODE_{n}" for n in range(30)))))]
    assert len(lessons_of(many)) == MOST_LESSONS
    assert lessons_of([]) == ()
