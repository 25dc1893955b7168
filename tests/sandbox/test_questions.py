from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.sandbox.caller import Caller, code
from tests.sandbox.conftest import Open

JOURNEY_FIELDS = {
    "offer_id", "kind", "carrier", "number", "origin", "destination", "origin_city", "destination_city", "departs", "arrives",
    "duration_minutes", "stops", "via", "travellers", "price_per_person", "price", "currency", "left", "cancellation",
}  # fmt: skip
HOTEL_FIELDS = {
    "offer_id", "kind", "name", "city", "stars", "check_in", "check_out", "check_in_from", "check_out_until", "nights", "rooms",
    "price_per_night", "price", "currency", "left", "cancellation",
}  # fmt: skip


async def test_the_service_says_that_it_is_well(sandbox: Caller) -> None:
    assert (await sandbox.get("/health")).json() == {"status": "ok"}


async def test_cities_are_listed_with_all_that_is_known_of_them(sandbox: Caller) -> None:
    cities = {city["name"]: city for city in (await sandbox.get("/cities")).json()["cities"]}
    assert cities["Cologne"] == {
        "name": "Cologne",
        "country": "Germany",
        "airport": "CGN",
        "timezone": "Europe/Berlin",
        "latitude": pytest.approx(50.87, abs=0.01),
        "longitude": pytest.approx(7.14, abs=0.01),
        "population": pytest.approx(1_024_621, rel=0.05),
    }
    assert {"San Francisco", "Berlin", "New York", "Tokyo"} < cities.keys()


async def test_rates_are_those_of_one_day_and_name_their_source(sandbox: Caller) -> None:
    answer = (await sandbox.get("/rates")).json()
    assert (answer["base"], answer["on"]) == ("EUR", "2025-02-28")
    assert "European Central Bank" in answer["source"]
    assert answer["rates"]["USD"] == 1.0411
    assert len(answer["rates"]) == 30


async def test_the_list_of_cities_is_not_too_long(sandbox: Caller) -> None:
    answer = await sandbox.get("/cities")
    assert len(answer.content) < 1_200_000
    assert len(answer.json()["cities"]) > 7000


async def test_a_city_may_be_written_in_any_case_and_without_accents(sandbox: Caller) -> None:
    by_name = await sandbox.flights("Reykjavík", "Munich", "2025-06-10")
    assert by_name
    assert await sandbox.flights("reykjavik", "MUNICH", "2025-06-10") == by_name


async def test_flights_are_offered_with_every_documented_field(sandbox: Caller) -> None:
    offers = await sandbox.flights("san francisco", "BERLIN", "2025-06-10", travellers=2)
    for offer in offers:
        assert offer.keys() == JOURNEY_FIELDS
        assert (offer["origin"], offer["destination"]) == ("SFO", "BER")
        assert (offer["origin_city"], offer["destination_city"]) == ("San Francisco", "Berlin")
        assert offer["price"] == 2 * offer["price_per_person"]
        assert offer["cancellation"] == {"free_until": None, "fee": max(25, offer["price"] / 10)}


async def test_trains_are_offered_with_every_documented_field_and_only_where_a_line_runs(sandbox: Caller) -> None:
    for offer in await sandbox.trains("Berlin", "Cologne", "2025-06-14"):
        assert offer.keys() == JOURNEY_FIELDS
        assert (offer["origin"], offer["destination"]) == ("Berlin", "Cologne")
        a_day_before = datetime.fromisoformat(offer["departs"]) - timedelta(days=1)
        assert offer["cancellation"] == {"free_until": a_day_before.isoformat(), "fee": offer["price"] / 2}
    assert await sandbox.trains("Berlin", "Boston", "2025-06-14") == []
    assert await sandbox.trains("Berlin", "Berlin", "2025-06-14") == []


async def test_hotels_are_offered_with_every_documented_field(sandbox: Caller) -> None:
    offers = await sandbox.hotels(rooms=2)
    assert len(offers) == 8
    for offer in offers:
        assert offer.keys() == HOTEL_FIELDS
        assert (offer["check_in_from"], offer["check_out_until"], offer["nights"]) == ("15:00", "11:00", 4)
        assert offer["price"] == 2 * 4 * offer["price_per_night"]
        assert offer["cancellation"] == {"free_until": "2025-06-08T15:00:00+02:00", "fee": 2 * offer["price_per_night"]}


