"""Coordinator: takes missions on, one after the other decides what is due, has it done, and journals all of it.

It holds a mission's saga like any other holder: what it decides is a pure function of the journal, so that any process can take
over at any moment. A mission that waits for a person is let go.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import msgspec

from sagagraph.coordination.agents import Agent
from sagagraph.coordination.core.budget import Priced
from sagagraph.coordination.core.config import MOST_CONTRACTORS, Config
from sagagraph.coordination.core.deciding import ACTIVE, Bench, Deciding
from sagagraph.coordination.core.likeness import by_words
from sagagraph.coordination.core.matching import Similarity, Tier
from sagagraph.coordination.core.mission import Mission, folded
from sagagraph.coordination.core.people import settle
from sagagraph.coordination.run import WISH, Run, work_actions
from sagagraph.coordination.templates import Template, owner_of, routine_of, seeds, template_from
from sagagraph.errors import BusyError, InvalidInputError, NotAllowedError
from sagagraph.registry import MISSIONS
from sagagraph.saga.core.events import Driver, SagaBegun
from sagagraph.saga.core.state import FINAL, Saga
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.engine.views.view import SagaView
from sagagraph.saga.stores.port import Document

_ROUTINES: Final = "mission-routines"
_ROUTINE: Final = "routine"
_POLL_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class Team:
    """Team: who works, who judges, who plans; the same for all missions of a coordinator.

    `planner`: plans what no template fits. `judges`: score outputs; the first one of another family than the executor.
    `models`: by tier, for agents whose model was moved up or down, and for contractors. `hires`: makes a contractor of an
    id and a tier; without it there are none.
    """

    agents: tuple[Agent, ...] = ()
    planner: Priced | None = None
    judges: tuple[Priced, ...] = ()
    models: Mapping[Tier, Priced] = field(default_factory=dict)
    hires: Callable[[str, Tier], Agent] | None = None
    templates: tuple[Template, ...] | None = None
    similarity: Similarity = by_words


class Coordinator:
    """Coordinator of missions, one for each engine. `clock` and `new_id` are arguments, as everything is that decides.

    `source`: where its team comes from; it goes on only with missions that began with the same one.
    """

    def __init__(
        self,
        engine: Engine,
        team: Team,
        *,
        source: Iterable[str] = (),
        clock: Callable[[], float] = time.time,
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
    ) -> None:
        self.engine = engine
        self.team = team
        self.clock = clock
        self.source = tuple(source)
        self._new_id = new_id
        self._runs: dict[str, Run] = {}
        for each in work_actions(team.agents, self._runs.get):
            engine.register(each)
        engine.drives(MISSIONS, partial(self.drive, wait=False))

    def name(self) -> str:
        """Return an id for a new mission."""
        return f"mission-{self._new_id()[:8]}"

    # -- what people do ------------------------------------------------------------------------------------------------

    async def begin(self, goal: str, config: Config | None = None, *, mission_id: str | None = None, by: str = "user") -> Mission:
        """Begin a mission, or go on with the one of that id, as far as it goes without a person.

        Raises `ConflictError` if the id is that of another mission.
        """
        begun = self.beginning(goal, config or Config(), by=by)
        return await self.drive(mission_id or self.name(), begun)

    def beginning(self, goal: str, config: Config, *, by: str) -> SagaBegun:
        """Return the first event of a mission. Raises `InvalidInputError` without a goal."""
        if not goal.strip():
            raise InvalidInputError("say what is to be reached", field="goal")
        request = {"goal": goal, "config": msgspec.to_builtins(config), "by": by, "source": list(self.source)}
        return SagaBegun(Driver.BODY, MISSIONS, request)

    async def drive(self, mission_id: str, begun: SagaBegun | None = None, *, wait: bool = True) -> Mission:
        """Go on with a mission until it has ended or waits for a person; one that does is only reported.

        Raises `BusyError` if another coordinator is at it.
        """
        if begun is None:
            mission, saga = await self.status(mission_id), await self.engine.load(mission_id)
            if mission.state.is_terminal and saga.stage in FINAL:
                return mission
            if (places := source_of(saga)) != self.source:
                named = ", ".join(places) or "the default team"
                raise NotAllowedError(f"mission {mission_id!r} began with {named}: open those agents", saga_id=mission_id)
        if mission_id in self._runs:
            raise BusyError(f"mission {mission_id!r} is running in this coordinator already", saga_id=mission_id)
        run = self._runs[mission_id] = Run(mission_id, self)
        try:
            async with self.engine.hold(mission_id, begin=begun, wait=wait) as holder:
                await run.through(holder)
        finally:
            del self._runs[mission_id]
            await run.end()
        return await self.status(mission_id)

    async def resume(self, mission_id: str, *, wait: bool = True) -> SagaView:
        """Go on with a mission like `drive`, and return its saga."""
        await self.drive(mission_id, wait=wait)
        return await self.engine.status(mission_id)

    async def open_missions(self) -> tuple[str, ...]:
        """Return the open missions that this coordinator's team can go on with."""
        there = [each.saga_id for each in await self.engine.open_sagas() if each.domain == MISSIONS]
        return tuple([each for each in there if source_of(await self.engine.load(each)) == self.source])

    async def status(self, mission_id: str) -> Mission:
        """Return a mission as its journal has it. Raises `UnknownSagaError`, `NotAllowedError` for a saga that is no mission."""
        if mission_id in self._runs and self._runs[mission_id].ready.is_set():
            return self._runs[mission_id].mission
        saga = await self.engine.load(mission_id)
        if saga.domain != MISSIONS:
            raise NotAllowedError(f"saga {mission_id!r} is no mission", saga_id=mission_id)
        return folded(saga)

    async def missions(self, *, prefix: str = "") -> tuple[Mission, ...]:
        found = await self.engine.store.headlines(domain=MISSIONS, prefix=prefix)
        return tuple([await self.status(each.saga_id) for each in found])

    async def say(self, mission_id: str, verb: str, told: Mapping[str, Any] | None = None, *, by: str = "user") -> Mission:
        """Have a person's decision carried out by whoever holds the mission, here or elsewhere; then go on with it.

        Raises `NotAllowedError` if the mission is in a state in which that cannot be, and what else the decision is refused with.
        """
        key = await self.wish(mission_id, verb, told or {}, by=by)
        while not await self.is_heard(mission_id, key):
            if not self.nudge(mission_id):
                with suppress(BusyError):
                    await self.drive(mission_id, wait=False)
            await asyncio.sleep(_POLL_S)
        return await self.status(mission_id)

    async def wish(self, mission_id: str, verb: str, told: Mapping[str, Any], *, by: str) -> str:
        """Write a person's decision down for whoever holds the mission, and return its key. What cannot be is refused at once."""
        mission = await self.status(mission_id)
        settle(Deciding(mission, self.clock(), self.bench(mission)), verb, told, by)
        key = self._new_id()
        await self.engine.store.put(Document(mission_id, WISH, key, {"verb": verb, "told": dict(told), "by": by}))
        await self.engine.store.wake(mission_id)
        return key

    async def is_heard(self, mission_id: str, key: str) -> bool:
        """Tell whether that was decided. Raises `NotAllowedError` if the mission had moved on, and it was refused."""
        refused = (await self.status(mission_id)).heard.get(key)
        if refused:
            raise NotAllowedError(refused, saga_id=mission_id)
        return refused is not None

    def nudge(self, mission_id: str) -> bool:
        """Have the run here, if there is one, look again at once."""
        run = self._runs.get(mission_id)
        if run is not None:
            run.nudged.set()
        return run is not None

    # -- routines ------------------------------------------------------------------------------------------------------

    async def save_routine(self, mission_id: str) -> Template:
        """Save a completed mission as a template: the next goal like it needs no model. Safe to repeat."""
        mission = await self.status(mission_id)
        made = routine_of(mission, await self.templates(owner_of(mission_id)))
        document: Any = {name: getattr(made, name) for name in made.__struct_fields__}
        await self.engine.store.put(Document(f"{owner_of(mission_id)}{_ROUTINES}", _ROUTINE, mission_id, document))
        return made

    async def templates(self, owner: str = "") -> tuple[Template, ...]:
        """Return the routines of an owner, whose words are in them, and the templates of the team."""
        own = await self.engine.store.documents(f"{owner}{_ROUTINES}", _ROUTINE)
        return (*(template_from(each.data) for each in own), *(seeds() if self.team.templates is None else self.team.templates))

    # -- who is there --------------------------------------------------------------------------------------------------

    def bench(self, mission: Mission) -> Bench:
        """Return who could do something now, with what other missions here have given them."""
        others = [each.mission for name, each in self._runs.items() if name != mission.id and each.ready.is_set()]
        busy = Counter(task.agent for other in others for task in other.of(*ACTIVE))
        profiles = tuple(replace(each.profile, busy=busy[each.id]) for each in self.team.agents)
        hired = sum(count for name, count in busy.items() if name.startswith("contractor-"))
        contractors = MOST_CONTRACTORS - hired if self.team.hires else -1
        return Bench(profiles, contractors, self.team.planner is not None, self.team.similarity)


def source_of(saga: Saga) -> tuple[str, ...]:
    """Return where the team of a mission comes from; empty for the default one."""
    request: Any = saga.request
    return tuple(request["source"]) if saga.domain == MISSIONS else ()
