"""Webhooks of Stripe as evidence: what an event that Stripe has signed says of an operation."""

from __future__ import annotations

import json

from sagagraph.errors import InvalidInputError
from sagagraph.extras import needing
from sagagraph.saga.core.commands import CallKind
from sagagraph.saga.stores.port import Note


def evidence_in(payload: bytes, signature: str, secret: str) -> tuple[str, Note] | None:
    """Return the saga of which an event of a webhook is evidence, and what `SagaStore.note` keeps of it; None: of none.

    What is noted is heard when the saga is resumed. Raises `InvalidInputError` unless the signature is Stripe's, and at most five
    minutes old.
    """
    with needing("stripe"):
        import stripe

    try:
        stripe.WebhookSignature.verify_header(payload, signature, secret, stripe.Webhook.DEFAULT_TOLERANCE)
        event = json.loads(payload)
        said, intent = str(event["type"]), dict(event["data"]["object"])
    except (stripe.SignatureVerificationError, ValueError, KeyError, TypeError):
        raise InvalidInputError("this is no event that Stripe has signed", field="Stripe-Signature") from None
    marks = intent.get("metadata") or {}
    facts = {"payment_intent": intent.get("id"), "currency": intent.get("currency")}
    match said:
        case "payment_intent.amount_capturable_updated" if "key" in marks:
            note = Note(marks["operation"], CallKind.ACTION, marks["key"], {**facts, "amount": intent["amount"]})
            return marks["saga"], note
        case "payment_intent.succeeded" if "capture_key" in marks:
            output = {**facts, "amount": intent["amount_received"]}
            return marks["capture_saga"], Note(marks["capture_operation"], CallKind.ACTION, marks["capture_key"], output)
        case _:
            return None
