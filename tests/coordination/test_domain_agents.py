"""A mission that books a trip and holds a reunion for those who travel: each a saga of its own, undone with the mission."""

from __future__ import annotations

from pathlib import Path

import pytest

from sagagraph.coordination.coordinator import Coordinator
from sagagraph.coordination.core.config import read_config
from sagagraph.coordination.teams import team_from
from sagagraph.registry import open_engine
from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from sagagraph.settings import Settings
from tests.support.today import TODAY

GOAL = "A trip from Boston to Paris for 3 nights in May 2025, under $4,000, with a reunion"


@pytest.mark.parametrize("decision", ["accept", "reject_all"])
async def test_a_trip_and_a_reunion(tmp_path: Path, decision: str) -> None:
    with EmbeddedSandbox(SandboxSettings(tmp_path / "sandbox.db", today=TODAY, moves_clock=True)) as sandbox:
        settings = Settings(store=f"sqlite:///{tmp_path / 'm.db'}", provider_url=sandbox.url)
        async with open_engine(settings, create=True) as engine:
            missions = Coordinator(engine, team_from((), settings, engine))
            begun = await missions.begin(GOAL, read_config({}), mission_id="m")
            assert (begun.state, begun.plan and begun.plan.template) == ("awaiting_approval", "trip_and_reunion"), begun.error
            done = await missions.say("m", "approve")
            assert done.state == "awaiting_review", [(each.state, each.error) for each in done.tasks.values()]
            children = [done.tasks[order].output["saga_id"] for order in (1, 2)]  # type: ignore[index,call-overload]
            trip, reunion = [await engine.load(str(each)) for each in children]
            assert (trip.domain, reunion.domain, trip.plan.approved_by) == ("travel", "reunion", "mission m")
            await missions.say("m", "review", {"decision": decision})
            ended = [(await engine.status(str(each))).status.value for each in ("m", *children)]
            assert ended == (["committed", "committed", "running"] if decision == "accept" else ["compensated"] * 3)
