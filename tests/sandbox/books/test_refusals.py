from __future__ import annotations

from typing import Any

import pytest

from tests.sandbox.caller import Caller, code
from tests.sandbox.conftest import Open


def refuse(kind: str, call: str, **entry: Any) -> dict[str, Any]:
    return {"kind": kind, "call": call, "fault": "refuse", **entry}


async def test_sold_out_is_final_for_its_key(sandbox: Caller) -> None:
    offer = (await sandbox.hotels())[0]
    everything = await sandbox.booked(offer, quantity=offer["left"])
    refused = await sandbox.book(offer, key="k")
    await sandbox.cancel(everything["id"])
    again = await sandbox.book(offer, key="k")
    assert code(refused) == code(again) == (422, "sold_out")
    assert again.json() == refused.json()
    assert (await sandbox.book(offer, key="another")).status_code == 201


async def test_a_changed_price_is_final_for_its_key(sandbox: Caller) -> None:
    offer = (await sandbox.hotels())[0]
    refused = await sandbox.book(offer, key="k", expected_price=1)
    again = await sandbox.book(offer, key="k", expected_price=offer["price"])
    assert code(refused) == code(again) == (422, "price_changed")


async def test_a_refusal_on_order_is_final_for_every_kind_of_effect(open_sandbox: Open) -> None:
    faults = [
        refuse("hotel", "book", nth=2),
        refuse("hotel", "cancel"),
        refuse("payment", "capture", nth=2),
        refuse("payment", "refund"),
    ]
    async with open_sandbox(faults=faults) as sandbox:
        reservation, payment = await sandbox.booked(), (await sandbox.pay()).json()
        for _ in range(2):
            assert code(await sandbox.book(key="b")) == (422, "refused")
            assert code(await sandbox.cancel(reservation["id"], key="c")) == (422, "refused")
            assert code(await sandbox.pay(7, key="p")) == (422, "refused")
            assert code(await sandbox.refund(payment["id"], key="r")) == (422, "refused")
        assert len(await sandbox.ledger("reservations")) == len(await sandbox.ledger("payments")) == 1
        assert await sandbox.ledger("cancellations") == await sandbox.ledger("refunds") == []


async def test_a_refusal_without_a_key_binds_nobody(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[refuse("hotel", "book")]) as sandbox:
        assert code(await sandbox.book()) == (422, "refused")
        assert (await sandbox.book()).status_code == 201


async def test_a_final_refusal_outlives_the_memory_of_keys_and_a_restart(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[refuse("hotel", "book")], key_retention_s=60.0) as sandbox:
        await sandbox.book(key="k")
        await sandbox.advance(3600)
    async with open_sandbox(key_retention_s=60.0) as sandbox:
        assert code(await sandbox.book(key="k")) == (422, "refused")


async def test_no_refusal_follows_a_landing_under_a_remembered_key(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[refuse("hotel", "book", nth=2)]) as sandbox:
        reservation = await sandbox.booked(key="k")
        assert (await sandbox.book(key="k")).json() == reservation


@pytest.mark.parametrize("nth", [1, 2])
async def test_without_refusals_only_the_call_itself_is_refused(open_sandbox: Open, nth: int) -> None:
    async with open_sandbox(faults=[refuse("hotel", "book", nth=nth)], withheld=frozenset({"refusals"})) as sandbox:
        answers = [await sandbox.book(key=f"k{n}") for n in (1, 2)]
        assert code(answers[nth - 1]) == (422, "refused")
        assert (await sandbox.book(key=f"k{nth}")).status_code == 201
