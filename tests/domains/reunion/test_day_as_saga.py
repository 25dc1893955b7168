"""A day carried out as a saga: what people are told, judged by reading the outbox."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sagagraph.domains.reunion.day import as_json, parse_request
from sagagraph.domains.reunion.domain import Reunion
from sagagraph.domains.reunion.times import text_of
from sagagraph.errors import InvalidInputError, NotAllowedError
from sagagraph.graph.planning_graph import PlanningGraph, planning_graph
from sagagraph.planning.monitor import MONITOR, Level, watched
from sagagraph.registry import account
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.urls import open_store
from tests.support.replaying import Witness, check_replays

from .scripted import AS_PLANNED, CLOSED, LATE, LATER, PROBLEM, TOO_LATE, Script, request, reunion, standing

pytestmark = pytest.mark.quick

SAGA = "dinner-1"


@dataclass
class Worker:
    engine: Engine
    graph: PlanningGraph
    reunion: Reunion

    async def accepted(self) -> None:
        await self.graph.start(SAGA, request(), approved_by="Ann")

    async def happens(self, *events: dict[str, Any], approved_by: str | None = "Ann", is_over: bool = False) -> SagaStatus:
        told = request(events=list(events), is_over=is_over)
        return (await self.graph.change(SAGA, told, by="Ann", approved_by=approved_by)).status

    async def told(self) -> dict[str, str]:
        return standing(await self.reunion.outbox.messages(SAGA))

    async def kinds(self, person: str) -> list[str]:
        return [each.kind for each in await self.reunion.outbox.messages(SAGA) if each.person == person]


OpenWorker = Callable[..., AbstractAsyncContextManager[Worker]]


@pytest.fixture
def open_worker(tmp_path: Path) -> OpenWorker:
    @asynccontextmanager
    async def open_it(script: Script | None = None) -> AsyncIterator[Worker]:
        witness = Witness()
        engine = Engine(await open_store(f"sqlite:///{tmp_path / 'saga.db'}"), account=account, observers=[witness])
        domain = reunion(tmp_path, engine.store, script)
        try:
            yield Worker(engine, planning_graph(domain=domain, engine=engine), domain)
            await check_replays(engine.store, witness.seen)
        finally:
            await engine.close()

    return open_it


async def test_accepting_a_plan_tells_everybody_their_part_and_leaves_the_day_open(open_worker: OpenWorker) -> None:
    async with open_worker() as worker:
        view = await worker.graph.start(SAGA, request(), approved_by="Ann")
        assert view.status is SagaStatus.RUNNING
        assert {each.id: each.status for each in view.operations if each.id != "day"} == {
            f"assign {who}": OperationStatus.SUCCEEDED for who in ("Ann", "Bob", "Cleo", "Dan")
        }
        assert set(await worker.told()) == {"Ann", "Bob", "Cleo", "Dan"}
        assert "11:30 to 12:00: drive car from Home to Station\n12:00 to 12:30: drive car" in (await worker.told())["Ann"]


async def test_an_open_day_is_resumed_without_waiting_and_without_telling_anybody_anything(open_worker: OpenWorker) -> None:
    async with open_worker() as worker:
        await worker.accepted()
        before = await worker.reunion.outbox.messages(SAGA)
    async with open_worker() as another:
        assert (await another.graph.resume(SAGA)).status is SagaStatus.RUNNING
        assert await another.reunion.outbox.messages(SAGA) == before


async def test_an_event_tells_only_those_whose_part_changes(open_worker: OpenWorker) -> None:
    async with open_worker() as worker:
        await worker.accepted()
        assert await worker.happens(LATE) is SagaStatus.RUNNING
        assert [await worker.kinds(who) for who in ("Cleo", "Dan")] == [["invitation"]] * 2
        assert [sorted(await worker.kinds(who)) for who in ("Ann", "Bob")] == [["invitation", "invitation", "withdrawal"]] * 2
        assert "14:00 to 14:30: ride from Station to Home in car, with Ann" in (await worker.told())["Bob"]


async def test_what_changes_for_people_is_approved_first(open_worker: OpenWorker) -> None:
    async with open_worker() as worker:
        await worker.accepted()
        before = await worker.told()
        assert await worker.happens(LATE, approved_by=None) is SagaStatus.AWAITING_APPROVAL
        assert await worker.told() == before
        await worker.graph.decide(SAGA, approved=True, by="Ann")
        assert "14:00" in (await worker.told())["Bob"]


async def test_an_event_that_changes_nothing_for_anybody_asks_nobody(open_worker: OpenWorker) -> None:
    async with open_worker(Script(repairs={1: AS_PLANNED})) as worker:
        await worker.accepted()
        before = await worker.reunion.outbox.messages(SAGA)
        assert await worker.happens(LATE, approved_by=None) is SagaStatus.RUNNING
        assert await worker.reunion.outbox.messages(SAGA) == before


async def test_a_day_that_is_over_commits_and_cannot_be_taken_back(open_worker: OpenWorker) -> None:
    async with open_worker() as worker:
        await worker.accepted()
        assert await worker.happens(is_over=True, approved_by=None) is SagaStatus.COMMITTED
        assert set(await worker.told()) == {"Ann", "Bob", "Cleo", "Dan"}
        with pytest.raises(NotAllowedError, match="pivot"):
            await worker.engine.cancel(SAGA)


async def test_what_happens_after_the_day_is_over_changes_nothing(open_worker: OpenWorker) -> None:
    async with open_worker() as worker:
        await worker.accepted()
        await worker.happens(is_over=True, approved_by=None)
        with pytest.raises(NotAllowedError, match=r"cannot be changed any more: its pivot 'day.2' has landed for good"):
            await worker.happens(LATE)
        assert (await worker.engine.status(SAGA)).status is SagaStatus.COMMITTED


async def test_cancelling_an_open_day_takes_everything_back(open_worker: OpenWorker) -> None:
    async with open_worker() as worker:
        await worker.accepted()
        await worker.happens(LATE)
        await worker.engine.cancel(SAGA)
        assert (await worker.engine.status(SAGA)).status is SagaStatus.COMPENSATED
        assert await worker.told() == {}


async def test_an_event_that_no_plan_can_meet_leaves_what_people_were_told(open_worker: OpenWorker) -> None:
    async with open_worker() as worker:
        await worker.accepted()
        await worker.happens(LATE)
        before = await worker.told()
        assert await worker.happens(LATE, TOO_LATE) is SagaStatus.RUNNING
        saga = await worker.engine.load(SAGA)
        assert (saga.plan.infeasible, await worker.told()) == (("Bob cannot be at Home by 18:00",), before)
        assert saga.request["events"] == [LATE]


async def test_a_plan_that_the_validator_objects_to_is_told_nobody(open_worker: OpenWorker) -> None:
    async with open_worker(Script(objects_to={1})) as worker:
        await worker.accepted()
        before = await worker.told()
        assert await worker.happens(LATE) is SagaStatus.RUNNING
        assert await worker.told() == before


async def test_validators_are_shown_the_plan_that_stood_and_until_when_it_was_carried_out(open_worker: OpenWorker) -> None:
    script = Script()
    async with open_worker(script) as worker:
        await worker.accepted()
        await worker.happens(LATE)
    first, second = script.seen
    assert "against" not in first
    assert (len(second["against"]["actions"]), text_of(second["executed_until"])) == (len(AS_PLANNED), "11:45")


async def test_a_second_event_builds_on_the_first(open_worker: OpenWorker) -> None:
    last = [*LATER[:-1], {**LATER[-1], "start": "16:00", "end": "17:00"}]
    async with open_worker(Script(repairs={1: LATER, 2: last})) as worker:
        await worker.accepted()
        await worker.happens(LATE)
        assert await worker.happens(LATE, CLOSED) is SagaStatus.RUNNING
        assert (await worker.engine.status(SAGA)).plan_version == 3
        assert await worker.kinds("Dan") == ["invitation"]
        assert "16:00 to 17:00: cook at Home" in (await worker.told())["Cleo"]
        assert sorted(await worker.kinds("Bob")) == ["invitation", "invitation", "withdrawal"]


def plain() -> dict[str, Any]:
    """A request as it is written, with all that has a default."""
    written: dict[str, Any] = as_json(parse_request(request()))
    return written


def test_a_request_without_a_telling_is_written_as_it_always_was() -> None:
    before = plain()
    assert as_json(parse_request(before)) == before
    assert "told" not in before


@pytest.mark.parametrize(
    ("told", "field"), [({"sentences": [""]}, "told.sentences[0]"), ({"sentences": [], "voice": 1}, "told.voice"), ([], "told")]
)
def test_a_telling_that_is_none_is_named(told: object, field: str) -> None:
    with pytest.raises(InvalidInputError, match=f"^{re.escape(field)}: "):
        parse_request({**plain(), "told": told})


def test_the_same_wish_in_other_words_is_the_same_wish() -> None:
    bare = parse_request(plain())
    told = parse_request({**plain(), "told": {"sentences": ["Ann is at home"]}})
    assert told != bare
    assert told.wishes_for_the_same_as(bare)
    assert not told.wishes_for_the_same_as(bare.model_copy(update={"is_over": True}))


async def test_what_has_happened_is_not_forgotten_where_the_day_is_ended_before_it_is_planned_for(
    open_worker: OpenWorker,
) -> None:
    """The repair for Bob's delay waits; whoever ends the day then ends the repaired one, and not the plan from before."""
    async with open_worker() as worker:
        await worker.accepted()
        assert await worker.happens(LATE, approved_by=None) is SagaStatus.AWAITING_APPROVAL
        assert await worker.happens(LATE, is_over=True) is SagaStatus.COMMITTED
        saga = await worker.engine.load(SAGA)
        accepted = parse_request(saga.request)
        assert [as_json(each) for each in accepted.events] == [LATE]
        assert (saga.plan.verdict or {})["verdict"] == "VALID"
        assert "14:00" in (await worker.told())["Bob"]


