"""The same workflow here and in an interpreter that is not ours: the same tasks, the same compensations, in the same order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("moto", reason="the interpreter of the Amazon States Language is a development dependency")

from sagagraph import Call, action
from sagagraph.cli.workflow.judging import plan_of
from sagagraph.errors import OperationFailedError, Refused
from sagagraph.factory.running import Assignment, run_document
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.engine import Engine
from sagagraph.workflow.asl.reader import read_machine
from sagagraph.workflow.asl.writer import state_machine
from sagagraph.workflow.language.document import Document, document_json, nodes_in, read_document
from tests.factory.scenarios import DOCUMENT
from tests.support.states import executed

HERE = Path(__file__).parent


class Traced:
    """Actions that only write down that they were called; one of them is refused."""

    def __init__(self, document: Document, refused: str, answers: dict[str, Any] | None = None) -> None:
        self.calls: list[str] = []
        self._refused = refused
        self._answers = answers or {}
        self.actions = {each.action: self._action(each.action, document) for each in nodes_in(document.graph) if each.action}

    def call(self, name: str, sent: dict[str, Any]) -> Any:
        request = sent.get("request")
        said = f"{name} {request.get('offer_id', '') if isinstance(request, dict) else ''}".strip()
        self.calls.append(said)
        if said == self._refused:
            raise Refused("there is none left", code="Refused")
        return self._answers.get(name, {"reservation_id": said, "captured_at": 1})

    def _action(self, name: str, document: Document) -> Action:
        node = next(each for each in nodes_in(document.graph) if each.action == name)
        is_undone = document.policy_of(node).compensation is not None

        def execute(request: Any, call: Call) -> Any:
            return self.call(name, {"request": request})

        def undo(request: Any, result: Any, call: Call) -> None:
            self.call(f"{name}/undo", {"request": request})

        kind = node.capabilities.get("kind", "compensatable" if is_undone else "read-only")
        return action(execute, name=name, kind=kind, **({"compensate": undo} if is_undone else {}))


async def ours(document: Document, refused: str, answers: dict[str, Any] | None = None, *, serial: bool = True) -> list[str]:
    traced = Traced(document, refused, answers)
    async with Engine.open("memory:") as engine:
        try:
            await run_document(engine, "s", Assignment(document, serial=serial), traced.actions)
        except OperationFailedError:
            assert refused
    return traced.calls


def theirs(document: Document, refused: str, answers: dict[str, Any] | None = None) -> list[str]:
    traced = Traced(document, refused, answers)
    status, _entered = executed(state_machine(document), traced.call)
    assert status == ("FAILED" if refused else "SUCCEEDED")
    return traced.calls


def trip() -> Document:
    return read_document(json.loads((HERE / "trip.json").read_text()))


def bookings(document: Document) -> list[str]:
    return [f"{each.action} {each.params['offer_id']}" for each in nodes_in(document.graph) if each.action.startswith("book_")]


async def test_a_trip_is_undone_elsewhere_as_it_is_here_whichever_booking_fails() -> None:
    document = trip()
    assert len(bookings(document)) == 5
    for refused in ("", *bookings(document), "capture_payment"):
        here = await ours(document, refused)
        assert theirs(document, refused) == here
        undone = [each for each in here if "/undo" in each]
        done = here[: len(here) - len(undone)]
        booked = [each for each in done if each.startswith("book_") and each != refused]
        assert undone == [each.replace(" ", "/undo ", 1) for each in reversed(booked)] * bool(refused)


def test_past_the_pivot_an_export_undoes_nothing() -> None:
    document = trip()
    traced = Traced(document, "send_itinerary")
    with pytest.raises(AssertionError, match="Stuck"):
        executed(state_machine(document), traced.call)
    assert [each for each in traced.calls if "/undo" in each] == []


def undoable(document: dict[str, Any]) -> Document:
    told = json.loads(json.dumps(document))
    told["policies"]["undone"] = {}

    def mark(nodes: list[dict[str, Any]]) -> None:
        for node in nodes:
            if node["type"] == "task" and node["action"] not in ("look", "last"):
                told["policies"][node["id"]] = {"compensation": {"handler": f"{node['action']}/undo", "safeReinvoke": True}}
                node["policyRef"] = node["id"]
            for inner in (*node.get("branches", ()), *([node["body"]] if "body" in node else ())):
                mark(inner["nodes"])

    mark(told["nodes"])
    del told["policies"]["undone"]
    return read_document(told)


@pytest.mark.parametrize("refused", ["", "flight", "hotel", "car", "south", "last"])
async def test_choices_maps_and_parallel_branches_do_and_undo_the_same_elsewhere(refused: str) -> None:
    """Side by side, the order among branches and members is nobody's promise: what is compared is what each of them did."""
    document, answers = undoable(DOCUMENT), {"look": {"km": 900, "rooms": ["north", "south"]}}
    here, there = await ours(document, refused, answers, serial=False), theirs(document, refused, answers)
    assert sorted(here) == sorted(there)
    for calls in (here, there):
        undone = [each for each in calls if each.endswith("/undo")]
        assert undone == [] or undone[-1] == "flight/undo"


async def test_an_import_runs_as_what_was_exported() -> None:
    document = trip()
    assert await ours(read_machine(state_machine(document)), bookings(document)[3]) == await ours(document, bookings(document)[3])


def test_a_linter_of_others_finds_nothing_in_an_export() -> None:
    linter = pytest.importorskip("statelint.linter")
    config = pytest.importorskip("statelint.config").Config([], False, False)
    for document in (trip(), undoable(DOCUMENT)):
        machine = state_machine(document)
        assert linter.Linter.validate(json.dumps(machine), config) == []
        machine["States"][document.nodes[0].id]["Next"] = "nowhere"
        assert linter.Linter.validate(json.dumps(machine), config) != []


async def test_the_plan_of_a_saga_is_a_document_that_round_trips() -> None:
    traced = Traced(trip(), "")
    async with Engine.open("memory:") as engine:
        await run_document(engine, "s", Assignment(trip()), traced.actions)
        assert document_json(plan_of(await engine.load("s"))) == document_json(trip())
