from __future__ import annotations

import asyncio
import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from sagagraph.domains.travel.provider.provider import HttpReservationProvider, ProviderAnswerLostError
from sagagraph.errors import InvalidInputError, ProviderError, Refused

from .world import CITIES, NOW, sample_offers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

URL = "http://127.0.0.1:8080"
FLIGHT, HOTEL, TRAIN = (sample_offers()[n].model_dump(mode="json") for n in (0, 1, 2))
RESERVATION = {
    "id": "r1", "kind": "flight", "state": "confirmed", "offer": FLIGHT, "price": 653, "fee": 0, "currency": "USD",
    "created_at": NOW.isoformat(), "idempotency_key": "k",
}  # fmt: skip
PAYMENT = {
    "id": "p1", "state": "captured", "amount": 12.34, "currency": "USD", "created_at": NOW.isoformat(), "idempotency_key": None,
}  # fmt: skip


class Service:
    """Answers every call the same, and keeps the calls."""

    def __init__(self, status: int, answer: object) -> None:
        self.status = status
        self.content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.calls: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.calls.append(request)
        return httpx2.Response(self.status, content=self.content)

    @property
    def provider(self) -> HttpReservationProvider:
        return HttpReservationProvider(URL, transport=httpx2.MockTransport(self))

    @property
    def body(self) -> Any:
        return json.loads(self.calls[-1].content)


def failing(error: Exception) -> HttpReservationProvider:
    def fail(_: httpx2.Request) -> httpx2.Response:
        raise error

    return HttpReservationProvider(URL, timeout_s=3, transport=httpx2.MockTransport(fail))


def book(provider: HttpReservationProvider, **changes: Any) -> Awaitable[Any]:
    call: dict[str, Any] = {
        "expected_price": Decimal(653), "key": "saga/T1/1", "saga_id": "saga", "operation_id": "T1", "deadline": None,
    }  # fmt: skip
    return provider.book("flight", "flight.1", 1, **{**call, **changes})


def error(code: str, message: str = "because") -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}


EFFECTS: dict[str, Callable[[HttpReservationProvider], Awaitable[Any]]] = {
    "book": book,
    "cancel": lambda p: p.cancel("r1", key="k", saga_id="s", operation_id="T1", deadline=None),
    "capture": lambda p: p.capture(Decimal(5), "USD", ["r1"], key="k", saga_id="s", operation_id="pay", deadline=None),
    "refund": lambda p: p.refund("p1", key="k", saga_id="s", operation_id="pay", deadline=None),
    "void": lambda p: p.void("flight", "k", saga_id="s", operation_id="T1", deadline=None),
}
READS: dict[str, Callable[[HttpReservationProvider], Awaitable[Any]]] = {
    "now": lambda p: p.now(),
    "guarantees": lambda p: p.guarantees(),
    "cities": lambda p: p.cities(),
    "rates": lambda p: p.rates(),
    "flights": lambda p: p.flights("Berlin", "Cologne", date(2025, 6, 1), 1),
    "trains": lambda p: p.trains("Berlin", "Cologne", date(2025, 6, 1), 1),
    "hotels": lambda p: p.hotels("Berlin", date(2025, 6, 1), date(2025, 6, 2), 1),
    "offer": lambda p: p.offer("flight.1"),
    "find": lambda p: p.find("flight", "k"),
    "ledger": lambda p: p.ledger(),
}


# -- what is sent --------------------------------------------------------------------------------------------------------------


async def test_a_booking_is_sent_with_its_key_and_its_labels() -> None:
    service = Service(201, RESERVATION)
    deadline = datetime(2025, 3, 1, 9, 5, tzinfo=UTC)
    reservation = await book(service.provider, deadline=deadline, expected_price=Decimal("653.10"))
    assert (service.calls[0].method, str(service.calls[0].url)) == ("POST", f"{URL}/reservations")
    assert service.calls[0].headers["Idempotency-Key"] == "saga/T1/1"
    assert service.body == {
        "kind": "flight",
        "offer_id": "flight.1",
        "quantity": 1,
        "expected_price": 653.1,
        "saga_id": "saga",
        "operation_id": "T1",
        "deadline": "2025-03-01T09:05:00+00:00",
    }
    assert (reservation.id, reservation.price, reservation.offer) == ("r1", Decimal(653), sample_offers()[0])


async def test_what_is_not_given_is_not_sent() -> None:
    service = Service(201, RESERVATION)
    await book(service.provider, key=None, expected_price=None)
    assert "Idempotency-Key" not in service.calls[0].headers
    assert service.body.keys() == {"kind", "offer_id", "quantity", "saga_id", "operation_id"}


