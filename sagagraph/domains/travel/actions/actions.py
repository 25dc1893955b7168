"""Actions of a trip: T1 to T5 and C1 to C5 of SagaLLM section 4.3.2, the payment (the pivot) and the itinerary (retriable).

All of them use one provider. Every effect carries the operation's key; every probe and void uses that key, never a business key
(docs/protocol.md rules 3 and 4).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from sagagraph.domains.travel.actions import bookings as b
from sagagraph.domains.travel.actions.documents import itinerary_ics, itinerary_text, told_in
from sagagraph.domains.travel.money import money_text
from sagagraph.domains.travel.plan import plan_hash
from sagagraph.domains.travel.provider.provider import Labels, Marks, ReservationProvider
from sagagraph.domains.travel.provider.receipts import EffectKind, Landed, Payment, ProviderGuarantees, Reservation, VoidReceipt
from sagagraph.domains.travel.rules.answers import BOOKING, PAYMENT, SENT, check_cancelled, check_refunded
from sagagraph.errors import Refused
from sagagraph.files import file_name, write_whole
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.actions import Action, Function, Guarantees, UndoCost, action
from sagagraph.saga.engine.call import Probe
from sagagraph.validators.verdict import Violation
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.policy import Backoff, CompensationPolicy, LoopGuards, Policy, Retry

PATIENCE_S: Final = 3600.0
"""How long the pauses between the attempts of one call may be in all, before it is given up or held."""
_BACKOFF: Final = Backoff(base_s=0.1, cap_s=60.0, jitter=0.5)
_TIMEOUT_S: Final = 10.0
_YEARS: Final = timedelta(days=3650).total_seconds()


def patient(patience_s: float) -> Policy:
    """Return the policy of effects: each worker waits this long; a trip may be resumed years after its first attempt."""
    attempts = max(4, _BACKOFF.attempts_within(patience_s))
    return Policy(
        retry=Retry(max_attempts=attempts),
        backoff=_BACKOFF,
        timeout_s=_TIMEOUT_S,
        compensation=CompensationPolicy(max_attempts=max(6, attempts), timeout_s=_TIMEOUT_S),
        unknown_probes=max(3, attempts),
        loop_guards=LoopGuards(max_iterations=1_000_000, deadline_s=_YEARS),
    )


POLICY = patient(PATIENCE_S)
FOREVER = timedelta(days=36500)
"""How long a file keeps its name."""


def travel_actions(
    provider: ReservationProvider,
    guarantees: ProviderGuarantees,
    outbox: Path,
    *,
    identity: str = "",
    policy: Policy | None = None,
) -> tuple[Action, ...]:
    """Return the actions. `guarantees`, `identity`: as this provider states them; `outbox`: the folder for itineraries.

    `policy`: that of calls with effects.
    """
    service = _Service(provider, guarantees, identity, policy or POLICY)
    bookings = tuple(_booking_action(service, kind) for kind in ("flight", "hotel", "train", "insurance"))
    return *_questions(service), *bookings, _payment_action(service), _dispatch_action(outbox)


@dataclass(frozen=True)
class _Service:
    """Service as actions use it: the provider with deadlines on its clock, and only its own guarantees."""

    provider: ReservationProvider
    given: ProviderGuarantees
    identity: str
    policy: Policy

    def guarantees(self, void: Function) -> Guarantees:
        given = self.given
        return Guarantees(
            dedup=given.dedup,
            void=void if given.void else None,
            deadline=given.deadline,
            refusals_final=given.refusals_final,
        )

    async def known(self, kind: EffectKind, landed_id: str, call: Call) -> Landed:
        """Refuse to undo anything that this provider did not make under this key: another service may use the same ids."""
        found = await self.provider.find(kind, call.operation_key)
        for each in found.matches:
            if each.id == landed_id:
                return each
        raise Refused(
            f"this provider does not know {landed_id} under the key {call.operation_key}: is it the one that made it?",
            code="unknown_here",
        )

    async def marks(self, call: Call) -> Marks:
        """Return the marks of an effect, with `call.deadline` on the provider's clock: never later, however long the
        query takes.
        """
        deadline = None
        if self.given.deadline:
            theirs = await self.provider.now()
            deadline = theirs + (call.deadline - datetime.now(UTC))
        return Marks(key=call.idempotency_key, saga_id=call.saga_id, operation_id=call.operation_id, deadline=deadline)

    async def void(self, kind: EffectKind, call: Call) -> VoidReceipt:
        labels = Labels(saga_id=call.saga_id, operation_id=call.operation_id, deadline=None)
        return await self.provider.void(kind, call.operation_key, **labels)

    async def probe(self, kind: EffectKind, call: Call) -> Probe:
        found = await self.provider.find(kind, call.operation_key)
        landed = [each for each in found.matches if isinstance(each, Payment) is (kind == "payment")]
        live = [each for each in landed if each.state in ("confirmed", "captured")]
        if len(live) > 1 or (live and len(landed) > 1):
            return Probe.multiple([each.id for each in landed])
        if live:
            return Probe.landed(_captured(live[0]) if isinstance(live[0], Payment) else _booked(live[0]))
        if not landed:
            return Probe.absent()
        first = landed[0]
        if isinstance(first, Reservation):
            return Probe.undone(_cancelled(first))
        return Probe.undone(b.RefundedPayment(payment_id=first.id, amount=first.amount, currency=first.currency))


def _questions(service: _Service) -> Iterator[Action]:
    async def check_prices(request: b.PriceCheck, _call: Call) -> b.PriceCheckResult:
        for quoted in request.offers:
            offer = await service.provider.offer(quoted.offer_id)
            if offer is None or offer.left < 1:
                raise Refused(f"offer {quoted.offer_id} is sold out since it was approved", code="sold_out")
            if offer.price != quoted.price:
                raise Refused(
                    f"offer {quoted.offer_id} costs {money_text(offer.price)} now, {money_text(quoted.price)} was approved",
                    code="price_changed",
                )
        return b.PriceCheckResult(checked=len(request.offers))

    async def keep_booking(request: b.KeepRequest, _call: Call) -> b.Booking:
        """Check in the provider's records that the booking is in effect."""
        found = await service.provider.find(request.kind, request.key)
        for each in found.reservations:
            if each.id == request.reservation_id and each.state == "confirmed":
                return _booked(each)
        raise Refused(f"{request.title} has fallen through: the provider cancelled it", code="fell_through")

    # A query has no effect: an outage says nothing about the answer, so the operation is held and does not fail.
    policy = replace(service.policy, retry=replace(service.policy.retry, holds=True))
    for question in (check_prices, keep_booking):
        yield action(question, kind=ActionKind.READ_ONLY, policy=policy, provider=service.identity)


