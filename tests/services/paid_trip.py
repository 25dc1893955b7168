"""The sample trip, paid at Stripe, to be killed at every boundary: the books of Stripe's server and the ledger of the reservation
service are the judges.

`python -m sagagraph.testing tests.services.paid_trip:TRIPS` sweeps it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from sagagraph.domains.travel.actions.actions import PATIENCE_S, patient
from sagagraph.domains.travel.actions.payer import Payer, payer_by
from sagagraph.domains.travel.plan import Charged
from sagagraph.domains.travel.provider.receipts import Ledger, PaymentRow, RefundRow
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.call import Probe
from sagagraph.services import stripe
from sagagraph.services.service import Account, now_in_utc
from sagagraph.testing.scenario import Judgement
from tests.services import stripe_server
from tests.support.trips import NO_WAY_BACK, ChangedTrip, TripScenario, forked

STRIPE, BOOKS = "stripe", "books.json"
"""Files of a case: where Stripe is, and what is in its books."""
Actions = tuple[Action, ...]


def as_it_is(_account: stripe.Stripe, actions: Actions) -> Actions:
    return actions


@dataclass(frozen=True)
class PaidTrip(TripScenario):
    """`breaks` makes one of the mistakes that such adapters are made with; the judge must find it."""

    breaks: Callable[[stripe.Stripe, Actions], Actions] = as_it_is
    patience_s: float = PATIENCE_S

    @contextmanager
    def world(self, folder: Path) -> Iterator[None]:
        with forked(partial(stripe_server.serve, folder / BOOKS)) as url:
            (folder / STRIPE).write_text(url)
            with super().world(folder):
                yield

    def payer(self, folder: Path) -> Payer:
        account = stripe.Stripe(Account.of((folder / STRIPE).read_text(), "sk_test_trip"), now_in_utc)
        actions = self.breaks(account, stripe.stripe_actions(account))
        return payer_by(Charged(at=account.identity, method="pm_card_visa"), actions, patient(self.patience_s))

    async def ledger(self, folder: Path) -> Ledger:
        """The reservations of the one, and the payments of the other."""
        reserved = await super().ledger(folder)
        if reserved.payments:
            raise AssertionError(f"the reservation service's bank was paid too: {reserved.payments}")
        intents, refunds = _books(folder)
        back = Counter({each["id"]: 0 for each in intents})
        for each in refunds:
            back[each["payment_intent"]] += each["amount"]
        return reserved.model_copy(
            update={
                "payments": tuple(_payment(each, back[each["id"]]) for each in intents if each["status"] == "succeeded"),
                "refunds": tuple(map(_refund, refunds)),
            }
        )

    async def judge(self, folder: Path) -> Judgement:
        judged = await super().judge(folder)
        is_whole = not isinstance(self, ChangedTrip)  # of which the provider has withdrawn a part that was paid
        amiss = _amiss(folder, await self.ledger(folder), judged.outcome, is_whole=is_whole)
        return replace(judged, faults=(*judged.faults, *amiss))


@dataclass(frozen=True)
class PaidChangedTrip(PaidTrip, ChangedTrip):
    """Paid, changed after that, and paid anew."""


def _books(folder: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    known = json.loads((folder / BOOKS).read_text()) if (folder / BOOKS).exists() else {"intents": {}, "refunds": {}}
    return list(known["intents"].values()), list(known["refunds"].values())


def _payment(intent: dict[str, Any], refunded: int) -> PaymentRow:
    marks, whole = intent["metadata"], refunded == intent["amount_received"]
    return PaymentRow(
        id=intent["id"],
        currency=intent["currency"].upper(),
        created_at=datetime.fromtimestamp(intent["created"], UTC),
        idempotency_key=marks["capture_key"],
        state="refunded" if whole else "captured",
        amount=Decimal(intent["amount_received"]) / 100,
        saga_id=marks["capture_saga"],
        operation_id=marks["capture_operation"],
    )


def _refund(refund: dict[str, Any]) -> RefundRow:
    marks = refund["metadata"]
    return RefundRow(
        id=refund["id"],
        payment_id=refund["payment_intent"],
        amount=Decimal(refund["amount"]) / 100,
        idempotency_key=marks.get("key"),
        saga_id=marks.get("saga"),
        operation_id=marks.get("operation"),
        created_at=datetime.fromtimestamp(refund["created"], UTC),
    )


def _amiss(folder: Path, ledger: Ledger, outcome: str, *, is_whole: bool) -> Iterator[str]:
    """What the judges of every trip do not look at: money that is held, held twice, or not what the bookings cost."""
    intents, _refunds = _books(folder)
    held = [each["amount"] for each in intents if each["status"] == "requires_capture"]
    if held:
        yield f"{outcome}, and {held} is still held"
    for marks, times in Counter((each["metadata"]["saga"], each["metadata"]["operation"]) for each in intents).items():
        if times > 1:
            yield f"{marks} was authorised {times} times"
    paid = sum(row.amount for row in ledger.payments if row.state == "captured")
    costs = sum(row.price for row in ledger.reservations if row.state == "confirmed")
    if is_whole and outcome == "committed" and paid != costs:
        yield f"{paid} was taken for what costs {costs}"


def without_key_on_the_hold(account: stripe.Stripe, actions: Actions) -> Actions:
    """It is not looked for either: what may have been held is held again."""
    authorise, capture = actions

    def hold(request: stripe.Charge, call: Call) -> stripe.Authorised:
        asked: Any = {
            "amount": request.amount,
            "currency": request.currency,
            "payment_method": request.payment_method,
            "capture_method": "manual",
            "confirm": True,
            "metadata": {"key": call.idempotency_key, "saga": call.saga_id, "operation": call.operation_id},
        }
        made = account.intents.create(asked)
        return stripe.Authorised(payment_intent=made.id, amount=made.amount, currency=made.currency)

    def find(_request: stripe.Charge, _call: Call) -> Probe:
        return Probe.absent()

    return replace(authorise, execute=hold, probe=find), capture


def without_key_on_the_refund(account: stripe.Stripe, actions: Actions) -> Actions:
    """Neither with it nor by it: nobody can tell whether this payment has been refunded for this operation."""
    authorise, capture = actions

    def refund(_request: stripe.Capture, captured: stripe.Captured, _call: Call) -> stripe.Refunded:
        made = account.refunds.create({"payment_intent": captured.payment_intent, "amount": captured.amount})
        return stripe.Refunded(refund=made.id, amount=made.amount)

    return authorise, replace(capture, reverse=refund)


TRIPS = (
    PaidTrip("paid"),
    PaidTrip("repaired", faults=(NO_WAY_BACK,), budget=1960, gives_up=1),
    PaidTrip("cancel half-way", cancels_after=44),
    PaidTrip("cancel after payment", cancels_after=0, insurances=2),
    PaidChangedTrip("changed"),
    PaidChangedTrip("cancel after change", is_cancelled=True),
)
HOLD_WITHOUT_KEY = PaidTrip("paid", breaks=without_key_on_the_hold, patience_s=0.5)
REFUND_WITHOUT_KEY = PaidTrip("cancel after payment", cancels_after=0, breaks=without_key_on_the_refund, patience_s=0.5)
