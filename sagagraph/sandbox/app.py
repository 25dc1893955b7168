"""The HTTP interface (docs/sandbox-api.md): reads what was asked, hands it on, and writes the answer."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import date, datetime, timedelta
from functools import cache, partial
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, FastAPI, Header, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from sagagraph.sandbox import rates
from sagagraph.sandbox.answers import Answer, ServiceError, refusal, unknown
from sagagraph.sandbox.bodies import AdvanceBody, EffectBody, PaymentBody, RefundBody, ReservationBody, VoidBody
from sagagraph.sandbox.calls import BookCall, CancelCall, CaptureCall, Kind, RefundCall, VoidCall
from sagagraph.sandbox.cities import City, all_cities, find_city, matching_cities
from sagagraph.sandbox.clock import as_text, real_now
from sagagraph.sandbox.late_landings import LateLandings
from sagagraph.sandbox.orders import FaultOrder
from sagagraph.sandbox.reception import Reception
from sagagraph.sandbox.service import Service
from sagagraph.sandbox.settings import SandboxSettings
from sagagraph.sandbox.world import JourneyQuestion, Question, StayQuestion

Json = dict[str, Any]


def create_app(settings: SandboxSettings, *, real_now: Callable[[], datetime] = real_now) -> FastAPI:
    """The service as an ASGI application; its background thread runs from lifespan startup to shutdown.

    `real_now`: what the service's clock runs with.

    Raises:
        InvalidInputError: the faults file or the database is not usable.
    """
    service = Service(settings, real_now)
    reception = Reception(service.effects)
    landings = LateLandings(service.effects)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        landings.start()
        yield
        reception.close()
        await asyncio.to_thread(landings.stop)
        service.close()

    app = FastAPI(title="SagaGraph sandbox reservation service", lifespan=lifespan)
    app.state.service, app.state.reception = service, reception
    app.include_router(_enquiries)
    app.include_router(_effects)
    app.add_exception_handler(ServiceError, _show_service_error)
    app.add_exception_handler(RequestValidationError, _show_invalid_input)
    app.add_exception_handler(HTTPException, _show_http_error)
    app.add_exception_handler(sqlite3.OperationalError, _show_busy_database)
    return app


async def _service_of(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


async def _reception_of(request: Request) -> Reception:
    reception: Reception = request.app.state.reception
    return reception


TheService = Annotated[Service, Depends(_service_of)]
TheReception = Annotated[Reception, Depends(_reception_of)]
Key = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1)]
Quantity = Annotated[int, Query(ge=1, le=999)]

_enquiries = APIRouter()
_effects = APIRouter()


# -- reading ---------------------------------------------------------------------------------------------------------


@_enquiries.get("/health")
async def health() -> Json:
    return {"status": "ok"}


@_enquiries.get("/clock")
def clock(service: TheService) -> Json:
    return {"now": as_text(service.now())}


@_enquiries.post("/clock/advance")
def advance_clock(body: AdvanceBody, service: TheService) -> Json:
    return {"now": as_text(service.advance_clock(timedelta(seconds=body.seconds)))}


@_enquiries.get("/faults")
async def open_fault_orders(service: TheService) -> Json:
    return {"orders": [each.model_dump(mode="json") for each in service.effects.orders.open]}


@_enquiries.post("/faults", status_code=201)
async def order_fault(order: FaultOrder, service: TheService) -> Json:
    service.effects.orders.add(order)
    return order.model_dump(mode="json")


@_enquiries.get("/guarantees")
async def guarantees(service: TheService) -> Json:
    return service.guarantees()


@_enquiries.get("/cities")
def cities(q: str | None = None) -> Response:
    if q is not None:
        return JSONResponse({"cities": [_namesake_as_json(city) for city in matching_cities(q)]})
    return Response(_all_cities_as_json(), media_type="application/json")


@_enquiries.get("/rates")
async def exchange_rates() -> Json:
    return {"base": rates.BASE, "on": rates.ON.isoformat(), "source": rates.SOURCE, "rates": dict(rates.RATES)}


@_enquiries.get("/offers/flights")
async def flights(
    origin: str, destination: str, date: date, service: TheService, reception: TheReception, travellers: Quantity = 1
) -> Json:
    return await _search(_journey("flight", origin, destination, date, travellers), service, reception)


@_enquiries.get("/offers/trains")
async def trains(
    origin: str, destination: str, date: date, service: TheService, reception: TheReception, travellers: Quantity = 1
) -> Json:
    return await _search(_journey("train", origin, destination, date, travellers), service, reception)


@_enquiries.get("/offers/hotels")
async def hotels(
    city: str, check_in: date, check_out: date, service: TheService, reception: TheReception, rooms: Quantity = 1
) -> Json:
    if check_out <= check_in:
        raise refusal("invalid", "check_out: must be after check_in")
    return await _search(StayQuestion(_city(city), check_in, check_out, rooms), service, reception)


@_enquiries.get("/offers/{offer_id}")
def offer(offer_id: str, service: TheService) -> Json:
    return service.enquiries.offer(offer_id)


@_enquiries.get("/find")
async def find(kind: Kind, key: Annotated[str, Query(min_length=1)], service: TheService, reception: TheReception) -> Json:
    return await reception.enquiry(kind, "find", lambda _: service.enquiries.find(kind, key))


@_enquiries.get("/ledger")
def ledger(service: TheService) -> Json:
    return service.enquiries.ledger()


async def _search(question: Question, service: Service, reception: Reception) -> Json:
    search = partial(service.enquiries.search, question)
    offers = await reception.enquiry(question.kind, "search", lambda prices_rise: search(prices_rise=prices_rise))
    return {"offers": offers}


def _journey(kind: Literal["flight", "train"], origin: str, destination: str, day: date, travellers: int) -> JourneyQuestion:
    return JourneyQuestion(kind, _city(origin), _city(destination), day, travellers)


def _city(name: str) -> City:
    city = find_city(name)
    if city is None:
        raise unknown("city", name)
    return city


@cache
def _all_cities_as_json() -> bytes:
    return json.dumps(
        {"cities": [_city_as_json(city) for city in all_cities()]}, ensure_ascii=False, separators=(",", ":")
    ).encode()


def _namesake_as_json(city: City) -> Json:
    """With what tells it from its namesakes."""
    return {**_city_as_json(city), "region": city.region}


def _city_as_json(city: City) -> Json:
    return {
        "name": city.name,
        "country": city.country,
        "airport": city.airport,
        "timezone": city.timezone,
        "latitude": city.latitude,
        "longitude": city.longitude,
        "population": city.population,
    }


# -- effects ---------------------------------------------------------------------------------------------------------


@_effects.post("/reservations", status_code=201)
async def book(body: ReservationBody, reception: TheReception, key: Key = None) -> JSONResponse:
    call = BookCall(
        labels=body.labels(key),
        kind=body.kind,
        offer_id=body.offer_id,
        quantity=body.quantity,
        expected_price=body.expected_price,
    )
    return _shown(await reception.effect(call))


@_effects.post("/reservations/{reservation_id}/cancel", status_code=201)
async def cancel(
    reservation_id: str, body: EffectBody, service: TheService, reception: TheReception, key: Key = None
) -> JSONResponse:
    kind = await asyncio.to_thread(service.enquiries.kind_of_reservation, reservation_id)
    return _shown(await reception.effect(CancelCall(labels=body.labels(key), kind=kind, reservation_id=reservation_id)))


@_effects.post("/reservations/{reservation_id}/withdraw")
def withdraw(reservation_id: str, service: TheService) -> Json:
    """On the provider's side of the counter, like the clock."""
    return service.effects.withdraw(reservation_id)


