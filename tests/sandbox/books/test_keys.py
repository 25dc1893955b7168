from __future__ import annotations

from functools import partial

from tests.sandbox.caller import Caller, RealTime, code
from tests.sandbox.conftest import Open


async def test_a_repeated_booking_with_the_same_key_gives_the_first_answer_and_lands_nothing(sandbox: Caller) -> None:
    first = await sandbox.book(key="k")
    again = await sandbox.book(key="k")
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()
    assert again.headers["Idempotent-Replay"] == "true"
    assert "Idempotent-Replay" not in first.headers
    assert len(await sandbox.ledger("reservations")) == 1


async def test_every_effect_honours_its_key(sandbox: Caller) -> None:
    reservation, payment = await sandbox.booked(), (await sandbox.pay(100)).json()
    calls = [
        partial(sandbox.cancel, reservation["id"], key="c"),
        partial(sandbox.pay, 7, key="p"),
        partial(sandbox.refund, payment["id"], key="r"),
    ]
    for call in calls:
        first, again = await call(), await call()
        assert (first.status_code, again.status_code) == (201, 200)
        assert again.json() == first.json()
    assert len(await sandbox.ledger("cancellations")) == 1
    assert len(await sandbox.ledger("payments")) == 2
    assert len(await sandbox.ledger("refunds")) == 1


async def test_a_replay_gives_the_first_answer_even_when_things_have_changed_since(sandbox: Caller) -> None:
    reservation = await sandbox.booked(key="k")
    await sandbox.cancel(reservation["id"])
    assert (await sandbox.book(key="k")).json() == reservation


async def test_a_key_survives_a_restart(open_sandbox: Open) -> None:
    async with open_sandbox() as sandbox:
        reservation = await sandbox.booked(key="k")
    async with open_sandbox() as sandbox:
        assert (await sandbox.book(key="k")).json() == reservation
        assert len(await sandbox.ledger("reservations")) == 1


async def test_the_same_key_with_another_body_or_for_another_call_is_refused(sandbox: Caller) -> None:
    reservation = await sandbox.booked(key="k")
    assert code(await sandbox.book(key="k", quantity=2)) == (422, "key_reused")
    assert code(await sandbox.book(key="k", operation_id="other")) == (422, "key_reused")
    assert code(await sandbox.cancel(reservation["id"], key="k")) == (422, "key_reused")
    assert code(await sandbox.pay(5, key="k")) == (422, "key_reused")
    assert len(await sandbox.ledger("reservations")) == 1
    assert await sandbox.ledger("cancellations") == await sandbox.ledger("payments") == []


async def test_a_repetition_may_have_a_deadline_of_its_own(sandbox: Caller) -> None:
    reservation = await sandbox.booked(key="k", deadline="2025-03-01T10:00:00Z")
    assert (await sandbox.book(key="k", deadline="2025-03-01T11:00:00Z")).json() == reservation


async def test_a_call_that_was_turned_away_does_not_use_its_key_up(sandbox: Caller) -> None:
    assert code(await sandbox.pay(5, key="k", reservations=["R-7"])) == (404, "unknown_reservation")
    assert (await sandbox.pay(5, key="k")).status_code == 201


async def test_find_shows_all_that_landed_under_a_key_as_it_stands_now(sandbox: Caller) -> None:
    assert await sandbox.find("hotel", "k") == {"matches": [], "voided": False}
    reservation = await sandbox.booked(key="k")
    assert await sandbox.find("hotel", "k") == {"matches": [reservation], "voided": False}
    assert await sandbox.find("flight", "k") == {"matches": [], "voided": False}
    await sandbox.cancel(reservation["id"])
    assert [match["state"] for match in (await sandbox.find("hotel", "k"))["matches"]] == ["cancelled"]
    payment = (await sandbox.pay(5, key="p")).json()
    assert await sandbox.find("payment", "p") == {"matches": [payment], "voided": False}


async def test_find_wants_a_kind_and_a_key(sandbox: Caller) -> None:
    assert code(await sandbox.get("/find", kind="boat", key="k")) == (422, "invalid")
    assert code(await sandbox.get("/find", kind="hotel", key="")) == (422, "invalid")


async def test_a_key_is_forgotten_when_its_time_is_over(open_sandbox: Open, real_time: RealTime) -> None:
    async with open_sandbox(key_retention_s=60.0) as sandbox:
        first = await sandbox.booked(key="k")
        real_time.pass_by(59)
        assert (await sandbox.book(key="k")).status_code == 200
        await sandbox.advance(2)
        second = await sandbox.booked(key="k")
        assert (await sandbox.book(key="k")).json() == second
        matches = (await sandbox.find("hotel", "k"))["matches"]
        assert [match["id"] for match in matches] == [first["id"], second["id"]]


async def test_without_retention_a_key_is_kept_for_good(sandbox: Caller) -> None:
    await sandbox.booked(key="k")
    await sandbox.advance(30 * 86400)
    assert (await sandbox.book(key="k")).status_code == 200


async def test_without_dedup_the_key_is_only_written_down(open_sandbox: Open) -> None:
    async with open_sandbox(withheld=frozenset({"dedup"})) as sandbox:
        first, second = await sandbox.booked(key="k"), await sandbox.booked(key="k", quantity=2)
        assert [row["idempotency_key"] for row in await sandbox.ledger("reservations")] == ["k", "k"]
        assert [match["id"] for match in (await sandbox.find("hotel", "k"))["matches"]] == [first["id"], second["id"]]
