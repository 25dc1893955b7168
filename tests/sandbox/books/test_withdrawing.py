"""What the provider itself cancels: a train that does not run, a hotel that is overbooked."""

from __future__ import annotations

from tests.sandbox.caller import Caller, code


async def test_what_the_provider_cancels_costs_nothing_and_nobody_gets_it(sandbox: Caller) -> None:
    offer = (await sandbox.trains("Berlin", "Cologne", "2025-03-04"))[0]
    reservation = await sandbox.booked(offer)
    told = (await sandbox.client.post(f"/reservations/{reservation['id']}/withdraw")).json()
    assert (told["state"], told["fee"]) == ("cancelled", 0)
    (row,) = await sandbox.ledger("cancellations")
    assert (row["reservation_id"], row["fee"], row["idempotency_key"]) == (reservation["id"], 0, None)
    assert offer["offer_id"] not in [each["offer_id"] for each in await sandbox.trains("Berlin", "Cologne", "2025-03-04")]


async def test_withdrawing_again_changes_nothing(sandbox: Caller) -> None:
    reservation = await sandbox.booked()
    for _ in range(2):
        await sandbox.client.post(f"/reservations/{reservation['id']}/withdraw")
    assert len(await sandbox.ledger("cancellations")) == 1


async def test_a_customer_who_cancels_it_all_the_same_pays_as_for_any_second_cancellation(sandbox: Caller) -> None:
    reservation = await sandbox.booked()
    await sandbox.client.post(f"/reservations/{reservation['id']}/withdraw")
    assert (await sandbox.cancel(reservation["id"])).json()["fee"] > 0


async def test_an_unknown_reservation_cannot_be_withdrawn(sandbox: Caller) -> None:
    assert code(await sandbox.client.post("/reservations/R-99999/withdraw")) == (404, "unknown_reservation")
