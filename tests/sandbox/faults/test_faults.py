from __future__ import annotations

from typing import Any

import pytest

from tests.sandbox.caller import Caller, code
from tests.sandbox.conftest import Open

pytestmark = pytest.mark.quick

TURNED_AWAY = [("before", (503, "unavailable")), (429, (429, "rate_limited")), (500, (500, "unavailable"))]


def entry(fault: str | int, kind: str = "hotel", call: str = "book", **more: Any) -> dict[str, Any]:
    return {"kind": kind, "call": call, "fault": fault, **more}


def names(offers: list[dict[str, Any]]) -> list[str]:
    return [offer["name"] for offer in offers]


async def search_hotels(sandbox: Caller) -> Any:
    return await sandbox.get("/offers/hotels", city="Berlin", check_in="2025-06-10", check_out="2025-06-14")


@pytest.mark.parametrize(("fault", "answer"), TURNED_AWAY)
async def test_a_call_that_is_turned_away_has_no_effect(open_sandbox: Open, fault: str | int, answer: tuple[int, str]) -> None:
    async with open_sandbox(faults=[entry(fault)]) as sandbox:
        assert code(await sandbox.book(key="k")) == answer
        assert await sandbox.ledger("reservations") == []
        assert (await sandbox.book(key="k")).status_code == 201


async def test_a_lost_answer_leaves_the_effect_behind(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[entry("after")]) as sandbox:
        assert code(await sandbox.book(key="k")) == (504, "lost")
        (match,) = (await sandbox.find("hotel", "k"))["matches"]
        again = await sandbox.book(key="k")
        assert (again.status_code, again.json()) == (200, match)
        assert len(await sandbox.ledger("reservations")) == 1


async def test_the_answer_of_a_refused_call_can_be_lost_as_well(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[entry("after")]) as sandbox:
        assert code(await sandbox.book(key="k", expected_price=1)) == (504, "lost")
        assert code(await sandbox.book(key="k", expected_price=1)) == (422, "price_changed")


@pytest.mark.parametrize(("fault", "answer"), [*TURNED_AWAY, ("after", (504, "lost"))])
async def test_every_effect_can_go_wrong(open_sandbox: Open, fault: str | int, answer: tuple[int, str]) -> None:
    faults = [
        entry(fault, call="cancel"),
        entry(fault, kind="payment", call="capture", nth=2),
        entry(fault, kind="payment", call="refund"),
        entry(fault, call="void"),
    ]
    async with open_sandbox(faults=faults) as sandbox:
        reservation, payment = await sandbox.booked(), (await sandbox.pay()).json()
        assert code(await sandbox.cancel(reservation["id"])) == answer
        assert code(await sandbox.pay()) == answer
        assert code(await sandbox.refund(payment["id"])) == answer
        assert code(await sandbox.void("hotel", "k")) == answer
        ledger = (await sandbox.get("/ledger")).json()
        landed = {"cancellations": 1, "payments": 2, "refunds": 1, "voids": 1} if fault == "after" else {"payments": 1}
        assert {book: len(rows) for book, rows in ledger.items() if rows} == {"reservations": 1} | landed


@pytest.mark.parametrize(
    ("fault", "answer"),
    [*TURNED_AWAY, ("after", (504, "lost")), ("late", (504, "timeout")), ("refuse", (422, "refused"))],
)
async def test_searches_and_finds_can_go_wrong_too(open_sandbox: Open, fault: str | int, answer: tuple[int, str]) -> None:
    async with open_sandbox(faults=[entry(fault, call="search"), entry(fault, call="find")]) as sandbox:
        assert code(await search_hotels(sandbox)) == answer
        assert code(await sandbox.get("/find", kind="hotel", key="k")) == answer
        assert (await search_hotels(sandbox)).status_code == 200
        assert (await sandbox.get("/find", kind="hotel", key="k")).status_code == 200


async def test_a_refused_void_is_not_final(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[entry("refuse", call="void")]) as sandbox:
        assert code(await sandbox.void("hotel", "k")) == (422, "refused")
        assert (await sandbox.void("hotel", "k")).json()["outcome"] == "tombstone"


async def test_prices_rise_on_a_search_and_stay_up(open_sandbox: Open) -> None:
    async with open_sandbox() as sandbox:
        before = await sandbox.hotels()
    async with open_sandbox(faults=[entry("price_up", call="search")]) as sandbox:
        raised = await sandbox.hotels()
        assert names(raised) == names(before)
        for old, new in zip(before, raised, strict=True):
            assert new["price"] == pytest.approx(1.2 * old["price"])
            assert new["cancellation"]["fee"] == pytest.approx(1.2 * old["cancellation"]["fee"])
        assert await sandbox.hotels() == raised
        assert await sandbox.offer(raised[0]["offer_id"]) == raised[0]
        assert code(await sandbox.book(before[0], expected_price=before[0]["price"])) == (422, "price_changed")
        assert (await sandbox.booked(raised[0], expected_price=raised[0]["price"]))["price"] == raised[0]["price"]
    async with open_sandbox() as sandbox:
        assert (await sandbox.hotels())[1:] == raised[1:]


