"""Circuit breaker of a provider, shared by all workers of a store: while it is open, nothing is sent, and nothing is in doubt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import wraps
from typing import Any, Final
from uuid import uuid4

from sagagraph.errors import Refused
from sagagraph.saga.engine.actions import Action, Function
from sagagraph.saga.engine.calling.threads import in_thread
from sagagraph.saga.engine.exceptions import refusal_in
from sagagraph.saga.stores.port import Document, Documents

_KIND: Final = "service.breaker"
_LOOKS_EVERY_S: Final = 1.0
_OPEN: Final = "circuit_open"


class Breaker:
    """Breaker: after `failures` calls in a row without an answer, this provider is left alone for `pause_s` by everybody.

    After the pause the next call is sent; if that fails, too, the breaker opens again at once. It is kept as documents of the
    store, one for each pause. `now` is in seconds since the epoch.
    """

    def __init__(
        self, kept: Documents, provider: str, now: Callable[[], float], *, failures: int = 5, pause_s: float = 30.0
    ) -> None:
        self._kept, self._name, self._now = kept, f"service {provider}", now
        self._most, self._pause_s = failures, pause_s
        self._failed = 0
        self._until = self._looked_at = 0.0

    async def check(self) -> None:
        """Raises `Refused` while it is open: nothing was sent."""
        if self._now() >= self._looked_at + _LOOKS_EVERY_S:
            self._looked_at = self._now()
            found = await self._kept.documents(self._name, _KIND)
            self._until = max((each.data for each in found), default=0.0)
        if (left_s := self._until - self._now()) > 0:
            said = "the provider has not answered lately, and is left alone for a while"
            raise Refused(said, code=_OPEN, transient=True, retry_after_s=left_s)

    async def note(self, *, answered: bool) -> None:
        self._failed = 0 if answered else self._failed + 1
        if self._failed < self._most:
            return
        self._failed = self._most - 1
        self._until = self._now() + self._pause_s
        await self._kept.put(Document(self._name, _KIND, uuid4().hex, self._until))


def guarded(action: Action, breaker: Breaker) -> Action:
    """Return the action behind the breaker: all that it calls."""

    def around(function: Function | None) -> Function | None:
        return None if function is None else _around(function, breaker, action)

    void = action.guarantees.void
    guarantees = replace(action.guarantees, void=around(void)) if callable(void) else action.guarantees
    return replace(
        action,
        execute=_around(action.execute, breaker, action),
        compensate=around(action.compensate),
        probe=around(action.probe),
        reverse=around(action.reverse),
        guarantees=guarantees,
    )


def _around(function: Function, breaker: Breaker, action: Action) -> Function:
    @wraps(function)
    async def called(*arguments: Any) -> Any:
        await breaker.check()
        try:
            answer = await _answer(function, *arguments)
        except Exception as exc:
            refused = refusal_in(exc, action.fails_on)
            await breaker.note(answered=refused is not None and refused.code != "not_connected")
            raise
        await breaker.note(answered=True)
        return answer

    return called


async def _answer(function: Function, *arguments: Any) -> Any:
    answer = await in_thread(function, *arguments)
    return await answer if isinstance(answer, Awaitable) else answer
