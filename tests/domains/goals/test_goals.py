"""Goals over any actions: templates for what is known, a model for what is novel, and the same checks for both."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from sagagraph import Call, Engine, Refused, action
from sagagraph.domains.goals.domain import Goals
from sagagraph.domains.goals.judging import interfaces_of, judged
from sagagraph.domains.goals.library import GoalLibrary, Template
from sagagraph.errors import InvalidInputError, ModelError, UnusableAnswerError
from sagagraph.graph.planning_graph import planning_graph
from sagagraph.planning.models.model_planner import ROUNDS
from sagagraph.workflow.operation import reference
from tests.support.scripted_model import Scripted

pytestmark = pytest.mark.quick

done: list[str] = []


class Room(BaseModel):
    city: str
    nights: int = 1


class Booked(BaseModel):
    number: str


class Bill(BaseModel):
    amount: float
    what: str


async def cancel(request: Room, result: Booked, call: Call) -> None:
    done.append(f"cancel {request.city}")


@action(compensate=cancel, name="goals.book")
async def book(request: Room, call: Call) -> Booked:
    if request.city == "Atlantis":
        raise Refused("it has sunk", code="no_such_city")
    done.append(f"book {request.city}")
    return Booked(number=f"r-{request.city}")


@action(kind="pivot", name="goals.pay")
async def pay(request: Bill, call: Call) -> Booked:
    done.append(f"pay for {request.what}")
    return Booked(number="p-1")


ACTIONS = (book, pay)


def _step(name: str, city: str, after: tuple[str, ...] = (), cost: float = 100.0) -> dict[str, Any]:
    return {
        "id": name,
        "action": "goals.book",
        "kind": "compensatable",
        "inputs": {"city": city, "nights": 2},
        "depends_on": list(after),
        "cost": cost,
    }


def _pay(*after: str) -> dict[str, Any]:
    inputs = {"amount": 100.0, "what": reference(after[0], "number")}
    return {"id": "pay", "action": "goals.pay", "kind": "pivot", "inputs": inputs, "depends_on": list(after)}


PLAN: dict[str, Any] = {"steps": [_step("a", "Ulm"), _step("b", "Bonn", ("a",)), _pay("a", "b")]}
LIBRARY = GoalLibrary(
    ACTIONS,
    (
        Template("stay", Room, lambda room: {"steps": [_step("stay", room.city), _pay("stay")]}),
        Template(
            "holiday",
            Room,
            lambda room: {"steps": [_step("a", "Ulm"), _step("b", room.city, ("a",)), _pay("a", "b")]},
            otherwise=(lambda room: {"steps": [_step("a", "Ulm"), _step("b", "Rome", ("a",)), _pay("b", "a")]},),
        ),
    ),
)
GOAL = {"goal": "two nights in Ulm, then two in Bonn"}


@pytest.fixture(autouse=True)
def _nothing_done() -> None:
    done.clear()


async def run(request: Any, model: Scripted | None = None, library: GoalLibrary = LIBRARY) -> tuple[Any, list[Any]]:
    async with Engine.open("memory:") as engine:
        graph = planning_graph(domain=Goals(library), engine=engine, model=model)
        view = await graph.start("s", request, approved_by="ann")
        return view, [entry.event for entry in await engine.journal("s")]


def named(events: list[Any], name: str) -> list[Any]:
    return [each for each in events if type(each).__name__ == name]


# -- by template -------------------------------------------------------------------------------------------------------


async def test_a_request_of_a_known_type_uses_its_template_and_no_model() -> None:
    model = Scripted()
    view, events = await run({"type": "stay", "city": "Ulm", "budget": 500}, model)
    assert (view.status, done, model.asked) == ("committed", ["book Ulm", "pay for r-Ulm"], [])
    (judgement,) = named(events, "PlanJudged")
    assert judgement.verdict["certificate"]["validator"] == "goals"


async def test_a_request_of_a_known_type_that_is_not_of_its_form_names_the_field() -> None:
    with pytest.raises(InvalidInputError, match=r"^city: .*\(a request of type 'stay'\)"):
        await Goals(LIBRARY).propose({"type": "stay", "town": "Ulm"})
    with pytest.raises(InvalidInputError, match="two templates"):
        GoalLibrary(ACTIONS, (Template("stay", Room, lambda room: {}),) * 2)


async def test_a_template_has_another_way_where_the_first_is_refused_and_what_is_done_stays() -> None:
    view, _ = await run({"type": "holiday", "city": "Atlantis"})
    assert view.status == "committed"
    assert done == ["book Ulm", "book Rome", "pay for r-Rome"]


async def test_a_template_without_another_way_is_undone() -> None:
    once = GoalLibrary(ACTIONS, (Template("holiday", Room, LIBRARY.templates[1].build),))
    view, _ = await run({"type": "holiday", "city": "Atlantis"}, library=once)
    assert (view.status, done) == ("compensated", ["book Ulm", "cancel Ulm"])
    assert view.reason == "b: it has sunk"


async def test_a_way_that_leaves_out_what_is_done_undoes_it() -> None:
    another = GoalLibrary(
        ACTIONS,
        (
            Template(
                "holiday",
                Room,
                LIBRARY.templates[1].build,
                otherwise=(lambda _room: {"steps": [_step("a", "Rome"), _pay("a")]},),
            ),
        ),
    )
    view, _ = await run({"type": "holiday", "city": "Atlantis"}, library=another)
    assert view.status == "committed"
    assert sorted(done) == sorted(["book Ulm", "cancel Ulm", "book Rome", "pay for r-Rome"])
    assert done.index("book Rome") < done.index("pay for r-Rome")


# -- by a model --------------------------------------------------------------------------------------------------------


async def test_a_novel_goal_is_planned_by_the_model_which_is_told_the_actions() -> None:
    model = Scripted({"steps": []}, PLAN)
    view, events = await run({**GOAL, "budget": 500}, model)
    assert (view.status, done) == ("committed", ["book Ulm", "book Bonn", "pay for r-Ulm"])
    assert model.asked[0].data.data == {"goal": GOAL, "actions": interfaces_of(ACTIONS), "budget": 500}
    (proposed,) = named(events, "PlanProposed")
    assert proposed.proposed_by == "fake:parrot"
    assert [each.outcome.partition(":")[0] for each in named(events, "ModelAsked")] == ["not in the form asked for", "proposed"]
    assert interfaces_of(ACTIONS)["goals.book"] == {
        "kind": "compensatable",
        "inputs": {"city": "string", "nights": "integer"},
        "optional": ["nights"],
        "output": {"number": "string"},
    }


Change = Callable[[dict[str, Any]], Any]
FAULTS: dict[str, tuple[str, Change]] = {
    "a circle": ("wait for each other", lambda plan: plan["steps"][0].update(depends_on=["b"])),
    "an action that there is not": ("no action 'goals.fly'", lambda plan: plan["steps"][0].update(action="goals.fly")),
    "an input that is missing": ("input 'city' is missing", lambda plan: plan["steps"][0]["inputs"].pop("city")),
    "an input of another type": ("must be of type integer", lambda plan: plan["steps"][0]["inputs"].update(nights="two")),
    "an output that there is not": (
        "gives no 'gate'",
        lambda plan: plan["steps"][2]["inputs"].update(what=reference("a", "gate")),
    ),
    "a step after one that is not there": ("not in the workflow", lambda plan: plan["steps"][1].update(depends_on=["x"])),
    "a booking behind the pivot": ("comes after the pivot", lambda plan: plan["steps"].append(_step("c", "Rome", ("pay",)))),
    "a pivot in disguise": ("is pivot, not read-only", lambda plan: plan["steps"][2].update(kind="read-only")),
    "more than the budget": ("the budget is 500", lambda plan: plan["steps"][1].update(cost=401)),
    "two steps of one name": ("occurs 2 times", lambda plan: plan["steps"].append(_step("a", "Rome"))),
    "a field that nobody asked for": ("Extra inputs", lambda plan: plan.update(run="rm -rf /")),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_plan_with_a_fault_is_never_taken_whoever_made_it(fault: str) -> None:
    told, change = FAULTS[fault]
    plan = copy.deepcopy(PLAN)
    change(plan)
    model = Scripted(plan, PLAN)
    view, _ = await run({**GOAL, "budget": 500}, model)
    assert view.status == "committed"
    assert told in " ".join(model.asked[1].data.data["what was wrong with your last choice"])
    library = GoalLibrary(ACTIONS, (Template("bad", Room, lambda _room: plan),))
    done.clear()
    view, _ = await run({"type": "bad", "city": "Ulm", "budget": 500}, library=library)
    assert (view.status, done) == ("infeasible", [])


@pytest.mark.parametrize("answer", [{"steps": []}, None, "a plan", [1], {}, UnusableAnswerError("fake:parrot refused to answer")])
async def test_a_model_that_never_plans_ends_after_its_rounds(answer: Any) -> None:
    model = Scripted(*[answer] * 9)
    view, _ = await run(GOAL, model)
    assert (view.status, done, len(model.asked)) == ("infeasible", [], ROUNDS)
    assert f"proposed nothing valid in {ROUNDS} rounds" in view.reason


async def test_without_a_model_a_novel_goal_is_not_planned() -> None:
    view, _ = await run(GOAL)
    assert view.status == "infeasible"
    assert "no template fits" in view.reason


@pytest.mark.parametrize(
    ("goal", "said", "why"),
    [("x" * 10_000, [], "too long for one question"), ("two nights", [ModelError("it is down")], "it is down")],
)
async def test_a_goal_that_the_model_cannot_be_asked_about_ends_with_the_reason(goal: str, said: list[Any], why: str) -> None:
    view, _ = await run({"goal": goal}, Scripted(*said))
    assert view.status == "infeasible"
    assert why in view.reason


SUNK: dict[str, Any] = {"steps": [_step("a", "Ulm"), _step("b", "Atlantis", ("a",)), _pay("a", "b")]}
MENDED: dict[str, Any] = {"steps": [_step("first", "Ulm"), _step("b", "Rome", ("first",)), _pay("b", "first")]}


async def test_a_model_repairs_what_was_refused_and_what_is_done_is_not_done_again() -> None:
    model = Scripted(SUNK, SUNK, MENDED)
    view, events = await run(GOAL, model)
    assert (view.status, done) == ("committed", ["book Ulm", "book Rome", "pay for r-Rome"])
    asked = model.asked[1].data.data
    assert asked["refused"] == [{"action": "goals.book", "inputs": {"city": "Atlantis", "nights": 2}}]
    assert [each["id"] for each in asked["done"]] == ["a"]
    assert model.asked[2].data.data["what was wrong with your last choice"] == ["a step asks again for what was refused"]
    assert [step["id"] for step in named(events, "PlanProposed")[-1].plan["steps"]] == ["a", "b.2", "pay.2"]


async def test_a_repair_that_no_model_finds_is_undone() -> None:
    view, _ = await run(GOAL, Scripted(SUNK, *[SUNK] * ROUNDS))
    assert (view.status, done) == ("compensated", ["book Ulm", "cancel Ulm"])


# -- verdicts ----------------------------------------------------------------------------------------------------------


async def test_a_plan_that_books_one_room_twice_is_invalid() -> None:
    twice = {"steps": [_step("a", "Ulm"), _step("b", "Ulm", ("a",)), _pay("a", "b")]}
    verdict = await judged(twice, ACTIONS, None)
    assert [(each.code, each.scope["operations"]) for each in verdict.violations] == [("DOUBLE_BOOKED", ["a", "b"])]


@pytest.mark.parametrize(("budget", "found"), [(200.0, []), (199.0, ["NON_SEQUITUR"]), (None, ["UNFOUNDED"])])
async def test_a_claim_about_the_budget_is_held_to_the_budget(budget: float | None, found: list[str]) -> None:
    costs = [{"value": step.get("cost", 0)} for step in PLAN["steps"]]
    claim = {"id": "c", "left": costs, "comparison": "<=", "right": {"fact": "budget"}, "because": ["budget"]}
    verdict = await judged({**PLAN, "claims": [claim]}, ACTIONS, budget)
    assert [each.code for each in verdict.violations] == found
