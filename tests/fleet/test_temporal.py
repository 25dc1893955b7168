"""What only Temporal does for a fleet: builds, histories that stay short, and workers that miss their server for a while."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest
from temporalio.api.workflowservice.v1 import DescribeWorkerDeploymentRequest
from temporalio.client import Client

from sagagraph.errors import FleetError, UnknownActionError
from sagagraph.fleet.temporal.server import temporal_server as run_server
from sagagraph.fleet.temporal.temporal_fleet import DEPLOYMENT, TemporalFleet, connect
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.sqlite import SqliteSagaStore
from tests.saga.service import Gate, Service
from tests.support.temporal import TemporalServer, temporal

from .working import begun, eventually, new_queue, takes, working

WAKES = 100
EVENTS_A_WAKE = 14


async def has_ended(engine: Engine, saga_id: str) -> bool:
    return (await engine.status(saga_id)).status is SagaStatus.COMMITTED


async def test_a_history_stays_short_however_often_a_saga_is_woken(
    temporal_server: TemporalServer, engine: Engine, service: Service
) -> None:
    queue, client = new_queue(), await connect(temporal_server.address)
    fleet, drives = TemporalFleet(client, engine.store), []

    async def counted(saga_id: str) -> object:
        drives.append(saga_id)
        return await engine.drive(saga_id)

    async with working(fleet, counted, queue):  # type: ignore[arg-type]
        saga_id = await begun(engine, queue, "a", [service.action("flight")])
        engine.store.park = _unparkable(engine)  # type: ignore[method-assign]
        for woken in range(1, WAKES + 1):
            await fleet.wake(saga_id, queue)
            await eventually(lambda woken=woken: _at_least(drives, woken))  # type: ignore[misc]
        told = await client.get_workflow_handle(saga_id).describe()
        runs = [each async for each in client.list_workflows(f"WorkflowId = '{saga_id}'")]
    assert len(runs) > 1 or told.history_length < WAKES
    assert told.history_length < 500 < WAKES * EVENTS_A_WAKE
    assert await takes(engine, saga_id) == 1


def _unparkable(engine: Engine) -> object:
    """Parking as ever; but what has ended counts as something that a person may still wake."""
    from dataclasses import replace

    park, drive = engine.store.park, engine.drive

    async def drive_on(saga_id: str) -> object:
        return replace(await drive(saga_id), is_final=False)

    engine.drive = drive_on  # type: ignore[method-assign,assignment]
    return park


async def _at_least(drives: list[str], times: int) -> bool:
    return len(drives) >= times


async def test_of_two_builds_each_gets_only_what_it_has_code_for(
    temporal_server: TemporalServer, engine: Engine, service: Service, tmp_path: Path
) -> None:
    """The old build has no hotels. While both run, and after the old one has ended, nothing is held and nothing goes wrong."""
    queue, flight, hotel = new_queue(), service.action("flight"), service.action("hotel")
    old = _without(Engine(await SqliteSagaStore.open(tmp_path / "saga.db"), actions=[flight]), "hotel")
    drives: dict[str, list[str]] = {"old": [], "new": []}

    def on(build: str, to_drive: Engine) -> object:
        async def drive(saga_id: str) -> object:
            drives[build].append(saga_id)
            return await to_drive.drive(saga_id)

        return drive

    client = await connect(temporal_server.address)
    old_fleet = TemporalFleet(client, old.store, promotes=True)
    new_fleet = TemporalFleet(client, engine.store, promotes=True)
    gate = Gate()
    service.on("do flight", gate)
    async with working(old_fleet, on("old", old), queue, build_id=f"1-{queue}"):  # type: ignore[arg-type]
        under_way = await begun(engine, queue, "a", [flight])
        await old_fleet.wake(under_way, queue)
        await gate.arrived.wait()
        async with working(new_fleet, on("new", engine), queue, build_id=f"2-{queue}"):  # type: ignore[arg-type]
            await eventually(lambda: _is_current(client, f"2-{queue}"))
            names = [await begun(engine, queue, f"n{number}", [flight, hotel]) for number in range(10)]
            for each in names:
                await new_fleet.wake(each, queue)
            gate.opened.set()
            for each in (*names, under_way):
                await eventually(lambda each=each: has_ended(engine, each))  # type: ignore[misc]
    await old.close()
    assert set(drives["old"]) == {under_way}
    assert [await takes(engine, each) for each in names] == [1] * 10


async def _is_current(client: Client, build_id: str) -> bool:
    asked = DescribeWorkerDeploymentRequest(namespace=client.namespace, deployment_name=DEPLOYMENT)
    told = await client.workflow_service.describe_worker_deployment(asked)
    return told.worker_deployment_info.routing_config.current_deployment_version.build_id == build_id


def _without(engine: Engine, name: str) -> Engine:
    find = engine.find

    def found(wanted: str, version: int) -> Action:
        if wanted == name:
            raise UnknownActionError(f"no action {name!r}")
        return find(wanted, version)

    engine.find = found  # type: ignore[method-assign]
    return engine


async def test_a_server_that_is_killed_and_started_again_loses_nothing(engine: Engine, service: Service) -> None:
    queue = new_queue()
    with temporal() as server:
        fleet = TemporalFleet(await connect(server.address), engine.store)
        async with working(fleet, engine.drive, queue):
            names = [await begun(engine, queue, f"s{number}", [service.action("flight")]) for number in range(10)]
            for each in names[:5]:
                await fleet.wake(each, queue)
            await asyncio.to_thread(server.restart)
            for each in names:
                await eventually(lambda each=each: has_ended(engine, each), within_s=60.0)  # type: ignore[misc]
    assert [await takes(engine, each) for each in names] == [1] * 10


async def test_where_no_server_answers_it_is_said() -> None:
    for address in ("127.0.0.1:9", "127.0.0.1:x", ":7233"):
        with pytest.raises(FleetError, match="fleet up"):
            await connect(address)


def test_a_second_server_has_neither_the_port_nor_the_file_of_the_first(temporal_server: TemporalServer, tmp_path: Path) -> None:
    port = int(temporal_server.address.rpartition(":")[2])
    with socket.create_server(("127.0.0.1", 0)) as listening:
        free = int(listening.getsockname()[1])
    for second in (run_server(port, tmp_path / "another.db"), run_server(free, temporal_server._database)):
        with pytest.raises(FleetError, match="does not start"), second:
            pass
