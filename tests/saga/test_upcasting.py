"""Events of earlier schemas are lifted, step by step; sagas that an earlier release left open go on
(docs/protocol.md rule 10)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sagagraph import Engine, Verdict
from sagagraph.domains.travel.domain import Travel
from sagagraph.domains.travel.provider.provider import HttpReservationProvider
from sagagraph.errors import JournalError
from sagagraph.graph.planning_graph import planning_graph
from sagagraph.registry import account
from sagagraph.saga.core import codec, upcasting
from sagagraph.saga.core import events as e
from sagagraph.saga.core.codec import Record, decode
from sagagraph.saga.core.state import operation_key
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.saga.stores.port import SagaStore
from sagagraph.saga.stores.sqlite import SqliteSagaStore
from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from tests.saga.journals import BY_ID, JOURNALS, Journal, into_file, into_memory
from tests.saga.service import A_DAY, ONCE, Landing, Service
from tests.saga.workers import OpenEngine
from tests.support.today import TODAY

pytestmark = pytest.mark.quick

OpenStore = Callable[[str], Any]


def test_rule_10_a_probe_of_schema_1_that_says_no_instant_was_asked_when_it_was_written() -> None:
    data = '{"operation":"T1","answer":"unknown","detail":"","retry_at":9.5'
    expected = e.OperationProbed("T1", e.ProbeAnswer.UNKNOWN, "", 9.5, asked_at=7.5)
    assert decode(Record("OperationProbed", 1, data + "}"), 7.5) == expected
    assert decode(Record("OperationProbed", 1, data + ',"asked_at":7.5}'), 8.0) == expected
    with pytest.raises(JournalError, match="asked_at"):
        decode(Record("OperationProbed", 2, data + "}"), 7.5)


def test_rule_10_an_event_is_lifted_step_by_step_and_may_get_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def names_the_person(data: dict[str, Any], _at: float) -> dict[str, Any]:
        return {"by": data.pop("who"), **data}

    def numbers_the_request(data: dict[str, Any], at: float) -> dict[str, Any]:
        return {**data, "request": int(at)}

    for module in (codec, upcasting):
        monkeypatch.setattr(module, "SCHEMA_VERSION", 4)
    monkeypatch.setitem(upcasting.UPCASTERS, ("SagaStopped", 1), names_the_person)
    monkeypatch.setitem(upcasting.RENAMED, ("SagaStopped", 2), "CancelRequested")
    monkeypatch.setitem(upcasting.UPCASTERS, ("CancelRequested", 3), numbers_the_request)
    assert decode(Record("SagaStopped", 1, '{"who":"Ada"}'), 7.0) == e.CancelRequested("Ada", 7)
    assert decode(Record("SagaStopped", 2, '{"by":"Ada"}'), 7.0) == e.CancelRequested("Ada", 7)
    assert decode(Record("CancelRequested", 3, '{"by":"Ada"}'), 7.0) == e.CancelRequested("Ada", 7)
    assert decode(Record("CancelRequested", 4, '{"by":"Ada"}'), 7.0) == e.CancelRequested("Ada")
    assert decode(Record("LeaseTaken", 1, '{"owner":"x"}'), 7.0) == e.LeaseTaken("x")
    for record in (Record("SagaStopped", 3, '{"by":"Ada"}'), Record("SagaStopped", 4, '{"by":"Ada"}')):
        with pytest.raises(JournalError, match=r"'SagaStopped' of schema \d is not known to this release"):
            decode(record, 7.0)


@pytest.mark.parametrize("version", [0, upcasting.SCHEMA_VERSION + 1, 99])
def test_rule_10_an_event_of_a_schema_that_is_not_known_is_refused(version: int) -> None:
    with pytest.raises(JournalError, match=f"'LeaseTaken' of schema {version} is not known to this release; use a newer one"):
        decode(Record("LeaseTaken", version, '{"owner":"x"}'), 0.0)


@pytest.mark.parametrize("data", ["[]", "7", "{", '{"operation": 7}'])
def test_what_is_damaged_is_named_in_an_earlier_schema_too(data: str) -> None:
    with pytest.raises(JournalError, match="an event 'OperationProbed' is damaged at"):
        decode(Record("OperationProbed", 1, data), 0.0)


def test_every_step_is_from_a_schema_before_this_one() -> None:
    assert all(1 <= version < upcasting.SCHEMA_VERSION for _name, version in (*upcasting.UPCASTERS, *upcasting.RENAMED))


# -- sagas that an earlier release left open -------------------------------------------------------------------------------


@pytest.fixture(params=["memory", "sqlite"])
async def left_open(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[OpenStore]:
    """A store with one of the journals, as its release left it; some seconds later."""

    @asynccontextmanager
    async def opened(saga_id: str) -> AsyncIterator[SagaStore]:
        journal = BY_ID[saga_id]
        if request.param == "memory":
            store: Any = MemorySagaStore()
            into_memory(journal, store)
        else:
            into_file(journal, tmp_path / "saga.db")
            store = await SqliteSagaStore.open(tmp_path / "saga.db")
        yield store

    return opened


def landed(service: Service, journal: Journal, *operations: str) -> Service:
    """What the calls of the journal's worker did."""
    for row in journal.entries():
        if isinstance(row.event, e.AttemptStarted) and row.event.operation in operations:
            service.ledger.append(Landing(row.event.operation.rpartition("-")[0], row.event.key))
    return service


