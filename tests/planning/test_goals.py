"""Goals over any actions: templates for what is known, a model for what is novel, and the same checks for both."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from sagagraph import Call, Engine, Refused, action
from sagagraph.errors import InvalidInputError, ModelError, UnusableAnswerError
from sagagraph.graph.planning_graph import planning_graph
from sagagraph.planning.goals.decomposition import ROUNDS, Decomposer, interfaces_of
from sagagraph.planning.goals.goals import Goals
from sagagraph.planning.goals.templates import Template, TemplateLibrary
from sagagraph.validators.verdict import VerdictStatus
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
TEMPLATES = TemplateLibrary([Template("stay", Room, lambda room: {"steps": [_step("stay", room.city), _pay("stay")]})])
GOAL = {"goal": "two nights in Ulm, then two in Bonn"}


@pytest.fixture(autouse=True)
def _nothing_done() -> None:
    done.clear()


async def test_a_request_of_a_known_type_uses_its_template_and_no_model() -> None:
    model = Scripted()
    found = await Decomposer(ACTIONS, TEMPLATES, model).decompose({"type": "stay", "city": "Ulm"})
    assert (found.made_by, found.verdict.verdict, model.asked) == ("template", VerdictStatus.VALID, [])
    assert [spec.id for spec in found.specs] == ["stay", "pay"]


async def test_a_request_of_a_known_type_that_is_not_of_its_form_names_the_field() -> None:
    with pytest.raises(InvalidInputError, match=r"^city: .*\(a request of type 'stay'\)"):
        await Decomposer(ACTIONS, TEMPLATES).decompose({"type": "stay", "town": "Ulm"})
    with pytest.raises(InvalidInputError, match="two templates"):
        TemplateLibrary([*[Template("stay", Room, lambda room: {})] * 2])


async def test_a_novel_goal_is_decomposed_by_the_model_which_is_told_the_actions() -> None:
    model = Scripted(PLAN)
    found = await Decomposer(ACTIONS, TEMPLATES, model).decompose(GOAL, budget=500)
    assert (found.made_by, found.verdict.verdict) == ("fake:parrot", VerdictStatus.VALID)
    assert [(spec.id, spec.action, spec.depends_on) for spec in found.specs] == [
        ("a", "goals.book", ()),
        ("b", "goals.book", ("a",)),
        ("pay", "goals.pay", ("a", "b")),
    ]
    assert model.asked[0].data.data == {"goal": GOAL, "actions": interfaces_of(ACTIONS), "budget": 500}
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
    "two steps of one name": ("stands 2 times", lambda plan: plan["steps"].append(_step("a", "Rome"))),
    "a field that nobody asked for": ("Extra inputs", lambda plan: plan.update(run="rm -rf /")),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_plan_with_a_fault_is_never_taken_whoever_made_it(fault: str) -> None:
    told, change = FAULTS[fault]
    plan = copy.deepcopy(PLAN)
    change(plan)
    model = Scripted(plan, PLAN)
    found = await Decomposer(ACTIONS, TEMPLATES, model).decompose(GOAL, budget=500)
    assert found.verdict.is_valid
    assert [each.outcome for each in found.rounds] == ["INVALID", "VALID"]
    assert told in " ".join(model.asked[1].data.data["what was wrong with your last plan"])
    library = TemplateLibrary([Template("bad", Room, lambda _room: plan)])
    by_template = await Decomposer(ACTIONS, library).decompose({"type": "bad", "city": "Ulm"}, budget=500)
    assert (by_template.verdict.verdict, by_template.specs) == (VerdictStatus.INVALID, ())


@pytest.mark.parametrize("answer", [{"steps": []}, None, "a plan", [1], {}, UnusableAnswerError("fake:parrot refused to answer")])
async def test_a_model_that_never_plans_ends_after_its_rounds(answer: Any) -> None:
    model = Scripted(*[answer] * 9)
    found = await Decomposer(ACTIONS, TEMPLATES, model).decompose(GOAL)
    assert (len(model.asked), len(found.rounds), found.specs) == (ROUNDS, ROUNDS, ())
    assert not found.verdict.is_valid


async def test_without_a_model_a_novel_goal_is_not_planned() -> None:
    found = await Decomposer(ACTIONS, TEMPLATES).decompose(GOAL)
    assert (found.verdict.verdict, found.specs) == (VerdictStatus.UNKNOWN, ())
    assert "no template fits" in found.verdict.reason
    with pytest.raises(ModelError, match="too long"):
        await Decomposer(ACTIONS, TEMPLATES, Scripted()).decompose({"goal": "x" * 10_000})


# -- as sagas ----------------------------------------------------------------------------------------------------------


async def run(request: Any, model: Scripted | None = None) -> tuple[Any, list[Any]]:
    async with Engine.open("memory:") as engine:
        graph = planning_graph(domain=Goals("goals", ACTIONS, TEMPLATES, model), engine=engine)
        view = await graph.start("s", request, approved_by="ann")
        return view, [entry.event for entry in await engine.journal("s")]


async def test_a_goal_is_planned_judged_and_carried_out_as_a_saga() -> None:
    view, events = await run({**GOAL, "budget": 500}, Scripted({"steps": []}, PLAN))
    assert view.status == "committed"
    assert done == ["book Ulm", "book Bonn", "pay for r-Ulm"]
    (proposed,) = [each for each in events if type(each).__name__ == "PlanProposed"]
    assert [each.rpartition(": ")[2] for each in proposed.reasons[1:]] == ["INVALID", "VALID"]
    (judged,) = [each for each in events if type(each).__name__ == "PlanJudged"]
    assert judged.verdict["certificate"]["validator"] == "goals"


async def test_a_goal_by_template_needs_no_model_and_one_that_falls_through_is_undone() -> None:
    view, _ = await run({"type": "stay", "city": "Ulm"})
    assert (view.status, done) == ("committed", ["book Ulm", "pay for r-Ulm"])
    done.clear()
    plan = {"steps": [_step("a", "Ulm"), _step("b", "Atlantis", ("a",)), _pay("a", "b")]}
    view, _ = await run(GOAL, Scripted(plan))
    assert (view.status, done) == ("compensated", ["book Ulm", "cancel Ulm"])


async def test_a_goal_that_nobody_can_plan_ends_infeasible_with_the_reason() -> None:
    view, _ = await run(GOAL)
    assert view.status == "infeasible"
    assert "no template fits" in view.reason