async def test_money_is_sent_and_read_exactly() -> None:
    service = Service(201, PAYMENT)
    payment = await service.provider.capture(
        Decimal("12.34"), "USD", ["r1", "r2"], key="k", saga_id="s", operation_id="pay", deadline=None
    )
    assert payment.amount == Decimal("12.34")
    assert b'"amount":12.34' in service.calls[0].content.replace(b" ", b"")
    assert service.body["reservations"] == ["r1", "r2"]


async def test_the_other_effects_address_their_resource() -> None:
    cancelled = {"id": "c1", "reservation_id": "r/1", "fee": 5, "refund": 10, "currency": "USD", "created_at": NOW.isoformat()}
    service = Service(201, cancelled)
    receipt = await service.provider.cancel("r/1", key="k", saga_id="s", operation_id="T1", deadline=None)
    assert (service.calls[0].url.raw_path, receipt.fee) == (b"/reservations/r%2F1/cancel", Decimal(5))

    refunded = {"id": "f1", "payment_id": "p1", "amount": 5, "currency": "USD", "created_at": NOW.isoformat()}
    service = Service(201, refunded)
    await service.provider.refund("p1", Decimal(5), key="k", saga_id="s", operation_id="pay", deadline=None)
    assert (service.calls[0].url.path, service.body["amount"]) == ("/payments/p1/refund", 5)

    service = Service(200, {"key": "k", "outcome": "tombstone", "fee": 0})
    voided = await service.provider.void("hotel", "k", saga_id="s", operation_id="T2", deadline=None)
    assert (service.calls[0].url.path, service.body["key"], voided.outcome) == ("/void", "k", "tombstone")


async def test_questions_are_sent_as_the_service_wants_them() -> None:
    service = Service(200, {"offers": [FLIGHT]})
    assert await service.provider.flights("San Francisco", "Köln", date(2025, 6, 10), 2) == (sample_offers()[0],)
    assert dict(service.calls[0].url.params) == {
        "origin": "San Francisco", "destination": "Köln", "date": "2025-06-10", "travellers": "2",
    }  # fmt: skip
    service = Service(200, {"offers": [HOTEL]})
    assert await service.provider.hotels("Berlin", date(2025, 6, 11), date(2025, 6, 15), 1) == (sample_offers()[1],)
    assert dict(service.calls[0].url.params) == {
        "city": "Berlin", "check_in": "2025-06-11", "check_out": "2025-06-15", "rooms": "1",
    }  # fmt: skip
    service = Service(200, {"offers": [TRAIN]})
    assert await service.provider.trains("Berlin", "Cologne", date(2025, 6, 15), 1) == (sample_offers()[2],)


async def test_the_simple_answers_are_read() -> None:
    assert await Service(200, {"now": NOW.isoformat()}).provider.now() == NOW
    keeps = await Service(200, {"dedup_s": 90.5, "void": True, "deadline": False, "refusals_final": True}).provider.guarantees()
    assert (keeps.dedup, keeps.void, keeps.deadline) == (timedelta(seconds=90.5), True, False)
    forgets = await Service(200, {"dedup_s": None, "void": True, "deadline": False, "refusals_final": True}).provider.guarantees()
    assert forgets.dedup is None
    assert await Service(200, {"cities": [city.model_dump() for city in CITIES]}).provider.cities() == CITIES


async def test_what_landed_under_a_key_is_told_apart() -> None:
    found = await Service(200, {"matches": [RESERVATION, PAYMENT], "voided": False}).provider.find("flight", "k")
    assert [match.id for match in found.matches] == ["r1", "p1"]
    assert [type(match).__name__ for match in found.matches] == ["Reservation", "Payment"]


async def test_an_offer_that_is_gone_is_none() -> None:
    assert await Service(404, error("unknown_offer")).provider.offer("flight.1") is None
    assert await Service(200, TRAIN).provider.offer("train.1") == sample_offers()[2]


# -- what the answers mean -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize(
    ("status", "code"), [(422, "sold_out"), (422, "key_reused"), (404, "unknown_reservation"), (404, "not_offered")]
)
async def test_a_refusal_says_that_nothing_happened(effect: str, status: int, code: str) -> None:
    with pytest.raises(Refused) as caught:
        await EFFECTS[effect](Service(status, error(code, "no seats")).provider)
    assert (caught.value.code, str(caught.value), caught.value.transient) == (code, "no seats", False)


@pytest.mark.parametrize("effect", EFFECTS)
async def test_a_rate_limit_is_a_refusal_that_passes(effect: str) -> None:
    with pytest.raises(Refused) as caught:
        await EFFECTS[effect](Service(429, b"slow down").provider)
    assert (caught.value.code, caught.value.transient) == ("rate_limited", True)