async def test_a_price_rises_on_a_booking_and_the_old_one_is_refused(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[entry("price_up")]) as sandbox:
        offer = (await sandbox.hotels())[0]
        refused = await sandbox.book(offer, key="k", expected_price=offer["price"])
        assert code(refused) == (422, "price_changed")
        assert refused.json()["error"]["price"] == pytest.approx(1.2 * offer["price"])
        assert (await sandbox.offer(offer["offer_id"]))["price"] == pytest.approx(1.2 * offer["price"])


async def test_a_price_that_rises_on_a_booking_is_paid_by_who_expected_none(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[entry("price_up")]) as sandbox:
        offer = (await sandbox.hotels())[0]
        assert (await sandbox.booked(offer))["price"] == pytest.approx(1.2 * offer["price"])


async def test_a_rise_of_the_price_has_no_effect_on_other_calls(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[entry("price_up", kind="payment", call="capture")]) as sandbox:
        assert (await sandbox.pay()).status_code == 201


async def test_the_nth_call_of_its_kind_and_name_goes_wrong_and_no_other(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[entry(500, kind="train", nth=2)]) as sandbox:
        train = (await sandbox.trains("Berlin", "Cologne", "2025-06-14"))[0]
        answers = [(await sandbox.book(offer)).status_code for offer in (None, train, None, train, train, None)]
        assert answers == [201, 201, 201, 500, 201, 201]


async def test_a_star_counts_the_calls_of_all_kinds_together(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[entry(500, kind="*", nth=3)]) as sandbox:
        train = (await sandbox.trains("Berlin", "Cologne", "2025-06-14"))[0]
        assert [(await sandbox.book(offer)).status_code for offer in (None, train, train, None)] == [201, 201, 500, 201]


async def test_replays_are_calls_too(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[entry(500, nth=2)]) as sandbox:
        assert [(await sandbox.book(key="k")).status_code for _ in range(3)] == [201, 500, 200]


async def test_cancellations_voids_and_finds_count_under_the_kind_of_what_they_are_about(open_sandbox: Open) -> None:
    faults = [entry(500, kind="train", call=call) for call in ("cancel", "void", "find")]
    async with open_sandbox(faults=faults) as sandbox:
        hotel = await sandbox.booked()
        train = await sandbox.booked((await sandbox.trains("Berlin", "Cologne", "2025-06-14"))[0])
        assert (await sandbox.cancel(hotel["id"])).status_code == 201
        assert (await sandbox.cancel(train["id"])).status_code == 500
        assert (await sandbox.void("hotel", "k")).status_code == 200
        assert (await sandbox.void("train", "k")).status_code == 500
        assert (await sandbox.get("/find", kind="hotel", key="k")).status_code == 200
        assert (await sandbox.get("/find", kind="train", key="k")).status_code == 500


async def test_calls_that_never_were_any_are_not_counted(open_sandbox: Open) -> None:
    faults = [entry(500), entry(500, call="cancel"), entry(500, call="search")]
    async with open_sandbox(faults=faults) as sandbox:
        assert code(await sandbox.book(quantity=0)) == (422, "invalid")
        assert code(await sandbox.cancel("R-7")) == (404, "unknown_reservation")
        assert code(await sandbox.get("/offers/hotels", city="Atlantis", check_in="2025-06-10", check_out="2025-06-14")) == (
            404,
            "unknown_city",
        )
        assert (await sandbox.get("/offers/hotel.BER-0.2025-06-10.2025-06-14.x1")).status_code == 200
        assert (await sandbox.book()).status_code == 500
        assert (await search_hotels(sandbox)).status_code == 500


async def test_where_two_entries_hold_for_one_call_the_first_is_applied_and_both_are_spent(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[entry(429), entry(500, kind="*")]) as sandbox:
        assert [(await sandbox.book()).status_code for _ in range(2)] == [429, 201]


async def test_a_restart_does_not_fire_a_fault_again(open_sandbox: Open) -> None:
    faults = [entry(500, nth=2)]
    async with open_sandbox(faults=faults) as sandbox:
        assert (await sandbox.book()).status_code == 201
    async with open_sandbox(faults=faults) as sandbox:
        assert (await sandbox.book()).status_code == 500
    async with open_sandbox(faults=faults) as sandbox:
        assert [(await sandbox.book()).status_code for _ in range(3)] == [201, 201, 201]


async def test_a_file_of_other_content_counts_anew(open_sandbox: Open) -> None:
    async with open_sandbox(faults=[entry(500)]) as sandbox:
        assert (await sandbox.book()).status_code == 500
    async with open_sandbox(faults=[entry(429)]) as sandbox:
        assert (await sandbox.book()).status_code == 429
