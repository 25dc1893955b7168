"""Actions: steps are dispatched to the shop floor, recalled, and delivered. The floor's ledger says what really happened."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from pydantic import BaseModel, ConfigDict

from sagagraph.domains.job_shop.request import Slot
from sagagraph.saga.core.call import Call
from sagagraph.saga.core.reversals import REVERSAL
from sagagraph.saga.engine.actions import Action, Guarantees, action
from sagagraph.saga.engine.call import Probe
from sagagraph.saga.stores.port import Document, Documents
from sagagraph.workflow.kind import ActionKind

OPEN, DISPATCH, DELIVER = "open_floor", "dispatch", "deliver"
_DISPATCHED, _RECALLED, _DELIVERED = "jobshop.dispatched", "jobshop.recalled", "jobshop.delivered"
"""Kinds of documents; a recall is kept under the key of what it recalls."""
_FOREVER: Final = Guarantees(dedup=timedelta(days=36500))


class Dispatch(BaseModel):
    """Dispatch of a step to its machine, in the unit of time of the instance."""

    model_config = ConfigDict(extra="forbid")

    job: int
    step: int
    machine: int
    start: int
    end: int
    goes_on: bool = False
    """It was dispatched before and has begun, and only ends at another time than was known then."""


class Order(BaseModel):
    jobs: int


class Floor:
    """Shop floor, which any number of processes may use. All effects are keyed: repeated, they change nothing."""

    def __init__(self, kept: Documents) -> None:
        self._kept = kept

    async def note(self, saga_id: str, kind: str, key: str, what: BaseModel | None = None) -> None:
        await self._kept.put(Document(saga_id.removesuffix(REVERSAL), kind, key, what.model_dump() if what else {}))

    async def dispatches(self, saga_id: str) -> dict[str, tuple[Dispatch, bool]]:
        """Return what was dispatched, by its key and in this order, and whether it was recalled."""
        told = await self._kept.documents(saga_id.removesuffix(REVERSAL), _DISPATCHED, _RECALLED)
        recalled = {each.key for each in told if each.kind == _RECALLED}
        return {each.key: (Dispatch.model_validate(each.data), each.key in recalled) for each in told if each.kind == _DISPATCHED}

    async def deliveries(self, saga_id: str) -> dict[str, Order]:
        """Return what was delivered, by its key: once at most."""
        return {each.key: Order.model_validate(each.data) for each in await self._kept.documents(saga_id, _DELIVERED)}

    async def standing(self, saga_id: str) -> tuple[Slot, ...]:
        """Return what the floor works by: what was dispatched and not recalled, with the latest end of each."""
        made = [each for each, is_recalled in (await self.dispatches(saga_id)).values() if not is_recalled]
        return tuple({(each.job, each.step, each.start): Slot(**each.model_dump()) for each in made}.values())


def floor_actions(floor: Floor) -> tuple[Action, Action, Action]:
    async def open_floor(request: Order, _call: Call) -> Order:
        return request

    async def dispatch(request: Dispatch, call: Call) -> Dispatch:
        await floor.note(call.saga_id, _DISPATCHED, call.idempotency_key, request)
        return request

    async def recall(_request: Dispatch, _dispatched: Dispatch, call: Call) -> None:
        await floor.note(call.saga_id, _RECALLED, call.operation_key)

    async def find(_request: Dispatch, call: Call) -> Probe:
        found, is_recalled = (await floor.dispatches(call.saga_id)).get(call.operation_key, (None, False))
        if found is None:
            return Probe.absent()
        return Probe.undone() if is_recalled else Probe.landed(found)

    async def deliver(request: Order, call: Call) -> Order:
        await floor.note(call.saga_id, _DELIVERED, call.idempotency_key, request)
        return request

    async def is_delivered(_request: Order, call: Call) -> Probe:
        order = (await floor.deliveries(call.saga_id)).get(call.operation_key)
        return Probe.absent() if order is None else Probe.landed(order)

    return (
        action(open_floor, kind=ActionKind.READ_ONLY, name=OPEN),
        action(dispatch, compensate=recall, probe=find, guarantees=_FOREVER, name=DISPATCH),
        action(deliver, kind=ActionKind.PIVOT, probe=is_delivered, guarantees=_FOREVER, name=DELIVER),
    )
