"""Questions about a day are answered from its plan; what it does not tell is left to others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sagagraph.domains.reunion.day import as_json
from sagagraph.domains.reunion.page.answers import Answers
from sagagraph.domains.reunion.shipped import shipped
from sagagraph.domains.reunion.text.telling import told
from sagagraph.domains.reunion.transcript import EMPTY, Transcript
from tests.domains.reunion.published import ALAS_TABLE_21
from tests.domains.reunion.text.days import SIX, told_problem

pytestmark = pytest.mark.quick


def day(problem: Any, plan: Any, **request: Any) -> Any:
    content = {"plan": plan, "day": "2026-11-26", "places": problem.places}
    asked = {"problem": as_json(problem), "day": "2026-11-26", "events": [], **request}
    return SimpleNamespace(request=asked, plan=SimpleNamespace(content=content))


THANKSGIVING = shipped("thanksgiving")
ANSWERS = Answers(day(THANKSGIVING, ALAS_TABLE_21), 12 * 60)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("who picks up Emily?", ["15:00 to 16:00 James: drive rental car from Boston Airport to Home in Boston, with Emily"]),
        ("where is Sarah at 3 pm?", ["At 15:00", "Sarah is at HOME"]),
        ("Where's grandma right now?", ["At 12:00", "Grandma is at GRANDMA"]),
        ("is somebody with the turkey all the time?", ["14:00 to 18:00", "Somebody is there all that time", "Sarah"]),
        ("how long does Emily wait", ["Emily does not wait for a ride"]),
        ("How far is it from the airport to home?", ["Home in Boston to Boston Airport takes 60 minutes."]),
        ("what does Michael have to do", ["Michael's car"]),
    ],
)
def test_what_the_plan_tells(asked: str, told: list[str]) -> None:
    answer = ANSWERS.answer(asked) or ""
    assert [part for part in told if part not in answer] == [], answer


@pytest.mark.parametrize("asked", ["how much is it?", "who are you?", "why not another one?", "can I still cancel?"])
def test_what_is_no_question_of_a_day_is_left_to_others(asked: str) -> None:
    assert ANSWERS.answer(asked) is None


def test_what_was_assumed_is_told_with_the_estimates() -> None:
    transcript = Transcript(filled=told(EMPTY, SIX).filled)
    problem = told_problem(SIX)
    saga = day(problem, {"problem": "six", "actions": []}, told=transcript.model_dump(mode="json"))
    answers = Answers(saga, 12 * 60)
    assert "15 drives that nobody gave are guessed at 20 to 180 minutes each" in (answers.answer("what did you assume?") or "")
    assert "which I have estimated" in (answers.answer("How far is it from Augsburg to home?") or "")
