"""Questions over HTTP: the clock, what is on offer, what landed; and operations behind the service's counter."""

from __future__ import annotations

import json
from datetime import date, timedelta
from functools import cache
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response

from sagagraph.sandbox.api.bodies import AdvanceBody
from sagagraph.sandbox.api.parameters import Faults, TheService
from sagagraph.sandbox.books.answers import refusal, unknown
from sagagraph.sandbox.books.calls import Kind
from sagagraph.sandbox.books.faults import FaultOrder
from sagagraph.sandbox.clock import as_text
from sagagraph.sandbox.exchange_rates import rates_as_json
from sagagraph.sandbox.world.cities import City, all_cities
from sagagraph.sandbox.world.city_search import find_city
from sagagraph.sandbox.world.questions import JourneyQuestion, Question, StayQuestion

Json = dict[str, Any]
Quantity = Annotated[int, Query(ge=1, le=999)]

router = APIRouter()


@router.get("/health")
async def health() -> Json:
    return {"status": "ok"}


@router.get("/identity")
def identity(service: TheService) -> Json:
    return {"id": service.identity()}


@router.get("/clock")
def clock(service: TheService) -> Json:
    return {"now": as_text(service.now())}


@router.post("/clock/advance")
def advance_clock(body: AdvanceBody, service: TheService) -> Json:
    return {"now": as_text(service.advance_clock(timedelta(seconds=body.seconds)))}


@router.get("/faults")
async def open_fault_orders(service: TheService) -> Json:
    return {"orders": [each.model_dump(mode="json") for each in service.effects.orders.open]}


@router.post("/faults", status_code=201)
async def order_fault(order: FaultOrder, service: TheService) -> Json:
    service.effects.orders.add(order)
    return order.model_dump(mode="json")


@router.get("/guarantees")
async def guarantees(service: TheService) -> Json:
    return service.guarantees()


@router.get("/cities")
def cities() -> Response:
    return Response(_all_cities_as_json(), media_type="application/json")


@router.get("/rates")
async def rates() -> Json:
    return rates_as_json()


@router.get("/offers/flights")
async def flights(
    origin: str, destination: str, date: date, service: TheService, faults: Faults, travellers: Quantity = 1
) -> Json:
    return await _search(_journey("flight", origin, destination, date, travellers), service, faults)


@router.get("/offers/trains")
async def trains(
    origin: str, destination: str, date: date, service: TheService, faults: Faults, travellers: Quantity = 1
) -> Json:
    return await _search(_journey("train", origin, destination, date, travellers), service, faults)


@router.get("/offers/hotels")
async def hotels(city: str, check_in: date, check_out: date, service: TheService, faults: Faults, rooms: Quantity = 1) -> Json:
    if check_out <= check_in:
        raise refusal("invalid", "check_out: must be after check_in")
    return await _search(StayQuestion(_city(city), check_in, check_out, rooms), service, faults)


@router.get("/offers/{offer_id}")
def offer(offer_id: str, service: TheService) -> Json:
    return service.offer(offer_id)


@router.get("/find")
async def find(kind: Kind, key: Annotated[str, Query(min_length=1)], service: TheService, faults: Faults) -> Json:
    return await faults.question(kind, "find", lambda _: service.find(kind, key))


@router.get("/ledger")
def ledger(service: TheService) -> Json:
    return service.ledger()


async def _search(question: Question, service: TheService, faults: Faults) -> Json:
    def search(prices_rise: bool) -> list[Json]:
        return service.search(question, prices_rise=prices_rise)

    return {"offers": await faults.question(question.kind, "search", search)}


def _journey(kind: Literal["flight", "train"], origin: str, destination: str, day: date, travellers: int) -> JourneyQuestion:
    return JourneyQuestion(kind, _city(origin), _city(destination), day, travellers)


def _city(name: str) -> City:
    city = find_city(name)
    if city is None:
        raise unknown("city", name)
    return city


@cache
def _all_cities_as_json() -> bytes:
    shown = {"cities": [_city_as_json(city) for city in all_cities()]}
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode()


def _city_as_json(city: City) -> Json:
    return {
        "name": city.name,
        "country": city.country.name,
        "airport": city.airport.code,
        "timezone": city.timezone,
        "latitude": city.latitude,
        "longitude": city.longitude,
        "population": city.population,
    }
