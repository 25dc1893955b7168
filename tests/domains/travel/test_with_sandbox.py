"""The provider and the planner against the real reservation service, over HTTP."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from sagagraph.domains.travel.cities import Gazetteer
from sagagraph.domains.travel.planning.planner import propose
from sagagraph.domains.travel.provider.provider import HttpReservationProvider
from sagagraph.domains.travel.provider.receipts import Payment, Reservation
from sagagraph.domains.travel.rules.validator import validate_itinerary
from sagagraph.domains.travel.text.reader import read_request
from sagagraph.errors import Refused
from sagagraph.planning.domain import Infeasible
from sagagraph.sandbox.server import EmbeddedSandbox
from sagagraph.sandbox.settings import SandboxSettings
from tests.support.today import TODAY

pytestmark = pytest.mark.quick

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sagagraph.domains.travel.plan import Itinerary

SAMPLE = (
    "Plan a trip from San Francisco to Berlin and Cologne and then back to San Francisco in June 2025"
    " (flexible within the month), budget $5,000 total, moderately priced (3-4 star) hotels, direct flights when possible,"
    " 4 days in Berlin and 2 in Cologne"
)


LONGEST_SEARCH_S = 6
"""It takes a third of a second where nothing else runs."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    database = tmp_path_factory.mktemp("sandbox") / "sandbox.db"
    with EmbeddedSandbox(SandboxSettings(database, today=TODAY)) as sandbox:
        yield sandbox.url


async def planned(provider: HttpReservationProvider, sentence: str) -> tuple[Itinerary, ...]:
    now, cities = await provider.now(), Gazetteer(await provider.cities())
    request = read_request(sentence, cities=cities, today=now.date()).complete()
    proposals = await propose(request, provider)
    assert not isinstance(proposals, Infeasible), proposals.reasons
    for itinerary in proposals:
        ids = [leg.offer.offer_id for leg in itinerary.legs]
        quotes = {offer_id: offer for offer_id in ids if (offer := await provider.offer(offer_id)) is not None}
        rates = await provider.rates()
        assert validate_itinerary(itinerary, request, quotes, now=now, cities=cities, rates=rates).violations == ()
    return proposals


@pytest.mark.parametrize(
    "sentence",
    [
        SAMPLE,
        "From NYC to London for a week in October, one way",
        "Fly me to Tokyo from SF 2025-09-10, five nights, max $9k",
        "We are two, flying from Boston to Paris (3 nights) and then Amsterdam (2 nights), leaving on 5 May 2025",
        "From London to Rome for 3 nights in May, under 900 euros, not on a Sunday, no flights before 8am, home by 10 pm",
        "Madrid → Rome (2) → Vienna (2) → Prague (1) → Berlin (2) → Hamburg (1) → Copenhagen (2) → Madrid, July, 4 people",
    ],
)
async def test_sentences_become_valid_trips(url: str, sentence: str) -> None:
    async with HttpReservationProvider(url) as provider:
        assert await planned(provider, sentence)


async def test_a_child_flies_for_less_and_sleeps_beside_the_adults(url: str) -> None:
    async with HttpReservationProvider(url) as provider:
        family, *_ = await planned(provider, f"{SAMPLE}, two adults and a 4 year old")
    assert (family.request.travellers, family.request.children, family.request.rooms) == (3, 1, 1)
    for each in family.transports:
        assert each.children == 1
        assert each.price == 2 * each.price_per_person + each.price_per_child < 3 * each.price_per_person


async def test_a_month_is_searched_in_a_moment(url: str) -> None:
    async with HttpReservationProvider(url) as provider:
        begun = time.process_time()
        await planned(provider, SAMPLE)
        assert time.process_time() - begun < LONGEST_SEARCH_S


async def test_a_trip_is_booked_paid_and_undone(url: str) -> None:
    async with HttpReservationProvider(url) as provider:
        itinerary, *_ = await planned(provider, SAMPLE)
        labels = {"saga_id": "trip-1", "deadline": None}
        booked = []
        for leg in itinerary.legs:
            reservation = await provider.book(
                leg.offer.kind, leg.offer.offer_id, 1,
                expected_price=leg.offer.price, key=f"trip-1/{leg.label}/1", operation_id=leg.label, **labels,
            )  # fmt: skip
            assert (reservation.price, reservation.state) == (leg.offer.price, "confirmed")
            booked.append(reservation)
        payment = await provider.capture(
            itinerary.total,
            "USD",
            [each.id for each in booked],
            key="trip-1/pay/1",
            operation_id="pay",
            **labels,
        )
        found = await provider.find("payment", "trip-1/pay/1")
        assert [match.id for match in found.matches if isinstance(match, Payment)] == [payment.id]
        refund = await provider.refund(payment.id, key="trip-1/pay/undo", operation_id="pay", **labels)
        assert refund.amount == itinerary.total
        for reservation in booked[:-1]:
            key = f"{reservation.idempotency_key}/undo"
            receipt = await provider.cancel(reservation.id, key=key, operation_id="undo", **labels)
            assert receipt.fee + receipt.refund == reservation.price
        assert booked[-1].idempotency_key is not None
        voided = await provider.void(booked[-1].kind, booked[-1].idempotency_key, operation_id="undo", **labels)
        assert voided.outcome == "cancelled"
        ledger = await provider.ledger()
        mine = {row.id: row for row in ledger.reservations if row.saga_id == "trip-1"}
        assert {row.state for row in mine.values()} == {"cancelled"}
        assert [row.state for row in ledger.payments] == ["refunded"]
        assert len(mine) == len(ledger.cancellations) == len(itinerary.legs)
        assert [row.key for row in ledger.voids] == [booked[-1].idempotency_key]


async def test_the_same_key_books_once(url: str) -> None:
    async with HttpReservationProvider(url) as provider:
        itinerary, *_ = await planned(provider, SAMPLE)
        offer = itinerary.stays[0]
        call = {"expected_price": offer.price, "key": "once", "saga_id": "s", "operation_id": "T2", "deadline": None}
        first = await provider.book("hotel", offer.offer_id, 1, **call)
        second = await provider.book("hotel", offer.offer_id, 1, **call)
        found = await provider.find("hotel", "once")
        assert first == second
        assert [match.id for match in found.matches if isinstance(match, Reservation)] == [first.id]


async def test_another_price_than_expected_is_refused(url: str) -> None:
    async with HttpReservationProvider(url) as provider:
        itinerary, *_ = await planned(provider, SAMPLE)
        hotel = itinerary.stays[0]
        with pytest.raises(Refused) as caught:
            await provider.book(
                "hotel", hotel.offer_id, 1,
                expected_price=hotel.price - Decimal("0.01"), key=None, saga_id="s", operation_id="T2", deadline=None,
            )  # fmt: skip
        assert caught.value.code == "price_changed"


async def test_the_service_says_what_it_keeps_to(url: str) -> None:
    async with HttpReservationProvider(url) as provider:
        keeps = await provider.guarantees()
        assert keeps.void
        assert keeps.deadline
        assert keeps.refusals_final


async def test_an_offer_that_nobody_made_is_gone(url: str) -> None:
    async with HttpReservationProvider(url) as provider:
        assert await provider.offer("hotel.nobody") is None
