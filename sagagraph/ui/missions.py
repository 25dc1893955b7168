"""Missions in the app: whose they are, and their work, which outlives whoever asked for it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any

from sagagraph.coordination.coordinator import Coordinator
from sagagraph.coordination.core.config import Config
from sagagraph.coordination.core.mission import Mission
from sagagraph.coordination.core.states import RunState
from sagagraph.coordination.teams import team_from
from sagagraph.coordination.templates import Template, matched
from sagagraph.errors import BusyError, DrainedError, InvalidInputError, SagaGraphError
from sagagraph.registry import MISSIONS
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.engine import Engine
from sagagraph.settings import Settings
from sagagraph.ui.visitors import Visitor


class Missions:
    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._places = (settings.agents,) if settings.agents else ()
        self._settings = settings
        self._engine = engine
        self._driving: dict[str, asyncio.Task[None]] = {}
        self._problems: dict[str, str] = {}

    @cached_property
    def _coordinator(self) -> Coordinator:
        """Made when it is first needed: the rest of the app does without agents, and without the prices of a model."""
        return Coordinator(self._engine, team_from(self._places, self._settings, self._engine), source=self._places)

    async def begin(self, visitor: Visitor, goal: str, config: Config) -> Mission:
        """Begin to plan, and return at once. Raises `InvalidInputError` for a goal that nothing here can plan."""
        name = visitor.new_id("mission", uuid.uuid4().hex[:8])
        begun = self._coordinator.beginning(goal, config, by=visitor.name)
        if await self.kinds(visitor) and not await self.fits(visitor, goal):
            raise InvalidInputError("no template fits it, and no model is available to plan it", field="goal")
        self._drive(name, begun)
        while await self._engine.store.headline(name) is None and name in self._driving:  # noqa: ASYNC110 - the store tells nobody
            await asyncio.sleep(0.01)
        return Mission(name, goal, visitor.name, config, RunState.PLANNING)

    async def kinds(self, visitor: Visitor) -> tuple[str, ...]:
        """Return which kinds of goals templates plan; none where a model plans any goal, or where there is no team."""
        try:
            if self._coordinator.team.planner is not None:
                return ()
            found = await self._coordinator.templates(visitor.prefix)
        except InvalidInputError:
            return ()
        return tuple(f"{each.description[:1].lower()}{each.description[1:]}".partition(":")[0] for each in found)

    async def fits(self, visitor: Visitor, text: str) -> bool:
        """Tell whether it is a goal of a known kind, that a template plans; nothing is, where there is no team."""
        try:
            return matched(text, await self._coordinator.templates(visitor.prefix), self._coordinator.team.similarity) is not None
        except InvalidInputError:
            return False

    async def say(self, visitor: Visitor, mission_id: str, verb: str, told: Mapping[str, Any]) -> Mission:
        """Have a decision carried out; returns when it is journalled, and what it leads to goes on."""
        visitor.check_sees(mission_id)
        key = await self._coordinator.wish(mission_id, verb, told, by=visitor.name)
        self._drive(mission_id)
        while not await self._coordinator.is_heard(mission_id, key):
            await asyncio.sleep(0.02)
            self._drive(mission_id)
        return await self._coordinator.status(mission_id)

    async def of(self, visitor: Visitor, mission_id: str) -> Mission:
        visitor.check_sees(mission_id)
        return await self._coordinator.status(mission_id)

    async def all_of(self, visitor: Visitor) -> tuple[Mission, ...]:
        return await self._coordinator.missions(prefix=visitor.prefix)

    async def saga(self, visitor: Visitor, mission_id: str) -> Saga:
        visitor.check_sees(mission_id)
        return await self._engine.load(mission_id)

    async def save_routine(self, visitor: Visitor, mission_id: str) -> Template:
        visitor.check_sees(mission_id)
        return await self._coordinator.save_routine(mission_id)

    def problem(self, mission_id: str) -> str:
        """Return why its work stopped, if it did."""
        return self._problems.get(mission_id, "")

    async def pick_up(self) -> None:
        """Go on with every mission that was open when the last server ended."""
        if any(each.domain == MISSIONS for each in await self._engine.open_sagas()):
            for each in await self._coordinator.open_missions():
                self._drive(each)

    def _drive(self, mission_id: str, begun: Any = None) -> None:
        self._coordinator.nudge(mission_id)
        if mission_id not in self._driving:
            self._driving[mission_id] = asyncio.create_task(self._driven(mission_id, begun), name=f"drive {mission_id}")

    async def _driven(self, mission_id: str, begun: Any) -> None:
        try:
            with suppress(BusyError, DrainedError):
                await self._coordinator.drive(mission_id, begun)
            self._problems.pop(mission_id, None)
        except SagaGraphError as exc:
            self._problems[mission_id] = str(exc)
        finally:
            del self._driving[mission_id]

    async def close(self) -> None:
        for each in list(self._driving.values()):
            each.cancel()
        await asyncio.gather(*self._driving.values(), return_exceptions=True)
