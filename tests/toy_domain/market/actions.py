"""The one action: buying, which can be undone, asked about by its key, and repeated."""

from __future__ import annotations

from datetime import timedelta

from market.request import Purchase
from market.stalls import Stalls
from pydantic import BaseModel

from sagagraph import Call, Guarantees, Probe, action
from sagagraph.saga.engine.actions import Action

BUY = "buy_fruit"


class Receipt(BaseModel):
    key: str
    price: float


def buying(stalls: Stalls) -> Action:
    def buy(request: Purchase, call: Call) -> Receipt:
        stalls.sell(call.idempotency_key, request.model_dump())
        return Receipt(key=call.idempotency_key, price=request.price)

    def give_back(request: Purchase, receipt: Receipt, call: Call) -> None:
        stalls.take_back(call.operation_key)

    def find(request: Purchase, call: Call) -> Probe:
        sale = stalls.sale(call.operation_key)
        if sale is None:
            return Probe.absent()
        return Probe.undone() if sale.get("returned") else Probe.landed(Receipt(key=call.operation_key, price=request.price))

    return action(buy, compensate=give_back, probe=find, guarantees=Guarantees(dedup=timedelta(days=36500)), name=BUY)