EARLY = {**PROBLEM, "people": [{**each, "from": "11:30"} if each["name"] == "Bob" else each for each in PROBLEM["people"]]}
"""Bob lands half an hour before Ann fetches him."""


async def test_a_late_flight_is_a_warning_first_and_the_day_is_repaired_before_somebody_waits(open_worker: OpenWorker) -> None:
    async with open_worker() as worker:
        await worker.graph.start(SAGA, request(problem=EARLY), approved_by="Ann")
        saga, before = await worker.engine.load(SAGA), await worker.told()
        reports = {}
        for since in ("11:40", "11:50", "14:00"):
            report = await watched(worker.reunion, saga, {**LATE, "at": "11:15", "from": since}, worker.engine.store)
            reports[since] = report.level, [(each.late, each.slack) for each in report.findings]
        assert reports == {
            "11:40": (Level.NORMAL, [(10, 30)]),
            "11:50": (Level.WARNING, [(20, 30)]),
            "14:00": (Level.VIOLATION, [(150, 30)]),
        }
        assert (await worker.engine.load(SAGA), await worker.told()) == (saga, before)
        view = await worker.graph.change(SAGA, report.request, by=MONITOR)
        assert (view.status, await worker.told()) == (SagaStatus.AWAITING_APPROVAL, before)
        view = await worker.graph.decide(SAGA, approved=True, by="Ann", plan_hash=view.plan_hash)
        assert "14:00 to 14:30" in (await worker.told())["Bob"]


