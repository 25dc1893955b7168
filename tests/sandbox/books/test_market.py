"""Other customers, who take seats and rooms, and prices that move: `market="moving"`."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings, strategies

from sagagraph.sandbox.books.stock import as_others_left_it
from sagagraph.sandbox.world.cities import City, all_cities, find_city
from sagagraph.sandbox.world.questions import JourneyQuestion, StayQuestion
from tests.sandbox.caller import code
from tests.sandbox.conftest import Open

CITIES = strategies.sampled_from(all_cities())
START = datetime(2025, 3, 1, 9, tzinfo=UTC)
DAY_S = 86400


def city(name: str) -> City:
    found = find_city(name)
    assert found
    return found


@settings(max_examples=60, deadline=None)
@given(CITIES, CITIES, strategies.integers(0, 300 * 24))
def test_others_only_ever_take_more_and_never_more_than_there_is(one: City, other: City, hours: int) -> None:
    now = START + timedelta(hours=hours)
    day = date(2025, 12, 20)
    for offer in [
        *JourneyQuestion("flight", one, other, day, 1).offers(),
        *StayQuestion(one, day, day + timedelta(days=3), 1).offers(),
    ]:
        before, after = as_others_left_it(offer, now), as_others_left_it(offer, now + timedelta(hours=5))
        for stock, later in zip(before.stock, after.stock, strict=True):
            assert 0 <= stock.sold <= later.sold <= stock.capacity
        assert 0.8 * offer.rate - 100 <= before.rate <= 1.4 * offer.rate + 100
        assert before.rate % 100 == 0
        assert as_others_left_it(offer, now) == before


def test_the_market_moves_at_full_hours() -> None:
    offers = JourneyQuestion("flight", city("Lyon"), city("Oslo"), date(2025, 4, 1), 1).offers()
    for offer in offers:
        assert as_others_left_it(offer, START) == as_others_left_it(offer, START + timedelta(minutes=59))
    hours = [[as_others_left_it(offer, START + timedelta(hours=n)) for offer in offers] for n in range(48)]
    assert len({tuple(offer.rate for offer in hour) for hour in hours}) > 10


def test_at_the_end_most_is_taken_some_is_sold_out_and_the_rest_is_dearer() -> None:
    offers = [
        offer
        for other in ("Oslo", "Madrid", "Cairo", "Delhi", "Lima", "Sydney")
        for offer in JourneyQuestion("flight", city("Lyon"), city(other), date(2025, 8, 1), 1).offers()
    ]
    long_before = [as_others_left_it(offer, datetime(2025, 1, 1, tzinfo=UTC)) for offer in offers]
    at_the_end = [as_others_left_it(offer, offer.starts - timedelta(hours=2)) for offer in offers]
    assert sum(offer.stock[0].sold for offer in long_before) < 0.2 * sum(offer.stock[0].capacity for offer in offers)
    is_full = [offer.stock[0].sold == offer.stock[0].capacity for offer in at_the_end]
    assert 0 < sum(is_full) < 0.5 * len(offers)
    assert sum(offer.rate for offer in at_the_end) > 1.1 * sum(offer.rate for offer in long_before)


async def test_a_market_that_moves_has_fewer_places_left_as_the_clock_goes_on(open_sandbox: Open) -> None:
    async with open_sandbox(market="moving") as sandbox:
        before = {offer["offer_id"]: offer for offer in await sandbox.hotels()}
        await sandbox.advance(60 * DAY_S)
        after = {offer["offer_id"]: offer for offer in await sandbox.hotels()}
        assert after.keys() <= before.keys()
        assert all(after[key]["left"] <= before[key]["left"] for key in after)
        assert sum(offer["left"] for offer in after.values()) < sum(offer["left"] for offer in before.values())
        assert any(after[key]["price"] != before[key]["price"] for key in after)
        for key, offer in after.items():
            assert await sandbox.offer(key) == offer


async def test_a_market_that_stands_still_changes_by_nobody_elses_hand(open_sandbox: Open) -> None:
    async with open_sandbox() as sandbox:
        before = await sandbox.hotels()
        await sandbox.advance(60 * DAY_S)
        assert await sandbox.hotels() == before


async def test_who_expects_the_price_of_before_is_told_the_one_of_now(open_sandbox: Open) -> None:
    async with open_sandbox(market="moving") as sandbox:
        before = {offer["offer_id"]: offer for offer in await sandbox.hotels()}
        await sandbox.advance(30 * DAY_S)
        moved = next(offer for offer in await sandbox.hotels() if offer["price"] != before[offer["offer_id"]]["price"])
        refused = await sandbox.book(moved, expected_price=before[moved["offer_id"]]["price"])
        assert code(refused) == (422, "price_changed")
        assert refused.json()["error"]["price"] == moved["price"]
        assert (await sandbox.booked(moved, expected_price=moved["price"]))["price"] == moved["price"]


async def test_what_has_been_booked_keeps_its_price_and_its_rooms(open_sandbox: Open) -> None:
    async with open_sandbox(market="moving") as sandbox:
        offer = (await sandbox.hotels())[0]
        reservation = await sandbox.booked(offer, quantity=offer["left"])
        assert (await sandbox.offer(offer["offer_id"]))["left"] == 0
        await sandbox.advance(60 * DAY_S)
        assert (await sandbox.ledger("reservations"))[0]["price"] == reservation["price"]
        assert code(await sandbox.book(offer)) == (422, "sold_out")
        assert (await sandbox.cancel(reservation["id"])).status_code == 201
        # The others have come in the meantime: not all that is given back is left.
        assert 0 <= (await sandbox.offer(offer["offer_id"]))["left"] < offer["left"]


@pytest.mark.parametrize("days", [0, 20, 100])
async def test_services_on_other_files_see_the_same_market(open_sandbox: Open, days: int) -> None:
    answers = []
    for _ in range(2):
        async with open_sandbox(market="moving") as sandbox:
            now = await sandbox.now()
            await sandbox.advance((START + timedelta(days=days, minutes=30) - now).total_seconds())
            answers.append(await sandbox.flights("Lyon", "Oslo", "2025-06-15"))
    assert answers[0] == answers[1]
