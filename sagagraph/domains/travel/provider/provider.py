"""Port to the reservation service, and its HTTP adapter.

Nothing is retried here: the saga decides whether a call may be repeated, because it knows the call's key
(docs/protocol.md rule 3a).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, Generic, Literal, Protocol, TypedDict, TypeVar, Unpack, runtime_checkable
from urllib.parse import quote

import httpx2
from pydantic import AwareDatetime, BaseModel, Field, TypeAdapter

from sagagraph.domains.travel.cities import City
from sagagraph.domains.travel.money import Rates, as_json_number
from sagagraph.domains.travel.offers import FlightOffer, HotelOffer, InsuranceOffer, Offer, TrainOffer, Transport
from sagagraph.domains.travel.provider import receipts as r
from sagagraph.domains.travel.provider.wire import NoSuchPathError, ProviderAnswerLostError, UnknownOfferError, Wire
from sagagraph.domains.travel.request import TripRequest
from sagagraph.saga.core.decide.providers import origin_of

AnyOffer = TypeVar("AnyOffer", FlightOffer, TrainOffer, HotelOffer, Transport)

__all__ = ["HttpReservationProvider", "ProviderAnswerLostError", "ReservationProvider"]


class Labels(TypedDict):
    """Labels for the provider's ledger, and the `deadline` after which an arriving call is refused."""

    saga_id: str
    operation_id: str
    deadline: datetime | None


class Marks(Labels):
    """Marks of every effect. `key` makes it safe to repeat."""

    key: str | None


class ReservationProvider(Protocol):
    """Source of offers and bookings; docs/providers.md says how to connect another one, and how to check it.

    Reads raise `ProviderError`. Effects raise `Refused` if the provider said that this call had no effect, and
    `ProviderAnswerLostError` if that is not known; nothing is retried. `key` makes an effect safe to repeat, as far as
    `guarantees()` say so; `saga_id` and `operation_id` are labels for the provider's ledger; a call that arrives after `deadline`
    is refused.
    """

    async def identity(self) -> str:
        """Return an id that is the same wherever this provider is reached, and no other provider's; asked for once.

        If it states none, the origin of its address is returned.
        """
        ...

    async def now(self) -> datetime:
        """Return the time on the clock by which deadlines are judged."""
        ...

    async def guarantees(self) -> r.ProviderGuarantees:
        """Return only guarantees that are really kept; asked for once."""
        ...

    async def cities(self) -> tuple[City, ...]:
        """Return the cities, the biggest first, each under the one name that queries and offers use."""
        ...

    async def rates(self) -> Rates:
        """Return the rates for comparing a budget in another currency."""
        ...

    async def flights(self, origin: str, destination: str, day: date, travellers: int) -> tuple[FlightOffer, ...]: ...

    async def trains(self, origin: str, destination: str, day: date, travellers: int) -> tuple[TrainOffer, ...]:
        """Return the trains; empty where no line runs."""
        ...

    async def hotels(self, city: str, check_in: date, check_out: date, rooms: int) -> tuple[HotelOffer, ...]: ...

    async def offer(self, offer_id: str) -> Offer | None:
        """Return the current state of the offer; None if it is gone."""
        ...

    async def find(self, kind: r.EffectKind, key: str) -> r.Found:
        """Return what landed under the key of a booking or payment, undone or not; empty only if certainly nothing has landed so
        far.
        """
        ...

    async def ledger(self) -> r.Ledger:
        """Return the ledger, for tests and measurements: nothing that plans, books or undoes reads it."""
        ...

    async def book(
        self, kind: r.ReservationKind, offer_id: str, quantity: int, *, expected_price: Decimal | None, **marks: Unpack[Marks]
    ) -> r.Reservation:
        """Book an offer. Refused as `price_changed` if the price is not `expected_price`."""
        ...

    async def cancel(self, reservation_id: str, **marks: Unpack[Marks]) -> r.CancellationReceipt:
        """Cancel a booking for the fee that its offer named."""
        ...

    async def capture(self, amount: Decimal, currency: str, reservations: Sequence[str], **marks: Unpack[Marks]) -> r.Payment: ...

    async def refund(self, payment_id: str, amount: Decimal | None = None, **marks: Unpack[Marks]) -> r.RefundReceipt:
        """Refund a payment, in full if no amount is given."""
        ...

    async def void(self, kind: r.EffectKind, key: str, **labels: Unpack[Labels]) -> r.VoidReceipt:
        """Undo what landed under the key, and refuse every later call with it. Repeating it changes nothing."""
        ...


