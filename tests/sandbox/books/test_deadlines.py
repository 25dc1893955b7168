from __future__ import annotations

from tests.sandbox.caller import Caller, code
from tests.sandbox.conftest import Open

PAST, FUTURE = "2025-03-01T09:59:59+01:00", "2025-03-01T10:00:01+01:00"
"""A second before and after the service opens."""


async def test_a_call_after_its_deadline_is_refused_and_lands_nothing(sandbox: Caller) -> None:
    reservation, payment = await sandbox.booked(), (await sandbox.pay()).json()
    assert code(await sandbox.book(deadline=PAST)) == (422, "deadline_passed")
    assert code(await sandbox.cancel(reservation["id"], deadline=PAST)) == (422, "deadline_passed")
    assert code(await sandbox.pay(5, deadline=PAST)) == (422, "deadline_passed")
    assert code(await sandbox.refund(payment["id"], deadline=PAST)) == (422, "deadline_passed")
    ledger = (await sandbox.get("/ledger")).json()
    assert {book: len(rows) for book, rows in ledger.items()} == {
        "reservations": 1, "payments": 1, "cancellations": 0, "refunds": 0, "voids": 0,
    }  # fmt: skip


async def test_a_call_before_its_deadline_lands(sandbox: Caller) -> None:
    assert (await sandbox.book(deadline=FUTURE)).status_code == 201


async def test_a_passed_deadline_is_not_a_final_refusal(sandbox: Caller) -> None:
    assert code(await sandbox.book(key="k", deadline=PAST)) == (422, "deadline_passed")
    assert (await sandbox.book(key="k", deadline=FUTURE)).status_code == 201


async def test_what_landed_in_time_is_replayed_after_the_deadline(sandbox: Caller) -> None:
    reservation = await sandbox.booked(key="k", deadline=FUTURE)
    await sandbox.advance(60)
    assert (await sandbox.book(key="k", deadline=FUTURE)).json() == reservation


async def test_withheld_deadlines_are_ignored(open_sandbox: Open) -> None:
    async with open_sandbox(withheld=frozenset({"deadline"})) as sandbox:
        assert (await sandbox.book(deadline=PAST)).status_code == 201
