from __future__ import annotations

from typing import Any

import msgspec
import pytest

from sagagraph import Call, action
from sagagraph.errors import InvalidInputError, WorkflowError
from sagagraph.factory.blueprint import drafted, read_blueprint, template_of
from sagagraph.factory.filling import Factory
from sagagraph.factory.roster import Member, Roster
from sagagraph.saga.engine.actions import Action
from sagagraph.workflow.language.checks import findings
from sagagraph.workflow.language.document import nodes_in
from tests.support.scripted_model import Scripted

from .scenarios import GIVEN, blueprint_of

pytestmark = pytest.mark.quick


def made(name: str, kind: str = "compensatable") -> Action:
    def execute(request: Any, call: Call) -> str:
        return name

    undo = {"compensate": lambda request, result, call: None} if kind == "compensatable" else {}
    return action(execute, name=name, kind=kind, **undo)


@pytest.mark.parametrize("name", GIVEN)
async def test_a_model_drafts_what_a_template_says_and_mends_its_faults(name: str) -> None:
    sound = msgspec.to_builtins(blueprint_of(name))
    model = Scripted({"goal": name}, {**sound, "edges": []} if name == "trip" else {**sound, "roles": []}, sound)
    assert msgspec.to_builtins(await drafted(name, model)) == sound
    assert "faults" not in model.asked[0].data.data
    assert "roles" in model.asked[1].data.data["faults"]
    assert findings(template_of(read_blueprint(sound))) == ()


async def test_a_model_that_never_mends_its_draft_is_given_up() -> None:
    with pytest.raises(WorkflowError, match="drafted no blueprint for 'a party' in 3 rounds: blueprint: "):
        await drafted("a party", Scripted({}, {}, {}))


def test_a_node_of_a_role_that_nobody_described_is_refused() -> None:
    task = {"id": "a", "type": "task", "role": "cook"}
    with pytest.raises(WorkflowError, match="'a' has role 'cook'"):
        template_of(read_blueprint({"goal": "g", "roles": [], "nodes": [task]}))
    with pytest.raises(InvalidInputError, match=r"blueprint\.roles"):
        read_blueprint({"goal": "g", "roles": [{"name": "cook", "capabilites": []}], "nodes": [task]})


def test_roles_are_filled_by_the_best_and_those_that_nobody_fills_are_named() -> None:
    small = Member(made("send_itinerary", "retriable"), most_context=10)
    roster = Roster.of([made("check_prices", "read-only"), made("book_flight"), made("book_hotel", "read-only"), small])
    factory = Factory(roster)
    filled = factory.fill(blueprint_of("trip"))
    assert filled.unfilled == ("hotel", "payment", "message")
    actions = {each.id: each.action for each in nodes_in(filled.document.graph) if each.role}
    assert actions == {"prices": "check_prices", "flight": "book_flight", "hotel": "", "payment": "", "itinerary": ""}
    best = {role: ranked[0] for role, ranked in filled.ranking.items()}
    assert (best["flight"].name, best["flight"].score) == ("book_flight", 1.0)
    why = {each.name: each.why_not for each in filled.ranking["hotel"]}
    assert (why["book_hotel"], why["book_flight"]) == ("nothing undoes it", "")
    assert {each.why_not for each in filled.ranking["message"] if each.name == "send_itinerary"} == {
        "it takes 10 tokens of context, and 1000 are wanted"
    }
    assert factory.fill(blueprint_of("trip")) is filled


def test_an_agent_can_compensate_for_another() -> None:
    told = msgspec.to_builtins(blueprint_of("reunion"))
    told["roles"] = [{**each, "undoneBy": "cleaner"} if each["name"] == "table" else each for each in told["roles"]]
    told["roles"].append({"name": "cleaner", "capabilities": ["call off table"]})
    roster = Roster.of(
        [
            made("reserve_car"),
            made("reserve_table", "read-only"),
            made("send_invitation"),
            made("confirm_day", "pivot"),
            made("call_off_table", "read-only"),
        ]
    )
    filled = Factory(roster).fill(read_blueprint(told))
    assert filled.unfilled == ()
    assert filled.document.policies["table"].compensation.handler == "call_off_table"  # type: ignore[union-attr]
