"""Kitchen: starts steps, stops them and throws food away, on the plan's clock. Its ledger says what really happened."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from pydantic import BaseModel

from sagagraph.domains.recipes.plan import Plan, Row
from sagagraph.domains.recipes.request import Meal
from sagagraph.saga.core.call import Call
from sagagraph.saga.core.reversals import REVERSAL
from sagagraph.saga.engine.actions import Action, Guarantees, action
from sagagraph.saga.engine.call import Probe
from sagagraph.saga.stores.port import Document, Documents
from sagagraph.workflow.kind import ActionKind

OPEN, COOK, SERVE = "open_kitchen", "cook", "serve"
_STARTED, _SPOILT, _SERVED = "recipes.started", "recipes.spoilt", "recipes.served"
"""Kinds of documents; what was thrown away is kept under the key of its start."""
_FOREVER: Final = Guarantees(dedup=timedelta(days=36500))


class Start(BaseModel, extra="forbid"):
    """Start: one row of a plan."""

    step: int
    recipe: str
    duration_s: int
    start_s: int

    @property
    def row(self) -> Row:
        return Row(self.step, self.recipe, self.duration_s, self.start_s)


class Piece(Start):
    text: str = ""
    goes_on: bool = False
    """It has been started already, and only ends at another time than was known then."""


def piece_of(meal: Meal, row: Row, *, goes_on: bool = False) -> Piece:
    text = meal.steps[row.key].text
    return Piece(step=row.step, recipe=row.recipe, duration_s=row.duration, start_s=row.start, text=text, goes_on=goes_on)


class Dinner(BaseModel):
    recipes: tuple[str, ...]


class Kitchen:
    """Kitchen, which any number of processes may use. All effects are keyed: repeated, they change nothing.

    Everything is kept under the saga that cooks, even what the saga that undoes it throws away.
    """

    def __init__(self, kept: Documents) -> None:
        self._kept = kept

    async def note(self, saga_id: str, kind: str, key: str, what: BaseModel | None = None) -> None:
        await self._kept.put(Document(saga_id.removesuffix(REVERSAL), kind, key, what.model_dump() if what else {}))

    async def dinners(self, saga_id: str) -> dict[str, Dinner]:
        """Return what was served, by its key: once at most."""
        return {each.key: Dinner.model_validate(each.data) for each in await self._kept.documents(saga_id, _SERVED)}

    async def pieces(self, saga_id: str) -> dict[str, tuple[Piece, bool]]:
        """Return what was started, by its key and in this order, and whether it was thrown away."""
        told = await self._kept.documents(saga_id.removesuffix(REVERSAL), _STARTED, _SPOILT)
        spoilt = {each.key for each in told if each.kind == _SPOILT}
        return {each.key: (Piece.model_validate(each.data), each.key in spoilt) for each in told if each.kind == _STARTED}

    async def ledger(self, saga_id: str) -> tuple[Plan, Plan]:
        """Return what was started and still counts, until when it ran, and what was thrown away, in the order of starts."""
        told = (await self.pieces(saga_id)).values()
        kept = {each.row.begins: each.row for each, is_gone in told if not is_gone}
        return tuple(kept.values()), tuple(each.row for each, is_gone in told if is_gone and not each.goes_on)


def kitchen_actions(kitchen: Kitchen) -> tuple[Action, Action, Action]:
    async def open_kitchen(request: Dinner, _call: Call) -> Dinner:
        return request

    async def cook(request: Piece, call: Call) -> Piece:
        await kitchen.note(call.saga_id, _STARTED, call.idempotency_key, request)
        return request

    async def throw_away(_request: Piece, _started: Piece, call: Call) -> None:
        await kitchen.note(call.saga_id, _SPOILT, call.operation_key)

    async def find(_request: Piece, call: Call) -> Probe:
        piece, is_gone = (await kitchen.pieces(call.saga_id)).get(call.operation_key, (None, False))
        if piece is None:
            return Probe.absent()
        return Probe.undone() if is_gone else Probe.landed(piece)

    async def serve(request: Dinner, call: Call) -> Dinner:
        await kitchen.note(call.saga_id, _SERVED, call.idempotency_key, request)
        return request

    async def is_served(_request: Dinner, call: Call) -> Probe:
        dinner = (await kitchen.dinners(call.saga_id)).get(call.operation_key)
        return Probe.absent() if dinner is None else Probe.landed(dinner)

    return (
        action(open_kitchen, kind=ActionKind.READ_ONLY, name=OPEN),
        action(cook, compensate=throw_away, probe=find, guarantees=_FOREVER, name=COOK),
        action(serve, kind=ActionKind.PIVOT, probe=is_served, guarantees=_FOREVER, name=SERVE),
    )