@runtime_checkable
class Insuring(Protocol):
    """Provider that insures fares as well; most do not."""

    async def insurance(self, offer_id: str) -> InsuranceOffer | None:
        """Return what insures the fare with this offer id, for this many travellers; None if nothing does."""
        ...


@runtime_checkable
class ForFamilies(Protocol):
    """Provider with children's fares; elsewhere a child pays the full price."""

    async def family_fares(
        self, kind: Literal["flight", "train"], origin: str, destination: str, day: date, travellers: int, children: int
    ) -> tuple[Transport, ...]:
        """Return the flights or trains for a party, `children` of whom are children."""
        ...


async def journeys(
    provider: ReservationProvider, kind: Literal["flight", "train"], here: str, there: str, day: date, request: TripRequest
) -> tuple[Transport, ...]:
    """Return the journeys between the two for the party of a request."""
    if request.children and isinstance(provider, ForFamilies):
        return await provider.family_fares(kind, here, there, day, request.travellers, request.children)
    search = provider.flights if kind == "flight" else provider.trains
    return await search(here, there, day, request.travellers)


class HttpReservationProvider:
    """The reservation service at `url`, as docs/sandbox-api.md describes it.

    One object serves any number of event loops: each gets connections of its own when it first calls.
    """

    def __init__(self, url: str, timeout_s: float = 10.0, *, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._wire = Wire(url, timeout_s, transport)
        self._cities: tuple[City, ...] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the long list of all cities: a planner elsewhere needs few of them."""
        return self.__dict__ | {"_cities": None}

    @property
    def url(self) -> str:
        return self._wire.url

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self._wire.aclose()

    async def __aenter__(self) -> HttpReservationProvider:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    # -- reads -------------------------------------------------------------------------------------------------------

    async def identity(self) -> str:
        try:
            return (await self._wire.read(_Identity.model_validate_json, "/identity")).id
        except NoSuchPathError:
            return origin_of(self.url)

    async def now(self) -> datetime:
        return (await self._wire.read(_Clock.model_validate_json, "/clock")).now

    async def guarantees(self) -> r.ProviderGuarantees:
        answer = await self._wire.read(_Guarantees.model_validate_json, "/guarantees")
        return r.ProviderGuarantees(
            dedup=None if answer.dedup_s is None else timedelta(seconds=answer.dedup_s),
            void=answer.void,
            deadline=answer.deadline,
            refusals_final=answer.refusals_final,
        )

    async def cities(self) -> tuple[City, ...]:
        """Return the cities, asked for once: the list is long, and the world does not change while a command runs."""
        if self._cities is None:
            self._cities = await self._wire.read(cities_in, "/cities")
        return self._cities

    async def rates(self) -> Rates:
        return await self._wire.read(Rates.model_validate_json, "/rates")

    async def flights(self, origin: str, destination: str, day: date, travellers: int) -> tuple[FlightOffer, ...]:
        question = _journey(origin, destination, day, travellers)
        return (await self._wire.read(_Offers[FlightOffer].model_validate_json, "/offers/flights", question)).offers

    async def trains(self, origin: str, destination: str, day: date, travellers: int) -> tuple[TrainOffer, ...]:
        question = _journey(origin, destination, day, travellers)
        return (await self._wire.read(_Offers[TrainOffer].model_validate_json, "/offers/trains", question)).offers

    async def family_fares(
        self, kind: Literal["flight", "train"], origin: str, destination: str, day: date, travellers: int, children: int
    ) -> tuple[Transport, ...]:
        question = {**_journey(origin, destination, day, travellers), "children": children}
        return (await self._wire.read(_Offers[Transport].model_validate_json, f"/offers/{kind}s", question)).offers

    async def hotels(self, city: str, check_in: date, check_out: date, rooms: int) -> tuple[HotelOffer, ...]:
        days = {"check_in": check_in.isoformat(), "check_out": check_out.isoformat()}
        question: dict[str, str | int] = {"city": city, **days, "rooms": rooms}
        return (await self._wire.read(_Offers[HotelOffer].model_validate_json, "/offers/hotels", question)).offers

    async def offer(self, offer_id: str) -> Offer | None:
        with suppress(UnknownOfferError):
            return await self._wire.read(_OFFER.validate_json, f"/offers/{_path_part(offer_id)}")
        return None

    async def insurance(self, offer_id: str) -> InsuranceOffer | None:
        with suppress(UnknownOfferError):
            return await self._wire.read(InsuranceOffer.model_validate_json, f"/offers/insurance.{_path_part(offer_id)}")
        return None

    async def find(self, kind: r.EffectKind, key: str) -> r.Found:
        return await self._wire.read(r.Found.model_validate_json, "/find", {"kind": kind, "key": key})

    async def ledger(self) -> r.Ledger:
        return await self._wire.read(r.Ledger.model_validate_json, "/ledger")

    # -- effects -----------------------------------------------------------------------------------------------------

    async def book(
        self, kind: r.ReservationKind, offer_id: str, quantity: int, *, expected_price: Decimal | None, **marks: Unpack[Marks]
    ) -> r.Reservation:
        body: dict[str, Any] = {"kind": kind, "offer_id": offer_id, "quantity": quantity}
        if expected_price is not None:
            body["expected_price"] = as_json_number(expected_price)
        return await self._wire.effect(
            r.Reservation.model_validate_json, "/reservations", body | _labels(marks), key=marks["key"]
        )

    async def cancel(self, reservation_id: str, **marks: Unpack[Marks]) -> r.CancellationReceipt:
        path = f"/reservations/{_path_part(reservation_id)}/cancel"
        return await self._wire.effect(r.CancellationReceipt.model_validate_json, path, _labels(marks), key=marks["key"])

    async def capture(self, amount: Decimal, currency: str, reservations: Sequence[str], **marks: Unpack[Marks]) -> r.Payment:
        body: dict[str, Any] = {"amount": as_json_number(amount), "currency": currency, "reservations": list(reservations)}
        return await self._wire.effect(r.Payment.model_validate_json, "/payments", body | _labels(marks), key=marks["key"])

    async def refund(self, payment_id: str, amount: Decimal | None = None, **marks: Unpack[Marks]) -> r.RefundReceipt:
        body: dict[str, Any] = {} if amount is None else {"amount": as_json_number(amount)}
        path = f"/payments/{_path_part(payment_id)}/refund"
        return await self._wire.effect(r.RefundReceipt.model_validate_json, path, body | _labels(marks), key=marks["key"])

    async def void(self, kind: r.EffectKind, key: str, **labels: Unpack[Labels]) -> r.VoidReceipt:
        body: dict[str, Any] = {"kind": kind, "key": key} | _labels(labels)
        return await self._wire.effect(r.VoidReceipt.model_validate_json, "/void", body, key=None)


class _Identity(BaseModel):
    id: str = Field(min_length=1, max_length=200, pattern=r"^[^\s/]+$")


class _Clock(BaseModel):
    now: AwareDatetime


class _Cities(BaseModel):
    cities: tuple[City, ...]


@lru_cache(maxsize=2)
def cities_in(answer: bytes) -> tuple[City, ...]:
    """Return the cities of an answer, read once for all that connect: reading thousands takes a tenth of a second."""
    return _Cities.model_validate_json(answer).cities


class _Offers(BaseModel, Generic[AnyOffer]):
    offers: tuple[AnyOffer, ...]


class _Guarantees(BaseModel):
    dedup_s: float | None
    void: bool
    deadline: bool
    refusals_final: bool


_OFFER: Final[TypeAdapter[Offer]] = TypeAdapter(Offer)


def _journey(origin: str, destination: str, day: date, travellers: int) -> dict[str, str | int]:
    return {"origin": origin, "destination": destination, "date": day.isoformat(), "travellers": travellers}


def _labels(marks: Labels) -> dict[str, Any]:
    labels = {"saga_id": marks["saga_id"], "operation_id": marks["operation_id"]}
    return labels if marks["deadline"] is None else labels | {"deadline": marks["deadline"].isoformat()}


def _path_part(text: str) -> str:
    """Quote one segment of a path, so that an id cannot name another resource."""
    return quote(text, safe="")
