"""Trips that are changed after they were paid, against the real service: its ledger judges
(docs/protocol.md rules 2 to 5, 8, 9)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx2
import pytest

from sagagraph.domains.travel.provider.receipts import Ledger
from sagagraph.errors import ConflictError, InvalidInputError, NotAllowedError, UnknownOperationError
from sagagraph.saga.engine.views.view import SagaView
from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from tests.graph.conftest import OpenWorker, Worker
from tests.support.today import TODAY
from tests.support.trips import REQUEST

LEGS = ("T1", "T2", "T3", "T4", "T5")
CHANGE = "trip~amendment-1"
DAY_S = 86400


class Service:
    """The reservation service, and what its own people do there."""

    def __init__(self, url: str) -> None:
        self.url = url

    @property
    def ledger(self) -> Ledger:
        return Ledger.model_validate(httpx2.get(f"{self.url}/ledger", timeout=60).json())

    def withdraw(self, operation: str) -> None:
        """The provider cancels what this operation booked."""
        (reservation,) = [row.id for row in self.ledger.reservations if row.operation_id == operation]
        assert httpx2.post(f"{self.url}/reservations/{reservation}/withdraw", timeout=60).json()["state"] == "cancelled"

    def advance(self, days: float) -> None:
        httpx2.post(f"{self.url}/clock/advance", timeout=60, json={"seconds": days * DAY_S}).raise_for_status()


@pytest.fixture
def faults() -> list[dict[str, Any]]:
    return []


@pytest.fixture
def url(tmp_path: Path, faults: list[dict[str, Any]]) -> Iterator[str]:
    file = tmp_path / "faults.json"
    file.write_text(json.dumps(faults))
    with EmbeddedSandbox(SandboxSettings(tmp_path / "sandbox.db", file, TODAY)) as service:
        yield service.url


@pytest.fixture
def service(url: str) -> Service:
    return Service(url)


async def paid(worker: Worker, **wishes: Any) -> SagaView:
    view = await worker.graph.start("trip", {**REQUEST, **wishes}, approved_by="ann")
    assert view.status == "committed"
    return view


async def changed(worker: Worker, *lost: str, approved: bool = True, **wishes: Any) -> SagaView:
    request = {**(await worker.engine.load("trip")).request, **wishes}
    return await worker.graph.change("trip", request, by="ann", approved_by="ann" if approved else None, lost=lost)


async def check_books(worker: Worker, service: Service) -> list[str]:
    """The labels of the plan that stands: exactly that is confirmed, exactly its price captured, nothing was undone twice."""
    saga, ledger = await worker.engine.load("trip"), service.ledger
    labels = [leg["label"] for leg in saga.plan.content["legs"]]
    confirmed = [row for row in ledger.reservations if row.state == "confirmed"]
    assert sorted(str(row.operation_id) for row in confirmed) == sorted(labels)
    assert [row.amount for row in ledger.payments if row.state == "captured"] == [sum(row.price for row in confirmed)]
    assert saga.plan.content["total"] == float(sum(row.price for row in confirmed))
    check_nothing_twice(ledger)
    return labels


def check_nothing_twice(ledger: Ledger) -> None:
    for rows in ([row.reservation_id for row in ledger.cancellations], [row.payment_id for row in ledger.refunds]):
        assert all(times == 1 for times in Counter(rows).values())
    assert all(times == 1 for times in Counter(row.idempotency_key for row in ledger.reservations).values())


async def test_a_train_that_was_cancelled_is_replaced_and_all_else_stays(open_worker: OpenWorker, service: Service) -> None:
    async with open_worker() as worker:
        before = await paid(worker)
        service.withdraw("T3")
        after = await changed(worker, "T3")
        assert (after.status, after.plan_version) == ("committed", 2)
        assert after.plan_hash != before.plan_hash
        assert await check_books(worker, service) == ["T1", "T2", "T3.2", "T4", "T5"]
        status = {each.id: each.status.value for each in after.operations}
        assert (status["T3"], status["payment"], status["T3.2"], status["payment.2"]) == (
            "compensated", "compensated", "succeeded", "succeeded",
        )  # fmt: skip
        keys = {each.id: each.idempotency_key for each in after.operations}
        assert (keys["T1"], keys["T3.2"]) == ("trip/T1/1", f"{CHANGE}/T3.2/1")
        needs = {each.id: each.depends_on for each in after.operations}
        assert "T3.2" in needs["T4"], "the hotel is undone before the train that brings one there (rule 4)"
        assert service.ledger.cancellations[0].idempotency_key is None, "the railway's own; nobody cancels it again"
        assert len(service.ledger.cancellations) == 1
        assert after.cost.total == float(service.ledger.payments[1].amount)


async def test_what_is_called_lost_and_still_stands_is_cancelled_and_its_fee_counted(
    open_worker: OpenWorker, service: Service
) -> None:
    async with open_worker() as worker:
        await paid(worker)
        after = await changed(worker, "T5")
        assert await check_books(worker, service) == ["T1", "T2", "T3", "T4", "T5.2"]
        (cancelled,) = service.ledger.cancellations
        assert (cancelled.fee, cancelled.idempotency_key) == (Decimal("55.90"), f"{CHANGE}/undo.2 T5/1")
        assert after.cost.fees == 55.9
        assert (await worker.engine.load("trip")).plan.content["fees"] == 55.9


async def test_other_wishes_after_the_payment_change_only_what_they_touch(open_worker: OpenWorker, service: Service) -> None:
    async with open_worker() as worker:
        await paid(worker)
        after = await changed(worker, stars=[4, 4])
        assert (after.status, after.plan_version) == ("committed", 2)
        labels = await check_books(worker, service)
        assert {"T1", "T3", "T5"} < set(labels)
        assert (await worker.engine.load("trip")).request["stars"] == [4, 4]
        assert (await changed(worker, stars=[4, 4])).amendments == after.amendments, "the same wishes again change nothing"


async def test_for_more_travellers_everything_is_booked_anew_before_anything_is_given_up(
    open_worker: OpenWorker, service: Service
) -> None:
    async with open_worker() as worker:
        await paid(worker)
        after = await changed(worker, travellers=2)
        assert (after.status, after.plan_version) == ("committed", 2)
        assert await check_books(worker, service) == [f"{label}.2" for label in LEGS]
        assert len(service.ledger.cancellations) == len(LEGS)
        assert after.cost.fees == float(sum(row.fee for row in service.ledger.cancellations)) > 0
        order = [row.operation_id for row in service.ledger.cancellations]
        assert order.index("undo.2 T2") < order.index("undo.2 T1"), "dependents first (rule 4)"


async def test_wishes_that_the_trip_meets_already_move_no_money(open_worker: OpenWorker, service: Service) -> None:
    async with open_worker() as worker:
        await paid(worker)
        after = await changed(worker, budget=4900)
        assert (after.status, after.plan_version) == ("committed", 2)
        assert await check_books(worker, service) == list(LEGS)
        assert (len(service.ledger.payments), service.ledger.cancellations) == (1, ())


async def test_other_money_is_asked_about_and_bound_to_the_plan(open_worker: OpenWorker, service: Service) -> None:
    async with open_worker() as worker:
        before = await paid(worker)
        service.withdraw("T3")
        waiting = await changed(worker, "T3", approved=False)
        assert (waiting.status, waiting.plan_version, waiting.amendment) == ("awaiting_approval", 1, CHANGE)
        assert len(service.ledger.reservations) == 5
        with pytest.raises(ConflictError, match="shows plan"):
            await worker.graph.decide("trip", approved=True, by="eve", plan_hash=before.plan_hash)
    async with open_worker() as worker:
        after = await worker.graph.decide("trip", approved=True, by="ann", plan_hash=waiting.plan_hash)
        assert (after.status, after.plan_version, after.plan_hash) == ("committed", 2, waiting.plan_hash)
        await check_books(worker, service)


async def test_a_change_that_is_rejected_leaves_all_as_it_was(open_worker: OpenWorker, service: Service) -> None:
    async with open_worker() as worker:
        before = await paid(worker)
        await changed(worker, stars=[4, 4], approved=False)
        after = await worker.graph.decide("trip", approved=False, by="ann")
        check_unchanged(before, after)
        assert "ended rejected" in after.reason
        assert await check_books(worker, service) == list(LEGS)


def check_unchanged(before: SagaView, after: SagaView) -> None:
    assert (after.status, after.plan_version, after.plan_hash) == ("committed", before.plan_version, before.plan_hash)
    assert after.operations == before.operations


async def test_where_no_other_trip_is_left_all_stays_as_it_was(open_worker: OpenWorker, service: Service) -> None:
    async with open_worker() as worker:
        before = await paid(worker, budget=1900)
        after = await changed(worker, "T1", "T2", "T3", "T4", "T5")
        check_unchanged(before, after)
        assert "ended infeasible" in after.reason
        assert (len(service.ledger.reservations), len(service.ledger.payments)) == (5, 1)


@pytest.mark.parametrize("faults", [[{"kind": "payment", "call": "capture", "nth": 2, "fault": "refuse"}]])
async def test_a_change_that_cannot_be_paid_undoes_itself_alone(open_worker: OpenWorker, service: Service) -> None:
    async with open_worker() as worker:
        before = await paid(worker)
        after = await changed(worker, stars=[4, 4])
        check_unchanged(before, after)
        assert (await worker.engine.status(CHANGE)).status == "compensated"
        assert await check_books(worker, service) == list(LEGS)
        assert len(service.ledger.reservations) > 5


@pytest.mark.parametrize("faults", [[{"kind": "flight", "call": "book", "nth": 3, "fault": "refuse"}]])
async def test_what_fails_before_the_new_payment_is_repaired(open_worker: OpenWorker, service: Service) -> None:
    async with open_worker() as worker:
        await paid(worker)
        after = await changed(worker, "T5")
        assert (after.status, after.plan_version) == ("committed", 2)
        assert await check_books(worker, service) == ["T1", "T2", "T3", "T4", "T5.3"]


async def test_what_falls_through_while_a_change_waits_is_replaced_too(open_worker: OpenWorker, service: Service) -> None:
    async with open_worker() as worker:
        await paid(worker)
        service.withdraw("T3")
        await changed(worker, "T3", approved=False)
        service.withdraw("T4")
        after = await worker.graph.decide("trip", approved=True, by="ann")
        while after.status == "awaiting_approval":
            after = await worker.graph.decide("trip", approved=True, by="ann")
        assert after.status == "committed"
        assert await check_books(worker, service) == ["T1", "T2", "T3.2", "T4.3", "T5"]


async def test_a_second_change_stands_on_the_first_and_a_cancel_undoes_all_of_it_once(
    open_worker: OpenWorker, service: Service
) -> None:
    async with open_worker() as worker:
        await paid(worker)
        service.withdraw("T3")
        await changed(worker, "T3")
        after = await changed(worker, "T3.2")
        assert (after.status, after.plan_version) == ("committed", 3)
        assert after.amendments == (CHANGE, "trip~amendment-2")
        assert await check_books(worker, service) == ["T1", "T2", "T3.3", "T4", "T5"]
        preview: Any = await worker.engine.cancel("trip", preview=True)
        undone: Any = await worker.engine.cancel("trip")
        assert undone.status == "compensated"
        ledger = service.ledger
        assert {row.state for row in ledger.reservations} == {"cancelled"}
        assert {row.state for row in ledger.payments} == {"refunded"}
        check_nothing_twice(ledger)
        assert undone.cost.fees == float(sum(row.fee for row in ledger.cancellations))
        assert preview.fees + after.cost.fees == pytest.approx(undone.cost.fees)


async def test_a_change_excludes_a_cancel_and_another_change(open_worker: OpenWorker, service: Service) -> None:
    async with open_worker() as worker:
        await paid(worker)
        await changed(worker, stars=[4, 4], approved=False)
        with pytest.raises(NotAllowedError, match=f"changed by '{CHANGE}'"):
            await worker.engine.cancel("trip")
        with pytest.raises(NotAllowedError, match=f"changed by '{CHANGE}'"):
            await changed(worker, "T3")
        with pytest.raises(NotAllowedError, match="change that again"):
            await worker.graph.change(CHANGE, REQUEST, by="ann")
        await worker.engine.cancel(CHANGE)
        assert (await worker.engine.status("trip")).status == "committed", "who cancels the change gets the trip back as it was"
        assert await check_books(worker, service) == list(LEGS)
        after: Any = await worker.engine.cancel("trip")
        assert after.status == "compensated"
        with pytest.raises(NotAllowedError):
            await changed(worker, "T3")


async def test_a_change_that_was_paid_is_not_taken_back_by_itself(open_worker: OpenWorker, service: Service) -> None:
    async with open_worker() as worker:
        await paid(worker)
        await changed(worker, "T3")
        with pytest.raises(NotAllowedError, match="then cancel 'trip'"):
            await worker.engine.cancel(CHANGE)
        with pytest.raises(NotAllowedError, match="change that one"):
            await worker.graph.change(CHANGE, REQUEST, by="ann")
        await check_books(worker, service)


@pytest.mark.parametrize(("by", "named"), [("graph", "trip"), ("graph", CHANGE), ("engine", "trip"), ("engine", CHANGE)])
async def test_after_a_crash_between_both_commits_either_saga_can_be_resumed(
    open_worker: OpenWorker, service: Service, monkeypatch: pytest.MonkeyPatch, by: str, named: str
) -> None:
    async with open_worker() as worker:
        await paid(worker)
        with monkeypatch.context() as patch:
            patch.setattr(worker.engine, "conclude_amendment", _died)
            with pytest.raises(ConnectionError):
                await changed(worker, "T3")
        assert (await worker.engine.status("trip")).plan_version == 1
    async with open_worker() as worker:
        with pytest.raises(NotAllowedError, match="resume"):
            await worker.engine.cancel("trip")
        await getattr(worker, by).resume(named)
        after = await worker.engine.status("trip")
        assert (after.status, after.plan_version) == ("committed", 2)
        assert (await worker.events("trip")).count("SagaAmended") == 1
        await check_books(worker, service)


async def _died(_saga_id: str) -> None:
    raise ConnectionError("here the process died")


async def test_a_change_that_nobody_has_begun_yet_begins_with_the_next_resume(open_worker: OpenWorker, service: Service) -> None:
    async with open_worker() as worker:
        await paid(worker)
        await worker.engine.begin_amendment("trip", REQUEST, lost=["T3"], by="ann", approved_by="ann")
        assert (await worker.engine.status("trip")).status == "running"
    async with open_worker() as worker:
        assert (await worker.graph.resume("trip")).plan_version == 2
        await check_books(worker, service)


async def test_a_trip_under_way_keeps_what_has_begun(open_worker: OpenWorker, service: Service) -> None:
    async with open_worker() as worker:
        before = await paid(worker)
        service.advance(97.0)  # the 6th of June: flown to Berlin on the 4th, in the hotel since the 5th
        service.withdraw("T3")
        refused = await changed(worker, "T1")
        check_unchanged(before, refused)
        assert "what has begun cannot be changed" in refused.reason
        after = await changed(worker, "T3")
        assert after.status == "committed", after.reason
        assert (await check_books(worker, service))[:2] == ["T1", "T2"]
        search = await changed(worker, stars=[3, 3])
        assert search.status == "committed"
        assert (await check_books(worker, service))[:2] == ["T1", "T2"]


async def test_only_what_stands_can_be_lost(open_worker: OpenWorker, service: Service) -> None:
    async with open_worker() as worker:
        await paid(worker)
        with pytest.raises(UnknownOperationError, match="no operation 'T9'"):
            await changed(worker, "T9")
        with pytest.raises(NotAllowedError, match="is no reservation"):
            await changed(worker, "payment")
        with pytest.raises(InvalidInputError, match="those of amendments"):
            await worker.graph.start("other~amendment-1", REQUEST)
        assert (await worker.engine.status("trip")).amendments == ()
        assert len(service.ledger.reservations) == 5


async def test_before_the_payment_nothing_needs_to_be_called_lost(open_worker: OpenWorker) -> None:
    async with open_worker() as worker:
        await worker.graph.start("trip", REQUEST)
        with pytest.raises(NotAllowedError, match="repaired automatically"):
            await changed(worker, "T3")


@pytest.mark.parametrize("faults", [[{"kind": "payment", "call": "refund", "nth": 1, "fault": "refuse"}]])
async def test_after_the_new_payment_a_change_only_goes_on(open_worker: OpenWorker, service: Service) -> None:
    """Paying back is refused: the change is held, and so is the trip; nothing of either is undone."""
    async with open_worker() as worker:
        await paid(worker)
        held = await changed(worker, "T5")
        assert (held.status, held.plan_version) == ("held", 1)
        waiting = [each.id for each in (await worker.engine.status(CHANGE)).operations if each.status == "held"]
        assert waiting == ["undo.2 payment"]
        for saga_id in ("trip", CHANGE):
            with pytest.raises(NotAllowedError, match="resume"):
                await worker.engine.cancel(saga_id)
        assert service.ledger.cancellations == (), "what the old payment paid for is cancelled after that is paid back (rule 4)"
        refunded = await worker.engine.resolve(CHANGE, "undo.2 payment", "absent", by="ann")
        assert refunded.status == "committed"
        assert (await worker.engine.status("trip")).plan_version == 2
        await check_books(worker, service)


async def test_a_changed_trip_is_made_unreadable_with_its_changes(open_worker: OpenWorker) -> None:
    async with open_worker() as worker:
        await paid(worker)
        await changed(worker, "T3")
        offer = (await worker.engine.load("trip")).plan.content["legs"][0]["offer"]["offer_id"]
        shown = {name: str([each.event for each in await worker.engine.journal(name)]) for name in ("trip", CHANGE)}
        assert all(f"'offer_id': '{offer}'" in text for text in shown.values())
        view = await worker.engine.redact("trip", ["offer_id", "fees"])
        assert view.status == (await worker.engine.status(CHANGE)).status == "committed"
        for saga_id in ("trip", CHANGE):
            assert offer not in str([each.event for each in await worker.engine.journal(saga_id)])
        with pytest.raises(NotAllowedError, match="redacted"):
            await changed(worker, "T4")
