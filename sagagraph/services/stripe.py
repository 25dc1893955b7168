"""Stripe: authorise (undone by cancelling), and capture as the pivot (taken back by a refund).

Stripe remembers an idempotency key for 24 hours. After that nothing is repeated: what landed is found in the lists of the
account, which show it at once, and never by its search, which lags. Amounts are in the smallest unit of the currency.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, Field

from sagagraph.errors import InvalidInputError, ProviderError, Refused
from sagagraph.extras import needing
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.actions import Action, Function, Guarantees, UndoCost, action
from sagagraph.saga.engine.body import BodySaga
from sagagraph.saga.engine.call import Probe
from sagagraph.saga.engine.calling.threads import in_thread
from sagagraph.services.service import FOREVER, POLICY, Account, Opened, Trial
from sagagraph.workflow.kind import ActionKind

if TYPE_CHECKING:
    import stripe

REMEMBERS: Final = timedelta(hours=24)
_STANDS_FOR: Final = timedelta(days=8)
"""An authorisation of a card is void after seven days."""
_PAGE: Final = 100


class Charge(BaseModel):
    amount: int = Field(gt=0)
    currency: str
    payment_method: str
    description: str = ""
    customer: str = ""
    """If there is one, only this customer's payments are looked through for a key."""


class Authorised(BaseModel):
    payment_intent: str
    amount: int
    currency: str


class Capture(BaseModel):
    payment_intent: str
    amount: int = Field(gt=0)
    kept: int = Field(0, ge=0)
    """What is not refunded if the payment is taken back."""


class Captured(BaseModel):
    payment_intent: str
    amount: int
    currency: str


class Refunded(BaseModel):
    refund: str
    amount: int


class Stripe:
    """Account at Stripe. Its client blocks: the actions are plain functions, each in a thread of its own."""

    def __init__(self, account: Account, now: Callable[[], datetime]) -> None:
        if not account.secret:
            raise InvalidInputError("the secret key of a Stripe account is missing", field="secret")
        with needing("stripe"):
            import stripe

        logging.getLogger("stripe").setLevel(logging.WARNING)  # it writes down bodies, and what is secret in them
        http: Any = stripe.RequestsClient(timeout=POLICY.timeout_s, verify_ssl_certs=True)
        api: Any = {"api": account.address.rstrip("/")}
        client = stripe.StripeClient(account.secret, base_addresses=api, http_client=http, max_network_retries=0)
        self.intents, self.refunds = client.v1.payment_intents, client.v1.refunds
        self.not_valid = stripe.InvalidRequestError
        self.now = now
        self.identity = account.identity

    def intents_since(self, since: datetime, customer: str = "") -> Iterator[stripe.PaymentIntent]:
        asked: Any = {"created": {"gte": int(since.timestamp())}, "limit": _PAGE}
        asked |= {"customer": customer} if customer else {}
        yield from self.intents.list(asked).auto_paging_iter()

    def refund_of(self, key: str, intent: str) -> stripe.Refund | None:
        """Return what takes back the capture with this key."""
        every = self.refunds.list({"payment_intent": intent, "limit": _PAGE}).auto_paging_iter()
        return next((each for each in every if _marks_of(each).get("of") == key), None)


def stripe_refused(exc: Exception) -> Refused | None:
    """Return what an error of the client refuses; None: a lost connection, a conflict of keys or any 5xx proves nothing."""
    import stripe

    match exc:
        case stripe.CardError():
            return Refused(f"the card was declined: {exc.user_message}", code=str(exc.code or "card_declined"))
        case stripe.RateLimitError():
            asked = str((exc.headers or {}).get("Retry-After", ""))
            return Refused("Stripe is asked too often", code="rate_limited", transient=True, retry_after_s=_seconds(asked))
        case stripe.AuthenticationError() | stripe.PermissionError():
            return Refused("Stripe does not accept the key", code="unauthenticated")
        case stripe.InvalidRequestError():
            return Refused(str(exc.user_message or "the request is not valid"), code=str(exc.code or "invalid_request"))
        case _:
            return None


