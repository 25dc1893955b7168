"""Temporal fleet: a workflow for each saga has it driven by whichever worker is free. The lease's epoch stays the fence."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from temporalio import activity
from temporalio.api.workflowservice.v1 import SetWorkerDeploymentCurrentVersionRequest
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleSpec,
)
from temporalio.common import Priority, VersioningBehavior, WorkerDeploymentVersion, WorkflowIDConflictPolicy
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory
from temporalio.service import RPCError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker, WorkerDeploymentConfig

from sagagraph.errors import FleetError
from sagagraph.fleet.driver import Outcome, driven
from sagagraph.fleet.port import Drive, tenant_of
from sagagraph.fleet.temporal.workflows import DRIVE, HEARTBEAT_S, SAGA, SWEEP, SWEEPER, WAKE, SagaWorkflow, SweepWorkflow
from sagagraph.saga.stores.port import SagaStore

if TYPE_CHECKING:
    from sagagraph.fleet.metrics import Metrics

DEPLOYMENT = "sagagraph"
SWEEP_EVERY_S = 2.0
_STEP = timedelta(seconds=2)
"""A worker that needs longer for a step of a workflow is dead or frozen: another one makes it."""
_SWEEPS = 200
"""Sagas at most in one sweep."""
_WAKES_AGAIN_S = 30.0
"""A sweep leaves alone what it has woken less than so long ago: it waits for a slot."""
_ASKS_EVERY_S = 4.0
_USUAL = ApplicationErrorCategory.BENIGN
_AGAIN_AFTER_S = {Outcome.BUSY: 0.25, Outcome.DRAINED: 0.01, Outcome.LEFT: 5.0}


async def connect(address: str) -> Client:
    """Connect to a server at HOST:PORT. Raises `FleetError` if none answers."""
    try:
        return await Client.connect(address)
    except (RuntimeError, ValueError) as exc:
        raise FleetError(f"no Temporal server answers at {address}: start one, as sagagraph fleet up does") from exc


class TemporalFleet:
    """`on_answer` is called whenever the server has answered. `most_per_second`: drives of each queue, in the whole fleet.
    `promotes`: makes the build of this worker the current one, which gets everything from then on.
    """

    def __init__(
        self,
        client: Client,
        store: SagaStore,
        *,
        metrics: Metrics | None = None,
        on_answer: Callable[[], None] = lambda: None,
        most_per_second: float | None = None,
        promotes: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._store = store
        self._metrics = metrics
        self._on_answer = on_answer
        self._most_per_second = most_per_second
        self._promotes = promotes
        self._clock = clock
        self._woken: dict[str, float] = {}

    async def wake(self, saga_id: str, queue: str, at: float | None = None, fairness: str | None = None) -> None:
        """Start the saga's workflow, or poke it, in one call."""
        tenant = tenant_of(saga_id) if fairness is None else fairness
        try:
            await self._client.start_workflow(
                SAGA,
                args=[saga_id, None],
                id=saga_id,
                task_queue=queue_of(queue),
                start_signal=WAKE,
                start_signal_args=[at or 0.0],
                task_timeout=_STEP,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                priority=Priority(fairness_key=tenant or None),
            )
        except RPCError as exc:
            raise FleetError(f"the Temporal server did not wake saga {saga_id!r}: {exc}; the schedule will") from exc

    async def driving(self, saga_id: str) -> str | None:
        with suppress(RPCError):
            told = (await self._client.get_workflow_handle(saga_id).describe()).raw_description
            for each in told.pending_activities:
                return each.last_worker_identity or None
        return None

    async def serve(self, drive: Drive, queues: Collection[str], slots: int, build_id: str) -> None:
        """Serve each queue with so many slots. With a `build_id`, this worker gets only what was meant for its build, or a later
        build took over.
        """
        if self._metrics:
            self._metrics.serves(slots * len(queues))
        workers = [self._worker(drive, each, slots, build_id) for each in queues]
        running = asyncio.gather(*(each.run() for each in workers), self._watch(queues, build_id))
        try:
            await asyncio.shield(running)
        finally:
            await asyncio.gather(*(each.shutdown() for each in workers), return_exceptions=True)
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running

    def _worker(self, drive: Drive, queue: str, slots: int, build_id: str) -> Worker:
        version, later = WorkerDeploymentVersion(DEPLOYMENT, build_id), VersioningBehavior.AUTO_UPGRADE
        return Worker(
            self._client,
            task_queue=queue_of(queue),
            workflows=[SagaWorkflow, SweepWorkflow],
            activities=[self._driving(drive), self._sweeping()],
            workflow_runner=UnsandboxedWorkflowRunner(),
            max_concurrent_activities=slots,
            max_concurrent_activity_task_polls=1,  # what is given to a worker that has frozen meanwhile has to time out first
            max_concurrent_workflow_task_polls=2,  # the least: of its own, and of all
            disable_eager_activity_execution=True,  # which passes over the queue, and so over whose turn it is
            sticky_queue_schedule_to_start_timeout=timedelta(seconds=1),
            max_task_queue_activities_per_second=self._most_per_second,
            graceful_shutdown_timeout=timedelta(seconds=10),
            deployment_config=WorkerDeploymentConfig(version, True, later) if build_id else None,
        )

    def _driving(self, drive: Drive) -> Callable[[str], Awaitable[tuple[float | None, bool]]]:
        @activity.defn(name=DRIVE)
        async def drive_saga(saga_id: str) -> tuple[float | None, bool]:
            beating = asyncio.create_task(_beat())
            try:
                ended = await driven(drive, saga_id, self._metrics)
            finally:
                beating.cancel()
            if ended.parked is None:
                after = timedelta(seconds=_AGAIN_AFTER_S[ended.outcome])
                raise ApplicationError(ended.why, type=ended.outcome.value, next_retry_delay=after, category=_USUAL)
            return ended.parked.until, ended.parked.is_final

        return drive_saga

    def _sweeping(self) -> Callable[[str], Awaitable[None]]:
        @activity.defn(name=SWEEP)
        async def sweep(queue: str) -> None:
            """Wake what is due and nobody has woken: an append and its wake-up are no transaction."""
            now = self._clock()
            self._woken = {name: at for name, at in self._woken.items() if at > now - _WAKES_AGAIN_S}
            for each in await self._store.due(len(self._woken) + _SWEEPS, [queue]):
                if each.saga_id not in self._woken:
                    await self.wake(each.saga_id, queue)
                    self._woken[each.saga_id] = now

        return sweep

    async def _watch(self, queues: Collection[str], build_id: str) -> None:
        """See to it that every queue has its schedule, and its build is current if this worker promotes it; then ask, again and
        again, whether the server is there.
        """
        is_set_up = False
        while True:
            with suppress(RPCError, RuntimeError):
                for each in queues if not is_set_up else ():
                    with suppress(ScheduleAlreadyRunningError):
                        await self._client.create_schedule(f"sagagraph-due-{each}", _sweeps(each))
                is_set_up = is_set_up or not self._promotes or await self._is_promoted(build_id)
                await self._client.service_client.check_health()
                self._on_answer()
            await asyncio.sleep(_ASKS_EVERY_S if is_set_up else 0.5)

    async def _is_promoted(self, build_id: str) -> bool:
        """Promote the build. The server knows it once it has a worker, which takes a moment."""
        wanted = SetWorkerDeploymentCurrentVersionRequest(
            namespace=self._client.namespace, deployment_name=DEPLOYMENT, build_id=build_id, ignore_missing_task_queues=True
        )
        with suppress(RPCError):
            await self._client.workflow_service.set_worker_deployment_current_version(wanted)
            return True
        return False


def queue_of(domain: str) -> str:
    return f"sagagraph-{domain}"


async def _beat() -> None:
    while True:
        await asyncio.sleep(HEARTBEAT_S / 4)
        activity.heartbeat()


def _sweeps(queue: str) -> Schedule:
    name, on = f"sagagraph-due-{queue}", queue_of(queue)
    action = ScheduleActionStartWorkflow(SWEEPER, queue, id=name, task_queue=on, task_timeout=_STEP)
    return Schedule(action, ScheduleSpec(intervals=[ScheduleIntervalSpec(timedelta(seconds=SWEEP_EVERY_S))]))
