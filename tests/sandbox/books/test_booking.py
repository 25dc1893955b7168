from __future__ import annotations

from typing import Any

import pytest

from tests.sandbox.caller import Caller, code

pytestmark = pytest.mark.quick


async def test_a_booking_is_confirmed_and_stands_in_the_ledger_with_its_labels(sandbox: Caller) -> None:
    offer = (await sandbox.hotels())[0]
    reservation = await sandbox.booked(offer, key="k", saga_id="trip-1", operation_id="hotel")
    assert reservation == {
        "id": reservation["id"],
        "kind": "hotel",
        "state": "confirmed",
        "offer": offer | {"left": offer["left"] - 1},
        "price": offer["price"],
        "fee": 0,
        "currency": "USD",
        "created_at": reservation["created_at"],
        "idempotency_key": "k",
    }
    shown = {"id", "kind", "state", "idempotency_key", "price", "fee", "currency", "created_at"}
    labels = {"saga_id": "trip-1", "operation_id": "hotel"}
    assert await sandbox.ledger("reservations") == [{name: reservation[name] for name in shown} | labels]


async def test_flights_and_trains_are_booked_for_several_travellers(sandbox: Caller) -> None:
    for offer in (
        (await sandbox.flights("Boston", "London", "2025-06-10"))[0],
        (await sandbox.trains("Berlin", "Cologne", "2025-06-14"))[0],
    ):
        reservation = await sandbox.booked(offer, quantity=3)
        assert reservation["price"] == 3 * offer["price_per_person"] == reservation["offer"]["price"]
        assert reservation["offer"]["travellers"] == 3
        assert (await sandbox.offer(offer["offer_id"]))["left"] == offer["left"] - 3


async def test_a_repeated_booking_without_a_key_lands_again(sandbox: Caller) -> None:
    first, second = await sandbox.booked(), await sandbox.booked()
    assert first["id"] != second["id"]
    assert len(await sandbox.ledger("reservations")) == 2


async def test_what_is_sold_out_is_refused(sandbox: Caller) -> None:
    offer = (await sandbox.hotels())[0]
    await sandbox.booked(offer, quantity=offer["left"])
    assert code(await sandbox.book(offer)) == (422, "sold_out")
    assert len(await sandbox.ledger("reservations")) == 1


async def test_overlapping_stays_compete_for_the_rooms_of_the_nights_that_they_share(sandbox: Caller) -> None:
    async def offer(check_in: int, check_out: int) -> dict[str, Any]:
        return await sandbox.offer(f"hotel.BER-1.2025-06-{check_in}.2025-06-{check_out}.x1")

    rooms = (await offer(10, 14))["left"]
    await sandbox.booked(await offer(10, 12), quantity=rooms)
    assert code(await sandbox.book(await offer(11, 14))) == (422, "sold_out")
    assert (await offer(12, 14))["left"] == rooms
    await sandbox.booked(await offer(12, 14), quantity=rooms - 1)
    assert (await offer(13, 16))["left"] == 1


async def test_a_cancellation_gives_the_places_back_once(sandbox: Caller) -> None:
    offer = (await sandbox.hotels())[0]
    reservation = await sandbox.booked(offer, quantity=2)
    for _ in range(2):
        await sandbox.cancel(reservation["id"])
        assert (await sandbox.offer(offer["offer_id"]))["left"] == offer["left"]


async def test_the_expected_price_has_to_be_the_price(sandbox: Caller) -> None:
    offer = (await sandbox.hotels())[0]
    refused = await sandbox.book(offer, expected_price=offer["price"] - 0.01)
    assert code(refused) == (422, "price_changed")
    assert refused.json()["error"]["price"] == offer["price"]
    await sandbox.booked(offer, expected_price=offer["price"])
    await sandbox.booked(offer, quantity=2, expected_price=2 * offer["price"])


async def test_what_has_started_cannot_be_booked_any_more(sandbox: Caller) -> None:
    offer = (await sandbox.trains("Berlin", "Cologne", "2025-03-01"))[0]
    await sandbox.advance(86400)
    assert code(await sandbox.book(offer)) == (422, "date_past")


async def test_an_offer_is_of_its_own_kind_only(sandbox: Caller) -> None:
    offer = (await sandbox.hotels())[0]
    assert code(await sandbox.book(offer | {"kind": "flight"})) == (404, "unknown_offer")
    assert code(await sandbox.book(offer | {"offer_id": "hotel.BER-0"})) == (404, "unknown_offer")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "boat"}, "kind"),
        ({"kind": "payment"}, "kind"),
        ({"offer_id": 5}, "offer_id"),
        ({"quantity": 0}, "quantity"),
        ({"quantity": True}, "quantity"),
        ({"quantity": 1.5}, "quantity"),
        ({"quantity": "2"}, "quantity"),
        ({"quantity": 10**40}, "quantity"),
        ({"expected_price": "100"}, "expected_price"),
        ({"expected_price": 1.005}, "expected_price"),
        ({"expected_price": -1}, "expected_price"),
        ({"deadline": "2025-06-10T10:00:00"}, "deadline"),
        ({"deadline": "soon"}, "deadline"),
        ({"saga_id": 5}, "saga_id"),
        ({"idempotency_key": "k"}, "idempotency_key"),
    ],
)
async def test_malformed_bookings_are_refused_and_the_field_is_named(sandbox: Caller, body: dict[str, Any], field: str) -> None:
    refused = await sandbox.book(**body)
    assert code(refused) == (422, "invalid")
    assert refused.json()["error"]["message"].startswith(f"{field}: ")
    assert await sandbox.ledger("reservations") == []


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'"\xff"', b'{"seconds": NaN}', b"[" * 5000])
async def test_what_is_not_a_json_object_is_refused(sandbox: Caller, content: bytes) -> None:
    json_type = {"Content-Type": "application/json"}
    for path in ("/reservations", "/payments", "/void", "/clock/advance"):
        assert code(await sandbox.client.post(path, content=content, headers=json_type))[0] in (400, 422)


async def test_an_empty_idempotency_key_is_refused(sandbox: Caller) -> None:
    response = await sandbox.client.post("/payments", json={}, headers={"Idempotency-Key": ""})
    assert code(response) == (422, "invalid")
