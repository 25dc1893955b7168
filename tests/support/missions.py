"""Missions for demonstrations and sweeps: teams that other processes can load, and scenarios that are killed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sagagraph.context.model import Answer, Question
from sagagraph.coordination.agents import Brief, Turn, agent
from sagagraph.coordination.coordinator import Coordinator, Team
from sagagraph.coordination.core.budget import Priced
from sagagraph.coordination.core.config import read_config
from sagagraph.coordination.teams import ScriptedModel, scripted_team, team_of
from sagagraph.coordination.templates import Template
from sagagraph.errors import InvalidInputError, SagaGraphError, UnknownSagaError
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.urls import open_store
from sagagraph.testing.crash import CrashPoint
from sagagraph.testing.scenario import Judgement, store_of
from tests.saga.ledger import Ledger
from tests.support.replaying import check_replays

MISSION = "m"


class _Slow(ScriptedModel):
    async def answer(self, question: Question) -> Answer:
        await asyncio.sleep(0.5)
        return await super().answer(question)


def slow_team() -> Team:
    """The team of scripts, each of which takes half a second."""
    own = scripted_team()
    priced = own.models[next(iter(own.models))]
    slow = Priced(_Slow("scripted:worker"), prices=priced.prices, family="scripted")
    return team_of(slow, own.judges[0], plans=False)


def vanishing_team() -> Team:
    """The slow team, where it is: elsewhere nobody can load it."""
    if "VANISHED" in os.environ:
        raise InvalidInputError("vanishing_team is not here", field="--agents")
    return slow_team()


def unsure_team() -> Team:
    """The team of scripts, whose judge is not sure of the first review."""
    own = scripted_team()
    asked: list[str] = []

    class Unsure(ScriptedModel):
        async def answer(self, question: Question) -> Answer:
            answer = await super().answer(question)
            data: Any = question.data.data
            asked.append(str(data))
            if "Name factual errors" not in str(data) or sum("Name factual errors" in each for each in asked) > 1:
                return answer
            said: Any = answer.content
            return Answer({**said, "scores": [{**each, "confidence": 0.1} for each in said["scores"]]}, answer.usage)

    judge = Priced(Unsure("third:judge"), prices=own.judges[0].prices, family="third")
    return Team(own.agents, None, (judge,), own.models, own.hires)


def _task(order: int, agent_id: str) -> dict[str, Any]:
    there = {"criterion": "is there", "must_pass": True, "check": {"length": {"min": 1}}}
    tools = ["pen"] if agent_id == "last" else []
    return {"order": order, "title": f"T{order}", "type": "writing", "criteria": [there], "agent": agent_id, "tools": tools}


def _template(edges: list[tuple[int, int]], names: list[str]) -> Template:
    tasks = [_task(order, name) for order, name in enumerate(names, 1)]
    return Template("go", "go", {"tasks": tasks, "edges": [{"from": of, "to": to} for of, to in edges]}, (("go",),))


NAMES = ("flight", "hotel", "car", "dinner")
SHAPES: dict[str, tuple[list[tuple[int, int]], int]] = {
    "chain": ([(2, 1), (3, 2)], 3),
    "diamond": ([(2, 1), (3, 1), (4, 2), (4, 3)], 4),
    "retried": ([(2, 1)], 2),
}


@dataclass(frozen=True)
class MissionScenario:
    """A mission whose tasks have effects, at every boundary of which two coordinators meet. `fails`: its last task crashes."""

    shape: str
    fails: bool = False

    @property
    def name(self) -> str:
        return f"mission {self.shape}" + (" that fails" if self.fails else "")

    @property
    def _count(self) -> int:
        return SHAPES[self.shape][1]

    def _ledger(self, folder: Path) -> Ledger:
        return Ledger(folder / "ledger.db")

    def team(self, folder: Path) -> Team:
        def crashes(brief: Brief, turn: Turn) -> str:
            if self.fails or (self.shape == "retried" and brief.attempt == 1):
                raise RuntimeError("it crashed")
            return "ok"

        ledger = self._ledger(folder)
        books = [agent(name, ledger.action(name), skills=("writing",)) for name in NAMES]
        last = agent("last", crashes, skills=("writing",), tools=["pen"])
        names = list(NAMES[: self._count])
        if self.fails or self.shape == "retried":
            names[-1] = "last"
        return Team((*books, last), templates=(_template(SHAPES[self.shape][0], names),))

    @contextmanager
    def world(self, folder: Path) -> Iterator[None]:
        self._ledger(folder).prepare()
        yield

    async def prepare(self, folder: Path) -> None:
        pass

    async def run(self, folder: Path, crash: CrashPoint) -> None:
        store = crash.around_store(await open_store(store_of(folder)))
        engine = Engine(store, around_call=crash.around_call, lease_ttl_s=crash.lease_ttl_s)
        try:
            await self._drive(engine, folder)
        finally:
            await engine.close()

    async def resume(self, folder: Path) -> None:
        """Two coordinators, each with an engine of its own, want the mission at once."""
        engines = [Engine(await open_store(store_of(folder))) for _number in range(2)]
        try:
            await asyncio.gather(*(self._drive(each, folder) for each in engines))
        finally:
            for each in engines:
                await each.close()

    async def _drive(self, engine: Engine, folder: Path) -> None:
        config = {"autonomy_mode": "full_auto", "backoff_s": 0.01, "continue_after_s": 0.01, "max_attempts": 2}
        coordinator = Coordinator(engine, self.team(folder))
        with suppress(SagaGraphError):
            await coordinator.begin("go", read_config(config), mission_id=MISSION)

    async def judge(self, folder: Path) -> Judgement:
        engine = Engine(await open_store(store_of(folder)))
        try:
            await check_replays(engine.store)
            mission = await Coordinator(engine, self.team(folder)).status(MISSION)
            status = (await engine.status(MISSION)).status.value
        except UnknownSagaError:
            return Judgement("never began")
        finally:
            await engine.close()
        lasting = self._ledger(folder).live()
        booked = self._count - (1 if self.fails or self.shape == "retried" else 0)
        wanted = {} if self.fails else dict.fromkeys(NAMES[:booked], 1)
        faults = [] if lasting == wanted else [f"the ledger holds {lasting}, and {wanted} is wanted"]
        state = "failed" if self.fails else "completed"
        faults += [] if mission.state == state else [f"it is {mission.state.value} ({mission.error}), and not {state}"]
        faults += self._ledger(folder).faults()
        return Judgement(status, tuple(faults))


DIAMONDS = (MissionScenario("diamond"), MissionScenario("diamond", fails=True))
SCENARIOS = (
    *DIAMONDS,
    MissionScenario("chain"),
    MissionScenario("retried"),
)
