from __future__ import annotations

import asyncio
from typing import Any

from tests.sandbox.caller import Caller, RealTime, code
from tests.sandbox.conftest import Open

LATE = [{"kind": "*", "call": call, "fault": "late", "seconds": 60} for call in ("book", "cancel", "capture", "refund", "void")]


async def landed(sandbox: Caller, book: str) -> list[dict[str, Any]]:
    """Waits for the background thread."""
    for _ in range(200):
        if rows := await sandbox.ledger(book):
            return rows
        await asyncio.sleep(0.01)
    return []


async def test_a_late_call_times_out_and_lands_when_its_time_has_come(open_sandbox: Open) -> None:
    async with open_sandbox(faults=LATE) as sandbox:
        assert code(await sandbox.book(key="k", saga_id="s", operation_id="o")) == (504, "timeout")
        await sandbox.advance(59)
        assert await sandbox.ledger("reservations") == []
        await sandbox.advance(1)
        (row,) = await sandbox.ledger("reservations")
        assert (row["idempotency_key"], row["saga_id"], row["operation_id"]) == ("k", "s", "o")
        assert (await sandbox.book(key="k", saga_id="s", operation_id="o")).status_code == 200


async def test_a_late_call_lands_by_itself_as_real_time_passes(open_sandbox: Open, real_time: RealTime) -> None:
    async with open_sandbox(faults=LATE) as sandbox:
        await sandbox.book(key="k")
        real_time.pass_by(60)
        assert len(await landed(sandbox, "reservations")) == 1


async def test_a_late_call_lands_after_a_restart_once_and_for_all(open_sandbox: Open, real_time: RealTime) -> None:
    async with open_sandbox(faults=LATE) as sandbox:
        await sandbox.book()
    real_time.pass_by(61)
    async with open_sandbox(faults=LATE) as sandbox:
        assert len(await landed(sandbox, "reservations")) == 1
    async with open_sandbox(faults=LATE) as sandbox:
        await sandbox.advance(3600)
        assert len(await sandbox.ledger("reservations")) == 1


async def test_every_effect_can_land_late(open_sandbox: Open) -> None:
    async with open_sandbox() as sandbox:
        reservation, payment = await sandbox.booked(), (await sandbox.pay()).json()
    async with open_sandbox(faults=LATE) as sandbox:
        late = [
            await sandbox.book(expected_price=1000, deadline="2025-03-01T10:00:00+01:00"),
            await sandbox.cancel(reservation["id"]),
            await sandbox.pay(12.34, reservations=[reservation["id"]]),
            await sandbox.refund(payment["id"], amount=0.05),
            await sandbox.void("flight", "k"),
        ]
        assert {code(answer) for answer in late} == {(504, "timeout")}
        await sandbox.advance(60)
        assert len(await sandbox.ledger("cancellations")) == 1
        assert [row["amount"] for row in await sandbox.ledger("payments")] == [100, 12.34]
        assert [row["amount"] for row in await sandbox.ledger("refunds")] == [0.05]
        assert [row["outcome"] for row in await sandbox.ledger("voids")] == ["tombstone"]
        assert len(await sandbox.ledger("reservations")) == 1  # another price was expected


async def test_a_void_in_between_stops_a_late_call(open_sandbox: Open) -> None:
    async with open_sandbox(faults=LATE[:1]) as sandbox:
        await sandbox.book(key="k")
        assert (await sandbox.void("hotel", "k")).json()["outcome"] == "tombstone"
        await sandbox.advance(60)
        assert await sandbox.ledger("reservations") == []


async def test_a_repetition_in_between_lands_and_the_late_call_does_not(open_sandbox: Open) -> None:
    async with open_sandbox(faults=LATE) as sandbox:
        await sandbox.book(key="k")
        assert (await sandbox.book(key="k")).status_code == 201
        await sandbox.advance(60)
        assert len(await sandbox.ledger("reservations")) == 1


async def test_without_dedup_both_land(open_sandbox: Open) -> None:
    async with open_sandbox(faults=LATE, withheld=frozenset({"dedup"})) as sandbox:
        await sandbox.book(key="k")
        await sandbox.book(key="k")
        await sandbox.advance(60)
        assert len(await sandbox.ledger("reservations")) == 2


async def test_a_late_call_that_becomes_due_after_its_deadline_does_not_land(open_sandbox: Open) -> None:
    async with open_sandbox(faults=LATE) as sandbox:
        await sandbox.book(key="k", deadline="2025-03-01T09:00:59Z")
        await sandbox.advance(60)
        assert await sandbox.ledger("reservations") == []


async def test_without_deadlines_it_lands_all_the_same(open_sandbox: Open) -> None:
    async with open_sandbox(faults=LATE, withheld=frozenset({"deadline"})) as sandbox:
        await sandbox.book(key="k", deadline="2025-03-01T09:00:59Z")
        await sandbox.advance(60)
        assert len(await sandbox.ledger("reservations")) == 1


async def test_a_final_refusal_in_between_stops_a_late_call(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[*LATE, {"kind": "hotel", "call": "book", "nth": 2, "fault": "refuse"}]) as sandbox:
        await sandbox.book(key="k")
        assert code(await sandbox.book(key="k")) == (422, "refused")
        await sandbox.advance(60)
        assert await sandbox.ledger("reservations") == []


async def test_late_calls_land_in_the_order_in_which_they_become_due(open_sandbox: Open) -> None:
    faults = [{"kind": "hotel", "call": "book", "nth": n, "fault": "late", "seconds": 40 - 10 * n} for n in (1, 2, 3)]
    async with open_sandbox(faults=faults) as sandbox:
        for n in (1, 2, 3):
            await sandbox.book(key=f"k{n}")
        await sandbox.advance(60)
        assert [row["idempotency_key"] for row in await sandbox.ledger("reservations")] == ["k3", "k2", "k1"]
