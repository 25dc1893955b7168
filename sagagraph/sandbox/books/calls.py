"""Calls that may have an effect, as the service understands them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from sagagraph.sandbox.money import Cents
from sagagraph.sandbox.world.offers import OfferKind


@dataclass(frozen=True)
class Answer:
    status: int
    body: dict[str, Any]
    is_replay: bool = False


@dataclass
class ServiceError(Exception):
    """Answer that is not 2xx."""

    status: int
    code: str
    message: str
    details: dict[str, Any] = field(default_factory=dict)
    retry_after_s: float | None = None
    """How many seconds it asks the caller to wait."""

    @property
    def answer(self) -> Answer:
        return Answer(self.status, {"error": {"code": self.code, "message": self.message, **self.details}})


def refusal(code: str, message: str, **details: Any) -> ServiceError:
    """Return a refusal: this call had no effect."""
    return ServiceError(422, code, message, details)


def unknown(what: str, name: str) -> ServiceError:
    return ServiceError(404, f"unknown_{what}", f"there is no {what} {name!r}")


Kind = Literal["flight", "train", "hotel", "insurance", "payment"]
CallName = Literal["search", "book", "cancel", "capture", "refund", "find", "void"]


@dataclass(frozen=True, kw_only=True)
class Labels:
    """Labels that a caller may send with every effect."""

    idempotency_key: str | None = None
    saga_id: str | None = None
    operation_id: str | None = None
    deadline: datetime | None = None
    """A time with an offset; a call that is carried out later is refused."""


@dataclass(frozen=True, kw_only=True)
class BookCall:
    labels: Labels
    kind: OfferKind
    offer_id: str
    quantity: int
    expected_price: Cents | None
    name: Literal["book"] = "book"


@dataclass(frozen=True, kw_only=True)
class CancelCall:
    labels: Labels
    kind: OfferKind
    """The kind of the reservation."""
    reservation_id: str
    name: Literal["cancel"] = "cancel"


@dataclass(frozen=True, kw_only=True)
class CaptureCall:
    labels: Labels
    amount: Cents
    reservation_ids: tuple[str, ...]
    kind: Literal["payment"] = "payment"
    name: Literal["capture"] = "capture"


@dataclass(frozen=True, kw_only=True)
class RefundCall:
    labels: Labels
    payment_id: str
    amount: Cents | None
    """None: the whole payment."""
    kind: Literal["payment"] = "payment"
    name: Literal["refund"] = "refund"


@dataclass(frozen=True, kw_only=True)
class VoidCall:
    """Call of a void. It carries no key of its own: voiding is idempotent, since `key` names what it concerns."""

    labels: Labels
    kind: Kind
    key: str
    name: Literal["void"] = "void"


KeyedCall = BookCall | CancelCall | CaptureCall | RefundCall
Call = KeyedCall | VoidCall
_ADAPTER: TypeAdapter[Call] = TypeAdapter(Annotated[Call, Field(discriminator="name")])


def to_json(call: Call) -> str:
    return _ADAPTER.dump_json(call).decode()


def from_json(text: str) -> Call:
    return _ADAPTER.validate_json(text)


def fingerprint(call: KeyedCall) -> str:
    """Return a fingerprint that is equal for repetitions of one call; a repetition may have another deadline."""
    lasting = replace(call, labels=replace(call.labels, deadline=None))
    return sha256(_ADAPTER.dump_json(lasting)).hexdigest()
