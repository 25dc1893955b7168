"""Application: the questions that the service answers over HTTP, and the effects it offers (docs/sandbox-api.md)."""

from __future__ import annotations

import asyncio
import json
import math
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import date, datetime, timedelta
from functools import cache
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, FastAPI, Header, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import AwareDatetime, BaseModel, BeforeValidator, Field, Strict
from starlette.exceptions import HTTPException

from sagagraph.sandbox import clock
from sagagraph.sandbox.api.fault_injection import FaultInjection
from sagagraph.sandbox.books import calls as c
from sagagraph.sandbox.books.calls import Call, Kind, Labels, ServiceError, refusal, unknown
from sagagraph.sandbox.books.faults import FaultOrder
from sagagraph.sandbox.clock import as_text
from sagagraph.sandbox.money import Cents, cents_of, rates_as_json
from sagagraph.sandbox.service import Service
from sagagraph.sandbox.settings import SandboxSettings
from sagagraph.sandbox.world.cities import City, all_cities, find_city
from sagagraph.sandbox.world.offers import OfferKind
from sagagraph.sandbox.world.questions import JourneyQuestion, Question, StayQuestion

Json = dict[str, Any]
Money = Annotated[Cents, BeforeValidator(cents_of, json_schema_input_type=float)]
Key = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1)]
Asked = Annotated[int, Query(ge=1, le=999)]
Few = Annotated[int, Query(ge=0, le=999)]

_TEN_YEARS_S = 10 * 366 * 86400


class _Body(BaseModel, extra="forbid", allow_inf_nan=False):
    pass


class EffectBody(_Body):
    """Body of an effect: labels that the ledger returns, and a deadline; every effect may have them."""

    saga_id: str | None = None
    operation_id: str | None = None
    deadline: AwareDatetime | None = None

    def labels(self, key: str | None) -> Labels:
        return Labels(idempotency_key=key, saga_id=self.saga_id, operation_id=self.operation_id, deadline=self.deadline)


class ReservationBody(EffectBody):
    kind: OfferKind
    offer_id: str
    quantity: Annotated[int, Strict(), Field(ge=1, le=999)]
    expected_price: Money | None = None


class PaymentBody(EffectBody):
    amount: Annotated[Money, Field(gt=0)]
    currency: Literal["USD"]
    reservations: tuple[str, ...]


class RefundBody(EffectBody):
    amount: Annotated[Money, Field(gt=0)] | None = None


class VoidBody(EffectBody):
    kind: Kind
    key: Annotated[str, Field(min_length=1)]


class AdvanceBody(_Body):
    seconds: Annotated[float, Strict(), Field(ge=0, le=_TEN_YEARS_S)]


def create_app(settings: SandboxSettings, *, real_now: Callable[[], datetime] = clock.real_now) -> FastAPI:
    """Create the service as an ASGI application; late calls land from lifespan startup to shutdown.

    `real_now`: the time source of the service's clock.

    Raises:
        InvalidInputError: the faults file or the database is not usable.
    """
    service = Service(settings, real_now)
    faults = FaultInjection(service.effects)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        landing = asyncio.create_task(faults.land_late_calls())
        yield
        faults.close()
        await landing
        service.close()

    app = FastAPI(title="SagaGraph sandbox reservation service", lifespan=lifespan)
    app.state.service, app.state.fault_injection = service, faults
    app.include_router(_routes(service, faults))
    for error in (ServiceError, RequestValidationError, HTTPException, sqlite3.OperationalError):
        app.add_exception_handler(error, _show)
    return app


async def _show(_: Request, error: Exception) -> JSONResponse:
    """Answer with one of the errors that it is registered for."""
    match error:
        case ServiceError():
            shown = error
        case RequestValidationError():
            problem = error.errors()[0]
            where = ".".join(str(part) for part in problem["loc"] if part not in ("body", "query", "header"))
            shown = refusal("invalid", f"{where or 'body'}: {problem['msg'].removeprefix('Value error, ')}")
        case HTTPException():  # an unknown path or method
            shown = ServiceError(error.status_code, HTTPStatus(error.status_code).name.lower(), error.detail)
        case _:
            shown = ServiceError(503, "unavailable", f"the database did not accept the call: {error}")
    wait = shown.retry_after_s
    return JSONResponse(shown.answer.body, shown.status, None if wait is None else {"Retry-After": str(math.ceil(wait))})


