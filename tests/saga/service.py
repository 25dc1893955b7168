"""Somebody else's system, for tests: it lands effects under keys, keeps a ledger, and misbehaves as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sagagraph import Backoff, Call, Guarantees, Policy, Probe, Refused, Retry, action
from sagagraph.saga.engine.actions import Action
from sagagraph.workflow.policy import CompensationPolicy

Land = Callable[[], Any]
Behaviour = Callable[[Land], Awaitable[Any]]

A_DAY = timedelta(days=1)


def quick(**changes: Any) -> Policy:
    """A policy that does not make tests wait."""
    return Policy(**{"backoff": Backoff(base_s=0.005, cap_s=0.01), "timeout_s": 5.0, **changes})


ONCE = quick(retry=Retry(max_attempts=1), compensation=CompensationPolicy(max_attempts=1, timeout_s=5.0))


@dataclass
class Landing:
    name: str
    key: str
    undone: bool = False


class Service:
    """`calls` says what arrived, in order: "do flight", "undo flight", "ask flight", "void flight"."""

    def __init__(self, *, remembers_keys: bool = True) -> None:
        self.calls: list[str] = []
        self.received: list[tuple[str, Call]] = []
        self.ledger: list[Landing] = []
        self.voided: set[str] = set()
        self._remembers_keys = remembers_keys
        self._behaviours: dict[str, list[Behaviour]] = {}

    def on(self, call: str, *behaviours: Behaviour) -> None:
        """What the next calls of this kind do, one after the other; the ones after that work."""
        self._behaviours[call] = list(behaviours)

    @property
    def live(self) -> list[str]:
        return sorted(each.name for each in self.ledger if not each.undone)

    def keys(self, call: str) -> list[str]:
        return [each.idempotency_key for name, each in self.received if name == call]

    def count(self, call: str) -> int:
        return self.calls.count(call)

    def action(
        self,
        name: str,
        *,
        probe: bool = False,
        void: bool = False,
        dedup: timedelta | None = None,
        undoable: bool = True,
        deadline: bool = False,
        refusals_final: bool = False,
        **declared: Any,
    ) -> Action:
        """A new definition of the action `name`: a reservation that is undone by cancelling it."""

        async def execute(request: Any, call: Call) -> Any:
            return await self._answer(f"do {name}", call, lambda: self._land(name, call))

        async def compensate(request: Any, result: Any, call: Call) -> Any:
            return await self._answer(f"undo {name}", call, lambda: self._undo(call))

        async def ask(request: Any, call: Call) -> Probe:
            return await self._answer(f"ask {name}", call, lambda: self._find(name, call))

        async def cancel_by_key(request: Any, call: Call) -> Any:
            return await self._answer(f"void {name}", call, lambda: self._void(call))

        return action(
            execute,
            name=name,
            **({"compensate": compensate} if undoable else {}),
            **({"probe": ask} if probe else {}),
            **{
                "policy": quick(),
                "guarantees": Guarantees(dedup, cancel_by_key if void else None, deadline, refusals_final),
                **declared,
            },
        )

    async def _answer(self, name: str, call: Call, work: Land) -> Any:
        self.calls.append(name)
        self.received.append((name, call))
        waiting = self._behaviours.get(name)
        return await waiting.pop(0)(work) if waiting else work()

    def _land(self, name: str, call: Call) -> Any:
        key = call.idempotency_key
        if key in self.voided:
            raise Refused("cancelled before it arrived", code="voided")
        if not (self._remembers_keys and any(each.key == key for each in self.ledger)):
            self.ledger.append(Landing(name, key))
        return {"booked": name, "key": key}

    def _undo(self, call: Call) -> Any:
        for each in self.ledger:
            if each.key == call.operation_key:
                each.undone = True
        return {"cancelled": call.operation_key}

    def _void(self, call: Call) -> Any:
        self.voided.add(call.idempotency_key)
        return self._undo(call)

    def _find(self, name: str, call: Call) -> Probe:
        found = [each for each in self.ledger if each.key == call.idempotency_key]
        if len(found) > 1:
            return Probe.multiple([each.key for each in found])
        if not found:
            return Probe.absent()
        return Probe.undone() if found[0].undone else Probe.landed({"booked": name, "key": found[0].key})


async def is_lost(_land: Land) -> Any:
    raise ConnectionError("the line went dead")


async def lands_but_is_lost(land: Land) -> Any:
    land()
    raise ConnectionError("the line went dead")


async def refuses(_land: Land) -> Any:
    raise Refused("sold out", code="sold_out")


async def is_too_busy(_land: Land) -> Any:
    raise Refused("try again later", code="rate_limit", transient=True)


async def hangs(_land: Land) -> Any:
    await asyncio.sleep(60)


def answers(value: Any) -> Behaviour:
    async def answer(_land: Land) -> Any:
        return value

    return answer


class Gate:
    """A behaviour that says when its call has arrived, and answers when it is let through."""

    def __init__(self) -> None:
        self.arrived = asyncio.Event()
        self.opened = asyncio.Event()

    async def __call__(self, land: Land) -> Any:
        self.arrived.set()
        await self.opened.wait()
        return land()


class StubbornGate(Gate):
    """The same, but it does not let its call be cancelled: like a request that has left the machine."""

    async def __call__(self, land: Land) -> Any:
        self.arrived.set()
        while not self.opened.is_set():
            try:
                await self.opened.wait()
            except asyncio.CancelledError:
                continue
        return land()
