from __future__ import annotations

import pytest

from tests.sandbox.caller import Caller, code
from tests.sandbox.conftest import Open

pytestmark = pytest.mark.quick


async def test_a_void_cancels_what_landed_under_the_key(sandbox: Caller) -> None:
    flight = (await sandbox.flights("Boston", "London", "2025-06-10"))[0]
    reservation = await sandbox.booked(flight, key="k")
    voided = await sandbox.void("flight", "k", saga_id="s", operation_id="o")
    fee = flight["cancellation"]["fee"]
    assert (voided.status_code, voided.json()) == (200, {"key": "k", "outcome": "cancelled", "fee": fee})
    (row,) = await sandbox.ledger("reservations")
    assert (row["state"], row["fee"]) == ("cancelled", fee)
    (row,) = await sandbox.ledger("cancellations")
    assert (row["reservation_id"], row["idempotency_key"], row["saga_id"], row["fee"]) == (reservation["id"], "k", "s", fee)
    (row,) = await sandbox.ledger("voids")
    created_at = row.pop("created_at")
    assert row == {"key": "k", "kind": "flight", "outcome": "cancelled", "saga_id": "s", "operation_id": "o"}
    assert created_at
    assert (await sandbox.offer(flight["offer_id"]))["left"] == flight["left"]


async def test_a_void_of_a_payment_refunds_what_is_left_of_it(sandbox: Caller) -> None:
    payment = (await sandbox.pay(100, key="k")).json()
    await sandbox.refund(payment["id"], amount=30)
    assert (await sandbox.void("payment", "k")).json() == {"key": "k", "outcome": "cancelled", "fee": 0}
    assert [row["amount"] for row in await sandbox.ledger("refunds")] == [30, 70]
    assert [row["state"] for row in await sandbox.ledger("payments")] == ["refunded"]


async def test_where_nothing_landed_a_tombstone_refuses_every_later_call(sandbox: Caller) -> None:
    assert (await sandbox.void("hotel", "k")).json() == {"key": "k", "outcome": "tombstone", "fee": 0}
    assert code(await sandbox.book(key="k")) == (422, "voided")
    assert await sandbox.find("hotel", "k") == {"matches": [], "voided": True}
    assert await sandbox.ledger("reservations") == []


async def test_a_call_that_is_repeated_after_its_void_is_refused_and_not_replayed(sandbox: Caller) -> None:
    await sandbox.booked(key="k")
    await sandbox.void("hotel", "k")
    assert code(await sandbox.book(key="k")) == (422, "voided")


async def test_repeating_a_void_changes_nothing(sandbox: Caller) -> None:
    await sandbox.booked((await sandbox.flights("Boston", "London", "2025-06-10"))[0], key="k")
    first = (await sandbox.void("flight", "k")).json()
    assert (await sandbox.void("flight", "k")).json() == first
    assert len(await sandbox.ledger("cancellations")) == len(await sandbox.ledger("voids")) == 1


async def test_a_void_leaves_alone_what_was_cancelled_before(sandbox: Caller) -> None:
    reservation = await sandbox.booked(key="k")
    await sandbox.cancel(reservation["id"])
    assert (await sandbox.void("hotel", "k")).json() == {"key": "k", "outcome": "cancelled", "fee": 0}
    assert len(await sandbox.ledger("cancellations")) == 1


async def test_a_void_is_about_its_kind_only(sandbox: Caller) -> None:
    reservation = await sandbox.booked(key="k")
    assert (await sandbox.void("flight", "k")).json()["outcome"] == "tombstone"
    assert (await sandbox.book(key="k")).json() == reservation


async def test_a_void_cancels_everything_under_a_key_that_landed_twice(open_sandbox: Open) -> None:
    async with open_sandbox(withheld=frozenset({"dedup"})) as sandbox:
        await sandbox.booked(key="k")
        await sandbox.booked(key="k")
        assert (await sandbox.void("hotel", "k")).json()["outcome"] == "cancelled"
        assert {row["state"] for row in await sandbox.ledger("reservations")} == {"cancelled"}
        assert code(await sandbox.book(key="k")) == (422, "voided")


async def test_the_key_of_a_cancellation_or_refund_cannot_be_voided(sandbox: Caller) -> None:
    reservation, payment = await sandbox.booked(), (await sandbox.pay()).json()
    await sandbox.cancel(reservation["id"], key="c")
    await sandbox.refund(payment["id"], key="r")
    assert code(await sandbox.void("hotel", "c")) == (422, "key_reused")
    assert code(await sandbox.void("payment", "r")) == (422, "key_reused")
    assert await sandbox.ledger("voids") == []


async def test_a_tombstone_also_stops_a_cancellation_with_its_key(sandbox: Caller) -> None:
    reservation = await sandbox.booked()
    await sandbox.void("hotel", "c")
    assert code(await sandbox.cancel(reservation["id"], key="c")) == (422, "voided")


async def test_a_tombstone_outlives_the_memory_of_keys_and_a_restart(open_sandbox: Open) -> None:
    async with open_sandbox(key_retention_s=60.0) as sandbox:
        await sandbox.void("hotel", "k")
        await sandbox.advance(3600)
    async with open_sandbox(key_retention_s=60.0) as sandbox:
        assert code(await sandbox.book(key="k")) == (422, "voided")


async def test_a_void_may_have_a_deadline(sandbox: Caller) -> None:
    assert code(await sandbox.void("hotel", "k", deadline="2025-03-01T08:59:59Z")) == (422, "deadline_passed")
    assert await sandbox.ledger("voids") == []


async def test_a_void_that_is_withheld_is_not_offered(open_sandbox: Open) -> None:
    async with open_sandbox(withheld=frozenset({"void"})) as sandbox:
        await sandbox.booked(key="k")
        assert code(await sandbox.void("hotel", "k")) == (404, "not_offered")
        assert (await sandbox.find("hotel", "k"))["voided"] is False


async def test_a_malformed_void_is_refused(sandbox: Caller) -> None:
    assert code(await sandbox.void("boat", "k")) == (422, "invalid")
    assert code(await sandbox.void("hotel", "")) == (422, "invalid")
