"""A schedule as a saga: it is dispatched, repaired while it runs, delivered, or recalled; killed, it goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from sagagraph.domains.job_shop.actions import Dispatch, Floor
from sagagraph.domains.job_shop.domain import Production, accepted, checked, delivered, reported
from sagagraph.domains.job_shop.parsing import parse_events
from sagagraph.domains.job_shop.request import by_attempt, makespan
from sagagraph.domains.job_shop.rules.validator import validate_schedule
from sagagraph.errors import InvalidInputError, NotAllowedError
from sagagraph.graph.planning_graph import PlanningGraph, planning_graph
from sagagraph.planning.monitor import MONITOR, Level, latest, watched
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.urls import open_store
from tests.domains.job_shop.floors import DOWN, REQUEST, SAGA, SCENARIOS, faults
from tests.domains.job_shop.shops import THREE


@asynccontextmanager
async def producing() -> AsyncIterator[tuple[Engine, PlanningGraph, Floor]]:
    engine = Engine(await open_store("memory:"))
    floor = Floor(engine.store)
    graph = planning_graph(domain=Production(floor), engine=engine)
    await graph.start(SAGA, REQUEST, approved_by="Ann")
    assert (await engine.status(SAGA)).status.value == "running"
    yield engine, graph, floor
    await engine.close()


@pytest.mark.quick
async def test_every_step_is_dispatched_once_and_recalled_when_the_production_is_called_off() -> None:
    async with producing() as (engine, _graph, floor):
        rows = [slot.model_dump() for slot in await floor.standing(SAGA)]
        assert validate_schedule(THREE, rows).is_valid
        await engine.cancel(SAGA, by="Ann")
        assert await floor.standing(SAGA) == ()


@pytest.mark.quick
async def test_a_repair_dispatches_again_only_what_it_moves() -> None:
    async with producing() as (engine, graph, floor):
        before = by_attempt(await floor.standing(SAGA))
        view = await graph.change(SAGA, reported(await engine.load(SAGA), DOWN), by="Ann")
        assert view.status.value == "awaiting_approval"
        assert by_attempt(await floor.standing(SAGA)) == before  # nothing follows from a report
        await graph.decide(SAGA, approved=True, by="Ann", plan_hash=view.plan_hash)
        after = by_attempt(await floor.standing(SAGA))
        assert after == accepted(await engine.load(SAGA)).slots
        rows = [[slot.model_dump() for slot in each.values()] for each in (before, after)]
        assert validate_schedule(THREE, rows[1], parse_events(THREE, DOWN), against=rows[0]).is_valid
        assert makespan(after) >= makespan(before)
        recalled = {(each.job, each.step, 1) for each, is_recalled in (await floor.dispatches(SAGA)).values() if is_recalled}
        assert recalled == {key for key, slot in after.items() if slot.start != before[key].start}
        assert recalled
        assert recalled < set(before)


@pytest.mark.quick
async def test_nothing_is_recalled_once_it_is_delivered_and_time_does_not_run_backwards() -> None:
    async with producing() as (engine, graph, floor):
        await graph.change(SAGA, reported(await engine.load(SAGA), DOWN), by="Ann", approved_by="Ann")
        with pytest.raises(InvalidInputError, match="at: it is 2 already"):
            reported(await engine.load(SAGA), {**DOWN, "at": 1})
        await graph.change(SAGA, delivered(await engine.load(SAGA)), by="Ann")
        assert ((await engine.status(SAGA)).status.value, len(await floor.deliveries(SAGA))) == ("committed", 1)
        with pytest.raises(NotAllowedError, match="nothing is produced"):
            reported(await engine.load(SAGA), DOWN)


@pytest.mark.quick
async def test_a_machine_that_does_not_come_back_leaves_the_production_as_it_was() -> None:
    async with producing() as (engine, graph, floor):
        before = await floor.standing(SAGA)
        await graph.change(SAGA, reported(await engine.load(SAGA), {**DOWN, "until": None}), by="Ann", approved_by="Ann")
        assert ((await engine.load(SAGA)).stage.value, await floor.standing(SAGA)) == ("running", before)


@pytest.mark.quick
async def test_a_slow_machine_is_a_warning_first_and_repaired_before_the_schedule_breaks() -> None:
    async with producing() as (engine, graph, floor):
        saga, before = await engine.load(SAGA), await floor.standing(SAGA)
        domain, starts = Production(floor), {(slot.job, slot.step): slot.start for slot in before}
        (slot,) = (slot for slot in before if (slot.job, slot.step) == (2, 3))  # ends 1 before everything is done
        news = {"event": "duration", "at": 1, "job": 2, "step": 3}
        levels = []
        for minutes in (slot.end - slot.start, slot.end - slot.start + 1):
            report = await watched(domain, saga, {**news, "minutes": minutes}, engine.store)
            levels.append((report.level, report.must_repair))
        assert levels == [(Level.NORMAL, False), (Level.WARNING, False)]
        assert (await engine.load(SAGA), await floor.standing(SAGA)) == (saga, before)

        slow = await watched(domain, saga, {"event": "machine_speed", "at": 1, "machine": 1, "percent": 200}, engine.store)
        assert slow.must_repair
        assert slow.findings[0].late > slow.findings[0].slack
        assert (await latest(SAGA, engine.store) or {})["level"] == "violation"
        view = await graph.change(SAGA, slow.request, by=MONITOR)
        assert (view.status.value, await floor.standing(SAGA)) == ("awaiting_approval", before)
        await graph.decide(SAGA, approved=True, by="Ann", plan_hash=view.plan_hash)
        after, asked = await floor.standing(SAGA), checked((await engine.load(SAGA)).request)
        assert {(each.job, each.step): each.start for each in after} != starts
        assert validate_schedule(THREE, [each.model_dump() for each in after], asked.happened).is_valid


@pytest.mark.quick
async def test_nothing_goes_out_for_a_guess_and_only_delays_are_foreseen() -> None:
    """A step that only ends later moves nothing, and a report of it needs no approval; a guess does."""
    async with producing() as (engine, graph, floor):
        saga, domain, before = await engine.load(SAGA), Production(floor), await floor.standing(SAGA)
        last = max(before, key=lambda slot: slot.end)
        longer = {"event": "duration", "at": 1, "job": last.job, "step": last.step, "minutes": 40}
        report = await watched(domain, saga, longer, engine.store)
        view = await graph.change(SAGA, report.request, by=MONITOR)
        assert (view.status.value, await floor.standing(SAGA)) == ("awaiting_approval", before)
        with pytest.raises(NotAllowedError, match="waits for approval"):
            await watched(domain, await engine.load(SAGA), longer, engine.store)
        for news, field in ({"event": "job_cancelled", "at": 3, "job": 3}, "event"), ({**DOWN, "until": None}, "until"):
            with pytest.raises(InvalidInputError, match=f"^{field}: "):
                await watched(domain, saga, news, engine.store)


@pytest.mark.quick
async def test_jobs_that_come_and_go_are_dispatched_and_recalled() -> None:
    async with producing() as (engine, graph, floor):
        for event in (
            {"event": "job_added", "at": 1, "steps": [[0, 2], [1, 1]]},
            {"event": "job_cancelled", "at": 3, "job": 3},
            {"event": "redo", "at": 9, "job": 4, "step": 1},
        ):
            await graph.change(SAGA, reported(await engine.load(SAGA), event), by="Ann", approved_by="Ann")
        saga, standing = await engine.load(SAGA), await floor.standing(SAGA)
        assert {(slot.job, slot.step) for slot in standing if slot.job in (3, 4)} == {(3, 1), (4, 1), (4, 2)}
        assert {key for key in by_attempt(standing) if key[0] == 4} > {(4, 1, 1), (4, 1, 2)}
        assert set(standing) == set(accepted(saga).schedule)


@pytest.mark.quick
async def test_a_step_that_is_redone_is_dispatched_again_and_its_first_attempt_stands() -> None:
    async with producing() as (engine, graph, floor):
        before = by_attempt(await floor.standing(SAGA))
        at = before[1, 1, 1].end
        await graph.change(
            SAGA, reported(await engine.load(SAGA), {"event": "redo", "at": at, "job": 1, "step": 1}), by="Ann", approved_by="Ann"
        )
        after = by_attempt(await floor.standing(SAGA))
        assert after == accepted(await engine.load(SAGA)).slots
        assert after[1, 1, 1] == before[1, 1, 1]
        assert after[1, 1, 2].start >= at
        (first,) = (
            each
            for each, _is_recalled in (await floor.dispatches(SAGA)).values()
            if (each.job, each.step, each.start) == (1, 1, 0)
        )
        assert not first.goes_on
        await engine.cancel(SAGA, by="Ann")
        assert await floor.standing(SAGA) == ()


@pytest.mark.quick
async def test_the_judge_of_the_sweep_sees_what_is_wrong() -> None:
    async with producing() as (engine, _graph, floor):
        produced, standing = accepted(await engine.load(SAGA)), await floor.standing(SAGA)
    rows = [(Dispatch(**slot.model_dump()), False) for slot in standing]
    assert not list(faults("running", produced, rows, standing, 0))
    assert list(faults("running", produced, rows, standing, 1))
    assert list(faults("running", produced, [*rows, rows[0]], standing, 0))
    assert list(faults("running", produced, rows, standing[1:], 0))
    assert list(faults("compensated", produced, rows, standing, 0))


@pytest.mark.parametrize(("harm", "store"), [("kill", "sqlite"), ("cut", "postgresql")])
def test_nothing_is_dispatched_twice_whatever_happens_to_its_worker(harm: str, store: str) -> None:
    words = ["--harm", harm, "--store", store, "--sample", "2", "--seed", "5", "--json"]
    command = [sys.executable, "-m", "tests.support.sweep", "tests.domains.job_shop.floors:SCENARIOS", *words]
    swept = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    cases: list[dict[str, Any]] = json.loads(swept.stdout or "[]")
    assert Counter(case["scenario"] for case in cases) == {each.name: 2 for each in SCENARIOS}, swept.stderr
    assert [case["judgement"]["faults"] for case in cases] == [[]] * len(cases)
