"""Missions as commands carry them out: opened with the team that the mission began with, and told in lines or as JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from sagagraph.cli.options import PERSON, Options
from sagagraph.cli.session import VERDICT_AGAINST, checked_id, drained_when_told_to_stop
from sagagraph.cli.telling import tell
from sagagraph.cli.terminal import interruptible
from sagagraph.coordination.coordinator import Coordinator, source_of
from sagagraph.coordination.core.config import read_config
from sagagraph.coordination.core.mission import Mission
from sagagraph.coordination.core.states import RunState
from sagagraph.coordination.teams import team_from
from sagagraph.coordination.view import mission_json
from sagagraph.registry import open_engine

if TYPE_CHECKING:
    from sagagraph.saga.engine.coordinator import Observer
    from sagagraph.saga.engine.engine import Engine

_AGAINST = frozenset({RunState.FAILED, RunState.CANCELLED})


@asynccontextmanager
async def coordinating(
    options: Options,
    mission_id: str | None,
    agents: tuple[str, ...] = (),
    *,
    also: tuple[Observer, ...] = (),
    create: bool = False,
) -> AsyncIterator[Coordinator]:
    """Open a coordinator with the team that a mission began with; with these `agents`, if it has yet to begin."""
    async with open_engine(options.settings, also, create=create) as engine:
        places = agents if mission_id is None else await _places(engine, mission_id, agents)
        yield Coordinator(engine, team_from(places, options.settings, engine), source=places)


@asynccontextmanager
async def _opened(
    options: Options, mission_id: str | None, agents: tuple[str, ...] = (), *, create: bool = False
) -> AsyncIterator[Coordinator]:
    async with (
        coordinating(options, mission_id, agents, create=create) as coordinator,
        drained_when_told_to_stop(coordinator.engine),
    ):
        yield coordinator


async def _places(engine: Engine, mission_id: str, agents: tuple[str, ...]) -> tuple[str, ...]:
    return agents if await engine.store.headline(mission_id) is None else source_of(await engine.load(mission_id))


async def begin(options: Options, goal: str, config: dict[str, Any], agents: tuple[str, ...], mission_id: str | None) -> int:
    name = mission_id and checked_id(mission_id)
    async with _opened(options, name, agents, create=True) as coordinator:
        made = name or coordinator.name()
        with interruptible(made, "mission resume"):
            return _shown(options, await coordinator.begin(goal, read_config(config), mission_id=made, by=PERSON))


async def status(options: Options, mission_id: str | None) -> int:
    async with _opened(options, mission_id) as coordinator:
        if mission_id is not None:
            return _shown(options, await coordinator.status(mission_id)) * 0
        found = await coordinator.missions()
    lines = [f"{each.id}  {each.state.value}  {each.goal[:500]}" for each in found]
    return tell([mission_json(each) for each in found], lines or ["there is no mission"], as_json=options.as_json)


async def say(options: Options, mission_id: str, verb: str, told: dict[str, Any]) -> int:
    async with _opened(options, mission_id) as coordinator:
        with interruptible(mission_id, "mission resume"):
            return _shown(options, await coordinator.say(mission_id, verb, told, by=PERSON))


async def resume(options: Options, mission_id: str) -> int:
    async with _opened(options, mission_id) as coordinator:
        with interruptible(mission_id, "mission resume"):
            if (await coordinator.status(mission_id)).state is RunState.PAUSED:
                return _shown(options, await coordinator.say(mission_id, "resume", by=PERSON))
            return _shown(options, await coordinator.drive(mission_id))


async def preview(options: Options, mission_id: str) -> int:
    from sagagraph.cli import render

    async with _opened(options, mission_id) as coordinator:
        found: Any = await coordinator.engine.cancel(mission_id, preview=True)
    return render.printed(found, render.print_preview, as_json=options.as_json)


async def routine(options: Options, mission_id: str) -> int:
    async with _opened(options, mission_id) as coordinator:
        made = await coordinator.save_routine(mission_id)
    return tell({"routine": made.name, "source": made.source, "plan": made.plan}, [made.name], as_json=options.as_json)


def _shown(options: Options, mission: Mission) -> int:
    tell(document := mission_json(mission), _lines(document), as_json=options.as_json)
    return VERDICT_AGAINST if mission.state in _AGAINST else 0


def _lines(told: dict[str, Any]) -> Iterator[str]:
    spent, cap = told["budget"]["spent_usd"], told["budget"]["cap_usd"]
    yield f"{told['mission_id']}: {told['state']}, ${spent:.4f} of ${cap:.2f} spent, plan {told['plan_hash']}"
    for each in told["tasks"]:
        score = "" if each["verifier_score"] is None else f" {each['verifier_score']:.2f}"
        yield f"  {each['task_id']:>2} {each['state']:<15}{score:<6} {each['agent_id'] or '':<12} {each['title']}"
    if told["error"]:
        yield told["error"]
    for each in told["waits_for_person"]:
        yield f"waits for you: {each}"
    for each in _NEXT.get(told["state"], ()):
        yield f"  sagagraph mission {each.format(told['mission_id'])}"


_NEXT = {
    "awaiting_approval": ("approve {0}", "reject {0}"),
    "awaiting_review": ("review {0} accept", "review {0} reject --task N --reason WHY"),
    "budget_exceeded": ("budget {0} --cap DOLLARS", "budget {0} --downgrade", "cancel {0}"),
    "paused": ("resume {0}",),
    "completed": ("routine {0}",),
}
