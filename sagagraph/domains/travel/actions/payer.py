"""Payer: a trip is charged at Stripe where the settings say so, and otherwise at the reservation service's own bank."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.actions import bookings as b
from sagagraph.domains.travel.money import in_cents, money_text
from sagagraph.domains.travel.plan import Charged, Itinerary
from sagagraph.domains.travel.rules.answers import PAYMENT
from sagagraph.errors import InvalidInputError
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.actions import Action, action
from sagagraph.saga.engine.call import Probe
from sagagraph.services.service import Account, now_in_utc
from sagagraph.services.stripe import Capture, Captured, Refunded, Stripe, stripe_actions
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.policy import Policy

if TYPE_CHECKING:
    from sagagraph.settings import Settings

_TEST_MODE: Final = ("sk_test_", "rk_test_")


@dataclass(frozen=True)
class Payer:
    """Payer. Without an account that is charged, the reservation service's own bank is."""

    charged: Charged | None = None
    actions: tuple[Action, ...] = ()


def charged_text(itinerary: Itinerary, charged: Charged) -> str:
    """Say what is charged at whom once the trip is approved."""
    most = money_text(itinerary.total, itinerary.currency)
    return (
        f"what has to be paid, at most {most}, is held on {charged.method} at Stripe ({charged.at}, test mode) before anything "
        "is booked, and taken when all of it is"
    )


def payer_of(settings: Settings, policy: Policy) -> Payer:
    """Return who pays. From a practice world, which has no reservation service of its own, nothing goes to Stripe.

    Raises `InvalidInputError` for a key that is not one of Stripe's test mode: with any other, real money would be taken.
    """
    payments = settings.payments if settings.provider_url else None
    if payments is None:
        return Payer()
    secret = payments.secret.revealed()
    if not secret.startswith(_TEST_MODE):
        said = f"must be a key of Stripe's test mode, which begins with {_TEST_MODE[0]}"
        raise InvalidInputError(said, field="payments.secret")
    account = Stripe(Account.of(payments.url, secret), now_in_utc)
    return payer_by(Charged(at=account.identity, method=payments.payment_method), stripe_actions(account), policy)


def payer_by(charged: Charged, actions: tuple[Action, ...], policy: Policy) -> Payer:
    """`actions`: to authorise and to capture."""
    authorise, capture = actions
    return Payer(charged, (replace(authorise, policy=policy), _payment_action(capture, policy)))


def _payment_action(capture: Action, policy: Policy) -> Action:
    """Make the pivot, which takes of what is held what has become due: Stripe's own action does it, in cents."""
    take_back, look = capture.reverse, capture.probe
    if take_back is None or look is None:
        raise AssertionError("a payment can be refunded and looked for")

    def asked(request: b.HeldPaymentRequest) -> Capture:
        return Capture(payment_intent=request.payment_intent, amount=in_cents(request.due))

    def paid(taken: Captured) -> b.CapturedPayment:
        amount, currency = Decimal(taken.amount) / 100, taken.currency.upper()
        return b.CapturedPayment(payment_id=taken.payment_intent, amount=amount, currency=currency, captured_at=now_in_utc())

    def refunded(request: b.HeldPaymentRequest, made: Refunded) -> b.RefundedPayment:
        amount = Decimal(made.amount) / 100
        return b.RefundedPayment(payment_id=request.payment_intent, amount=amount, currency=request.currency)

    def capture_at_stripe(request: b.HeldPaymentRequest, call: Call) -> b.CapturedPayment:
        return paid(capture.execute(asked(request), call))

    def refund(request: b.HeldPaymentRequest, payment: b.CapturedPayment, call: Call) -> b.RefundedPayment:
        taken = Captured(payment_intent=payment.payment_id, amount=in_cents(payment.amount), currency=payment.currency.lower())
        return refunded(request, take_back(asked(request), taken, call))

    def find(request: b.HeldPaymentRequest, call: Call) -> Probe:
        said: Probe = look(asked(request), call)
        if isinstance(said.result, Captured):
            return Probe.landed(paid(said.result))
        return Probe.undone(refunded(request, said.result)) if isinstance(said.result, Refunded) else said

    return action(
        capture_at_stripe,
        kind=ActionKind.PIVOT,
        probe=find,
        reverse=refund,
        policy=policy,
        validators=[PAYMENT],
        guarantees=capture.guarantees,
        provider=capture.provider,
    )