def _booking_action(service: _Service, kind: str) -> Action:
    async def book(request: b.BookingRequest, call: Call) -> b.Booking:
        marks = await service.marks(call)
        what = request.kind, request.offer_id, request.quantity
        return _booked(await service.provider.book(*what, expected_price=request.price, **marks))

    async def cancel(request: b.BookingRequest, booking: b.Booking, call: Call) -> b.CancelledBooking:
        """Cancel a booking, unless an earlier call or the provider has cancelled it already."""
        known = await service.known(request.kind, booking.reservation_id, call)
        if isinstance(known, Reservation) and known.state == "cancelled":
            return _cancelled(known)
        receipt = await service.provider.cancel(booking.reservation_id, **await service.marks(call))
        most = booking.cancellation.fee_at(receipt.created_at)
        _hold_to_plan(check_cancelled(receipt.fee, receipt.currency, most, booking.currency))
        return b.CancelledBooking(reservation_id=booking.reservation_id, fee=receipt.fee, currency=receipt.currency)

    async def find(request: b.BookingRequest, call: Call) -> Probe:
        return await service.probe(request.kind, call)

    async def void(request: b.BookingRequest, call: Call) -> b.CancelledBooking:
        return b.CancelledBooking(reservation_id=None, fee=(await service.void(request.kind, call)).fee, currency="USD")

    async def undo_cost(_request: b.BookingRequest, booking: b.Booking) -> UndoCost:
        fee = booking.cancellation.fee_at(await service.provider.now())
        return UndoCost(float(fee), booking.currency, f"a cancellation fee of {money_text(fee)}" if fee else "")

    return action(
        book,
        compensate=cancel,
        probe=find,
        policy=service.policy,
        guarantees=service.guarantees(void),
        undo_cost=undo_cost,
        provider=service.identity,
        validators=[BOOKING],
        name=f"book_{kind}",
    )


