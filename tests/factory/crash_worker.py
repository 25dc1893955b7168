"""What the children of test_crashes.py do: `sweep NAME STORE HARM FIRST STRIDE`, for workflows with choice, map and parallel."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from sagagraph.errors import OperationFailedError, Refused, SagaClosedError, UnknownSagaError
from sagagraph.factory.blueprint import Blueprint, read_blueprint
from sagagraph.factory.filling import Factory
from sagagraph.factory.roster import Roster
from sagagraph.factory.running import Assignment, assignment_of, differences, run_document
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.actions import Action, action, to_json
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.urls import open_store
from sagagraph.testing.crash import CrashPoint
from sagagraph.testing.scenario import Judgement, store_of
from sagagraph.testing.sweep import Harm, harm_at, places_of
from sagagraph.workflow.language.document import BEGUN, read_document
from tests.saga.ledger import Ledger
from tests.support.databases import databases
from tests.support.replaying import check_replays

SAGA = "holiday"
BOOKED = {"car": 1, "flight": 1, "hotel": 1, "north": 1, "south": 1}
to_json(None)  # pydantic is imported when it is first needed: once here, rather than in each process that is forked

DOCUMENT: dict[str, Any] = {
    "name": "holiday",
    "nodes": [
        {"id": "look", "type": "task", "action": "look"},
        {"id": "way", "type": "choice"},
        {"id": "flight", "type": "task", "action": "flight"},
        {"id": "train", "type": "task", "action": "train"},
        {
            "id": "stay",
            "type": "parallel",
            "branches": [
                {"nodes": [{"id": "hotel", "type": "task", "action": "hotel"}]},
                {"nodes": [{"id": "car", "type": "task", "action": "car"}]},
            ],
        },
        {
            "id": "rooms",
            "type": "map",
            "items": {"$from": "look", "path": ["rooms"]},
            "body": {
                "nodes": [
                    {"id": "side", "type": "choice"},
                    {"id": "north", "type": "task", "action": "north", "params": {"name": {"$from": "item", "path": []}}},
                    {"id": "south", "type": "task", "action": "south", "params": {"name": {"$from": "item", "path": []}}},
                ],
                "edges": [
                    {
                        "from": "side",
                        "to": "north",
                        "kind": "branch",
                        "guard": {"kind": "output", "operation": "item", "path": [], "comparison": "==", "value": "north"},
                    },
                    {"from": "side", "to": "south", "kind": "default"},
                ],
            },
        },
        {"id": "last", "type": "task", "action": "last"},
    ],
    "edges": [
        {"from": "look", "to": "way"},
        {
            "from": "way",
            "to": "flight",
            "kind": "branch",
            "guard": {"kind": "output", "operation": "look", "path": ["km"], "comparison": ">", "value": 500},
        },
        {"from": "way", "to": "train", "kind": "default"},
        {"from": "flight", "to": "stay"},
        {"from": "train", "to": "stay"},
        {"from": "stay", "to": "rooms"},
        {"from": "rooms", "to": "last"},
    ],
    "policies": {"default": {"loopGuards": {"maxIters": 5}}},
}


@action(name="look", kind="read-only")
def look(request: Any, call: Any) -> dict[str, Any]:
    return {"km": 900, "rooms": ["north", "south"]}


@dataclass(frozen=True)
class WorkflowScenario:
    name: str
    fails: bool = False

    @property
    def booked(self) -> dict[str, int]:
        """What the ledger holds of each action at the end."""
        return BOOKED

    def assignment(self, folder: Path) -> Assignment:
        return Assignment(read_document(DOCUMENT))

    def ledger(self, folder: Path) -> Ledger:
        return Ledger(folder / "ledger.db")

    def actions(self, folder: Path) -> Mapping[str, Action]:
        @action(name="last", kind="read-only")
        def last(request: Any, call: Any) -> str:
            if self.fails:
                raise Refused("there is no last one")
            return "done"

        booked = {name: self.ledger(folder).action(name) for name in (*BOOKED, "train")}
        return {**booked, "look": look, "last": last}

    @contextmanager
    def world(self, folder: Path) -> Iterator[None]:
        self.ledger(folder).prepare()
        yield

    async def prepare(self, folder: Path) -> None:
        pass

    async def run(self, folder: Path, crash: CrashPoint) -> None:
        store = crash.around_store(await open_store(store_of(folder)))
        await self._run(Engine(store, around_call=crash.around_call, lease_ttl_s=crash.lease_ttl_s), folder)

    async def _run(self, engine: Engine, folder: Path) -> None:
        with suppress(OperationFailedError, SagaClosedError):
            await run_document(engine, SAGA, self.assignment(folder), self.actions(folder))

    async def resume(self, folder: Path) -> None:
        engine = Engine(await open_store(store_of(folder)))
        try:
            await self._run(engine, folder)
        finally:
            await engine.close()

    async def judge(self, folder: Path) -> Judgement:
        engine, ledger = Engine(await open_store(store_of(folder))), self.ledger(folder)
        try:
            await check_replays(engine.store)
            saga = await engine.load(SAGA)
            status = (await engine.status(SAGA)).status
            unlike = await differences(saga, self.actions(folder))
        except UnknownSagaError:
            return Judgement("never begun", ledger.faults())
        finally:
            await engine.close()
        meant = {f"{name} landed {count} times" for name, count in self.booked.items()}
        faults = [*(each for each in ledger.faults() if each not in meant), *unlike]
        if BEGUN in saga.operations and assignment_of(saga) != self.assignment(folder):
            faults.append("the journal has another document")
        if status is SagaStatus.COMMITTED and ledger.live() != self.booked:
            faults.append(f"committed, but the ledger holds {ledger.live()}")
        if status is SagaStatus.COMPENSATED and ledger.live():
            faults.append(f"compensated, but the ledger holds {ledger.live()}")
        return Judgement(status.value, tuple(faults))


GIVEN: dict[str, Any] = {
    "trip": {"offers": [], "flights": ["out", "home"], "hotels": ["inn"], "nights": 2, "amount": 9, "plan": "p"},
    "reunion": {"rides": ["from the airport"], "place": "at home", "people": ["Ann", "Bob"]},
    "job-shop": None,
}
KINDS = {"check_prices": "read-only", "capture_payment": "pivot", "send_itinerary": "retriable", "confirm_day": "pivot"}
KINDS["deliver_jobs"] = "pivot"
HELD = {
    "trip": {"book_flight": 2, "book_hotel": 1, "capture_payment": 1, "send_itinerary": 1},
    "reunion": {"reserve_car": 1, "reserve_table": 1, "send_invitation": 2, "confirm_day": 1},
    "job-shop": {"dispatch_step_saw": 3, "dispatch_step_drill": 3, "deliver_jobs": 1},
}


@dataclass(frozen=True)
class BlueprintScenario(WorkflowScenario):
    """A template of that name, its roles filled from what the ledger offers."""

    @property
    def booked(self) -> dict[str, int]:
        return HELD[self.name]

    def actions(self, folder: Path) -> Mapping[str, Action]:
        def made(name: str) -> Action:
            kind = KINDS.get(name, "compensatable")
            return self.ledger(folder).action(name, kind=kind, **({} if kind == "compensatable" else {"compensate": None}))

        return {"check_prices": action(look.execute, name="check_prices"), **{name: made(name) for name in self.booked}}

    def assignment(self, folder: Path) -> Assignment:
        filled = Factory(Roster.of(self.actions(folder).values())).fill(blueprint_of(self.name))
        assert filled.unfilled == ()
        return Assignment(filled.document, GIVEN[self.name])


def blueprint_of(name: str) -> Blueprint:
    return read_blueprint(json.loads((files("sagagraph.factory") / "templates" / f"{name}.json").read_text()))


SCENARIOS = {
    each.name: each
    for each in (
        WorkflowScenario("it commits"),
        WorkflowScenario("it fails", fails=True),
        *map(BlueprintScenario, GIVEN),
    )
}


def main(name: str, kind: str, harm: str, first: int, stride: int) -> None:
    with databases(kind) as made:
        for boundary in range(first, len(places_of(SCENARIOS[name], made)) + 1, stride):
            sys.stdout.write(json.dumps(asdict(harm_at(SCENARIOS[name], boundary, Harm(harm), made))) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:4], *map(int, sys.argv[4:]))
