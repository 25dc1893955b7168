"""Answers of the reservation service, compared with the plan (SagaLLM section 3.2.3: execute, validate, then continue or undo).

A booking confirms what was planned, at its price and terms; a payment is the amount asked for; what is sent is this plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from msgspec import Struct, convert
from msgspec.structs import asdict

from sagagraph.context.slice import ContextSlice
from sagagraph.domains.travel.rules.legs import FORMS, Journey
from sagagraph.validators.verdict import Verdict, Violation

_CODES: Final = {
    "OTHER_DATES": (
        *("departs", "arrives", "duration_minutes"),
        *("check_in", "check_out", "nights", "check_in_from", "check_out_until"),
    ),
    "OTHER_PLACE": ("origin", "destination", "origin_city", "destination_city", "city"),
    "OTHER_NAME": ("offer_id", "kind", "carrier", "number", "name", "covers"),
    "OTHER_CLASS": ("stars", "stops", "via"),
    "OTHER_PARTY": ("rooms", "children"),
}


class Terms(Struct, frozen=True):
    """Terms of a cancellation."""

    free_until: datetime | None
    fee: Decimal


class Planned(Struct, frozen=True):
    """Planned booking. `offer` None: an earlier release did not record what it expects, apart from the price."""

    price: Decimal
    offer: dict[str, Any] | None = None
    lands_by: datetime | None = None
    """Until then it may land later than planned: what follows depends on it."""


class Confirmed(Struct, frozen=True):
    price: Decimal
    currency: str
    cancellation: Terms
    offer: dict[str, Any] | None = None


class Asked(Struct, frozen=True):
    amount: Decimal
    currency: str
    premiums: tuple[Decimal | None, ...] = ()
    """None: insurance that was not taken out."""

    @property
    def due(self) -> Decimal:
        return sum((each for each in self.premiums if each is not None), self.amount)


class Sent(Struct, frozen=True):
    """Sent plan, by its hash, and the reservations of its legs."""

    plan: str
    reservations: dict[str, str | None]
    """None: what was not taken."""


@dataclass(slots=True)
class AnswerValidator:
    """Validator of answers. `inputs`: which of the operation's inputs it is shown."""

    name: str
    inputs: tuple[str, ...]
    check: Callable[[Any, Mapping[str, Any]], Iterable[Violation]]
    """Function that compares an answer with what was asked for."""
    version: int = 1

    def validate(self, artifact: Any, context: ContextSlice) -> Verdict:
        return Verdict.of(self.check(artifact, context.facts["inputs"]))


def check_booking(answer: Any, inputs: Mapping[str, Any]) -> Iterator[Violation]:
    said, planned = convert(answer, Confirmed, strict=False), convert(inputs, Planned, strict=False)
    if said.price != planned.price:
        yield _other("OTHER_PRICE", "price", planned.price, said.price)
    if planned.offer is None or said.offer is None:
        return
    before, now = _described(planned.offer), _described(said.offer)
    if planned.lands_by is not None and _is_retimed(before, now, planned.lands_by):
        now |= {name: before[name] for name in ("arrives", "duration_minutes")}
    for code, names in _CODES.items():
        for name in names:
            if before.get(name) != now.get(name):
                yield _other(code, name, before.get(name), now.get(name))
    if said.currency != before["currency"]:
        yield _other("OTHER_CURRENCY", "currency", before["currency"], said.currency)
    agreed, terms = convert(planned.offer["cancellation"], Terms, strict=False), said.cancellation
    if terms.fee > agreed.fee:  # better terms are not a fault
        yield _other("OTHER_TERMS", "fee for cancelling", agreed.fee, terms.fee)
    if agreed.free_until is not None and (terms.free_until is None or terms.free_until < agreed.free_until):
        yield _other("OTHER_TERMS", "free cancellation until", agreed.free_until, terms.free_until)


def _described(offer: dict[str, Any]) -> dict[str, Any]:
    return asdict(convert(offer, FORMS.get(offer["kind"], Journey), strict=False))


def _is_retimed(before: Mapping[str, Any], now: Mapping[str, Any], lands_by: datetime) -> bool:
    """Tell whether it lands later than planned, but not too late, by the same clock: conditions compare what it shows."""
    later = now["arrives"] - before["arrives"]
    is_later = before["arrives"] < now["arrives"] <= lands_by and now["arrives"].utcoffset() == before["arrives"].utcoffset()
    return bool(is_later and now["duration_minutes"] - before["duration_minutes"] == later / timedelta(minutes=1))


def check_payment(answer: Any, inputs: Mapping[str, Any]) -> Iterator[Violation]:
    said, asked = convert(answer, Asked, strict=False), convert(inputs, Asked, strict=False)
    if said.amount != asked.due:
        yield _other("OTHER_AMOUNT", "amount", asked.due, said.amount)
    if said.currency != asked.currency:
        yield _other("OTHER_CURRENCY", "currency", asked.currency, said.currency)


def check_sent(answer: Any, inputs: Mapping[str, Any]) -> Iterator[Violation]:
    """Check what was found in the documents after they were written. An earlier release did not look."""
    if not answer.get("plan") or not inputs.get("plan"):
        return
    said, asked = convert(answer, Sent), convert(inputs, Sent)
    if said.plan != asked.plan:
        yield _other("OTHER_PLAN", "plan", asked.plan, said.plan)
    booked = {label: each for label, each in asked.reservations.items() if each is not None}
    if said.reservations != booked:
        yield _other("OTHER_PLAN", "reservations", booked, said.reservations)


def check_cancelled(fee: Decimal, currency: str, most: Decimal, planned_currency: str) -> Iterator[Violation]:
    """Check that a cancellation has cost no more than was agreed."""
    if fee > most:
        yield _other("OTHER_FEE", "fee for cancelling", most, fee)
    if currency != planned_currency:
        yield _other("OTHER_CURRENCY", "currency", planned_currency, currency)


def check_refunded(amount: Decimal, currency: str, captured: Decimal, captured_currency: str) -> Iterator[Violation]:
    """Check that everything that was captured is refunded."""
    if amount != captured:
        yield _other("PARTIAL_REFUND", "refund", captured, amount)
    if currency != captured_currency:
        yield _other("OTHER_CURRENCY", "currency", captured_currency, currency)


def _other(code: str, what: str, planned: object, confirmed: object) -> Violation:
    evidence: dict[str, Any] = {"field": what, "planned": str(planned), "confirmed": str(confirmed)}
    message = f"the {what.replace('_', ' ')} is {confirmed} in the answer, and {planned} in the plan"
    return Violation(code=code, message=message, evidence=evidence)


BOOKING = AnswerValidator("booking as planned", ("price", "offer", "lands_by"), check_booking)
PAYMENT = AnswerValidator("payment as asked for", ("amount", "currency", "premiums"), check_payment)
SENT = AnswerValidator("documents of this plan", ("plan", "reservations"), check_sent)
