from __future__ import annotations

import pytest

from tests.sandbox.caller import Caller, code

pytestmark = pytest.mark.quick

DAY = 86400


async def test_a_hotel_is_cancelled_free_of_charge_in_time_and_for_one_night_later(sandbox: Caller) -> None:
    in_time, too_late = await sandbox.booked(), await sandbox.booked()
    free = (await sandbox.cancel(in_time["id"])).json()
    assert free == {
        "id": free["id"],
        "reservation_id": in_time["id"],
        "fee": 0,
        "refund": in_time["price"],
        "currency": "USD",
        "created_at": free["created_at"],
    }
    await sandbox.advance(100 * DAY)  # two days before check-in is the ninety-ninth
    dear = (await sandbox.cancel(too_late["id"])).json()
    assert dear["fee"] == too_late["offer"]["price_per_night"]
    assert dear["refund"] == too_late["price"] - dear["fee"]


async def test_a_train_costs_half_from_a_day_before_departure(sandbox: Caller) -> None:
    offer = (await sandbox.trains("Berlin", "Cologne", "2025-03-04"))[0]
    in_time, too_late = await sandbox.booked(offer), await sandbox.booked(offer)
    assert (await sandbox.cancel(in_time["id"])).json()["fee"] == 0
    await sandbox.advance(2.5 * DAY)
    assert (await sandbox.cancel(too_late["id"])).json()["fee"] == offer["price"] / 2


async def test_a_flight_always_costs_a_tenth_and_at_least_25_dollars(sandbox: Caller) -> None:
    for offer in (
        (await sandbox.flights("San Francisco", "Berlin", "2025-06-10"))[0],
        (await sandbox.flights("London", "Paris", "2025-06-10"))[0],
    ):
        reservation = await sandbox.booked(offer)
        assert (await sandbox.cancel(reservation["id"])).json()["fee"] == max(25, offer["price"] / 10)


async def test_a_second_cancellation_lands_again_with_a_second_fee(sandbox: Caller) -> None:
    reservation = await sandbox.booked()
    free = (await sandbox.cancel(reservation["id"], key="first", saga_id="s", operation_id="o")).json()
    again = (await sandbox.cancel(reservation["id"], key="second")).json()
    night = reservation["offer"]["price_per_night"]
    assert (free["fee"], again["fee"], again["refund"]) == (0, night, 0)
    assert await sandbox.ledger("cancellations") == [
        {
            "id": free["id"], "reservation_id": reservation["id"], "idempotency_key": "first", "saga_id": "s",
            "operation_id": "o", "fee": 0, "created_at": free["created_at"],
        },
        {
            "id": again["id"], "reservation_id": reservation["id"], "idempotency_key": "second", "saga_id": None,
            "operation_id": None, "fee": night, "created_at": again["created_at"],
        },
    ]  # fmt: skip
    await sandbox.cancel(reservation["id"])
    (row,) = await sandbox.ledger("reservations")
    assert (row["state"], row["fee"]) == ("cancelled", 2 * night)


async def test_a_payment_is_captured_and_refunded(sandbox: Caller) -> None:
    reservation = await sandbox.booked()
    payment = (await sandbox.pay(320.5, key="k", reservations=[reservation["id"]], saga_id="s", operation_id="o")).json()
    assert payment == {
        "id": payment["id"],
        "state": "captured",
        "amount": 320.5,
        "currency": "USD",
        "created_at": payment["created_at"],
        "idempotency_key": "k",
    }
    refund = (await sandbox.refund(payment["id"], key="r")).json()
    assert refund == {
        "id": refund["id"],
        "payment_id": payment["id"],
        "amount": 320.5,
        "currency": "USD",
        "created_at": refund["created_at"],
    }
    assert await sandbox.ledger("payments") == [payment | {"state": "refunded", "saga_id": "s", "operation_id": "o"}]
    (row,) = await sandbox.ledger("refunds")
    assert (row["id"], row["payment_id"], row["idempotency_key"], row["amount"]) == (refund["id"], payment["id"], "r", 320.5)


async def test_a_repeated_refund_without_the_same_key_pays_again(sandbox: Caller) -> None:
    payment = (await sandbox.pay(100)).json()
    await sandbox.refund(payment["id"], amount=30)
    await sandbox.refund(payment["id"])
    await sandbox.refund(payment["id"])
    assert [row["amount"] for row in await sandbox.ledger("refunds")] == [30, 100, 100]


async def test_a_refund_is_no_more_than_the_payment(sandbox: Caller) -> None:
    payment = (await sandbox.pay(100)).json()
    assert code(await sandbox.refund(payment["id"], amount=100.01)) == (422, "invalid")
    assert await sandbox.ledger("refunds") == []


async def test_what_does_not_exist_cannot_be_undone_or_paid_for(sandbox: Caller) -> None:
    assert code(await sandbox.cancel("R-7")) == (404, "unknown_reservation")
    assert code(await sandbox.pay(5, reservations=["R-7"])) == (404, "unknown_reservation")
    assert code(await sandbox.refund("P-7")) == (404, "unknown_payment")


@pytest.mark.parametrize(
    "body", [{"amount": 0}, {"amount": -5}, {"amount": 0.001}, {"amount": 10**30}, {"amount": "5"}, {"currency": "EUR"}]
)
async def test_malformed_payments_are_refused(sandbox: Caller, body: dict[str, object]) -> None:
    response = await sandbox.post("/payments", {"amount": 5, "currency": "USD", "reservations": []} | body)
    assert code(response) == (422, "invalid")
    assert await sandbox.ledger("payments") == []