def _told(function: Function) -> Function:
    """Raise what the client raises in our words: its own repeat what the service said, and that may repeat the key."""
    import stripe

    @wraps(function)
    def called(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except stripe.StripeError as exc:
            raise stripe_refused(exc) or ProviderError(f"Stripe did not answer it: {type(exc).__name__}") from None

    return called


def _seconds(said: str) -> float | None:
    return float(said) if said.isascii() and said.isdigit() else None


def stripe_actions(account: Stripe) -> tuple[Action, ...]:
    return (_authorise_action(account), _capture_action(account))


def _marks(call: Call) -> dict[str, str]:
    return {"key": call.idempotency_key, "saga": call.saga_id, "operation": call.operation_id}


def _authorise_action(account: Stripe) -> Action:
    def stripe_authorise(request: Charge, call: Call) -> Authorised:
        asked: Any = {
            "amount": request.amount,
            "currency": request.currency.lower(),
            "payment_method": request.payment_method,
            "payment_method_types": ["card"],
            "capture_method": "manual",
            "confirm": True,
            "error_on_requires_action": True,
            "metadata": _marks(call),
        }
        asked |= {name: said for name in ("description", "customer") if (said := getattr(request, name))}
        return _authorised(account.intents.create(asked, {"idempotency_key": call.idempotency_key}))

    def cancel(_request: Charge, authorised: Authorised, call: Call) -> None:
        try:
            account.intents.cancel(authorised.payment_intent, {}, {"idempotency_key": call.idempotency_key})
        except account.not_valid:
            standing = account.intents.retrieve(authorised.payment_intent)
            is_captured = standing.status == "succeeded" and "capture_key" in _marks_of(standing)
            if standing.status != "canceled" and not is_captured:  # what was captured is the capture's to take back
                raise

    def find(request: Charge, call: Call) -> Probe:
        since = account.now() - _STANDS_FOR
        found = [
            each for each in account.intents_since(since, request.customer) if _marks_of(each).get("key") == call.operation_key
        ]
        if len(found) > 1:
            return Probe.multiple([each.id for each in found])
        if not found or found[0].status == "requires_payment_method":
            return Probe.absent()
        captured_by = _marks_of(found[0]).get("capture_key", "")
        is_taken_back = bool(captured_by) and account.refund_of(captured_by, found[0].id) is not None
        is_undone = found[0].status == "canceled" or is_taken_back
        return Probe.undone() if is_undone else Probe.landed(_authorised(found[0]))

    return action(
        _told(stripe_authorise),
        compensate=_told(cancel),
        probe=_told(find),
        policy=POLICY,
        guarantees=Guarantees(dedup=REMEMBERS),
        provider=account.identity,
    )


def _capture_action(account: Stripe) -> Action:
    """Make the pivot. A payment is captured once whatever the key, so that it may be asked for again at any time."""

    def stripe_capture(request: Capture, call: Call) -> Captured:
        marks = {f"capture_{name}": said for name, said in _marks(call).items()}
        asked: Any = {"amount_to_capture": request.amount, "metadata": marks}
        try:
            return _captured(account.intents.capture(request.payment_intent, asked, {"idempotency_key": call.idempotency_key}))
        except account.not_valid:
            standing = account.intents.retrieve(request.payment_intent)
            if standing.status != "succeeded":
                raise
            return _captured(standing)

    def refund(request: Capture, captured: Captured, call: Call) -> Refunded:
        amount = captured.amount - request.kept
        if amount <= 0:
            raise Refused("all of it is kept, so that there is nothing to refund", code="nothing_to_refund")
        made = account.refund_of(call.operation_key, captured.payment_intent)
        if made is None:
            marks = {**_marks(call), "of": call.operation_key}
            asked: Any = {"payment_intent": captured.payment_intent, "amount": amount, "metadata": marks}
            made = account.refunds.create(asked, {"idempotency_key": call.idempotency_key})
        return Refunded(refund=made.id, amount=made.amount)

    def find(request: Capture, call: Call) -> Probe:
        standing = account.intents.retrieve(request.payment_intent)
        if standing.status != "succeeded":
            return Probe.absent()
        made = account.refund_of(call.operation_key, request.payment_intent)
        return Probe.landed(_captured(standing)) if made is None else Probe.undone(Refunded(refund=made.id, amount=made.amount))

    def undo_cost(request: Capture, captured: Captured) -> UndoCost:
        residue = f"{request.kept} of {captured.amount} {captured.currency.upper()} cents are kept" if request.kept else ""
        return UndoCost(request.kept / 100, captured.currency.upper(), residue)

    return action(
        _told(stripe_capture),
        kind=ActionKind.PIVOT,
        probe=_told(find),
        reverse=_told(refund),
        undo_cost=undo_cost,
        policy=POLICY,
        guarantees=Guarantees(dedup=FOREVER),
        provider=account.identity,
    )


def _marks_of(thing: stripe.PaymentIntent | stripe.Refund) -> dict[str, str]:
    return thing.metadata.to_dict() if thing.metadata else {}


def _authorised(intent: stripe.PaymentIntent) -> Authorised:
    return Authorised(payment_intent=intent.id, amount=intent.amount, currency=intent.currency)


def _captured(intent: stripe.PaymentIntent) -> Captured:
    return Captured(payment_intent=intent.id, amount=intent.amount_received, currency=intent.currency)


# -- the service -----------------------------------------------------------------------------------------------------


@asynccontextmanager
async def open_account(account: Account) -> AsyncIterator[Opened]:
    def now() -> datetime:
        return datetime.now(UTC)

    opened = Stripe(account, now)
    yield Opened(actions := stripe_actions(opened), trial_of(opened, actions))


def trial_of(account: Stripe, actions: tuple[Action, ...]) -> Trial:
    authorise, capture = actions

    async def authorised(saga: BodySaga, name: str) -> Any:
        charge = Charge(amount=1000, currency="usd", payment_method="pm_card_visa", description=name)
        return await saga.run(authorise, charge)

    async def book(saga: BodySaga, name: str) -> None:
        held[name] = await authorised(saga, name)

    async def finish(saga: BodySaga, name: str) -> None:
        await saga.run(capture, Capture(payment_intent=held[name].payment_intent, amount=1000, kept=600))

    async def standing(name: str) -> dict[str, int]:
        return await in_thread(_standing, account, name)

    held: dict[str, Authorised] = {}
    paid = {"authorised": 0, "captured": 1000, "refunded": 0}
    back = {"authorised": 0, "captured": 1000, "refunded": 400}
    return Trial(standing, done=paid, undone=dict.fromkeys(paid, 0), cancelled=back, book=book, finish=finish)


def _standing(account: Stripe, name: str) -> dict[str, int]:
    found = {"authorised": 0, "captured": 0, "refunded": 0}
    for each in account.intents_since(account.now() - _STANDS_FOR):
        if each.description != name:
            continue
        found["authorised"] += each.amount if each.status == "requires_capture" else 0
        found["captured"] += each.amount_received
        refunds = account.refunds.list({"payment_intent": each.id, "limit": _PAGE}).auto_paging_iter()
        found["refunded"] += sum(refund.amount for refund in refunds)
    return found
