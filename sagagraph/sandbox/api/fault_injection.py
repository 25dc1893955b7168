"""Fault injection: calls are delayed, refused or left without an answer, as the faults say."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, TypeVar

from sagagraph.sandbox.books.calls import Answer, Call, CallName, Kind, ServiceError, refusal
from sagagraph.sandbox.books.effects import Effects
from sagagraph.sandbox.books.faults import FaultRule

_LOG = logging.getLogger(__name__)
_LONGEST_PAUSE_S = 0.2
"""Another process may schedule a late call or advance the clock at any time, so pauses stay short."""
_T = TypeVar("_T")


class FaultInjection:
    """Fault injection that waits without holding a thread, however many calls hang; the work itself runs in threads."""

    def __init__(self, effects: Effects) -> None:
        self._effects = effects
        self._closing = asyncio.Event()

    def close(self) -> None:
        """Stop hanging calls from waiting; they are then not carried out. Late ones land after the next start."""
        self._closing.set()

    async def question(self, kind: Kind, name: CallName, answer: Callable[[bool], _T]) -> _T:
        """Answer a question, or fail it as its fault says; `answer` is told whether prices rise first."""
        rule = await asyncio.to_thread(self._effects.count, kind, name)
        fault = rule.fault if rule else None
        _turn_away(rule)
        if fault == "refuse":
            raise refusal("refused", "the provider does not accept this")
        if fault in ("after", "late"):
            raise _unanswered(fault)
        await self._hang(rule)
        return await asyncio.to_thread(answer, fault == "price_up")

    async def effect(self, call: Call) -> Answer:
        """Carry out the call, now or when its time has come; the caller may have left by then."""
        arrival = await asyncio.to_thread(self._effects.arrive, call)
        _turn_away(arrival.rule)
        if arrival.fault == "late":
            raise _unanswered("late")
        await self._hang(arrival.rule)
        answer = await asyncio.to_thread(self._effects.carry_out, call, arrival)
        if arrival.fault == "after":
            raise _unanswered("after")
        return answer

    async def land_late_calls(self) -> None:
        """Carry out late calls as they become due, until the service closes."""
        while not self._closing.is_set():
            try:
                wait = await asyncio.to_thread(self._effects.land_late_call)
                pause_s = _LONGEST_PAUSE_S if wait is None else min(wait.total_seconds(), _LONGEST_PAUSE_S)
            except sqlite3.Error:
                _LOG.exception("a late call could not be carried out; it is tried again")
                pause_s = _LONGEST_PAUSE_S
            with suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), pause_s)

    async def _hang(self, rule: FaultRule | None) -> None:
        if rule is None or rule.fault != "hang":
            return
        try:
            await asyncio.wait_for(self._closing.wait(), rule.duration.total_seconds())
        except TimeoutError:
            return
        raise ServiceError(503, "unavailable", "the service is shutting down")


def _turn_away(rule: FaultRule | None) -> None:
    """Raise for a call that fails before it has had any effect."""
    answers = {
        "before": (503, "unavailable", "the service is not available"),
        429: (429, "rate_limited", "too many calls"),
        500: (500, "unavailable", "the service failed"),
    }
    if rule is not None and rule.fault in answers:
        raise ServiceError(*answers[rule.fault], retry_after_s=rule.retry_after)


def _unanswered(fault: Literal["after", "late"]) -> ServiceError:
    if fault == "late":
        return ServiceError(504, "timeout", "the answer did not come in time")
    return ServiceError(504, "lost", "the answer was lost")
