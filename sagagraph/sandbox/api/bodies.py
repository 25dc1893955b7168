"""Bodies: what each call's body may contain."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, Strict

from sagagraph.sandbox.books.calls import Kind, Labels
from sagagraph.sandbox.money import Cents, cents_of
from sagagraph.sandbox.world.offers import OfferKind

Money = Annotated[Cents, BeforeValidator(cents_of, json_schema_input_type=float)]
Quantity = Annotated[int, Strict(), Field(ge=1, le=999)]

_TEN_YEARS_S = 10 * 366 * 86400


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class EffectBody(_Body):
    """Labels that the ledger returns, and a deadline; every effect may have them."""

    saga_id: str | None = None
    operation_id: str | None = None
    deadline: AwareDatetime | None = None

    def labels(self, idempotency_key: str | None) -> Labels:
        return Labels(
            idempotency_key=idempotency_key,
            saga_id=self.saga_id,
            operation_id=self.operation_id,
            deadline=self.deadline,
        )


class ReservationBody(EffectBody):
    kind: OfferKind
    offer_id: str
    quantity: Quantity
    expected_price: Money | None = None


class PaymentBody(EffectBody):
    amount: Annotated[Money, Field(gt=0)]
    currency: Literal["USD"]
    reservations: tuple[str, ...]


class RefundBody(EffectBody):
    amount: Annotated[Money, Field(gt=0)] | None = None


class VoidBody(EffectBody):
    kind: Kind
    key: Annotated[str, Field(min_length=1)]


class AdvanceBody(_Body):
    seconds: Annotated[float, Strict(), Field(ge=0, le=_TEN_YEARS_S)]