async def test_one_offer_is_shown_as_it_stands_now(sandbox: Caller) -> None:
    offered = (await sandbox.hotels(rooms=2))[0]
    assert await sandbox.offer(offered["offer_id"]) == offered
    await sandbox.booked(offered, quantity=3)
    assert await sandbox.offer(offered["offer_id"]) == offered | {"left": offered["left"] - 3}
    assert code(await sandbox.get("/offers/nonsense")) == (404, "unknown_offer")


async def test_a_search_shows_only_what_can_still_be_booked_in_the_quantity_asked_for(sandbox: Caller) -> None:
    first = (await sandbox.hotels())[0]
    await sandbox.booked(first, quantity=first["left"] - 1)
    assert len(await sandbox.hotels(rooms=1)) == 8
    assert first["name"] not in {offer["name"] for offer in await sandbox.hotels(rooms=2)}
    assert (await sandbox.offer(first["offer_id"]))["left"] == 1


async def test_a_search_does_not_show_what_has_left_today(open_sandbox: Open) -> None:
    async with open_sandbox() as sandbox:
        before = await sandbox.trains("Berlin", "Cologne", "2025-03-01")
        assert before
        now = await sandbox.now()
        assert all(datetime.fromisoformat(offer["departs"]) > now for offer in before)
        await sandbox.advance(4 * 3600)
        after = await sandbox.trains("Berlin", "Cologne", "2025-03-01")
        assert 0 < len(after) < len(before)


@pytest.mark.parametrize(
    ("path", "query", "answer"),
    [
        ("flights", {"origin": "Atlantis", "destination": "Berlin", "date": "2025-06-10"}, (404, "unknown_city")),
        ("trains", {"origin": "Berlin", "destination": "Atlantis", "date": "2025-06-10"}, (404, "unknown_city")),
        ("hotels", {"city": "Atlantis", "check_in": "2025-06-10", "check_out": "2025-06-14"}, (404, "unknown_city")),
        ("flights", {"origin": "Boston", "destination": "Berlin", "date": "2025-02-28"}, (422, "date_past")),
        ("trains", {"origin": "Cologne", "destination": "Berlin", "date": "2025-02-28"}, (422, "date_past")),
        ("hotels", {"city": "Berlin", "check_in": "2025-02-28", "check_out": "2025-06-14"}, (422, "date_past")),
        ("hotels", {"city": "Berlin", "check_in": "2025-06-10", "check_out": "2025-06-10"}, (422, "invalid")),
        ("hotels", {"city": "Berlin", "check_in": "2025-06-10"}, (422, "invalid")),
        ("flights", {"origin": "Boston", "destination": "Berlin", "date": "tomorrow"}, (422, "invalid")),
        ("flights", {"origin": "Boston", "destination": "Berlin", "date": "2025-06-10", "travellers": 0}, (422, "invalid")),
        ("flights", {"origin": "Boston", "destination": "Berlin", "date": "2025-06-10", "travellers": 10**30}, (422, "invalid")),
    ],
)
async def test_questions_that_cannot_be_answered_say_why(
    sandbox: Caller, path: str, query: dict[str, Any], answer: tuple[int, str]
) -> None:
    assert code(await sandbox.get(f"/offers/{path}", **query)) == answer


async def test_nothing_is_on_offer_at_the_end_of_time(sandbox: Caller) -> None:
    assert await sandbox.flights("San Francisco", "Tokyo", "9999-12-31") == []
    assert await sandbox.hotels(check_out="9999-12-31") == []


async def test_unknown_paths_and_methods_are_told_apart(sandbox: Caller) -> None:
    assert code(await sandbox.get("/nowhere")) == (404, "not_found")
    assert code(await sandbox.client.delete("/ledger")) == (405, "method_not_allowed")


@pytest.mark.parametrize(
    ("settings", "changed"),
    [
        ({}, {}),
        ({"withheld": frozenset({"dedup"})}, {"dedup_s": None}),
        ({"withheld": frozenset({"void", "deadline"})}, {"void": False, "deadline": False}),
        ({"withheld": frozenset({"refusals"})}, {"refusals_final": False}),
        ({"key_retention_s": 60.0}, {"dedup_s": 60.0}),
    ],
)
async def test_the_service_says_what_it_keeps_to(open_sandbox: Open, settings: dict[str, Any], changed: dict[str, Any]) -> None:
    async with open_sandbox(**settings) as sandbox:
        guarantees = (await sandbox.get("/guarantees")).json()
    assert guarantees == {"dedup_s": 86400.0, "void": True, "deadline": True, "refusals_final": True} | changed