@pytest.mark.parametrize(
    ("news", "level", "what"),
    [
        ({"at": "11:45", "event": "travel_factor", "place": "S", "factor": 1.5}, Level.VIOLATION, "car arrives at S"),
        ({"at": "11:45", "event": "travel_factor", "place": "M", "factor": 2}, Level.NORMAL, "bike arrives at H"),
        ({"at": "15:00", "event": "vehicle_down", "vehicle": "bike", "until": "17:50"}, Level.WARNING, "bike leaves M"),
        ({"at": "15:00", "event": "vehicle_down", "vehicle": "bike", "until": "17:51"}, Level.VIOLATION, "bike leaves M"),
    ],
)
async def test_slow_roads_and_vehicles_are_judged_by_who_waits(
    open_worker: OpenWorker, news: dict[str, Any], level: Level, what: str
) -> None:
    async with open_worker() as worker:
        await worker.accepted()
        report = await watched(worker.reunion, await worker.engine.load(SAGA), news, worker.engine.store)
        assert (report.level, report.findings[0].what) == (level, what)


async def test_what_is_no_delay_is_not_foreseen_but_reported(open_worker: OpenWorker) -> None:
    async with open_worker() as worker:
        await worker.accepted()
        saga = await worker.engine.load(SAGA)
        with pytest.raises(InvalidInputError, match="is no delay: report it"):
            await watched(worker.reunion, saga, CLOSED, worker.engine.store)
        await worker.reunion.outbox.advance(SAGA, 12 * 60)
        with pytest.raises(InvalidInputError, match="nothing becomes known at 11:45 any more"):
            await watched(worker.reunion, saga, LATE, worker.engine.store)