def _payment_action(service: _Service) -> Action:
    async def capture_payment(request: b.PaymentRequest, call: Call) -> b.CapturedPayment:
        marks, booked = await service.marks(call), [each for each in request.reservations if each is not None]
        return _captured(await service.provider.capture(request.due, request.currency, booked, **marks))

    async def refund(_request: b.PaymentRequest, payment: b.CapturedPayment, call: Call) -> b.RefundedPayment:
        await service.known("payment", payment.payment_id, call)
        receipt = await service.provider.refund(payment.payment_id, **await service.marks(call))
        found = tuple(check_refunded(receipt.amount, receipt.currency, payment.amount, payment.currency))
        if not (found and service.given.void and receipt.currency == payment.currency):
            _hold_to_plan(found)
            return b.RefundedPayment(payment_id=payment.payment_id, amount=receipt.amount, currency=receipt.currency)
        # Voiding the payment's key refunds whatever is not refunded yet, however often it is called.
        await service.void("payment", call)
        repaired = "; ".join(each.message for each in found)
        known = {"payment_id": payment.payment_id, "amount": payment.amount, "currency": payment.currency}
        return b.RefundedPayment(**known, repaired=repaired)

    async def find(_request: b.PaymentRequest, call: Call) -> Probe:
        return await service.probe("payment", call)

    async def void(request: b.PaymentRequest, call: Call) -> b.RefundedPayment:
        await service.void("payment", call)
        return b.RefundedPayment(payment_id=None, amount=request.due, currency=request.currency)

    return action(
        capture_payment,
        kind=ActionKind.PIVOT,
        probe=find,
        reverse=refund,
        policy=service.policy,
        validators=[PAYMENT],
        guarantees=service.guarantees(void),
        provider=service.identity,
    )


def _dispatch_action(outbox: Path) -> Action:
    """Make the action that sends files named by the operation's key: sending an itinerary again writes the same files."""

    def send_itinerary(request: b.DispatchRequest, call: Call) -> b.Dispatch:
        folder = outbox / file_name(call.saga_id)
        folder.mkdir(parents=True, exist_ok=True)
        taken = request.itinerary.as_landed(request.landings)
        booked = {label: each for label, each in request.reservations.items() if each is not None}
        ics = itinerary_ics(taken, booked, created=request.captured_at, plan=plan_hash(request.itinerary))
        text = itinerary_text(taken, booked, request.policies)
        write_whole(folder / "itinerary.ics", ics)
        write_whole(folder / "itinerary.txt", text.encode())
        plan, reservations = told_in((folder / "itinerary.ics").read_bytes())
        files = {"calendar": str(folder / "itinerary.ics"), "text": str(folder / "itinerary.txt")}
        return b.Dispatch(**files, plan=plan, reservations=reservations)

    return action(
        send_itinerary,
        kind=ActionKind.RETRIABLE,
        policy=Policy(retry=Retry(max_attempts=4), timeout_s=10.0),
        validators=[SENT],
        guarantees=Guarantees(dedup=FOREVER),
        provider="outbox",  # a folder, in which sending it again writes the same files
    )


def _hold_to_plan(violations: Iterable[Violation]) -> None:
    """Check an undoing. One that was carried out otherwise than agreed cannot be undone: a person must be told.

    Raises:
        Refused: the service's answer is not what was agreed.
    """
    found = "; ".join(each.message for each in violations)
    if found:
        raise Refused(f"it was carried out, but not as agreed: {found}", code="answer_rejected")


def _booked(reservation: Reservation) -> b.Booking:
    return b.Booking(
        reservation_id=reservation.id,
        price=reservation.price,
        currency=reservation.currency,
        cancellation=reservation.offer.cancellation,
        offer=reservation.offer,
    )


def _cancelled(reservation: Reservation) -> b.CancelledBooking:
    return b.CancelledBooking(reservation_id=reservation.id, fee=reservation.fee, currency=reservation.currency)


def _captured(payment: Payment) -> b.CapturedPayment:
    return b.CapturedPayment(
        payment_id=payment.id, amount=payment.amount, currency=payment.currency, captured_at=payment.created_at
    )