@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize(
    ("status", "answer"),
    [
        pytest.param(409, error("in_progress"), id="still under way"),
        pytest.param(500, error("unavailable"), id="unavailable"),
        pytest.param(504, error("lost"), id="lost"),
        pytest.param(503, b"", id="a proxy without a word"),
        pytest.param(404, b"<html>not here</html>", id="a page of a proxy"),
        pytest.param(422, {"detail": []}, id="a refusal in other words"),
        pytest.param(302, b"", id="sent elsewhere"),
        pytest.param(201, b'{"id": "r', id="an answer cut short"),
        pytest.param(200, {}, id="an answer without content"),
    ],
)
async def test_without_a_definite_answer_an_effect_is_in_doubt(effect: str, status: int, answer: object) -> None:
    with pytest.raises(ProviderAnswerLostError, match=URL):
        await EFFECTS[effect](Service(status, answer).provider)


LOST_CONNECTIONS = [
    httpx2.ConnectError("refused"),
    httpx2.ReadTimeout("slow"),
    httpx2.RemoteProtocolError("gone"),
    httpx2.ReadError(""),
]


@pytest.mark.parametrize("failure", LOST_CONNECTIONS, ids=lambda failure: type(failure).__name__)
@pytest.mark.parametrize("effect", EFFECTS)
async def test_a_lost_connection_leaves_an_effect_in_doubt(effect: str, failure: Exception) -> None:
    with pytest.raises(ProviderAnswerLostError, match=URL):
        await EFFECTS[effect](failing(failure))


@pytest.mark.parametrize("failure", LOST_CONNECTIONS, ids=lambda failure: type(failure).__name__)
@pytest.mark.parametrize("read", READS)
async def test_a_lost_connection_fails_a_read(read: str, failure: Exception) -> None:
    with pytest.raises(ProviderError, match=URL) as caught:
        await READS[read](failing(failure))
    assert not isinstance(caught.value, ProviderAnswerLostError)


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize(
    ("status", "answer"),
    [(500, error("unavailable")), (404, error("unknown_city")), (422, error("date_past")), (429, b""), (200, b"{"), (200, [])],
)
async def test_a_read_without_a_usable_answer_fails(read: str, status: int, answer: object) -> None:
    with pytest.raises(ProviderError, match=URL):
        await READS[read](Service(status, answer).provider)


async def test_a_time_out_is_one_clear_line() -> None:
    with pytest.raises(ProviderError, match=rf"^the reservation service at {URL} did not answer within 3 s$"):
        await failing(httpx2.ReadTimeout("")).now()


async def test_nothing_is_asked_twice() -> None:
    service = Service(500, error("unavailable"))
    with pytest.raises(ProviderAnswerLostError):
        await book(service.provider)
    assert len(service.calls) == 1


# -- connections ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    ["", "localhost", "localhost:80", "ftp://host", "http://", "http://[", "http://host:x", "http://a b", "file:///etc/passwd"],
)
def test_what_is_no_http_url_is_refused_by_name(url: str) -> None:
    with pytest.raises(InvalidInputError, match=r"^provider: "):
        HttpReservationProvider(url)


async def test_a_service_that_is_not_there_is_named() -> None:
    async with HttpReservationProvider("http://127.0.0.1:9") as provider:
        with pytest.raises(ProviderError, match=r"^the reservation service at http://127\.0\.0\.1:9 cannot be reached: "):
            await provider.now()


def test_one_provider_serves_several_event_loops_one_after_the_other() -> None:
    provider = Service(200, {"now": NOW.isoformat()}).provider

    async def ask_and_close() -> datetime:
        first = await provider.now()
        await provider.aclose()
        return first

    assert asyncio.run(provider.now()) == asyncio.run(provider.now()) == asyncio.run(ask_and_close()) == NOW


async def test_a_closed_provider_can_be_used_again() -> None:
    provider = Service(200, {"now": NOW.isoformat()}).provider
    await provider.aclose()
    await provider.now()
    await provider.aclose()
    assert await provider.now() == NOW


async def test_the_proxy_of_the_environment_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.invalid:3128")
    with pytest.raises(ProviderError, match="cannot be reached") as caught:
        await HttpReservationProvider("http://localhost:9").now()
    assert "proxy" not in str(caught.value)


async def test_an_answer_without_end_is_no_answer() -> None:
    async def more(seconds: float, part: bytes) -> AsyncIterator[bytes]:
        while True:
            await asyncio.sleep(seconds)
            yield part

    for parts in (more(0, b" " * 1_000_000), more(0.01, b" ")):
        answer = httpx2.Response(200, content=parts)
        provider = HttpReservationProvider(URL, timeout_s=0.05, transport=httpx2.MockTransport(lambda _, it=answer: it))
        with pytest.raises(ProviderError, match=r"more than 16000000 bytes|did not answer"):
            await provider.now()
