"""Effects over HTTP: bookings, payments, their reversals, and voids."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from sagagraph.sandbox.api.bodies import EffectBody, PaymentBody, RefundBody, ReservationBody, VoidBody
from sagagraph.sandbox.api.parameters import Faults, Key, TheService
from sagagraph.sandbox.books.answers import Answer
from sagagraph.sandbox.books.calls import BookCall, CancelCall, CaptureCall, RefundCall, VoidCall

router = APIRouter()


@router.post("/reservations", status_code=201)
async def book(body: ReservationBody, faults: Faults, key: Key = None) -> JSONResponse:
    call = BookCall(
        labels=body.labels(key),
        kind=body.kind,
        offer_id=body.offer_id,
        quantity=body.quantity,
        expected_price=body.expected_price,
    )
    return _shown(await faults.effect(call))


@router.post("/reservations/{reservation_id}/cancel", status_code=201)
async def cancel(reservation_id: str, body: EffectBody, service: TheService, faults: Faults, key: Key = None) -> JSONResponse:
    kind = await asyncio.to_thread(service.kind_of_reservation, reservation_id)
    return _shown(await faults.effect(CancelCall(labels=body.labels(key), kind=kind, reservation_id=reservation_id)))


@router.post("/reservations/{reservation_id}/withdraw")
def withdraw(reservation_id: str, service: TheService) -> dict[str, Any]:
    """Withdraws a reservation on the provider's side of the counter, like the clock."""
    return service.effects.withdraw(reservation_id)


@router.post("/payments", status_code=201)
async def capture(body: PaymentBody, faults: Faults, key: Key = None) -> JSONResponse:
    call = CaptureCall(labels=body.labels(key), amount=body.amount, reservation_ids=body.reservations)
    return _shown(await faults.effect(call))


@router.post("/payments/{payment_id}/refund", status_code=201)
async def refund(payment_id: str, body: RefundBody, faults: Faults, key: Key = None) -> JSONResponse:
    return _shown(await faults.effect(RefundCall(labels=body.labels(key), payment_id=payment_id, amount=body.amount)))


@router.post("/void")
async def void(body: VoidBody, faults: Faults) -> JSONResponse:
    return _shown(await faults.effect(VoidCall(labels=body.labels(None), kind=body.kind, key=body.key)))


def _shown(answer: Answer) -> JSONResponse:
    headers = {"Idempotent-Replay": "true"} if answer.is_replay else None
    return JSONResponse(answer.body, answer.status, headers)