@pytest.mark.parametrize("journal", JOURNALS, ids=str)
async def test_rule_10_every_journal_is_read_from_a_store_as_it_was_written(left_open: OpenStore, journal: Journal) -> None:
    async with left_open(journal.saga_id) as store:
        assert list(await store.read(journal.saga_id)) == journal.entries()
        (headline,) = await store.headlines()
        assert (headline.saga_id, headline.stage, headline.version) == (journal.saga_id, journal.stage, len(journal.rows))
        await store.close()


async def test_rule_10_a_saga_that_was_killed_in_a_call_goes_on(
    left_open: OpenStore, open_engine: OpenEngine, service: Service
) -> None:
    landed(service, BY_ID["killed"], "flight-1", "hotel-1")
    async with left_open("killed") as store, open_engine(store) as engine:
        async with engine.saga("killed") as saga:
            await saga.run(service.action("flight", dedup=A_DAY), {"to": "Oslo"})
            await saga.run(service.action("hotel", probe=True, dedup=A_DAY), {"nights": 3})
        assert (await engine.status("killed")).status is SagaStatus.COMMITTED
    assert service.calls[0] == "ask hotel"
    assert (service.live, service.count("do hotel"), service.count("do flight")) == (["flight", "hotel"], 0, 0)


async def test_rule_10_a_saga_that_was_killed_in_a_call_is_compensated_without_its_body(
    left_open: OpenStore, open_engine: OpenEngine, service: Service
) -> None:
    landed(service, BY_ID["killed"], "flight-1", "hotel-1")
    actions = [service.action("flight", dedup=A_DAY), service.action("hotel", probe=True, dedup=A_DAY)]
    async with left_open("killed") as store, open_engine(store, actions=actions) as engine:
        assert (await engine.resume("killed")).status is SagaStatus.COMPENSATED
    assert [each for each in service.calls if each.startswith("undo")] == ["undo hotel", "undo flight"]
    assert service.live == []


async def test_rule_10_a_held_saga_goes_on_once_its_validator_answers(
    left_open: OpenStore, open_engine: OpenEngine, service: Service
) -> None:
    class Judge:
        name, version = "silent", 1

        def validate(self, _artifact: Any, _context: Any) -> Verdict:
            return Verdict.of([])

    landed(service, BY_ID["held"], "flight-1", "hotel-1")
    async with left_open("held") as store, open_engine(store) as engine:
        assert (await engine.status("held")).status is SagaStatus.HELD
        async with engine.saga("held") as saga:
            await saga.run(service.action("flight"), {"to": "Oslo"})
            await saga.run(service.action("hotel", probe=True, validators=[Judge()]), {"nights": 3})
        assert (await engine.status("held")).status is SagaStatus.COMMITTED
    assert (service.live, service.count("do hotel")) == (["flight", "hotel"], 0)


async def test_rule_10_a_stuck_saga_waits_for_a_person(left_open: OpenStore, open_engine: OpenEngine, service: Service) -> None:
    landed(service, BY_ID["stuck"], "flight-1")
    async with left_open("stuck") as store, open_engine(store, actions=[service.action("flight", policy=ONCE)]) as engine:
        view = await engine.resume("stuck")
        assert (view.status, view.operations[0].status) == (SagaStatus.STUCK, OperationStatus.COMPENSATION_FAILED)
        assert (await engine.resolve("stuck", "flight-1", "compensated")).status is SagaStatus.COMPENSATED
    assert service.calls == []


async def test_rule_10_a_plan_that_waits_for_its_approval_is_booked_once_it_is_approved(
    left_open: OpenStore, tmp_path: Path
) -> None:
    with EmbeddedSandbox(SandboxSettings(tmp_path / "sandbox.db", today=TODAY)) as sandbox:
        async with left_open("waits") as store, HttpReservationProvider(sandbox.url) as provider:
            travel = await Travel.connect(provider, tmp_path / "outbox")
            engine = Engine(store, actions=travel.actions, account=account)
            assert (await engine.status("waits")).status is SagaStatus.AWAITING_APPROVAL
            graph = planning_graph(domain=travel, engine=engine)
            view = await graph.decide("waits", approved=True, by="Ada", plan_hash=None)
            assert view.status is SagaStatus.COMMITTED
            ledger = await provider.ledger()
            await engine.close()
    assert {each.idempotency_key for each in ledger.reservations} == {f"waits/T{number}/1" for number in range(1, 6)}
    assert [each.state for each in ledger.payments] == ["captured"]


@pytest.mark.parametrize("saga_id", ["finished", "compensated", "reversed", "booked", "refunded"])
async def test_rule_10_a_finished_saga_is_reported_as_it_ended(
    left_open: OpenStore, open_engine: OpenEngine, saga_id: str
) -> None:
    journal = BY_ID[saga_id]
    async with left_open(saga_id) as store, open_engine(store) as engine:
        view = await engine.resume(saga_id)
        assert len(await engine.journal(saga_id)) == len(journal.rows)
        assert view.status == journal.stage
        saga = await engine.load(saga_id)
        keys = {row.event.key for row in journal.entries() if isinstance(row.event, e.AttemptStarted)}
        assert {operation_key(saga_id, each) for each in saga.operations.values() if each.total_attempts} <= keys
