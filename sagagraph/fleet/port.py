"""Port of a fleet: what has sagas driven, whoever keeps the timers and the queues. The journal alone says what there is to do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Protocol

from sagagraph.saga.engine.driving import Parked

Drive = Callable[[str], Awaitable[Parked]]
"""`Engine.drive`: safe at any time, anywhere, and more than once at the same time."""


class Fleet(Protocol):
    """What gets a saga driven. A queue is the name of a domain."""

    async def wake(self, saga_id: str, queue: str, at: float | None = None, fairness: str | None = None) -> None:
        """Have the saga driven now, or at `at` (seconds since the epoch). Safe to repeat: an earlier time counts.

        `fairness`: who shares with whom; by default the saga's tenant.
        """

    async def driving(self, saga_id: str) -> str | None:
        """Return who drives the saga at this moment; None: nobody."""

    async def serve(self, drive: Drive, queues: Collection[str], slots: int, build_id: str) -> None:
        """Drive sagas of these queues, so many at once, until cancelled. What has begun then ends first, if `drive` ends it."""


def tenant_of(saga_id: str) -> str:
    """Return whose saga it is: what its id has before the first colon; empty without one."""
    return saga_id.partition(":")[0] if ":" in saga_id else ""
