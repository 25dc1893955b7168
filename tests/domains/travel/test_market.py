from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pytest

from sagagraph.domains.travel.planning.market import CALLS_AT_ONCE, MOST_DEPARTURE_DAYS, gather
from sagagraph.domains.travel.request import Stop, Window
from sagagraph.errors import ProviderError

from .world import RATES, OfferBook, day, flight, hotel, sample_offers, train, trip

pytestmark = pytest.mark.quick

if TYPE_CHECKING:
    from sagagraph.domains.travel.offers import FlightOffer


async def test_rates_are_asked_for_where_a_budget_needs_them() -> None:
    book = OfferBook(sample_offers())
    assert (await gather(trip(currency="EUR"), book)).rates == RATES
    assert (await gather(trip(), book)).rates is None
    assert book.asked.count("rates") == 1


async def test_only_days_that_can_be_reached_are_asked_about() -> None:
    book = OfferBook(sample_offers())
    market = await gather(trip(depart=day("06-10")), book)
    assert sorted(book.asked) == [
        "flights Cologne San Francisco 2025-06-17",
        "flights San Francisco Berlin 2025-06-10",
        "hotels Berlin 2025-06-11",
        "hotels Cologne 2025-06-15",
        "trains Berlin Cologne 2025-06-15",
    ]
    assert {key: len(offers) for key, offers in market.journeys.items()} == {
        ("San Francisco", "Berlin", day("06-10")): 1,
        ("Berlin", "Cologne", day("06-15")): 1,
        ("Cologne", "San Francisco", day("06-17")): 1,
    }


async def test_a_night_flight_moves_the_hotel_and_all_that_follows_by_a_day() -> None:
    by_day = flight("San Francisco", "Berlin", "06-10 00:10", 695, 900)
    book = OfferBook([*sample_offers(), by_day])
    await gather(trip(depart=day("06-10")), book)
    assert "hotels Berlin 2025-06-10" in book.asked
    assert "hotels Berlin 2025-06-11" in book.asked


async def test_all_days_of_a_month_that_leave_room_for_the_nights_are_tried() -> None:
    market = await gather(trip(), OfferBook([]))
    assert (market.departure_days[0], market.departure_days[-1]) == (day("06-01"), day("06-24"))
    assert len(market.departure_days) == 24


async def test_of_a_long_window_a_months_worth_of_days_is_tried_from_end_to_end() -> None:
    request = trip(window=Window(first=day("06-01"), last=day("12-31")))
    market = await gather(request, OfferBook([]))
    assert len(set(market.departure_days)) == MOST_DEPARTURE_DAYS
    assert (market.departure_days[0], market.departure_days[-1]) == (day("06-01"), day("12-25"))


async def test_flights_are_not_asked_for_where_a_sensible_train_runs() -> None:
    book = OfferBook(sample_offers())
    await gather(trip(depart=day("06-10")), book)
    assert "flights Berlin Cologne 2025-06-15" not in book.asked


@pytest.mark.parametrize(
    "useless",
    [
        pytest.param(train("Berlin", "Cologne", "06-15 08:00", 361, 30), id="slower than six hours"),
        pytest.param(train("Berlin", "Cologne", "06-15 08:00", 256, 30, left=0), id="full"),
    ],
)
async def test_flights_are_asked_for_where_no_train_is_of_use(useless: object) -> None:
    offers = sample_offers()
    offers[2] = useless
    book = OfferBook(offers)
    await gather(trip(depart=day("06-10")), book)
    assert "flights Berlin Cologne 2025-06-15" in book.asked


async def test_no_train_is_asked_for_over_an_ocean() -> None:
    book = OfferBook(sample_offers())
    await gather(trip(depart=day("06-10")), book)
    assert not [question for question in book.asked if question.startswith("trains San Francisco")]


async def test_days_before_the_providers_today_are_not_tried() -> None:
    book = OfferBook([], clock=datetime(2025, 6, 20, 12, tzinfo=UTC))
    assert (await gather(trip(), book)).departure_days == tuple(day(f"06-{n}") for n in (20, 21, 22, 23, 24))


@dataclass
class SlowBook(OfferBook):
    """Notes how many questions are open at once."""

    open_now: int = 0
    most_open: int = 0

    async def flights(self, origin: str, destination: str, on: date, travellers: int) -> tuple[FlightOffer, ...]:
        self.open_now += 1
        self.most_open = max(self.most_open, self.open_now)
        await asyncio.sleep(0.001)
        self.open_now -= 1
        return ()


async def test_a_provider_is_asked_a_few_questions_at_a_time() -> None:
    book = SlowBook([])
    await gather(trip(), book)
    assert book.most_open == CALLS_AT_ONCE


@dataclass
class BrokenBook(OfferBook):
    answered: list[date] = field(default_factory=list)

    async def flights(self, origin: str, destination: str, on: date, travellers: int) -> tuple[FlightOffer, ...]:
        if on == day("06-03"):
            raise ProviderError("the reservation service answered 500")
        await asyncio.sleep(0.01)
        self.answered.append(on)
        return ()


async def test_one_unanswered_question_ends_the_search_with_its_own_error() -> None:
    with pytest.raises(ProviderError, match="answered 500"):
        await gather(trip(), BrokenBook([]))


async def test_a_stop_on_the_other_side_of_the_date_line_can_begin_the_day_before() -> None:
    offers = [flight("Auckland", "Honolulu", "06-10 20:00", 520, 500), hotel("Honolulu", "06-10", 2, 90)]
    request = trip(origin="Auckland", stops=(Stop(city="Honolulu", nights=2),), return_to=None, depart=day("06-10"))
    market = await gather(request, OfferBook(offers))
    assert market.stays["Honolulu", 2, day("06-10")]
