"""Arrivals: what a coordinator is told, the batch of events that it makes of that, and who waits until they are durable."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from sagagraph.errors import SagaGraphError
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.decide.decide import decide
from sagagraph.saga.core.evolve.evolve import evolve
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.turn.waiting import IsReached, anything
from sagagraph.saga.stores.port import Request, RequestKind


class Arrival(NamedTuple):
    """A command, and who waits until it is durable (and for what after that); without one, until what is unwritten is durable."""

    command: c.Command | None
    waiter: asyncio.Future[Saga] | None = None
    is_reached: IsReached = anything
    operation: str | None = None
    not_before: float = 0.0
    give_up_at: float = 0.0
    """When it no longer waits for locks of other sagas; 0 before it had to."""


class Batch:
    """The events of one commit, each decided on the state that the ones before it make."""

    def __init__(self, saga: Saga, epoch: int, now: float) -> None:
        self.saga = saga
        self.now = max(now, saga.last_at)
        self.entries: list[e.Entry] = []
        self._epoch = epoch

    def append(self, event: e.Event) -> None:
        entry = e.Entry(self.saga.version + 1, self._epoch, self.now, event)
        self.saga = evolve(self.saga, entry)
        self.entries.append(entry)

    def take(self, arrival: Arrival) -> bool:
        """Take a command. Returns False if the core refused it; whoever waits for it is told why."""
        if arrival.command is None:
            return True
        try:
            events = decide(self.saga, arrival.command, self.now)
        except SagaGraphError as exc:
            fail_all([arrival.waiter] if arrival.waiter else [], exc)
            return False
        for event in events:
            self.append(event)
        return True


def fail_all(waiters: list[asyncio.Future[Saga]], exc: SagaGraphError) -> None:
    for waiter in waiters:
        if not waiter.done():
            waiter.set_exception(exc)


def command_of(request: Request) -> c.Command:
    """Return what a request asks for. One that cannot be read is refused in the journal, by name, and holds up nobody."""
    if request.damage:
        return c.RefuseRequest(request.number, f"request {request.number} cannot be read: {request.damage}")
    match request.kind, request.data:
        case RequestKind.CANCEL, _:
            return c.Cancel(request.by, request.number)
        case RequestKind.RESOLVE, {"operation": str(operation), "resolution": str(said), **rest} if said in _RESOLUTIONS:
            because = str(rest.get("because", ""))
            return c.Resolve(operation, e.Resolution(said), request.by, rest.get("output"), request.number, because)
        case RequestKind.APPROVE, {"plan_hash": str(shown)}:
            return c.ApprovePlan(request.by, shown, request.number)
        case RequestKind.CHANGE, {"request": wish, "amendment": str(amendment), "approved_by": str(approver)} if amendment:
            return c.BeginAmendment(amendment, wish, request.by, approver, request.number)
        case RequestKind.CHANGE, {"request": wish, "approved_by": str(approver)}:
            return c.ChangeRequest(wish, request.by, approver, request.number)
        case RequestKind.CHANGE, _:
            why = "it does not say what is asked for instead, and who approves that"
        case RequestKind.APPROVE, _:
            why = "it does not say which plan it approves"
        case RequestKind.RESOLVE, _:
            why = "it names no operation, or no resolution that this release knows"
        case _:
            why = f"its kind is {request.kind!r}, which this release does not know"
    return c.RefuseRequest(request.number, f"request {request.number} cannot be read: {why}")


_RESOLUTIONS = frozenset(e.Resolution)
