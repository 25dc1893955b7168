"""Kitchen: starts steps and throws food away, on the plan's clock. Its ledger, in the store, says what really happened."""

from __future__ import annotations

from datetime import timedelta

from pydantic import BaseModel

from sagagraph.domains.recipes.plan import Plan, Row
from sagagraph.saga.core.call import Call
from sagagraph.saga.core.reversals import REVERSAL
from sagagraph.saga.engine.actions import Action, Guarantees, action
from sagagraph.saga.engine.call import Probe
from sagagraph.saga.stores.port import Document, Documents

_STARTED, _SPOILT = "recipes.started", "recipes.spoilt"
"""Kinds of documents; what was thrown away is kept under the key of its start."""


class Piece(BaseModel):
    """One row of a plan."""

    step: int
    recipe: str
    duration_s: int
    start_s: int
    text: str = ""


class Kitchen:
    """Any number of processes may use it. Both effects are keyed: repeated, they change nothing.

    All is kept under the saga that cooks, also what the saga that undoes it throws away.
    """

    def __init__(self, kept: Documents) -> None:
        self._kept = kept

    async def start(self, saga_id: str, key: str, piece: Piece) -> None:
        await self._kept.put(Document(saga_id.removesuffix(REVERSAL), _STARTED, key, piece.model_dump()))

    async def spoil(self, saga_id: str, key: str) -> None:
        await self._kept.put(Document(saga_id.removesuffix(REVERSAL), _SPOILT, key, {}))

    async def pieces(self, saga_id: str) -> dict[str, tuple[Piece, bool]]:
        """What was started, by its key and in this order, and whether it was thrown away."""
        told = await self._kept.documents(saga_id.removesuffix(REVERSAL), _STARTED, _SPOILT)
        spoilt = {each.key for each in told if each.kind == _SPOILT}
        return {each.key: (Piece.model_validate(each.data), each.key in spoilt) for each in told if each.kind == _STARTED}

    async def ledger(self, saga_id: str) -> tuple[Plan, Plan]:
        """What was started and still counts, and what was thrown away, in the order in which it was started."""
        pieces = (await self.pieces(saga_id)).values()
        rows = [(Row(each.step, each.recipe, each.duration_s, each.start_s), is_gone) for each, is_gone in pieces]
        return tuple(row for row, is_gone in rows if not is_gone), tuple(row for row, is_gone in rows if is_gone)


def cooking(kitchen: Kitchen) -> Action:
    async def cook(request: Piece, call: Call) -> Piece:
        await kitchen.start(call.saga_id, call.idempotency_key, request)
        return request

    async def throw_away(_request: Piece, _started: Piece, call: Call) -> None:
        await kitchen.spoil(call.saga_id, call.operation_key)

    async def find(_request: Piece, call: Call) -> Probe:
        piece, is_gone = (await kitchen.pieces(call.saga_id)).get(call.operation_key, (None, False))
        if piece is None:
            return Probe.absent()
        return Probe.undone() if is_gone else Probe.landed(piece)

    return action(cook, compensate=throw_away, probe=find, guarantees=Guarantees(dedup=timedelta(days=36500)), name="cook")