def _routes(service: Service, faults: FaultInjection) -> APIRouter:
    router = APIRouter()
    plain: dict[str, Callable[[], Any]] = {
        "/health": lambda: {"status": "ok"},
        "/identity": lambda: {"id": service.identity},
        "/clock": lambda: {"now": as_text(service.now())},
        "/faults": lambda: {"orders": [each.model_dump(mode="json") for each in service.effects.orders.open]},
        "/guarantees": service.guarantees,
        "/cities": lambda: Response(_all_cities_as_json(), media_type="application/json"),
        "/rates": rates_as_json,
        "/ledger": service.ledger,
    }
    for path, answer in plain.items():
        router.add_api_route(path, answer, response_model=None)
    _add_offers(router, service, faults)
    _add_effects(router, service, faults)
    _add_counter(router, service)
    return router


def _add_offers(router: APIRouter, service: Service, faults: FaultInjection) -> None:
    async def search(question: Question) -> Json:
        found = await faults.question(question.kind, "search", lambda rise: service.search(question, prices_rise=rise))
        return {"offers": found}

    def journeys(kind: Literal["flight", "train"]) -> Callable[..., Awaitable[Json]]:
        async def found(origin: str, destination: str, date: date, travellers: Asked = 1, children: Few = 0) -> Json:
            if children > travellers:
                raise refusal("invalid", "children: must not be more than the travellers")
            return await search(JourneyQuestion(kind, _city(origin), _city(destination), date, travellers, children))

        return found

    router.add_api_route("/offers/flights", journeys("flight"))
    router.add_api_route("/offers/trains", journeys("train"))

    @router.get("/offers/hotels")
    async def hotels(city: str, check_in: date, check_out: date, rooms: Asked = 1) -> Json:
        if check_out <= check_in:
            raise refusal("invalid", "check_out: must be after check_in")
        return await search(StayQuestion(_city(city), check_in, check_out, rooms))

    router.add_api_route("/offers/{offer_id}", service.offer)

    @router.get("/find")
    async def find(kind: Kind, key: Annotated[str, Query(min_length=1)]) -> Json:
        return await faults.question(kind, "find", lambda _: service.find(kind, key))


def _add_effects(router: APIRouter, service: Service, faults: FaultInjection) -> None:
    async def done(call: Call) -> JSONResponse:
        answer = await faults.effect(call)
        return JSONResponse(answer.body, answer.status, {"Idempotent-Replay": "true"} if answer.is_replay else None)

    @router.post("/reservations", status_code=201)
    async def book(body: ReservationBody, key: Key = None) -> JSONResponse:
        labels, price = body.labels(key), body.expected_price
        call = c.BookCall(labels=labels, kind=body.kind, offer_id=body.offer_id, quantity=body.quantity, expected_price=price)
        return await done(call)

    @router.post("/reservations/{reservation_id}/cancel", status_code=201)
    async def cancel(reservation_id: str, body: EffectBody, key: Key = None) -> JSONResponse:
        kind = await asyncio.to_thread(service.kind_of_reservation, reservation_id)
        return await done(c.CancelCall(labels=body.labels(key), kind=kind, reservation_id=reservation_id))

    @router.post("/payments", status_code=201)
    async def capture(body: PaymentBody, key: Key = None) -> JSONResponse:
        return await done(c.CaptureCall(labels=body.labels(key), amount=body.amount, reservation_ids=body.reservations))

    @router.post("/payments/{payment_id}/refund", status_code=201)
    async def refund(payment_id: str, body: RefundBody, key: Key = None) -> JSONResponse:
        return await done(c.RefundCall(labels=body.labels(key), payment_id=payment_id, amount=body.amount))

    @router.post("/void")
    async def void(body: VoidBody) -> JSONResponse:
        return await done(c.VoidCall(labels=body.labels(None), kind=body.kind, key=body.key))


def _add_counter(router: APIRouter, service: Service) -> None:
    """Add operations behind the service's counter, which no caller of a real service has."""
    router.add_api_route("/reservations/{reservation_id}/withdraw", service.effects.withdraw, methods=["POST"])

    @router.post("/clock/advance")
    def advance_clock(body: AdvanceBody) -> Json:
        return {"now": as_text(service.advance_clock(timedelta(seconds=body.seconds)))}

    @router.post("/faults", status_code=201)
    async def order_fault(order: FaultOrder) -> Json:
        service.effects.orders.add(order)
        return order.model_dump(mode="json")


def _city(name: str) -> City:
    city = find_city(name)
    if city is None:
        raise unknown("city", name)
    return city


@cache
def _all_cities_as_json() -> bytes:
    shown = [
        {
            "name": city.name,
            "country": city.country.name,
            "airport": city.airport.code,
            "timezone": city.timezone,
            "latitude": city.latitude,
            "longitude": city.longitude,
            "population": city.population,
        }
        for city in all_cities()
    ]
    return json.dumps({"cities": shown}, ensure_ascii=False, separators=(",", ":")).encode()
