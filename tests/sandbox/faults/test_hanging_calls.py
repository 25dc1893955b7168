from __future__ import annotations

from typing import Any

from tests.sandbox.caller import code
from tests.sandbox.conftest import Open


def hang(seconds: float, call: str = "book", **entry: Any) -> dict[str, Any]:
    return {"kind": "*", "call": call, "fault": "hang", "seconds": seconds, **entry}


async def test_a_hanging_call_is_carried_out_when_the_wait_is_over(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[hang(0.4)]) as sandbox:
        hanging = await sandbox.sent(sandbox.book(key="k"))
        assert await sandbox.ledger("reservations") == []
        assert (await hanging).status_code == 201
        assert len(await sandbox.ledger("reservations")) == 1


async def test_it_is_carried_out_as_if_it_had_arrived_then(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[hang(0.4)]) as sandbox:
        hanging = await sandbox.sent(sandbox.book(deadline="2025-03-01T09:00:30Z"))
        await sandbox.advance(31)
        assert code(await hanging) == (422, "deadline_passed")


async def test_a_repetition_meanwhile_is_told_that_the_first_is_in_progress(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[hang(0.5)]) as sandbox:
        hanging = await sandbox.sent(sandbox.book(key="k"))
        assert code(await sandbox.book(key="k")) == (409, "in_progress")
        assert (await sandbox.book(key="another")).status_code == 201
        first = await hanging
        assert (first.status_code, (await sandbox.book(key="k")).json()) == (201, first.json())


async def test_of_two_that_hang_with_one_key_the_first_lands(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[hang(0.5), hang(0.5, nth=2)]) as sandbox:
        first = await sandbox.sent(sandbox.book(key="k"))
        second = await sandbox.sent(sandbox.book(key="k"))
        assert ((await first).status_code, (await second).status_code) == (201, 200)
        assert len(await sandbox.ledger("reservations")) == 1


async def test_one_whose_wait_ends_while_an_earlier_one_hangs_is_in_progress(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[hang(0.8), hang(0.1, nth=2)]) as sandbox:
        first = await sandbox.sent(sandbox.book(key="k"))
        assert code(await sandbox.book(key="k")) == (409, "in_progress")
        assert (await first).status_code == 201


async def test_without_dedup_nothing_is_in_progress(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[hang(0.5)], withheld=frozenset({"dedup"})) as sandbox:
        hanging = await sandbox.sent(sandbox.book(key="k"))
        assert (await sandbox.book(key="k")).status_code == 201
        assert (await hanging).status_code == 201
        assert len(await sandbox.ledger("reservations")) == 2


async def test_a_void_while_a_call_hangs_leaves_a_tombstone_that_refuses_it(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[hang(0.5)]) as sandbox:
        hanging = await sandbox.sent(sandbox.book(key="k"))
        assert (await sandbox.void("hotel", "k")).json()["outcome"] == "tombstone"
        assert code(await hanging) == (422, "voided")
        assert await sandbox.ledger("reservations") == []


async def test_a_hanging_void_finds_what_landed_meanwhile(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[hang(0.3, call="void")]) as sandbox:
        hanging = await sandbox.sent(sandbox.void("hotel", "k"))
        await sandbox.booked(key="k")
        assert (await hanging).json()["outcome"] == "cancelled"


async def test_searches_and_finds_hang_too(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[hang(0.3, call="search"), hang(0.3, call="find")]) as sandbox:
        searching = await sandbox.sent(sandbox.get("/offers/hotels", city="Rome", check_in="2025-06-10", check_out="2025-06-11"))
        finding = await sandbox.sent(sandbox.get("/find", kind="hotel", key="k"))
        assert len((await searching).json()["offers"]) == 8
        assert (await finding).json()["matches"] == []


async def test_many_hanging_calls_leave_the_service_free_for_others(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[hang(60, call="capture", nth=n + 1) for n in range(100)]) as sandbox:
        hanging = [await sandbox.sent(sandbox.pay()) for _ in range(100)]
        assert (await sandbox.book()).status_code == 201
        assert not any(call.done() for call in hanging)
    assert [code(await call) for call in hanging] == [(503, "unavailable")] * 100


async def test_a_service_that_stops_gives_up_what_hangs_and_its_keys_are_free_again(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[hang(60)]) as sandbox:
        hanging = await sandbox.sent(sandbox.book(key="k"))
    assert code(await hanging) == (503, "unavailable")
    async with open_sandbox() as sandbox:
        assert await sandbox.ledger("reservations") == []
        assert (await sandbox.book(key="k")).status_code == 201
