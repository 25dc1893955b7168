"""The questions of docs/projections.md, asked of three trips."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from .conftest import Projected

DOCUMENT = Path(__file__).parents[3] / "docs" / "projections.md"
_QUESTION = re.compile(r"^(?P<question>[^\n]+\?)\n\n```sql\n(?P<sql>.*?)^```$", re.MULTILINE | re.DOTALL)
QUESTIONS = {found["question"]: found["sql"] for found in _QUESTION.finditer(DOCUMENT.read_text(encoding="utf-8"))}
BOOKINGS = ["T1", "T2", "T3", "T4", "T5"]


@pytest.fixture
def ask(projected: Projected) -> Any:
    asked: set[str] = set()

    def ask_one(question: str) -> Sequence[Any]:
        asked.add(question)
        return projected.ask(QUESTIONS[question])

    return ask_one


def test_every_question_of_the_document_is_asked_here() -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    assert len(QUESTIONS) == DOCUMENT.read_text(encoding="utf-8").count("```sql")
    assert [each for each in QUESTIONS if f'ask("{each}")' not in source] == []


def test_where_the_sagas_stand(ask: Any) -> None:
    rows = {row["saga_id"]: row for row in ask("What state are the sagas in?")}
    assert {name: row["status"] for name, row in rows.items()} == {
        "trip-refused": "compensated",
        "trip": "committed",
        "trip-cancelled": "compensated",
        "trip-cancelled~reversal": "committed",
    }
    assert rows["trip"]["operations"] == 8
    assert "payment" in rows["trip-refused"]["turned_back_by"]


def test_what_stands_booked(ask: Any, projected: Projected) -> None:
    (row,) = ask("What is booked, and what does it cost?")
    assert (row["saga_id"], row["bookings"]) == ("trip", 5)
    (paid,) = projected.ask(
        "SELECT output ->> 'amount' AS amount FROM operation_state WHERE saga_id='trip' AND operation='payment'"
    )
    assert float(row["total"]) == float(paid["amount"]) > 1000


def test_what_stood_at_the_commit(ask: Any) -> None:
    rows = ask("What was booked when the trip was committed, before somebody cancelled it?")
    stood = {row["entity"]: (row["state"], row["state_now"]) for row in rows}
    assert stood == {
        **dict.fromkeys([*BOOKINGS, "payment"], ("live", "cancelled")),
        "check": ("read", "read"),
        "itinerary": ("live", "live"),
    }


def test_why_this_one(ask: Any, projected: Projected) -> None:
    rows = ask("Why this one, and what were the alternatives?")
    assert [row["operation"] for row in rows] == BOOKINGS
    for row in rows:
        alternatives = projected.json(row["alternatives"])
        assert "that fit" in row["justification"] or "the only" in row["justification"]
        assert bool(alternatives) == ("the only" not in row["justification"])
        assert all({"offer_id", "title", "price"} <= set(each) for each in alternatives)


def test_what_is_slow_or_lost(ask: Any) -> None:
    rows = {row["action"]: row for row in ask("Which actions are slow, and which calls get lost?")}
    assert (rows["book_train"]["calls"], rows["book_train"]["lost"]) == (4, 1)
    assert (rows["book_hotel"]["calls"], rows["book_hotel"]["lost"]) == (6, 0)
    assert all(0 < row["mean_call_s"] <= row["slowest_s"] for row in rows.values())


def test_what_went_wrong(ask: Any) -> None:
    rows = ask("Which calls went wrong?")
    told = [(row["saga_id"], row["operation"], row["call"], row["outcome"]) for row in rows]
    assert ("trip-refused", "payment", "action", "failed") in told
    assert ("trip", "T3", "action", "lost") in told
    assert {name for name, *_ in told} == {"trip-refused", "trip"}


def test_how_it_was_undone(ask: Any, projected: Projected) -> None:
    rows = ask("How was it undone, in what order, for what fees?")
    order = [row["operation"] for row in rows]
    assert sorted(order) == BOOKINGS
    assert order[-1] == "T1"
    assert {"T2", "T3"} <= set(projected.json(rows[-1]["prerequisites"]))
    assert all(float(row["fee"]) >= 0 for row in rows)


def test_who_decided(ask: Any, projected: Projected) -> None:
    rows = ask("Who decided what, and why?")
    told = [(row["subject_type"], row["decision"], row["decided_by"]) for row in rows]
    assert told == [
        ("plan", "proposed", "solver"),
        ("plan", "approved", "Ada"),
        ("plan", "accepted", "engine"),
        ("saga", "committed", "engine"),
    ]
    assert len(projected.json(rows[0]["reasons"])) > 1


def test_what_depends_on_the_first_flight(ask: Any) -> None:
    rows = ask("What depends on T1, directly or indirectly?")
    assert [row["operation"] for row in rows] == ["T2", "T3", "T4", "T5", "itinerary", "payment"]


def test_which_values_were_handed_over(ask: Any, projected: Projected) -> None:
    rows = ask("Which values did the payment receive, and from where?")
    assert [(row["depends_on"], row["through"], row["status"]) for row in rows] == [
        (name, "reservation_id", "satisfied") for name in BOOKINGS
    ]
    live = projected.ask("SELECT entity, data ->> 'reservation_id' AS id FROM application_state WHERE saga_id = 'trip'")
    booked = {row["entity"]: row["id"] for row in live}
    for row in rows:
        value = row["value"]
        assert booked[row["depends_on"]] in (value, str(value).strip('"'))


def test_who_shares_a_resource(ask: Any, projected: Projected) -> None:
    assert ask("Which sagas take the same flight, train or room?") == []  # the cancelled trips gave theirs back
    states = projected.ask("SELECT saga_id, operation, state FROM resource_allocations WHERE operation = 'T1' ORDER BY saga_id")
    assert [(row["saga_id"], row["state"]) for row in states] == [
        ("trip", "taken"),
        ("trip-cancelled", "released"),
        ("trip-refused", "released"),
    ]


def test_what_was_checked(ask: Any, projected: Projected) -> None:
    rows = ask("What was checked before the payment, on what evidence?")
    plan, *slices, approval, condition, answer = rows
    assert [(row["kind"], bool(row["holds"])) for row in (plan, approval, condition)] == [
        ("plan", True),
        ("approval", True),
        ("condition", True),
    ]
    assert {(row["kind"], bool(row["holds"])) for row in slices} == {("slice", True)}
    assert {"transport: T1", "lodging: T2", "money: the trip"} <= {row["rule"] for row in slices}
    assert (approval["decided_by"], condition["decided_by"]) == ("Ada", "engine")
    assert plan["decided_by"] not in ("Ada", "engine")
    assert (answer["kind"], bool(answer["holds"])) == ("output", True)
    assert condition["rule"] == " and ".join(f"succeeded({name})" for name in BOOKINGS)
    evidence = projected.json(condition["evidence"])
    assert evidence == {"operations": {name: {"status": "succeeded", "error_code": None} for name in BOOKINGS}}
    assert plan["at"] <= approval["at"] <= condition["at"]