@_effects.post("/payments", status_code=201)
async def capture(body: PaymentBody, reception: TheReception, key: Key = None) -> JSONResponse:
    call = CaptureCall(labels=body.labels(key), amount=body.amount, reservation_ids=body.reservations)
    return _shown(await reception.effect(call))


@_effects.post("/payments/{payment_id}/refund", status_code=201)
async def refund(payment_id: str, body: RefundBody, reception: TheReception, key: Key = None) -> JSONResponse:
    return _shown(await reception.effect(RefundCall(labels=body.labels(key), payment_id=payment_id, amount=body.amount)))


@_effects.post("/void")
async def void(body: VoidBody, reception: TheReception) -> JSONResponse:
    return _shown(await reception.effect(VoidCall(labels=body.labels(None), kind=body.kind, key=body.key)))


# -- answers ---------------------------------------------------------------------------------------------------------


def _shown(answer: Answer) -> JSONResponse:
    headers = {"Idempotent-Replay": "true"} if answer.is_replay else None
    return JSONResponse(answer.body, answer.status, headers)


# Starlette's type of a handler promises it any Exception, though it only ever hands over those it was registered for.


async def _show_service_error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ServiceError)  # noqa: S101 - tells the type checker what the registration says
    return _shown(error.answer)


async def _show_invalid_input(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - as above
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"] if part not in ("body", "query", "header"))
    what = problem["msg"].removeprefix("Value error, ")
    return _shown(refusal("invalid", f"{where or 'body'}: {what}").answer)


async def _show_http_error(_: Request, error: Exception) -> JSONResponse:
    """No such path, or not by this method."""
    assert isinstance(error, HTTPException)  # noqa: S101 - as above
    code = HTTPStatus(error.status_code).name.lower()
    return _shown(ServiceError(error.status_code, code, error.detail).answer)


async def _show_busy_database(_: Request, error: Exception) -> JSONResponse:
    return _shown(ServiceError(503, "unavailable", f"the database did not take the call: {error}").answer)
