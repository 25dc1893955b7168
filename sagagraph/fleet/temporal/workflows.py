"""Workflows: one for each saga, which has it driven whenever something is due, and one that looks for lost wake-ups."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

DRIVE, SWEEP, WAKE = "sagagraph-drive", "sagagraph-sweep", "wake"
SAGA, SWEEPER = "sagagraph-saga", "sagagraph-sweeper"
HEARTBEAT_S = 1.0
"""A worker that has been silent for so long is dead, or frozen. A frozen one that waits for work may be given the next attempt,
which is found out before the lease has run out."""
_LONGEST_DRIVE = timedelta(days=7)
_MOST_EVENTS = 400
"""A longer history begins anew."""
_AGAIN = RetryPolicy(initial_interval=timedelta(seconds=0.2), maximum_interval=timedelta(seconds=5))


@workflow.defn(name=SAGA)
class SagaWorkflow:
    def __init__(self) -> None:
        self._next_at: float | None = None
        """When the saga is driven next; None: when somebody wakes it."""

    @workflow.signal(name=WAKE)
    def wake(self, at: float) -> None:
        self._next_at = at if self._next_at is None else min(at, self._next_at)

    @workflow.run
    async def run(self, saga_id: str, next_at: float | None) -> None:
        if next_at is not None:
            self.wake(next_at)
        while True:
            await self._until_due()
            self._next_at = None
            until, is_final = await workflow.execute_activity(
                DRIVE,
                saga_id,
                result_type=tuple[float | None, bool],
                start_to_close_timeout=_LONGEST_DRIVE,
                heartbeat_timeout=timedelta(seconds=HEARTBEAT_S),
                retry_policy=_AGAIN,
            )
            if is_final and self._next_at is None:
                return
            if until is not None:
                self.wake(until)
            if workflow.info().get_current_history_length() > _MOST_EVENTS:
                workflow.continue_as_new(args=[saga_id, self._next_at])

    async def _until_due(self) -> None:
        while self._next_at is None or self._next_at > workflow.time():
            seen = self._next_at
            timeout = None if seen is None else seen - workflow.time()
            try:
                await workflow.wait_condition(lambda seen=seen: self._next_at != seen, timeout=timeout)  # type: ignore[misc]
            except TimeoutError:
                return


@workflow.defn(name=SWEEPER)
class SweepWorkflow:
    @workflow.run
    async def run(self, queue: str) -> None:
        await workflow.execute_local_activity(SWEEP, queue, start_to_close_timeout=timedelta(seconds=30))
