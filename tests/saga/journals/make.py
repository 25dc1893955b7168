"""Writes the journals of this release's sagas: `python -m tests.saga.journals.make RELEASE`, once for each release.

Each is real: run by an engine (or the command line) on a SQLite file, and then read from its tables as it stands there; only the
names of the machine and of a scratch folder are taken out. `events-RELEASE.json` holds examples of every event beside them: as
the codec writes them, and complete.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from sagagraph import Engine, Verdict
from sagagraph.errors import OperationHeldError, SagaGraphError
from sagagraph.saga.core.codec import encode
from sagagraph.saga.core.events import Entry, Event, OperationPlanned, PlanAccepted
from sagagraph.saga.engine.views.document import entry_json
from sagagraph.saga.stores.owner import this_owner
from sagagraph.saga.stores.sqlite import SqliteSagaStore
from sagagraph.workflow.condition import All, AnyOf, Comparison, Failed, Not, OutputIs, Succeeded
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import GuaranteeTerms, OperationSpec, reference
from sagagraph.workflow.policy import Backoff, BackoffMode, Catch, CompensationPolicy, KeyFormat, LoopGuards, Policy, Retry
from tests.saga.service import A_DAY, ONCE, Service, answers, is_lost, is_too_busy, lands_but_is_lost, refuses
from tests.saga.stores.every_event import KINDS, examples_of
from tests.support.trips import REQUEST

HERE = Path(__file__).parent

OFFER = {"booked": "flight", "price": 412.5, "seats": ["7A", "7C"], "note": "déjà vu — 日本"}


async def finished(engine: Engine) -> None:
    """A trip by a body: parallel bookings, a lost answer, a refusal that is tried again, a pivot, and more."""
    service = Service()
    service.on("do hotel", lands_but_is_lost)
    service.on("do train", is_too_busy)
    service.on("do flight", answers(OFFER))
    async with engine.saga("finished") as saga:
        await saga.run(service.action("fares", undoable=False, kind="read-only"), {"to": "Oslo"})
        flight = service.action("flight", void=True, dedup=A_DAY, deadline=True)
        async with asyncio.TaskGroup() as group:
            group.create_task(saga.run(flight, {"to": "Oslo", "class": None}))
            group.create_task(saga.run(service.action("hotel", probe=True, dedup=A_DAY), {"nights": 3}))
            group.create_task(saga.run(service.action("train", probe=True, refusals_final=True)))
        await saga.run(service.action("pay", undoable=False, kind="pivot", probe=True, dedup=A_DAY), {"amount": 412.5})
        await saga.run(service.action("mail", undoable=False, kind="retriable", dedup=A_DAY))


async def killed(engine: Engine) -> None:
    """Ends with the process: the hotel has landed, and nobody heard its answer."""
    service = Service()
    service.on("do hotel", _kill)
    async with engine.saga("killed") as saga:
        await saga.run(service.action("flight", dedup=A_DAY), {"to": "Oslo"})
        await saga.run(service.action("hotel", probe=True, dedup=A_DAY), {"nights": 3})


async def _kill(land: Callable[[], Any]) -> None:
    land()
    os.kill(os.getpid(), signal.SIGKILL)


async def compensated(engine: Engine) -> None:
    """The last booking is refused; one of the compensations is refused for now and one is lost."""
    service = Service()
    service.on("do museum", refuses)
    service.on("undo hotel", is_too_busy)
    service.on("undo flight", lands_but_is_lost)
    with suppress(SagaGraphError):
        async with engine.saga("compensated") as saga:
            await saga.run(service.action("flight", probe=True, dedup=A_DAY), {"to": "Oslo"})
            await saga.run(service.action("hotel"), {"nights": 3})
            await saga.run(service.action("museum"))


async def held(engine: Engine) -> None:
    """In doubt, found landed, and its validator has an outage: its probe is not journalled as asked at any instant."""
    service = Service()
    service.on("do hotel", lands_but_is_lost)

    class Silent:
        name, version = "silent", 1

        def validate(self, _artifact: Any, _context: Any) -> Verdict:
            raise RuntimeError("out of memory")

    with suppress(OperationHeldError):
        async with engine.saga("held") as saga:
            await saga.run(service.action("flight"), {"to": "Oslo"})
            await saga.run(service.action("hotel", probe=True, validators=[Silent()]), {"nights": 3})


async def stuck(engine: Engine) -> None:
    """A compensation was lost and cannot be repeated."""
    service = Service(remembers_keys=False)
    service.on("undo flight", is_lost)
    with suppress(ValueError):
        async with engine.saga("stuck") as saga:
            await saga.run(service.action("flight", policy=ONCE), {"to": "Oslo"})
            raise ValueError("the traveller is ill")


async def reversed_(engine: Engine) -> None:
    """Committed, cancelled afterwards, and so reversed by a saga of its own."""
    service = Service()

    async def refund(request: Any, _result: Any, call: Any) -> Any:
        service.ledger = [each for each in service.ledger if each.key != call.operation_key]
        return {"refunded": request["amount"]}

    pay = service.action("pay", undoable=False, kind="pivot", dedup=A_DAY, reverse=refund)
    async with engine.saga("reversed") as saga:
        await saga.run(service.action("flight", probe=True), {"to": "Oslo"})
        await saga.run(pay, {"amount": 412.5})
    await engine.cancel("reversed")


BODIES: dict[str, Callable[[Engine], Awaitable[None]]] = {
    "finished": finished,
    "killed": killed,
    "compensated": compensated,
    "held": held,
    "stuck": stuck,
    "reversed": reversed_,
}


async def _run(name: str, file: Path) -> None:
    engine = Engine(await SqliteSagaStore.open(file))
    try:
        await BODIES[name](engine)
    finally:
        await engine.close()


def _trips(file: Path) -> None:
    """Planned trips: one waits for its approval, one is booked, one was booked and cancelled after that."""
    request = file.with_name("request.json")
    request.write_text(json.dumps(REQUEST))
    trip = ("trip", "--request", str(request), "--saga-id")
    _command(file, *trip, "waits")
    _command(file, *trip, "booked", "--yes")
    _command(file, *trip, "refunded", "--yes")
    _command(file, "cancel", "refunded")


def _command(file: Path, *words: str) -> None:
    command = [sys.executable, "-m", "sagagraph", *words, "--store", f"sqlite:///{file}", "--json"]
    subprocess.run(command, check=True, capture_output=True)


def _journals(file: Path) -> list[dict[str, Any]]:
    with sqlite3.connect(file) as store:
        store.row_factory = sqlite3.Row
        sagas = store.execute("SELECT saga_id, domain, stage FROM sagas").fetchall()
        query = "SELECT version, epoch, at, type, schema_version, data FROM events WHERE saga_id = ? ORDER BY version"
        return [{**saga, "events": [dict(row) for row in store.execute(query, (saga["saga_id"],))]} for saga in sagas]


CONDITIONS = (
    Succeeded("a"),
    Failed("a"),
    Failed("b", ("sold_out", "late")),
    OutputIs("a", ("legs", 0, "price"), Comparison.AT_MOST, 99.5),
    OutputIs("a", (), Comparison.IN, ["x", None, {"y": []}]),
    All((Succeeded("a"), AnyOf((Not(Failed("b")), All(()))))),
)
POLICY = Policy(
    Retry(5, ("rate_limit",)),
    Backoff(BackoffMode.FIXED, 1.5, 2.5, 0.25),
    12.5,
    (Catch(("sold_out",), "b"), Catch(("*",), "c")),
    KeyFormat.UUID,
    CompensationPolicy(2, 3.5),
    LoopGuards(7, 60.0),
)


def _examples() -> list[Event]:
    specs = [OperationSpec("c", "book", ActionKind.PIVOT, None, ("a", "b"), condition=each) for each in CONDITIONS]
    terms = GuaranteeTerms(60.0, void=True, deadline=True, refusals_final=True)
    specs.append(OperationSpec("d", "pay", ActionKind.RETRIABLE, {"to": reference("a", "room", 0)}, ("a",), None, POLICY, terms))
    specs.append(
        OperationSpec("e", "pay", ActionKind.READ_ONLY, 7, policy=Policy(timeout_s=1.0), has_probe=True, action_version=3)
    )
    planned = [PlanAccepted(2, tuple(specs), ("z",)), *(OperationPlanned(each) for each in specs)]
    return [*planned, *(each for kind in KINDS for each in examples_of(kind, 5))]


def _example(event: Event) -> dict[str, Any]:
    return {**encode(event)._asdict(), "complete": entry_json(Entry(1, 1, 0.0, event))["data"]}


def main(release: str) -> None:
    folder = HERE / release
    folder.mkdir(parents=True, exist_ok=True)
    (HERE / f"events-{release}.json").write_text(json.dumps([_example(each) for each in _examples()], indent=1) + "\n")
    machine = this_owner("").split("|")[0]
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "saga.db"
        for name in BODIES:
            subprocess.run([sys.executable, "-m", __spec__.name, name, str(file)], check=name != "killed")
        _trips(file)
        for journal in _journals(file):
            text = json.dumps(journal, ensure_ascii=False, indent=1).replace(scratch, "/journals").replace(machine, "host/boot")
            (folder / f"{journal['saga_id'].replace('~', '-')}.json").write_text(text + "\n")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        asyncio.run(_run(sys.argv[1], Path(sys.argv[2])))
    else:
        main(sys.argv[1])
