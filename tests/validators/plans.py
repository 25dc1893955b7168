"""One sound plan that all generic validators accept, and for every kind one that only that kind rejects."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from sagagraph.validators.kinds import Kind
from sagagraph.workflow.operation import reference

PLAN: dict[str, Any] = {
    "request": {"budget": 1000, "fire safety": True},
    "steps": [
        {
            "id": "flight",
            "action": "book_flight",
            "kind": "compensatable",
            "inputs": {"to": "Berlin", "on": "2025-06-04", "currency": "USD"},
            "begins": "2025-06-04T08:00:00+00:00",
            "ends": "2025-06-04T18:00:00+00:00",
            "takes": {"seats": 2},
            "cost": 600,
        },
        {
            "id": "hotel",
            "action": "book_hotel",
            "kind": "compensatable",
            "inputs": {"city": "Berlin", "on": "2025-06-04", "currency": "USD", "after": reference("flight", "number")},
            "depends_on": ["flight"],
            "begins": "2025-06-04T18:00:00+00:00",
            "ends": "2025-06-06T11:00:00+00:00",
            "cost": 200,
        },
        {
            "id": "drive",
            "action": "drive",
            "inputs": {"minutes to station": 45},
            "depends_on": ["hotel"],
            "begins": "2025-06-06T11:00:00+00:00",
            "ends": "2025-06-06T11:45:00+00:00",
        },
        {
            "id": "payment",
            "action": "pay",
            "kind": "pivot",
            "inputs": {"amount": 800, "currency": "USD"},
            "depends_on": ["flight", "hotel"],
        },
        {"id": "letter", "action": "send", "kind": "retriable", "inputs": {}, "depends_on": ["payment"]},
    ],
    "claims": [
        {
            "id": "affordable",
            "left": [{"value": 600}, {"value": 200}],
            "comparison": "<=",
            "right": {"fact": "most"},
            "because": ["most"],
        },
        {
            "id": "in time",
            "left": [{"fact": "minutes to station"}],
            "comparison": "<",
            "right": {"value": 60},
            "because": ["minutes to station", "affordable"],
        },
    ],
    "statements": [
        {"by": "planner", "about": "travel time", "value": 45},
        {"by": "driver", "about": "travel time", "value": 45},
    ],
}
FACTS: dict[str, Any] = {
    "span": {"first": "2025-06-04T18:00:00+00:00", "last": "2025-06-06T11:00:00+00:00", "actions": ["book_hotel"]},
    "facts": {"minutes to station": 45, "most": 1000},
    "constraints": [{"name": "budget", "path": ["total_cost"], "comparison": "<=", "value": 1000}],
    "capacities": {"seats": 2},
    "critical": {"fire safety": True},
    "interfaces": {
        "book_flight": {"inputs": {"to": "string", "on": "string", "currency": "string"}, "output": {"number": "string"}},
        "book_hotel": {"inputs": {"city": "string", "on": "any", "currency": "string", "after": "string"}},
        "drive": {},
        "pay": {"inputs": {"amount": "number", "currency": "string"}},
        "send": {},
    },
    "settled": {"search": "succeeded"},
    "deadlines": {"drive": "2025-06-06T12:00:00+00:00"},
    "agree_on": {"travel time": ["planner", "driver"]},
    "undoable": ["book_flight", "book_hotel"],
}

Change = Callable[[dict[str, Any]], None]


def changed(change: Change) -> dict[str, Any]:
    plan = copy.deepcopy(PLAN)
    change(plan)
    return plan


def _step(number: int, **facts: Any) -> Change:
    return lambda plan: plan["steps"][number].update(facts)


def _inputs(number: int, **inputs: Any) -> Change:
    return lambda plan: plan["steps"][number]["inputs"].update(inputs)


REJECTED_BY: list[tuple[Kind, str, Change]] = [
    (Kind.SYNTACTIC, "a step without an action", lambda plan: plan["steps"][0].pop("action")),
    (Kind.SYNTACTIC, "a cost that is no number", _step(0, cost=float("nan"))),
    (Kind.SYNTACTIC, "a planner's thoughts in the plan", lambda plan: plan.update(reasoning="trust me")),
    (Kind.SEMANTIC, "a night that no hotel covers", _step(1, ends="2025-06-05T11:00:00+00:00")),
    (Kind.SEMANTIC, "a letter that ends before it begins",
     _step(4, begins="2025-07-02T00:00:00+00:00", ends="2025-07-01T00:00:00+00:00")),
    (Kind.FACTUAL, "another travel time than was given", _inputs(2, **{"minutes to station": 15})),
    (Kind.CONSTRAINT, "a dollar over the budget", _step(1, cost=401)),
    (Kind.CONSTRAINT, "a seat that is not there", _step(0, takes={"seats": 3})),
    (Kind.CONSTRAINT, "one seat taken twice", _step(4, takes={"seats": 1})),
    (Kind.REASONING, "a sum that is more than it is said to be", lambda plan: plan["claims"][0]["left"].append({"value": 300})),
    (Kind.REASONING, "a claim that rests on a later one", lambda plan: plan["claims"].reverse()),
    (Kind.REASONING, "a fact out of thin air", lambda plan: plan["claims"][1]["because"].append("fair weather")),
    (Kind.REASONING, "a fact that is used in silence", lambda plan: plan["claims"][0].update(because=[])),
    (Kind.RETENTION, "a wish that was forgotten", lambda plan: plan["request"].pop("fire safety")),
    (Kind.RETENTION, "a wish that was turned round", lambda plan: plan["request"].update({"fire safety": False})),
    (Kind.CONTRACT, "an action that nobody has", _step(2, action="teleport")),
    (Kind.CONTRACT, "an input of another type", _inputs(3, amount="800")),
    (Kind.CONTRACT, "an input that is missing", lambda plan: plan["steps"][3]["inputs"].pop("amount")),
    (Kind.CONTRACT, "an input that nobody takes", _inputs(0, comfort="high")),
    (Kind.CONTRACT, "an output that nobody gives", _inputs(1, after=reference("flight", "gate"))),
    (Kind.DEPENDENCY, "two steps that wait for each other", _step(0, depends_on=["letter"], begins=None, ends=None)),
    (Kind.DEPENDENCY, "a step after one that is not there", _step(4, depends_on=["payment", "blessing"])),
    (Kind.DEPENDENCY, "an output used without waiting for it", _step(1, depends_on=[])),
    (Kind.CONSISTENCY, "a place as words here and as coordinates there", _inputs(0, on="wednesday")),
    (Kind.CONSISTENCY, "two currencies", _inputs(3, currency="EUR")),
    (Kind.TEMPORAL, "a hotel before the flight has landed", _step(1, begins="2025-06-04T12:00:00+00:00")),
    (Kind.TEMPORAL, "a deadline missed", _step(2, ends="2025-06-06T12:00:01+00:00")),
    (Kind.AGREEMENT, "two agents that differ", lambda plan: plan["statements"][1].update(value=50)),
    (Kind.AGREEMENT, "an agent that has not spoken", lambda plan: plan["statements"].pop()),
    (Kind.INTEGRITY, "something to undo after the point of no return", _step(4, kind="compensatable", action="book_hotel",
     inputs={"city": "Berlin", "on": "2025-06-07", "currency": "USD", "after": "x"})),
    (Kind.INTEGRITY, "two points of no return", _step(4, kind="pivot")),
    (Kind.INTEGRITY, "a ride that nothing can undo", _step(2, kind="compensatable")),
]  # fmt: skip
